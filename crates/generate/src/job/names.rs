//! Work on the names of a job's files: each is made, looked at or removed in its turn.

use engine::{Operation, Request};
use plan::job::NameWork;

use super::{JobSlot, JobStream};
use crate::Step;

/// Where work on names stands.
#[derive(Debug, Clone)]
pub(super) struct NameTurns {
    work: NameWork,
    /// How files are made, as [`Request::offset_bytes`] tells the engine.
    way: u64,
    file_count: u32,
    /// The next file.
    at: u32,
    /// A file that was made is open in its slot until it is closed.
    open: Option<u32>,
}

impl NameTurns {
    pub(super) const fn new(work: NameWork, file_count: u32) -> Self {
        Self {
            work,
            way: engine::OpenWay(0).code(),
            file_count,
            at: 0,
            open: None,
        }
    }

    /// What is next, of which file, how; none at the end of a loop.
    fn next(&mut self) -> Option<(Operation, u32, u64)> {
        if let Some(file_index) = self.open.take() {
            return Some((Operation::Close, file_index, 0));
        }
        if self.at == self.file_count {
            self.at = 0;
            return None;
        }
        let file_index = self.at;
        self.at += 1;
        Some(match self.work {
            NameWork::Create => {
                self.open = Some(file_index);
                (Operation::Create, file_index, self.way)
            }
            NameWork::Stat => (Operation::Stat, file_index, engine::Aim::Name.code()),
            NameWork::Delete => (Operation::Unlink, file_index, 0),
        })
    }

    /// What could not be made is not open.
    pub(super) fn failed(&mut self) {
        self.open = None;
    }
}

impl JobStream {
    /// The next request of work on names. One is in flight at most, as each file is open in the
    /// slot that made it.
    pub(super) fn name_work(&mut self, slot: u32) -> Step {
        if self.in_flight > 0 {
            return Step::Park;
        }
        let next = self.names.as_mut().and_then(NameTurns::next);
        let Some((operation, file_index, offset_bytes)) = next else {
            return self.end_loop();
        };
        let is_sync = operation == Operation::Close;
        self.request_count += u64::from(!is_sync);
        self.in_flight += 1;
        self.slots[slot as usize] = JobSlot { due_ns: 0, is_sync };
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
