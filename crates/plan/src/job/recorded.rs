//! Recorded requests to be replayed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests of a log, which a job replays in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedPlan {
    /// Name of the log.
    pub log: String,
    /// Number of requests.
    pub request_count: u64,
    /// Bytes of all requests together.
    pub bytes: u64,
    /// Due time of the last request in nanoseconds; 0 if each request starts right after the
    /// previous one.
    pub last_due_ns: u64,
    /// The requests; not stored in results.
    #[serde(skip)]
    // Shared, because planning copies a cell for each depth, rate and repetition.
    pub acts: Arc<[RecordedRequest]>,
}

/// A recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Due time in nanoseconds from the start of the log; never decreases.
    pub due_ns: u64,
    /// Kind of the request.
    pub kind: RecordedKind,
    /// Index of the job's file.
    pub part_index: u32,
    /// Length in bytes; 0 for a sync.
    pub length_bytes: u32,
    /// Offset in that file.
    pub offset_bytes: u64,
}

/// A request that was logged, with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The request; its time is when it was issued, counted from the first request.
    pub request: RecordedRequest,
    /// Position in the order in which requests were issued.
    pub index: u32,
    /// Bytes moved; 0 if it failed.
    pub moved_bytes: u32,
    /// Time of submission in nanoseconds from the first request. If the job does not time it, the
    /// same as that of the request.
    pub submitted_ns: u64,
    /// Completion time in nanoseconds from the first request.
    pub done_ns: u64,
}

/// Kind of a recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    /// Reads data of a file.
    Read,
    /// Writes data to a file.
    Write,
    /// Makes a file durable.
    Fsync,
    /// Makes the data of a file durable.
    Fdatasync,
    /// Trims a range of a file.
    Trim,
    /// A call without data, in logs of work on files; no log to be replayed has it.
    Other,
}

impl RecordedPlan {
    /// A plan for the requests of a log, which must be in the order of their due times.
    #[must_use]
    pub fn new(log: String, acts: Arc<[RecordedRequest]>) -> Self {
        Self {
            log,
            request_count: acts.len() as u64,
            bytes: acts.iter().map(|it| u64::from(it.length_bytes)).sum(),
            last_due_ns: acts.last().map_or(0, |it| it.due_ns),
            acts,
        }
    }

    /// `true` if requests have due times.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        self.last_due_ns > 0
    }

    /// `true` if there is a request of this kind.
    #[must_use]
    pub fn has(&self, kind: RecordedKind) -> bool {
        self.acts.iter().any(|it| it.kind == kind)
    }
}
