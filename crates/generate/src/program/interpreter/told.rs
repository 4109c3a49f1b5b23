//! What a worker tells of itself.

use engine::Operation;

/// How much a worker has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// Rounds that it has begun.
    pub rounds: u64,
    /// Calls that it has begun.
    pub calls: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
}

/// A call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFailure {
    /// What was asked.
    pub operation: Operation,
    /// The number of the fileset.
    pub fileset: u8,
    /// The number of the file.
    pub file: u32,
    /// The error's number; 0 where nothing was written and nothing said.
    pub errno: i32,
}

/// When a worker was where, by the clock that the loop passes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamps {
    /// It began what it repeats; 0 for not at all.
    pub body_ns: u64,
    /// It left what it repeats; 0 for not yet.
    pub body_end_ns: u64,
    /// How far it was when the others' end or its own time came, where it went on behind that.
    pub wall: Option<WallMark>,
}

/// How far a worker was at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallMark {
    /// When that was.
    pub at_ns: u64,
    /// What it had done.
    pub amounts: Amounts,
}
