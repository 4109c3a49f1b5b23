//! Compares two runs: finds equal work, and shows how much their results differ and how certain
//! that is.
//!
//! This crate does not measure, print or read files. Cells are matched by their work, regardless of
//! the target. A difference counts only if it is significant after correction for all tests of the
//! comparison. So a target compared with itself shows a difference in at most one of 20
//! comparisons.

mod cell_work;
mod comparison;
mod difference;
mod error;
mod figure;
mod group;
mod judge;
mod measurement;
mod mixed;
mod series;
mod side;

pub use cell_work::{IGNORED_SETTINGS, work};
pub use comparison::{
    CellComparison, CellName, Comparison, ComparisonOptions, compare, compare_with_first,
    planned_differences,
};
pub use difference::Difference;
pub use error::CompareError;
pub use figure::{Figure, Scope};
pub use judge::{Basis, FigureComparison, Verdict};
pub use side::Side;
