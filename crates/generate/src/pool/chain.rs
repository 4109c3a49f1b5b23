//! An operation of the stream as a chain of requests.

use engine::{OpenAccess, Operation as Primitive, Request, RequestObject};
use plan::program::Fsync;

use super::{CallPattern, PoolCall, PoolDirectory, PoolStep, ReadCalls, WriteCalls};

/// Rules for all chains of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainRules {
    pub(super) reads: CallPattern,
    pub(super) writes: CallPattern,
    pub(super) fsync: Fsync,
    /// `true` if reads and writes give their offset in the file.
    pub(super) has_file_offsets: bool,
    /// `true` if a file that needs only one read is opened, read and closed by one request.
    pub(super) reads_whole: bool,
    /// Subdirectories per location; 0 if files are in the location itself.
    pub(super) subdirectories_count: u32,
}

impl ChainRules {
    /// Number of a directory, counted through all locations.
    #[inline]
    pub(super) const fn directory_number(&self, directory: PoolDirectory) -> u32 {
        match directory.subdirectory_index {
            Some(index) => directory.location_index * self.subdirectories_count + index,
            None => directory.location_index,
        }
    }
}

/// Operation of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    pub(super) operation: PoolStep,
    stage: ChainStage,
    file_index: u32,
    directory_number: u32,
    content: ChainCalls,
    /// `true` if one request performs the whole operation.
    is_single_request: bool,
    pub(super) handle: HandleUse,
}

/// Use of a file's handle in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HandleUse {
    /// Opened and closed.
    Transient,
    /// Opened, and left open.
    Opened,
    /// Already open, and left open.
    Open,
    /// Already open, and closed.
    Closed,
}

/// The slot's next request, or the one in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainStage {
    /// The chain is done.
    Idle,
    /// Closes a file that was already open.
    CloseBefore,
    /// Opens or creates a file, or performs an operation of a single request.
    First,
    Content,
    Sync,
    Close,
    SyncDirectory,
}

#[derive(Debug, Clone, Copy)]
enum ChainCalls {
    None,
    Read(ReadCalls),
    Write(WriteCalls),
}

/// State of a chain after a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChainState {
    /// There are further requests.
    More,
    Done,
    /// The first request failed, which ends the chain.
    Failed,
}

impl Chain {
    /// A chain that is done.
    pub(super) const IDLE: Self = Self {
        operation: PoolStep::Mark(super::PoolMark::Deleted),
        stage: ChainStage::Idle,
        file_index: 0,
        directory_number: 0,
        content: ChainCalls::None,
        is_single_request: false,
        handle: HandleUse::Transient,
    };

    /// The chain of an operation, which must not be a mark.
    #[inline]
    pub(super) fn new(operation: PoolStep, rules: &ChainRules, handle: HandleUse) -> Self {
        let (file_index, directory) = match operation {
            PoolStep::Create { file, .. }
            | PoolStep::Read { file, .. }
            | PoolStep::Append { file, .. }
            | PoolStep::Delete { file } => (file.number, file.directory),
            PoolStep::MakeDirectory(directory) | PoolStep::RemoveDirectory(directory) => {
                (0, directory)
            }
            PoolStep::Mark(_) => unreachable!("a mark asks for nothing"),
        };
        let content = match operation {
            PoolStep::Create { size_bytes, .. } => {
                ChainCalls::Write(WriteCalls::new(size_bytes, rules.writes))
            }
            PoolStep::Append { appended_bytes, .. } => {
                ChainCalls::Write(WriteCalls::new(appended_bytes, rules.writes))
            }
            PoolStep::Read { size_bytes, .. } => {
                ChainCalls::Read(ReadCalls::new(size_bytes, rules.reads))
            }
            _ => ChainCalls::None,
        };
        Self {
            operation,
            stage: match handle {
                HandleUse::Transient | HandleUse::Opened => ChainStage::First,
                HandleUse::Open => ChainStage::Content,
                HandleUse::Closed => ChainStage::CloseBefore,
            },
            file_index,
            directory_number: rules.directory_number(directory),
            content,
            is_single_request: match &content {
                ChainCalls::Read(calls) => {
                    // A file that is open before or after the read needs a handle.
                    rules.reads_whole && handle == HandleUse::Transient && calls.is_one()
                }
                _ => false,
            },
            handle,
        }
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.stage == ChainStage::Idle
    }

    /// The request to issue next.
    #[inline]
    pub(super) fn request(&self, slot: u32, rules: &ChainRules) -> Request {
        let (operation, offset_bytes) = match self.stage {
            ChainStage::First if self.is_single_request => return self.whole_request(slot, rules),
            ChainStage::First => self.first(),
            ChainStage::Content => return self.move_request(slot, rules),
            ChainStage::Sync => (Primitive::Fsync, 0),
            ChainStage::Close | ChainStage::CloseBefore => (Primitive::Close, 0),
            ChainStage::SyncDirectory => (Primitive::Fsync, RequestObject::Directory.code()),
            ChainStage::Idle => unreachable!("an idle slot has been given its operation"),
        };
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: self.file_index,
            // Operations on names have their directory in this field.
            length_bytes: self.directory_number,
            offset_bytes,
        }
    }

    /// This request has its directory in the field that others use for the offset.
    #[inline]
    fn whole_request(&self, slot: u32, rules: &ChainRules) -> Request {
        Request {
            operation: Primitive::ReadWhole,
            offset_bytes: self.directory_number.into(),
            ..self.move_request(slot, rules)
        }
    }

    #[inline]
    fn first(&self) -> (Primitive, u64) {
        match self.operation {
            PoolStep::Create { .. } => (Primitive::Create, 0),
            // A file that stays open is opened for all operations.
            PoolStep::Read { .. } | PoolStep::Append { .. } if self.handle == HandleUse::Opened => {
                (Primitive::Open, OpenAccess::ReadWrite.code())
            }
            PoolStep::Read { .. } => (Primitive::Open, OpenAccess::Read.code()),
            PoolStep::Append { .. } => (Primitive::Open, OpenAccess::Append.code()),
            PoolStep::MakeDirectory(_) => (Primitive::Mkdir, RequestObject::Directory.code()),
            PoolStep::RemoveDirectory(_) => (Primitive::Rmdir, RequestObject::Directory.code()),
            PoolStep::Delete { .. } | PoolStep::Mark(_) => (Primitive::Unlink, 0),
        }
    }

    #[inline]
    fn move_request(&self, slot: u32, rules: &ChainRules) -> Request {
        let (operation, call) = match &self.content {
            ChainCalls::Read(calls) => (Primitive::Read, calls.call()),
            ChainCalls::Write(calls) => (Primitive::Write, calls.call()),
            ChainCalls::None => (Primitive::Read, None),
        };
        let call = call.expect("content is moved while there are calls");
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: self.file_index,
            length_bytes: call.length_bytes,
            offset_bytes: self.offset_bytes(call, rules),
        }
    }

    #[inline]
    fn offset_bytes(&self, call: PoolCall, rules: &ChainRules) -> u64 {
        // The text selects its bytes by this offset. The engine writes at the file's position.
        if !rules.has_file_offsets {
            return call.offset_bytes.into();
        }
        let start_bytes = match self.operation {
            PoolStep::Append { size_bytes, .. } => size_bytes,
            _ => 0,
        };
        let moved_bytes = match &self.content {
            // Refused data leaves no hole, like writes at the file's own position.
            ChainCalls::Write(calls) => calls.written_bytes(),
            _ => call.offset_bytes,
        };
        u64::from(start_bytes) + u64::from(moved_bytes)
    }

    /// Number of bytes that a request of the chain moves if it succeeds.
    #[inline]
    pub(super) fn expected_bytes(&self, request: &Request) -> u32 {
        match &self.content {
            ChainCalls::Read(calls)
                if matches!(request.operation, Primitive::Read | Primitive::ReadWhole) =>
            {
                calls.expected_bytes()
            }
            _ => request.length_bytes,
        }
    }

    /// Records the completion of the chain's request.
    #[inline]
    pub(super) fn settle(&mut self, result: i32, rules: &ChainRules) -> ChainState {
        if self.stage == ChainStage::First && result < 0 {
            self.stage = ChainStage::Idle;
            return ChainState::Failed;
        }
        if self.is_single_request {
            self.stage = ChainStage::Idle;
            return ChainState::Done;
        }
        // The original ignores failed and short reads and writes, so the chain continues.
        if self.stage == ChainStage::Content {
            match &mut self.content {
                ChainCalls::Read(calls) => calls.settle(result.into()),
                ChainCalls::Write(calls) => {
                    calls.settle(result.into());
                }
                ChainCalls::None => {}
            }
        }
        self.stage = self.stage_after(rules);
        if self.stage == ChainStage::Idle {
            ChainState::Done
        } else {
            ChainState::More
        }
    }

    #[inline]
    fn stage_after(&self, rules: &ChainRules) -> ChainStage {
        let is_written = matches!(self.content, ChainCalls::Write(_));
        match self.stage {
            ChainStage::First | ChainStage::Content => match &self.content {
                ChainCalls::Read(calls) if calls.call().is_some() => ChainStage::Content,
                ChainCalls::Write(calls) if calls.call().is_some() => ChainStage::Content,
                ChainCalls::Write(_) if rules.fsync != Fsync::None => ChainStage::Sync,
                ChainCalls::Read(_) | ChainCalls::Write(_) => self.close_stage(rules),
                ChainCalls::None => self.directory_stage(rules),
            },
            ChainStage::CloseBefore => ChainStage::First,
            ChainStage::Sync => self.close_stage(rules),
            ChainStage::Close if is_written => self.directory_stage(rules),
            ChainStage::Close | ChainStage::SyncDirectory | ChainStage::Idle => ChainStage::Idle,
        }
    }

    /// Close the file, unless it stays open.
    #[inline]
    fn close_stage(&self, rules: &ChainRules) -> ChainStage {
        match (self.handle, &self.content) {
            (HandleUse::Transient | HandleUse::Closed, _) => ChainStage::Close,
            (_, ChainCalls::Write(_)) => self.directory_stage(rules),
            _ => ChainStage::Idle,
        }
    }

    /// Sync the directory of a created or removed file, if requested.
    const fn directory_stage(&self, rules: &ChainRules) -> ChainStage {
        let is_changed = matches!(
            self.operation,
            PoolStep::Create { .. } | PoolStep::Delete { .. }
        );
        match rules.fsync {
            Fsync::PerTransaction if is_changed => ChainStage::SyncDirectory,
            _ => ChainStage::Idle,
        }
    }
}
