//! Errors of fits.

/// Why no workload can be fitted.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FitError {
    /// The trace is too short.
    #[error("the trace has {count} reads and writes, and a fit needs at least 100")]
    TooFew {
        /// Number of reads and writes.
        count: usize,
    },
    /// A change would leave the limits of workloads.
    #[error("{what} would be {value}, which no workload can have")]
    OutOfRange {
        /// The property.
        what: &'static str,
        /// Its value after the change.
        value: String,
    },
    /// The trace has requests of one kind only.
    #[error("the share of reads cannot change, because the trace has {0} only")]
    OneKind(&'static str),
}
