//! Recorded calls, instead of acts.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes as Size;

use super::{Group, WORKER_MARK};

/// Recorded calls. Each worker of the group replays all of them, one after the other. Plans contain
/// this description, but not the calls themselves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RecordedCalls")]
pub struct Trace {
    /// File that contains the calls.
    pub file: String,
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// A hash of its content (FNV-1a, 64 bits).
    pub file_hash: u64,
    /// Number of calls.
    pub calls_count: u64,
    /// Paths of files below the target; `{worker}` stands for the worker's number.
    pub names: Vec<String>,
    /// Maximum number of files that a worker has open at the same time.
    pub register_count: u8,
    /// Size of the largest read or write in bytes.
    pub buffer_bytes: u32,
    /// Bytes that the files of a worker take.
    pub space_bytes: u64,
    /// `true` if the calls start over after the last one.
    pub is_repeated: bool,
    /// `true` if each call waits for its recorded time.
    pub is_timed: bool,
    /// Maximum bytes per second of a worker; 0 for no limit.
    pub bytes_per_second: u64,
    /// `true` if each call is one request, without the lookups and checks around the calls of a
    /// file server, and if none that ends differently ends the replay.
    #[serde(default)]
    pub is_bare: bool,
    /// `true` if a missing name is looked up in the list of its directory.
    pub is_searching: bool,
    /// Whether every write is durable when it returns.
    pub is_sync: bool,
    /// `true` if each write is followed by a sync.
    pub syncs_writes: bool,
    /// `true` if the directory is synced after each name that is removed from it.
    pub syncs_directories: bool,
    /// The calls; empty in stored plans.
    #[serde(skip)]
    // All workers share the calls, which can be hundreds of thousands.
    pub calls: Arc<[TraceCall]>,
}

/// A recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceCall {
    /// Time of the call in nanoseconds from the first; for a pause, its length.
    pub due_ns: u64,
    /// Offset in the file; for a list, the maximum number of entries to read.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub bytes: u32,
    /// Index of the name.
    pub name: u32,
    /// For a rename, the index of the new name; for a read or write, the number of bytes that were
    /// moved.
    pub second: u32,
    /// Line in its file, from 1.
    pub line: u32,
    /// Operation.
    pub operation: TraceOperation,
    /// Register of the open file.
    pub handle: u8,
    /// Number of the label under which it is counted.
    pub label: u8,
    /// Recorded result.
    pub expected: TraceResult,
}

impl TraceCall {
    /// A call without further details.
    #[must_use]
    pub const fn new(operation: TraceOperation) -> Self {
        Self {
            due_ns: 0,
            offset_bytes: 0,
            bytes: 0,
            name: 0,
            second: 0,
            line: 0,
            operation,
            handle: 0,
            label: 0,
            expected: TraceResult::Any,
        }
    }
}

/// Operation of a recorded call. Operations by name look the name up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOperation {
    /// Opens a file and reads its attributes.
    Open(TraceOpenMode),
    /// Closes.
    Close,
    /// Renames.
    Rename,
    /// Removes a file.
    Unlink,
    /// Removes all files below a directory.
    EmptyTree,
    /// Removes a directory.
    Rmdir,
    /// Creates a directory.
    Mkdir,
    /// Only looks a name up.
    LookUp,
    /// Reads the attributes of the open file.
    StatOpen,
    /// Reads the attributes of the file system.
    Statfs,
    /// Reads the attributes of the open file, then sets its times by name.
    SetTimes,
    /// Reads the entries of the directory that contains a name.
    List,
    /// Writes.
    Write,
    /// Reads.
    Read,
    /// Locks a part of a file.
    Lock,
    /// Releases a lock.
    Unlock,
    /// Makes data and metadata durable.
    Fsync,
    /// Makes data durable.
    Fdatasync,
    /// Sets the length of the open file to the offset.
    Truncate,
    /// Pauses.
    Pause,
}

/// How a file is opened for reading and writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceOpenMode {
    /// The file must exist.
    Existing,
    /// The file is created if it does not exist.
    Created,
    /// The file is created or emptied.
    Truncated,
    /// A directory, created if it does not exist.
    Directory,
}

/// Recorded result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceResult {
    /// Success.
    Success,
    /// An error.
    Failure,
    /// Any result.
    Any,
}

impl TraceOperation {
    /// `true` if it looks its name up first.
    #[must_use]
    pub const fn looks_up(self) -> bool {
        matches!(
            self,
            Self::Open(_)
                | Self::Rename
                | Self::Unlink
                | Self::Rmdir
                | Self::Mkdir
                | Self::LookUp
                | Self::List
        )
    }

    /// `true` if a result that differs from the recorded one ends the replay.
    #[must_use]
    pub const fn must_end_as_recorded(self) -> bool {
        matches!(
            self,
            // dbench ends if one of these has another result than recorded. For other operations,
            // it prints a message at most.
            Self::Rename | Self::Unlink | Self::Rmdir | Self::Write
        )
    }

    /// `true` if it moves data.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

impl Trace {
    /// The names for a worker.
    #[must_use]
    pub fn names_of(&self, worker: u32) -> Vec<String> {
        let worker = worker.to_string();
        let names = self.names.iter();
        names.map(|it| it.replace(WORKER_MARK, &worker)).collect()
    }

    /// Memory that the calls take in bytes; all workers share it.
    #[must_use]
    pub const fn memory_bytes(&self) -> u64 {
        self.calls_count * size_of::<TraceCall>() as u64
    }

    /// Describes the trace in a few words.
    pub(super) fn words(&self) -> String {
        let times = match (self.is_timed, self.bytes_per_second) {
            (true, _) => " at their times".to_owned(),
            (false, 0) => String::new(),
            (false, rate) => format!(" with at most {} a second", Size(rate)),
        };
        let repeated = match self.is_repeated {
            true => " repeatedly",
            false => "",
        };
        format!(
            "the {} calls of {}{times}{repeated} ({} of memory)",
            self.calls_count,
            self.file,
            Size(self.memory_bytes())
        )
    }
}

impl Group {
    /// `true` if the recorded calls repeat without end.
    #[must_use]
    pub(super) fn is_endless_trace(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.is_repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_forty_bytes() {
        assert_eq!(size_of::<TraceCall>(), 40);
    }

    #[test]
    fn names_have_the_number_of_their_worker() {
        let trace = Trace {
            names: vec!["clients/client{worker}/a".to_owned(), "b".to_owned()],
            ..Trace::default()
        };
        assert_eq!(trace.names_of(3), ["clients/client3/a", "b"]);
    }
}
