//! Turns the calls of a trace into recorded calls of one worker.

use std::collections::{BTreeMap, HashMap};

use plan::program::{PIECE_BYTES_MAX, TraceCall, TraceOpenMode, TraceOperation as Op, TraceResult};
use trace::{CallKind, TraceNames, TracedCall, TracedOpen};

use super::names::{PathState, TracedFiles, relative_path};
use crate::recording::Recording;

/// Names of the calls in reports, in the order of their labels.
pub(super) const LABELS: [&str; 12] = [
    "open",
    "close",
    "read",
    "write",
    "fsync",
    "fdatasync",
    "truncate",
    "rename",
    "unlink",
    "rmdir",
    "mkdir",
    "stat",
];

/// Calls that are converted one after the other.
#[derive(Default)]
pub(super) struct CallConverter {
    pub recording: Recording,
    pub files: TracedFiles,
    /// Handles that are open for each path, the latest last.
    opened: HashMap<String, Vec<u64>>,
    next_handle: u64,
    /// Numbers of calls that are left out, by name.
    pub left_out: BTreeMap<String, u64>,
    /// Number of opens that were added, because the trace begins later.
    pub added_opens: u64,
    /// Number of opens with flags that the replay does not have.
    pub direct_opens: u64,
    pub sync_opens: u64,
}

impl CallConverter {
    /// Adds a call that starts at a time after the first, in nanoseconds.
    ///
    /// # Errors
    /// There are too many calls or open files, or a transfer is too large.
    pub fn add(
        &mut self,
        call: &TracedCall,
        names: &TraceNames,
        due_ns: u64,
    ) -> Result<(), String> {
        let Some(path) = relative_path(names.bytes(call.file)) else {
            self.leave_out(call, names);
            return Ok(());
        };
        let is_converted = match call.kind {
            _ if call.result.is_none() => false,
            CallKind::Open => self.open(call, &path, due_ns)?,
            CallKind::Close => self.close(&path, due_ns)?,
            CallKind::Read | CallKind::Write => self.transfer(call, &path, due_ns)?,
            CallKind::Fsync => self.on_open(&path, new_call(Op::Fsync, due_ns))?,
            CallKind::Fdatasync => self.on_open(&path, new_call(Op::Fdatasync, due_ns))?,
            CallKind::Resize => self.resize(call, &path, due_ns)?,
            CallKind::Rename => self.rename(call, names, &path, due_ns)?,
            CallKind::Remove => self.remove(call, names, &path, due_ns)?,
            CallKind::MakeDirectory => self.make_directory(call, &path, due_ns)?,
            CallKind::Stat => self.stat(call, &path, due_ns)?,
            CallKind::Other if is_lookup(names.bytes(call.name)) => {
                self.stat(call, &path, due_ns)?
            }
            CallKind::Seek | CallKind::Other => false,
        };
        if !is_converted {
            self.leave_out(call, names);
        }
        Ok(())
    }

    fn leave_out(&mut self, call: &TracedCall, names: &TraceNames) {
        *self.left_out.entry(names.text(call.name)).or_default() += 1;
    }

    fn open(&mut self, call: &TracedCall, path: &str, due_ns: u64) -> Result<bool, String> {
        let is_directory = call.open.has(TracedOpen::DIRECTORY);
        if failed(call) {
            return self.missing(Op::Open(TraceOpenMode::Existing), path, due_ns);
        }
        self.direct_opens += u64::from(call.open.has(TracedOpen::DIRECT));
        self.sync_opens += u64::from(call.open.has(TracedOpen::SYNC));
        let creates = call.open.has(TracedOpen::CREATE);
        let index = match self.files.state(path) {
            Some(PathState::Present(_)) => self.files.existing(path, is_directory),
            _ if creates => self.files.created(path, false),
            _ => self.files.existing(path, is_directory),
        };
        let mode = match (call.open.has(TracedOpen::TRUNCATE), creates) {
            _ if self.files.file(index).is_directory => TraceOpenMode::Directory,
            // Emptying an existing file is the same with and without creation.
            (true, _) => TraceOpenMode::Truncated,
            (false, true) => TraceOpenMode::Created,
            (false, false) => TraceOpenMode::Existing,
        };
        if mode == TraceOpenMode::Truncated {
            self.files.file(index).size_bytes = 0;
        }
        self.push_open(mode, path, due_ns).map(|_| true)
    }

    fn push_open(&mut self, mode: TraceOpenMode, path: &str, due_ns: u64) -> Result<u8, String> {
        let name = self.recording.name(path)?;
        self.next_handle += 1;
        let register = self.recording.open(self.next_handle, name, true)?;
        let handles = self.opened.entry(path.to_owned()).or_default();
        handles.push(self.next_handle);
        self.push(TraceCall {
            name,
            handle: register,
            ..new_call(Op::Open(mode), due_ns)
        })?;
        Ok(register)
    }

    fn close(&mut self, path: &str, due_ns: u64) -> Result<bool, String> {
        let Some(handle) = self.opened.get_mut(path).and_then(Vec::pop) else {
            return Ok(false);
        };
        let Some(opened) = self.recording.find(handle) else {
            return Ok(false);
        };
        self.push(TraceCall {
            name: opened.name,
            handle: opened.register,
            ..new_call(Op::Close, due_ns)
        })?;
        self.recording.close(handle);
        Ok(true)
    }

    /// The register of the file at a path, which is opened if it is not open.
    fn register(&mut self, path: &str, due_ns: u64) -> Result<(u8, u32), String> {
        let latest = self.opened.get(path).and_then(|it| it.last());
        if let Some(opened) = latest.and_then(|handle| self.recording.find(*handle)) {
            return Ok((opened.register, opened.name));
        }
        self.added_opens += 1;
        let index = self.files.existing(path, false);
        let mode = match self.files.file(index).is_directory {
            true => TraceOpenMode::Directory,
            false => TraceOpenMode::Existing,
        };
        let register = self.push_open(mode, path, due_ns)?;
        Ok((register, self.recording.name(path)?))
    }

    /// Adds a call on the file at a path, which is opened if it is not open.
    fn on_open(&mut self, path: &str, call: TraceCall) -> Result<bool, String> {
        let (handle, name) = self.register(path, call.due_ns)?;
        self.push(TraceCall {
            name,
            handle,
            ..call
        })?;
        Ok(true)
    }

    fn transfer(&mut self, call: &TracedCall, path: &str, due_ns: u64) -> Result<bool, String> {
        if failed(call) || call.length_bytes == 0 {
            return Ok(false);
        }
        let (handle, name) = self.register(path, due_ns)?;
        let index = self.files.existing(path, false);
        let file = self.files.file(index);
        // An append goes to the end. Other calls have no place if the file was open before.
        let begin = call.offset_bytes.unwrap_or(match call.kind {
            CallKind::Write => file.size_bytes,
            _ => 0,
        });
        let end = begin.saturating_add(call.length_bytes);
        let is_read = call.kind == CallKind::Read;
        if is_read && end > file.size_bytes {
            file.needed_bytes = file.needed_bytes.max(end);
        }
        file.size_bytes = file.size_bytes.max(end);
        let operation = if is_read { Op::Read } else { Op::Write };
        let mut offset_bytes = begin;
        while offset_bytes < end {
            let bytes = (end - offset_bytes).min(PIECE_BYTES_MAX);
            let mut piece = TraceCall {
                name,
                handle,
                second: bytes as u32,
                ..new_call(operation, due_ns)
            };
            self.recording.transfer(&mut piece, offset_bytes, bytes)?;
            self.push(piece)?;
            offset_bytes += bytes;
        }
        Ok(true)
    }

    fn resize(&mut self, call: &TracedCall, path: &str, due_ns: u64) -> Result<bool, String> {
        let size_bytes = call.offset_bytes.filter(|it| *it < 1 << 62);
        let Some(offset_bytes) = size_bytes.filter(|_| !failed(call)) else {
            return Ok(false);
        };
        let index = self.files.existing(path, false);
        self.files.file(index).size_bytes = offset_bytes;
        let call = TraceCall {
            offset_bytes,
            ..new_call(Op::Truncate, due_ns)
        };
        self.on_open(path, call)
    }

    fn rename(
        &mut self,
        call: &TracedCall,
        names: &TraceNames,
        path: &str,
        due_ns: u64,
    ) -> Result<bool, String> {
        let Some(to) = relative_path(names.bytes(call.second_file)) else {
            return Ok(false);
        };
        let is_link = names.bytes(call.name).starts_with(b"link");
        if failed(call) || is_link || path == to {
            return Ok(false);
        }
        self.files.rename(path, &to);
        if let Some(handles) = self.opened.remove(path) {
            self.opened.insert(to.clone(), handles);
        }
        let (name, second) = (self.recording.name(path)?, self.recording.name(&to)?);
        self.push(TraceCall {
            name,
            second,
            ..new_call(Op::Rename, due_ns)
        })?;
        Ok(true)
    }

    fn remove(
        &mut self,
        call: &TracedCall,
        names: &TraceNames,
        path: &str,
        due_ns: u64,
    ) -> Result<bool, String> {
        if failed(call) {
            return self.missing(Op::Unlink, path, due_ns);
        }
        let index = self
            .files
            .existing(path, names.bytes(call.name) == b"rmdir");
        let operation = match self.files.file(index).is_directory {
            true => Op::Rmdir,
            false => Op::Unlink,
        };
        self.files.remove(path);
        self.by_name(operation, path, TraceResult::Success, due_ns)
    }

    fn make_directory(
        &mut self,
        call: &TracedCall,
        path: &str,
        due_ns: u64,
    ) -> Result<bool, String> {
        if failed(call) {
            // Nearly always because it exists.
            self.files.existing(path, true);
            return self.by_name(Op::Mkdir, path, TraceResult::Failure, due_ns);
        }
        self.files.created(path, true);
        self.by_name(Op::Mkdir, path, TraceResult::Success, due_ns)
    }

    fn stat(&mut self, call: &TracedCall, path: &str, due_ns: u64) -> Result<bool, String> {
        if failed(call) {
            return self.missing(Op::LookUp, path, due_ns);
        }
        self.files.existing(path, false);
        self.by_name(Op::LookUp, path, TraceResult::Success, due_ns)
    }

    /// A call that found nothing; other failures have causes that the replay does not have.
    fn missing(&mut self, operation: Op, path: &str, due_ns: u64) -> Result<bool, String> {
        match self.files.state(path) {
            Some(PathState::Present(_)) => return Ok(false),
            Some(PathState::Absent) => {}
            None => self.files.remove(path),
        }
        // A failed open needs a register for its file, which it never has.
        let operation = match operation {
            Op::Open(_) => Op::LookUp,
            other => other,
        };
        self.by_name(operation, path, TraceResult::Failure, due_ns)
    }

    fn by_name(
        &mut self,
        operation: Op,
        path: &str,
        expected: TraceResult,
        due_ns: u64,
    ) -> Result<bool, String> {
        let name = self.recording.name(path)?;
        self.push(TraceCall {
            name,
            expected,
            ..new_call(operation, due_ns)
        })?;
        Ok(true)
    }

    fn push(&mut self, call: TraceCall) -> Result<(), String> {
        self.recording.push(call)
    }
}

fn failed(call: &TracedCall) -> bool {
    call.result.is_some_and(|result| result < 0)
}

/// Calls that look a name up and return what the inode holds.
fn is_lookup(name: &[u8]) -> bool {
    name.starts_with(b"access") || name.starts_with(b"faccessat")
}

fn new_call(operation: Op, due_ns: u64) -> TraceCall {
    TraceCall {
        due_ns,
        expected: TraceResult::Success,
        label: label(operation),
        ..TraceCall::new(operation)
    }
}

/// Index in [`LABELS`].
pub(super) fn label(operation: Op) -> u8 {
    match operation {
        Op::Open(_) => 0,
        Op::Close => 1,
        Op::Read => 2,
        Op::Write => 3,
        Op::Fsync => 4,
        Op::Fdatasync => 5,
        Op::Truncate => 6,
        Op::Rename => 7,
        Op::Unlink => 8,
        Op::Rmdir => 9,
        Op::Mkdir => 10,
        _ => 11,
    }
}
