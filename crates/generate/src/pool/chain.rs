//! One operation of the stream as a chain of requests.

use engine::{Access, Aim, Operation as Primitive, Request};
use plan::program::Fsync;

use super::{Call, CallPattern, Operation, PoolDirectory, ReadCalls, WriteCalls};

/// What is the same for all chains of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) reads: CallPattern,
    pub(super) writes: CallPattern,
    pub(super) fsync: Fsync,
    /// Whether reads and writes say where in the file they go.
    pub(super) has_file_offsets: bool,
    /// Whether a file that takes one read is opened, read and closed by one request.
    pub(super) reads_whole: bool,
    /// Subdirectories of each location, 0 if files lie in the location itself.
    pub(super) subdirectories_count: u32,
}

impl Rules {
    /// The number of a directory among those of all locations.
    #[inline]
    pub(super) const fn directory_number(&self, directory: PoolDirectory) -> u32 {
        match directory.subdirectory_index {
            Some(index) => directory.location_index * self.subdirectories_count + index,
            None => directory.location_index,
        }
    }
}

/// What a slot works on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain {
    pub(super) operation: Operation,
    stage: Stage,
    file_index: u32,
    directory_number: u32,
    content: Content,
    /// Whether one request does it all.
    is_whole: bool,
    pub(super) handle: Handle,
}

/// What becomes of a file's handle in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handle {
    /// Opened and closed.
    Passing,
    /// Opened, to stay open.
    Opened,
    /// Open before, and behind.
    Open,
    /// Open before, and closed.
    Closed,
}

/// What the slot does next, or has in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing: the chain is done.
    Idle,
    /// Closes what was open before.
    CloseBefore,
    /// Opens, creates or does the operation's only request.
    First,
    Content,
    Sync,
    Close,
    SyncDirectory,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    None,
    Read(ReadCalls),
    Write(WriteCalls),
}

/// What a completion means for its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// There is more to do.
    More,
    /// The chain is done.
    Done,
    /// Its first request failed, so there was no more to do.
    Failed,
}

impl Chain {
    /// A chain that is done.
    pub(super) const IDLE: Self = Self {
        operation: Operation::Mark(super::Mark::Deleted),
        stage: Stage::Idle,
        file_index: 0,
        directory_number: 0,
        content: Content::None,
        is_whole: false,
        handle: Handle::Passing,
    };

    /// The chain of an operation, which must not be a mark.
    #[inline]
    pub(super) fn new(operation: Operation, rules: &Rules, handle: Handle) -> Self {
        let (file_index, directory) = match operation {
            Operation::Create { file, .. }
            | Operation::Read { file, .. }
            | Operation::Append { file, .. }
            | Operation::Delete { file } => (file.number, file.directory),
            Operation::MakeDirectory(directory) | Operation::RemoveDirectory(directory) => {
                (0, directory)
            }
            Operation::Mark(_) => unreachable!("a mark asks for nothing"),
        };
        let content = match operation {
            Operation::Create { size_bytes, .. } => {
                Content::Write(WriteCalls::new(size_bytes, rules.writes))
            }
            Operation::Append { appended_bytes, .. } => {
                Content::Write(WriteCalls::new(appended_bytes, rules.writes))
            }
            Operation::Read { size_bytes, .. } => {
                Content::Read(ReadCalls::new(size_bytes, rules.reads))
            }
            _ => Content::None,
        };
        Self {
            operation,
            stage: match handle {
                Handle::Passing | Handle::Opened => Stage::First,
                Handle::Open => Stage::Content,
                Handle::Closed => Stage::CloseBefore,
            },
            file_index,
            directory_number: rules.directory_number(directory),
            content,
            is_whole: match &content {
                Content::Read(calls) => {
                    rules.reads_whole && handle == Handle::Passing && calls.is_one()
                }
                _ => false,
            },
            handle,
        }
    }

    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// The request to issue next.
    #[inline]
    pub(super) fn request(&self, slot: u32, rules: &Rules) -> Request {
        let (operation, offset_bytes) = match self.stage {
            Stage::First if self.is_whole => return self.whole_request(slot, rules),
            Stage::First => self.first(),
            Stage::Content => return self.move_request(slot, rules),
            Stage::Sync => (Primitive::Fsync, 0),
            Stage::Close | Stage::CloseBefore => (Primitive::Close, 0),
            Stage::SyncDirectory => (Primitive::Fsync, Aim::Directory.code()),
            Stage::Idle => unreachable!("an idle slot has been given its operation"),
        };
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: self.file_index,
            // Operations on names find their directory here.
            length_bytes: self.directory_number,
            offset_bytes,
        }
    }

    /// Its directory is where others have their offset.
    #[inline]
    fn whole_request(&self, slot: u32, rules: &Rules) -> Request {
        Request {
            operation: Primitive::ReadWhole,
            offset_bytes: self.directory_number.into(),
            ..self.move_request(slot, rules)
        }
    }

    #[inline]
    fn first(&self) -> (Primitive, u64) {
        match self.operation {
            Operation::Create { .. } => (Primitive::Create, 0),
            // What stays open serves every operation.
            Operation::Read { .. } | Operation::Append { .. } if self.handle == Handle::Opened => {
                (Primitive::Open, Access::ReadWrite.code())
            }
            Operation::Read { .. } => (Primitive::Open, Access::Read.code()),
            Operation::Append { .. } => (Primitive::Open, Access::Append.code()),
            Operation::MakeDirectory(_) => (Primitive::Mkdir, Aim::Directory.code()),
            Operation::RemoveDirectory(_) => (Primitive::Rmdir, Aim::Directory.code()),
            Operation::Delete { .. } | Operation::Mark(_) => (Primitive::Unlink, 0),
        }
    }

    #[inline]
    fn move_request(&self, slot: u32, rules: &Rules) -> Request {
        let (operation, call) = match &self.content {
            Content::Read(calls) => (Primitive::Read, calls.call()),
            Content::Write(calls) => (Primitive::Write, calls.call()),
            Content::None => (Primitive::Read, None),
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
    fn offset_bytes(&self, call: Call, rules: &Rules) -> u64 {
        if !rules.has_file_offsets {
            return call.at_bytes.into();
        }
        let start_bytes = match self.operation {
            Operation::Append { size_bytes, .. } => size_bytes,
            _ => 0,
        };
        let moved_bytes = match &self.content {
            // What an error refused leaves no hole, as where the file's own position is used.
            Content::Write(calls) => calls.written_bytes(),
            _ => call.at_bytes,
        };
        u64::from(start_bytes) + u64::from(moved_bytes)
    }

    /// Bytes that a request of the chain moves if all goes well.
    #[inline]
    pub(super) fn expected_bytes(&self, request: &Request) -> u32 {
        match &self.content {
            Content::Read(calls)
                if matches!(request.operation, Primitive::Read | Primitive::ReadWhole) =>
            {
                calls.expected_bytes()
            }
            _ => request.length_bytes,
        }
    }

    /// Takes note of the completion of the request.
    #[inline]
    pub(super) fn settle(&mut self, result: i32, rules: &Rules) -> After {
        if self.stage == Stage::First && result < 0 {
            self.stage = Stage::Idle;
            return After::Failed;
        }
        if self.is_whole {
            self.stage = Stage::Idle;
            return After::Done;
        }
        if self.stage == Stage::Content {
            match &mut self.content {
                Content::Read(calls) => calls.settle(result.into()),
                Content::Write(calls) => {
                    calls.settle(result.into());
                }
                Content::None => {}
            }
        }
        self.stage = self.stage_after(rules);
        if self.stage == Stage::Idle {
            After::Done
        } else {
            After::More
        }
    }

    #[inline]
    fn stage_after(&self, rules: &Rules) -> Stage {
        let is_written = matches!(self.content, Content::Write(_));
        match self.stage {
            Stage::First | Stage::Content => match &self.content {
                Content::Read(calls) if calls.call().is_some() => Stage::Content,
                Content::Write(calls) if calls.call().is_some() => Stage::Content,
                Content::Write(_) if rules.fsync != Fsync::None => Stage::Sync,
                Content::Read(_) | Content::Write(_) => self.close_stage(rules),
                Content::None => self.directory_stage(rules),
            },
            Stage::CloseBefore => Stage::First,
            Stage::Sync => self.close_stage(rules),
            Stage::Close if is_written => self.directory_stage(rules),
            Stage::Close | Stage::SyncDirectory | Stage::Idle => Stage::Idle,
        }
    }

    /// Closing the file, unless it stays open.
    #[inline]
    fn close_stage(&self, rules: &Rules) -> Stage {
        match (self.handle, &self.content) {
            (Handle::Passing | Handle::Closed, _) => Stage::Close,
            (_, Content::Write(_)) => self.directory_stage(rules),
            _ => Stage::Idle,
        }
    }

    /// Syncing the directory of a file that was made or removed, if that is asked for.
    const fn directory_stage(&self, rules: &Rules) -> Stage {
        let is_changed = matches!(
            self.operation,
            Operation::Create { .. } | Operation::Delete { .. }
        );
        match rules.fsync {
            Fsync::PerTransaction if is_changed => Stage::SyncDirectory,
            _ => Stage::Idle,
        }
    }
}
