//! Ends of a job's loops: read-back, next loop, or final sync.

use engine::{Operation, Request};

use super::access::JobAccess;
use super::sides::RequestDirection;
use super::trims::TrimmedWrites;
use super::turns::DueSync;
use super::{JobSlot, JobStage, JobStream};
use crate::Step;

impl JobStream {
    /// Counts a request that is not issued, because the job only reads back what it would write.
    pub(super) fn skip(&mut self, side: RequestDirection, access: JobAccess) -> Step {
        self.moved_bytes += u64::from(access.length_bytes);
        self.request_count += 1;
        if let Some(turns) = &mut self.read_back_state {
            turns.walk.issued(access, side);
        }
        Step::Again
    }

    /// Ends a loop: reads back what it wrote, starts the next one, or ends the job.
    pub(super) fn end_loop(&mut self) -> Step {
        // The writes after the last trims belong to the loop.
        if self
            .trimmed
            .as_ref()
            .is_some_and(TrimmedWrites::is_trimming)
        {
            return Step::Park;
        }
        // fio reads back after each loop.
        let has_more = self
            .read_back_state
            .as_ref()
            .is_some_and(|it| it.walk.left_count() > 0);
        if has_more {
            // A write can be read back only after it has completed.
            if self.in_flight > 0 {
                return Step::Park;
            }
            self.stage = JobStage::ReadBack {
                left_count: u64::MAX,
            };
            return Step::Again;
        }
        self.loop_count += 1;
        if self.end.loops.is_none_or(|loops| self.loop_count < loops) {
            // A loop without requests would spin until the end of the run time, so the slot
            // finishes.
            let step = if self.request_count == 0 {
                Step::Finished
            } else {
                Step::Again
            };
            self.moved_bytes = 0;
            self.request_count = 0;
            self.walk.start_over(&mut self.position);
            if let Some(turns) = &mut self.read_back_state {
                turns.walk.begin_loop(&self.position);
            }
            return step;
        }
        // fio does not issue a sync that is due after the last write.
        self.sync.due = None;
        self.stage = match self.sync.rule.fsync_at_end {
            true => JobStage::SyncAll { file_index: 0 },
            false => JobStage::Done,
        };
        Step::Again
    }

    pub(super) fn read_back(&mut self, slot: u32, left_count: u64) -> Step {
        let mix = self.mix;
        let access = match (&mut self.read_back_state, left_count) {
            (Some(turns), 1..) => turns.walk.next(&self.walk, |position, known| {
                known.unwrap_or_else(|| mix.draw(position))
            }),
            _ => None,
        };
        let Some(access) = access else {
            if self.in_flight > 0 {
                return Step::Park;
            }
            self.stage = self.loop_stage;
            // Forget the rest: it is either empty or can no longer be found, because the positions
            // belong to another walk.
            if left_count > 0
                && let Some(turns) = &mut self.read_back_state
            {
                turns.walk.forget();
            }
            return Step::Again;
        };
        self.stage = JobStage::ReadBack {
            // `u64::MAX` stands for all that is left.
            left_count: left_count - u64::from(left_count != u64::MAX),
        };
        self.slots[slot as usize] = JobSlot::default();
        self.in_flight += 1;
        Step::Issue(Request {
            handle: Request::READ_BACK,
            ..self.request(slot, RequestDirection::Read, access)
        })
    }

    pub(super) fn sync_all(&mut self, slot: u32, file_index: u32) -> Step {
        if self.in_flight > 0 {
            return Step::Park;
        }
        if file_index as usize >= self.walk.parts.len() {
            self.stage = JobStage::Done;
            return Step::Finished;
        }
        self.stage = JobStage::SyncAll {
            file_index: file_index + 1,
        };
        self.issue_sync(slot, DueSync::of_file(Operation::Fsync, file_index))
    }
}
