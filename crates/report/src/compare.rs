//! Comparisons of runs.

mod document;
mod forest;
mod sentences;
mod summary;
mod tables;

use ::compare::Comparison;

pub(crate) use document::{document, document_for_run_page};

/// Returns one line for each metric that is significantly worse, and by more than `percent` of the
/// first side's value.
#[must_use]
pub fn regression_lines(comparison: &Comparison, percent: f64) -> Vec<String> {
    comparison
        .regressions(percent)
        .map(|(cell, figure)| sentences::regression(cell, figure))
        .collect()
}
