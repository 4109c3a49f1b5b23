//! Work on the names of a job's files or directories: each is created, statted or deleted in turn.

use engine::{Operation, Request, RequestObject};
use plan::job::MetadataWork;

use super::{JobSlot, JobStream, SlotRequest};
use crate::Step;

/// State of the work on names.
#[derive(Debug, Clone)]
pub(super) struct MetadataWorkState {
    work: MetadataWork,
    /// Way to create files, as [`Request::offset_bytes`] gives it to the engine.
    open_mode: u64,
    file_count: u32,
    /// Index of the next file.
    next_index: u32,
    /// A created file, which is open in its slot until it is closed.
    open: Option<u32>,
}

impl MetadataWorkState {
    pub(super) const fn new(work: MetadataWork, file_count: u32) -> Self {
        Self {
            work,
            open_mode: engine::OpenModeIndex(0).code(),
            file_count,
            next_index: 0,
            open: None,
        }
    }

    /// Next operation, with its file and `offset_bytes`; `None` at the end of a loop.
    fn next(&mut self) -> Option<(Operation, u32, u64)> {
        if let Some(file_index) = self.open.take() {
            return Some((Operation::Close, file_index, 0));
        }
        if self.next_index == self.file_count {
            self.next_index = 0;
            return None;
        }
        let file_index = self.next_index;
        self.next_index += 1;
        Some(match self.work {
            MetadataWork::Create => {
                self.open = Some(file_index);
                (Operation::Create, file_index, self.open_mode)
            }
            MetadataWork::Stat | MetadataWork::StatDirectory => {
                (Operation::Stat, file_index, RequestObject::Name.code())
            }
            MetadataWork::Delete => (Operation::Unlink, file_index, 0),
            MetadataWork::Mkdir => (Operation::Mkdir, file_index, RequestObject::Name.code()),
            MetadataWork::Rmdir => (Operation::Rmdir, file_index, RequestObject::Name.code()),
        })
    }

    /// A file that could not be created is not open.
    pub(super) fn failed(&mut self) {
        self.open = None;
    }
}

impl JobStream {
    /// The next request on names. At most one is in flight, because each file is open in the slot
    /// that created it.
    pub(super) fn name_work(&mut self, slot: u32) -> Step {
        if self.in_flight > 0 {
            return Step::Park;
        }
        let next = self
            .metadata_work
            .as_mut()
            .and_then(MetadataWorkState::next);
        let Some((operation, file_index, offset_bytes)) = next else {
            return self.end_loop();
        };
        // Like a sync, a close is not a request of the job.
        let kind = match operation {
            Operation::Close => SlotRequest::Uncounted,
            _ => SlotRequest::Counted,
        };
        self.request_count += u64::from(kind == SlotRequest::Counted);
        self.in_flight += 1;
        self.slots[slot as usize] = JobSlot { due_ns: 0, kind };
        Step::Issue(Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index,
            length_bytes: 0,
            offset_bytes,
        })
    }
}
