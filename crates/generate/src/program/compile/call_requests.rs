//! Requests of a call to an engine.

use engine::{Operation, Request, RequestObject};
use plan::program::{Call, CallObject, CallPosition, FileOperation};

use super::Compiler;
use crate::program::code::OffsetForm;

/// Permissions set on files: read and write for the owner, read for all others.
const CHMOD_MODE: u64 = 0o644;

impl Compiler<'_> {
    /// `true` if the call leaves a file empty when it opens it.
    pub(super) fn is_emptying(&self, call: &Call) -> bool {
        let mode = self.context.program.ways.get(usize::from(call.way));
        let is_truncating = mode.is_some_and(|mode| mode.is_truncating);
        match call.operation {
            // A file that must not exist before is empty after its creation.
            FileOperation::Create => is_truncating || mode.is_none_or(|mode| !mode.takes_existing),
            operation => operation.opens() && is_truncating,
        }
    }

    /// Meaning of the offset in a call's requests.
    pub(super) fn form(&self, call: &Call, code: u64) -> OffsetForm {
        match call.operation {
            FileOperation::Truncate => OffsetForm::Length,
            operation if operation.has_attribute() => OffsetForm::Attribute(call.attribute),
            operation if operation.has_second_name() => OffsetForm::Second,
            operation if !operation.moves() => OffsetForm::Code(code),
            _ => match self.context.program.way_of(self.context.group, call.handle) {
                Some(way) if way.seeks && matches!(call.place, CallPosition::Dealt { .. }) => {
                    OffsetForm::Seek
                }
                // Checked content follows from the offset, so requests must state it.
                Some(way) if way.uses_file_offset() && !self.context.is_checked => {
                    OffsetForm::Position {
                        unit_bytes: way.unit_bytes,
                    }
                }
                _ => OffsetForm::Offset,
            },
        }
    }

    /// Operation of the engine, with the code for its offset.
    pub(super) fn operation(&self, call: &Call) -> (Operation, u64) {
        let aim = match call.on {
            CallObject::Handle => RequestObject::Handle,
            CallObject::Directory => RequestObject::Directory,
            CallObject::Name(_) | CallObject::Same => RequestObject::Name,
        };
        let mode_code = || {
            let code = self.context.open_codes.get(usize::from(call.way));
            code.copied().unwrap_or(0)
        };
        match call.operation {
            FileOperation::Create => (Operation::Create, mode_code()),
            FileOperation::Open => (Operation::Open, mode_code()),
            FileOperation::Close => (Operation::Close, 0),
            FileOperation::Read => (Operation::Read, 0),
            FileOperation::Write => (Operation::Write, 0),
            FileOperation::Fsync => match aim {
                RequestObject::Directory => (Operation::Fsync, aim.code()),
                _ => (Operation::Fsync, 0),
            },
            FileOperation::Fdatasync => (Operation::Fdatasync, 0),
            FileOperation::Stat => (Operation::Stat, aim.code()),
            FileOperation::Unlink => (Operation::Unlink, 0),
            FileOperation::Mkdir => (Operation::Mkdir, aim.code()),
            FileOperation::Rmdir => (Operation::Rmdir, aim.code()),
            FileOperation::Rename => (Operation::Rename, 0),
            FileOperation::Link => (Operation::Link, 0),
            FileOperation::Symlink => (Operation::Symlink, 0),
            FileOperation::List => (Operation::Readdir, RequestObject::Directory.code()),
            FileOperation::Truncate => (Operation::Truncate, 0),
            FileOperation::Chmod => (Operation::Chmod, CHMOD_MODE),
            FileOperation::Sync => (Operation::Sync, 0),
            // A length of 0 means to the end of the file.
            FileOperation::Lock => (Operation::Lock, 0),
            FileOperation::LockShared => (Operation::Lock, Request::SHARED_LOCK),
            FileOperation::Unlock => (Operation::Unlock, 0),
            FileOperation::Setxattr => (Operation::Setxattr, 0),
            FileOperation::Getxattr => (Operation::Getxattr, 0),
        }
    }
}
