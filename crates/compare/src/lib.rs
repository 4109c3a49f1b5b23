//! Two runs side by side: what was asked of both, by how much their figures differ, and how sure
//! that is.
//!
//! Nothing here measures, prints or reads a file. Cells are matched by what was asked of them,
//! whatever target they ran on. A difference is called one only where it is significant after
//! correction for all tests of the comparison, so that a thing compared with itself comes out
//! different in at most one of twenty comparisons.

mod asked;
mod comparison;
mod difference;
mod error;
mod figure;
mod group;
mod judge;
mod series;

pub use comparison::{
    CellComparison, CellName, Comparison, ComparisonOptions, Side, compare, compare_with_first,
    planned_differences,
};
pub use difference::Difference;
pub use error::CompareError;
pub use figure::{Figure, Scope};
pub use judge::{Basis, FigureComparison, Verdict};
