//! Runs side by side as CSV for programs: one row per metric and column, without rounding.

use super::SideBySide;
use super::rows::{ColumnValue, FigureRow};

const HEADERS: [&str; 11] = [
    "section",
    "figure",
    "column",
    "better",
    "n",
    "mean",
    "ratio",
    "ratio_ci95_low",
    "ratio_ci95_high",
    "words",
    "beyond_chance",
];

/// Returns the rows, with a final line break.
pub(super) fn render(side_by_side: &SideBySide) -> String {
    let mut lines = vec![HEADERS.join(",")];
    for section in &side_by_side.sections {
        for row in &section.rows {
            let columns = side_by_side.columns.iter().zip(&row.values);
            let values = columns
                .enumerate()
                .filter_map(|(column, ((name, _), value))| Some((column, name, value.as_ref()?)));
            lines.extend(values.map(|(column, name, value)| {
                let texts = texts(row, column, value);
                let heads = [&section.heading, &row.base_label, name].map(|text| field(text));
                [heads.as_slice(), &texts].concat().join(",")
            }));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

fn texts(row: &FigureRow, column: usize, value: &ColumnValue) -> Vec<String> {
    let number = |number: Option<f64>| number.map_or_else(String::new, |it| it.to_string());
    let certainty = value.ratio.and_then(|it| it.certainty);
    vec![
        row.direction().split(' ').next().unwrap_or("").to_owned(),
        value
            .estimate
            .map_or_else(String::new, |it| it.n.to_string()),
        number(value.estimate.map(|it| it.mean)),
        number(value.ratio.map(|it| it.value)),
        number(certainty.map(|it| it.ci95_low)),
        number(certainty.map(|it| it.ci95_high)),
        match value.estimate {
            Some(_) => String::new(),
            None => field(&value.text),
        },
        certainty.map_or_else(String::new, |_| row.differs_from_first(column).to_string()),
    ]
}

/// Quotes a text as a CSV field if needed.
pub(crate) fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
