//! Two submissions next to each other, in the tables that have both.

use results::BetterDirection;
use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use crate::{BoardConfig, CheckedSubmission, MeasuredValue, is_tied};

/// Two submissions, in the tables that have both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SubmissionComparison {
    /// Names of the two directories.
    pub submissions: [String; 2],
    /// Titles of the two systems.
    pub titles: [String; 2],
    /// The common values, in the order of the tables.
    pub values: Vec<ComparedColumn>,
}

/// A value of two submissions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedColumn {
    /// Name of the table.
    pub table: String,
    /// Name of the column.
    pub column: String,
    /// Values of both.
    pub values: [MeasuredValue; 2],
    /// The second value divided by the first one; none if that is 0.
    pub ratio: Option<f64>,
    /// The better of the two.
    pub better: BetterSide,
}

/// The better of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BetterSide {
    /// The first one.
    First,
    /// The second one.
    Second,
    /// Chance alone may decide between them, or they are equal.
    Tied,
    /// The column has no better direction.
    Neither,
}

impl JsonDocument for SubmissionComparison {
    const FORMAT: &'static str = "pgmeter-board-compare/1";
}

impl SubmissionComparison {
    /// Compares two submissions.
    #[must_use]
    pub fn of(config: &BoardConfig, pair: [&CheckedSubmission; 2]) -> Self {
        let tables = config.tables.iter();
        let values = tables.flat_map(|table| {
            let of_table = pair.map(|it| it.values.iter().find(|it| it.table == table.name));
            table.columns.iter().filter_map(move |column| {
                let [Some(a), Some(b)] = of_table.map(|it| it?.columns.get(&column.name)) else {
                    return None;
                };
                Some(ComparedColumn {
                    table: table.name.clone(),
                    column: column.name.clone(),
                    values: [a.clone(), b.clone()],
                    ratio: (a.mean != 0.0).then(|| b.mean / a.mean),
                    better: better_side(column.better, a, b),
                })
            })
        });
        Self {
            submissions: pair.map(|it| it.slug.clone()),
            titles: pair.map(|it| it.title.clone()),
            values: values.collect(),
        }
    }
}

fn better_side(direction: BetterDirection, a: &MeasuredValue, b: &MeasuredValue) -> BetterSide {
    match direction {
        BetterDirection::Neither => BetterSide::Neither,
        _ if is_tied(a, b) => BetterSide::Tied,
        BetterDirection::Higher if a.mean > b.mean => BetterSide::First,
        BetterDirection::Lower if a.mean < b.mean => BetterSide::First,
        _ => BetterSide::Second,
    }
}

impl ComparedColumn {
    /// Returns the better of two systems in words.
    #[must_use]
    pub fn verdict(&self, titles: &[String; 2]) -> String {
        let [first, second] = titles;
        match self.better {
            BetterSide::First => first.clone(),
            BetterSide::Second => second.clone(),
            BetterSide::Tied => "cannot be told apart".to_owned(),
            BetterSide::Neither => String::new(),
        }
    }
}
