//! Results of a worker.

use engine::Operation;

/// Amounts of work that a worker has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// Number of rounds begun.
    pub rounds: u64,
    /// Number of calls begun.
    pub calls: u64,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
}

/// A call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFailure {
    /// The operation that failed.
    pub operation: Operation,
    /// Number of the fileset.
    pub fileset: u8,
    /// Number of the file.
    pub file: u32,
    /// Error number, not negated; `EIO` if a write wrote nothing and reported no error.
    pub errno: i32,
}

/// Times at which a worker reached its stages, on the clock that the loop passes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageTimes {
    /// Start of the body; 0 if it has not started.
    pub body_start_ns: u64,
    /// End of the body; 0 if it has not ended.
    pub body_end_ns: u64,
    /// Progress when another worker's end or its own time limit came, if it continued after that.
    pub stonewall: Option<StonewallProgress>,
}

/// Progress of a worker at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StonewallProgress {
    /// The time, in nanoseconds.
    pub at_ns: u64,
    /// Amounts of work done by then.
    pub amounts: Amounts,
}
