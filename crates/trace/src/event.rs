//! The common form of all traces: requests and calls.

use crate::names::NameId;

/// Direction or purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TracedKind {
    /// Data is read.
    Read,
    /// Data is written.
    Write,
    /// Data is discarded (trim, unmap, secure erase).
    Discard,
    /// The device's cache is flushed.
    Flush,
    /// Neither: commands without sectors, reads past the end, rows without a type.
    Other,
}

impl TracedKind {
    /// All kinds in the order of tables and of their numbers, which pgmeter's own traces contain.
    pub const ALL: [Self; 5] = [
        Self::Read,
        Self::Write,
        Self::Discard,
        Self::Flush,
        Self::Other,
    ];

    /// Name in tables and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Discard => "discard",
            Self::Flush => "flush",
            Self::Other => "other",
        }
    }
}

/// Point on the way of a request at which it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceLayer {
    /// The only record of the request, as in published traces.
    Request,
    /// The file system or a program queued it; requests are merged and split afterwards.
    Queue,
    /// It was issued to the driver: the work of the device.
    Issue,
    /// It was completed.
    Complete,
    /// The driver returned it; it will be issued again.
    Requeue,
}

impl TraceLayer {
    /// Number of layers.
    pub const COUNT: usize = 5;
    /// All layers in the order of their numbers, which pgmeter's own traces contain.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::Request,
        Self::Queue,
        Self::Issue,
        Self::Complete,
        Self::Requeue,
    ];

    /// Name in tables and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Queue => "queue",
            Self::Issue => "issue",
            Self::Complete => "completion",
            Self::Requeue => "requeue",
        }
    }
}

/// A request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest {
    /// Time of arrival in nanoseconds, since the epoch or the start of the recording.
    pub time_ns: i64,
    /// First byte on the device or in the file; 0 for flushes.
    pub offset_bytes: u64,
    /// Length; 0 for flushes.
    pub length_bytes: u64,
    /// Time to the completion in nanoseconds, if it was recorded.
    pub latency_ns: Option<u64>,
    /// Number of the line or record, from 1.
    pub row: u64,
    /// Device, volume or file.
    pub device: NameId,
    /// Name of the process, if it was recorded.
    pub process: NameId,
    /// Process, or 0 if it was not recorded.
    pub pid: u32,
    /// Direction.
    pub kind: TracedKind,
    /// Point of recording.
    pub layer: TraceLayer,
    /// `true` if the device must write through its cache (FUA).
    pub is_forced: bool,
}

impl TraceRequest {
    /// A request of unknown time, device and process.
    pub(crate) fn new(kind: TracedKind, layer: TraceLayer, row: u64) -> Self {
        Self {
            time_ns: 0,
            offset_bytes: 0,
            length_bytes: 0,
            latency_ns: None,
            row,
            device: NameId::UNKNOWN,
            process: NameId::UNKNOWN,
            pid: 0,
            kind,
            layer,
            is_forced: false,
        }
    }

    /// First byte after the request.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}

/// Meaning of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// Opens or creates a file.
    Open,
    /// Closes a file.
    Close,
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Writes data and metadata of a file to the device.
    Fsync,
    /// Writes the data of a file to the device.
    Fdatasync,
    /// Moves the position in a file.
    Seek,
    /// Changes the size or the allocated space of a file.
    Resize,
    /// Renames or links a file.
    Rename,
    /// Removes a file or directory.
    Remove,
    /// Creates a directory.
    MakeDirectory,
    /// Reads attributes.
    Stat,
    /// All other calls.
    Other,
}

/// How a call opens a file; empty for other calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TracedOpen(u8);

impl TracedOpen {
    /// The file is created if it does not exist.
    pub const CREATE: Self = Self(1);
    /// The file is emptied.
    pub const TRUNCATE: Self = Self(2);
    /// The file must be a directory.
    pub const DIRECTORY: Self = Self(4);
    /// Data is durable when a write returns.
    pub const SYNC: Self = Self(8);
    /// The page cache is not used.
    pub const DIRECT: Self = Self(16);

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// `true` if it includes all of the other.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A system call of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracedCall {
    /// Time of the start in nanoseconds.
    pub time_ns: i64,
    /// Duration in nanoseconds, if it was recorded.
    pub duration_ns: Option<u64>,
    /// Offset in the file, if it is known; the new size for `truncate` and `ftruncate`.
    pub offset_bytes: Option<u64>,
    /// Number of bytes that were moved.
    pub length_bytes: u64,
    /// Returned value; `None` if the call did not return, negative if it failed.
    pub result: Option<i64>,
    /// Number of the line, from 1.
    pub row: u64,
    /// Thread, or 0 if it was not recorded.
    pub thread: u32,
    /// Name of the call.
    pub name: NameId,
    /// Path of the file; unknown if it is no file.
    pub file: NameId,
    /// Second path, such as the new name of a file.
    pub second_file: NameId,
    /// Meaning of the call.
    pub kind: CallKind,
    /// How it opens its file. Traces in pgmeter's own form do not contain it.
    pub open: TracedOpen,
}

/// Requests or calls of a trace; each trace has one of the two.
#[derive(Debug, Default)]
pub struct TraceBatch {
    /// Requests.
    pub requests: Vec<TraceRequest>,
    /// Calls.
    pub calls: Vec<TracedCall>,
}

impl TraceBatch {
    /// Removes everything.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.calls.clear();
    }

    /// Number of requests and calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len() + self.calls.len()
    }

    /// `true` if there are neither requests nor calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
