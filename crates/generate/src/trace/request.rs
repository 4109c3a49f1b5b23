//! Requests of a call at each stage.

use engine::{OpenModeIndex, Operation, Request, RequestObject};
use plan::program::{TraceCall, TraceOpenMode, TraceOperation};

use super::{TracePlayer, TraceStage};

/// Time by which the times of a file are set back, in seconds.
const BACKDATE_S: u64 = 10;

impl TracePlayer {
    pub(super) fn request(&self, call: &TraceCall, stage: TraceStage) -> Request {
        let by_name = |operation, file_index, offset_bytes| Request {
            operation,
            fileset: 0,
            handle: call.handle,
            slot: 0,
            file_index,
            length_bytes: 0,
            offset_bytes,
        };
        let own = |operation, code| by_name(operation, call.name, code);
        match stage {
            TraceStage::LookUp => own(Operation::Stat, RequestObject::Name.code()),
            TraceStage::Search => own(Operation::Search, 0),
            TraceStage::LookUpSecond => {
                by_name(Operation::Stat, call.second, RequestObject::Name.code())
            }
            TraceStage::SearchSecond => by_name(Operation::Search, call.second, 0),
            TraceStage::MakeDirectory => own(Operation::Mkdir, RequestObject::Name.code()),
            TraceStage::CloseOld | TraceStage::Undo => own(Operation::Close, 0),
            TraceStage::ReopenDirectory => own(Operation::Open, way(TraceOpenMode::Directory)),
            TraceStage::Main => self.main(call, own),
            TraceStage::FollowUp => match call.operation {
                TraceOperation::SetTimes => {
                    own(Operation::Utime, self.start_s.saturating_sub(BACKDATE_S))
                }
                TraceOperation::Write => own(Operation::Fsync, 0),
                TraceOperation::Open(_) => own(Operation::Stat, RequestObject::Handle.code()),
                _ => own(Operation::Fsync, RequestObject::Directory.code()),
            },
        }
    }

    fn main(&self, call: &TraceCall, own: impl Fn(Operation, u64) -> Request) -> Request {
        let ranged = |operation| Request {
            length_bytes: call.bytes,
            ..own(operation, call.offset_bytes)
        };
        match call.operation {
            TraceOperation::Open(how) => own(Operation::Open, way(how)),
            TraceOperation::Close => own(Operation::Close, 0),
            TraceOperation::Rename => own(Operation::Rename, call.second.into()),
            TraceOperation::Unlink => own(Operation::Unlink, 0),
            TraceOperation::EmptyTree => own(Operation::EmptyTree, 0),
            TraceOperation::Rmdir => own(Operation::Rmdir, RequestObject::Name.code()),
            TraceOperation::Mkdir => own(Operation::Mkdir, RequestObject::Name.code()),
            TraceOperation::LookUp => own(Operation::Stat, RequestObject::Name.code()),
            TraceOperation::StatOpen | TraceOperation::SetTimes => {
                own(Operation::Stat, RequestObject::Handle.code())
            }
            // A pause has no request, so only the file system's figures get here.
            TraceOperation::Statfs | TraceOperation::Pause => own(Operation::Statfs, 0),
            // dbench reads this many entries and compares none with the pattern.
            TraceOperation::List => own(Operation::Search, call.offset_bytes),
            TraceOperation::Write => ranged(Operation::Write),
            TraceOperation::Read => ranged(Operation::Read),
            TraceOperation::Lock => ranged(Operation::Lock),
            TraceOperation::Unlock => ranged(Operation::Unlock),
            TraceOperation::Fsync => own(Operation::Fsync, 0),
            TraceOperation::Fdatasync => own(Operation::Fdatasync, 0),
            TraceOperation::Truncate => own(Operation::Truncate, call.offset_bytes),
        }
    }
}

const fn way(mode: TraceOpenMode) -> u64 {
    OpenModeIndex(mode as u8).code()
}
