//! Reasons why two runs cannot be compared.

use crate::Difference;

/// Reason why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A side has no complete cell.
    #[error("`{side}` has no cell that was measured to the end")]
    NothingMeasured {
        /// Ids of the side's runs, separated by `, `.
        side: String,
    },
    /// No cell of one side is similar to a cell of the other.
    #[error("`{a}` and `{b}` have no workload in common")]
    NothingInCommon {
        /// Ids of the first side's runs.
        a: String,
        /// Ids of the second side's runs.
        b: String,
    },
    /// Cells of the same name do different work, or the sides have only similar cells.
    #[error("`{a}` and `{b}` measure different things: {}", listed(.differences))]
    DifferentWork {
        /// Ids of the first side's runs.
        a: String,
        /// Ids of the second side's runs.
        b: String,
        /// Differences between the work of both sides.
        differences: Vec<Difference>,
    },
}

impl CompareError {
    /// Returns `true` if [`crate::ComparisonOptions::force`] allows the comparison anyway.
    #[must_use]
    pub const fn is_overridable(&self) -> bool {
        matches!(self, Self::DifferentWork { .. })
    }

    /// Returns one action that resolves the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NothingMeasured { .. } => "measure it again, to the end",
            Self::NothingInCommon { .. } => "compare runs of the same workload",
            Self::DifferentWork { .. } => {
                "measure both alike, or add `--force` to compare them anyway"
            }
        }
    }
}

/// Lists the first differences in one line.
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
