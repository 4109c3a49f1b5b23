//! The number of the record's format, beside its history.

/// Name and number of the format that records are written in.
///
/// Within a number, fields are only added; a reader fills in what an older record lacks and
/// passes over what it does not know. The number rises when a field changes its meaning or goes.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
///
/// Added to 1: `first_index` of planned cells, cells and estimates; `workload_index` of planned
/// cells; `curve` of estimates; `standstills` of cells;
/// `level` of warnings.
pub const FORMAT: &str = "pgmeter-record/1";
