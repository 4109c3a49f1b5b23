//! Requests that were recorded, to be made again.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The requests of a log, which a job makes in their order instead of requests of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedPlan {
    /// The name of the log.
    pub log: String,
    /// How many requests it has.
    pub request_count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// When the last of them is due, in nanoseconds; 0 where each follows the one before at once.
    pub last_due_ns: u64,
    /// The requests; results do not keep them.
    #[serde(skip)]
    pub acts: Arc<[RecordedAct]>,
}

/// A recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedAct {
    /// When it is due, in nanoseconds from the beginning of the log; never before the one before.
    pub due_ns: u64,
    /// What it asks for.
    pub kind: RecordedKind,
    /// Which of the job's files.
    pub part_index: u32,
    /// Bytes; 0 for a sync.
    pub length_bytes: u32,
    /// First byte in that file.
    pub offset_bytes: u64,
}

/// A request of a job that was taken down, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotedRequest {
    /// The request; its time is when it was issued, counted from the first request.
    pub act: RecordedAct,
    /// Its place in the order in which requests were issued.
    pub index: u32,
    /// Bytes that it moved; 0 where it failed.
    pub moved_bytes: u32,
    /// When it completed, in nanoseconds from the first request.
    pub done_ns: u64,
}

/// What a recorded request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    /// Data of a file.
    Read,
    /// To put data into a file.
    Write,
    /// That a file is made durable.
    Fsync,
    /// That a file's data is made durable.
    Fdatasync,
}

impl RecordedPlan {
    /// Requests of a log, in the order of their due times.
    #[must_use]
    pub fn new(log: String, acts: Arc<[RecordedAct]>) -> Self {
        Self {
            log,
            request_count: acts.len() as u64,
            bytes: acts.iter().map(|it| u64::from(it.length_bytes)).sum(),
            last_due_ns: acts.last().map_or(0, |it| it.due_ns),
            acts,
        }
    }

    /// Whether requests are due at times of their own.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        self.last_due_ns > 0
    }

    /// Whether there is a request of a kind.
    #[must_use]
    pub fn has(&self, kind: RecordedKind) -> bool {
        self.acts.iter().any(|it| it.kind == kind)
    }
}
