//! Why two runs cannot be compared.

use crate::Difference;

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A side has no cell that was measured to the end.
    #[error("`{side}` has no cell that was measured to the end")]
    NothingMeasured {
        /// The run's id, several separated by `, `.
        side: String,
    },
    /// No cell of one side resembles any of the other.
    #[error("`{a}` and `{b}` have no workload in common")]
    NothingInCommon {
        /// The first side's runs.
        a: String,
        /// The second side's runs.
        b: String,
    },
    /// The same names stand for different work, or only related cells are left.
    #[error("`{a}` and `{b}` measure different things: {}", listed(.differences))]
    DifferentThings {
        /// The first side's runs.
        a: String,
        /// The second side's runs.
        b: String,
        /// What was asked otherwise.
        differences: Vec<Difference>,
    },
}

impl CompareError {
    /// Whether [`crate::ComparisonOptions::force`] compares nevertheless.
    #[must_use]
    pub const fn is_overridable(&self) -> bool {
        matches!(self, Self::DifferentThings { .. })
    }

    /// One action that resolves the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NothingMeasured { .. } => "measure it again, to the end",
            Self::NothingInCommon { .. } => "compare runs of the same workload",
            Self::DifferentThings { .. } => {
                "measure both alike, or add `--force` to compare them anyway"
            }
        }
    }
}

/// The first differences in one line.
fn listed(differences: &[Difference]) -> String {
    const SHOWN: usize = 3;
    let one = |difference: &Difference| {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (a, b) = (side(&difference.a), side(&difference.b));
        format!("{} is `{a}` and `{b}`", difference.what)
    };
    let mut text: Vec<String> = differences.iter().take(SHOWN).map(one).collect();
    if differences.len() > SHOWN {
        text.push(format!("and {} more", differences.len() - SHOWN));
    }
    text.join(", ")
}
