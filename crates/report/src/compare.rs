//! Comparisons of runs.

mod document;
mod sentences;
mod summary;
mod tables;

use ::compare::Comparison;

pub(crate) use document::{beside_runs, document};

/// Figures that are worse by more than `percent` of the first side's, each in a line of its own.
#[must_use]
pub fn regression_lines(comparison: &Comparison, percent: f64) -> Vec<String> {
    comparison
        .regressions(percent)
        .map(|(cell, figure)| sentences::regression(cell, figure))
        .collect()
}
