//! Recorded calls, in the place of acts.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes as Size;

use super::{Group, WORKER_MARK};

/// Calls as they were recorded elsewhere; each worker of the group carries out all of them, one
/// after the other. What is said here goes with the plan, the calls themselves do not.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RecordedCalls")]
pub struct Trace {
    /// The file that they are from.
    pub file: String,
    /// Its length in bytes.
    pub file_bytes: u64,
    /// A hash of its content (FNV-1a, 64 bits).
    pub file_hash: u64,
    /// How many calls there are.
    pub calls_count: u64,
    /// Names with their way below the target; `{worker}` stands for the worker's number.
    pub names: Vec<String>,
    /// Files that a worker has open at once, at most.
    pub register_count: u8,
    /// Bytes of the largest read or write.
    pub buffer_bytes: u32,
    /// Bytes that the files of a worker take.
    pub space_bytes: u64,
    /// Whether the calls begin anew behind the last one.
    pub is_repeated: bool,
    /// Whether each call waits for the time that it was recorded at.
    pub is_timed: bool,
    /// Bytes a second that a worker moves at most; 0 for any.
    pub bytes_per_second: u64,
    /// Whether a name that is not found is looked for among those of its directory.
    pub is_searching: bool,
    /// Whether every write is durable when it returns.
    pub is_sync: bool,
    /// Whether each write is made durable behind it.
    pub syncs_writes: bool,
    /// Whether a directory is made durable behind each name that is taken out of it.
    pub syncs_directories: bool,
    /// The calls; none in what was stored.
    #[serde(skip)]
    pub calls: Arc<[TraceCall]>,
}

/// A recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceCall {
    /// When it was made, in nanoseconds from the first; of a pause how long it is.
    pub due_ns: u64,
    /// Where in the file; of a list how many entries are read at most.
    pub place_bytes: u64,
    /// How much.
    pub bytes: u32,
    /// The number of the name.
    pub name: u32,
    /// The number of the other name of a rename; of a read or write how much was moved.
    pub second: u32,
    /// Where it stands in its file, from 1.
    pub line: u32,
    /// What it does.
    pub operation: TraceOperation,
    /// The register.
    pub handle: u8,
    /// The number of the label that it is counted under.
    pub label: u8,
    /// How it was recorded to end.
    pub expected: TraceEnd,
}

impl TraceCall {
    /// A call of which nothing else is known.
    #[must_use]
    pub const fn new(operation: TraceOperation) -> Self {
        Self {
            due_ns: 0,
            place_bytes: 0,
            bytes: 0,
            name: 0,
            second: 0,
            line: 0,
            operation,
            handle: 0,
            label: 0,
            expected: TraceEnd::Any,
        }
    }
}

/// What a recorded call does. Those by name look the name up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOperation {
    /// Opens a file and asks for its attributes.
    Open(TraceWay),
    /// Closes.
    Close,
    /// Renames.
    Rename,
    /// Removes a file.
    Unlink,
    /// Removes all files below a name.
    EmptyTree,
    /// Removes a directory.
    Rmdir,
    /// Makes a directory.
    Mkdir,
    /// Looks a name up and no more.
    LookUp,
    /// Asks for the attributes of what is open.
    StatOpen,
    /// Asks for the attributes of the file system.
    Statfs,
    /// Asks for the attributes of what is open, then sets its times by name.
    SetTimes,
    /// Reads the entries of the directory that a name is in.
    List,
    /// Writes.
    Write,
    /// Reads.
    Read,
    /// Locks a part of a file.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Makes data and metadata durable.
    Fsync,
    /// Waits.
    Pause,
}

/// How a file is opened to read and to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TraceWay {
    /// It must be there.
    Existing,
    /// It is made where it is not there.
    Made,
    /// It is made or emptied.
    Emptied,
    /// It is a directory, made where it is not there.
    Directory,
}

/// How a call was recorded to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceEnd {
    /// Well.
    Well,
    /// With an error.
    Ill,
    /// However.
    Any,
}

impl TraceOperation {
    /// Whether it looks its name up first.
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

    /// Whether another end than the recorded one ends the whole.
    #[must_use]
    pub const fn must_end_as_recorded(self) -> bool {
        matches!(
            self,
            Self::Rename | Self::Unlink | Self::Rmdir | Self::Write
        )
    }

    /// Whether it moves bytes.
    #[must_use]
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

impl Trace {
    /// The names as a worker has them.
    #[must_use]
    pub fn names_of(&self, worker: u32) -> Vec<String> {
        let worker = worker.to_string();
        let names = self.names.iter();
        names.map(|it| it.replace(WORKER_MARK, &worker)).collect()
    }

    /// Bytes of memory that the calls take, for all workers together.
    #[must_use]
    pub const fn memory_bytes(&self) -> u64 {
        self.calls_count * size_of::<TraceCall>() as u64
    }

    /// In a few words.
    pub(super) fn words(&self) -> String {
        let times = match (self.is_timed, self.bytes_per_second) {
            (true, _) => " at their times".to_owned(),
            (false, 0) => String::new(),
            (false, rate) => format!(" with at most {} a second", Size(rate)),
        };
        let repeated = match self.is_repeated {
            true => " over and over",
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
    /// Whether recorded calls go on for ever.
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
