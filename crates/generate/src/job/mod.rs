//! The stream of a job: requests to its own files, in its own order, at its own rate.

mod access;
mod block_map;
mod ending;
mod file_position;
mod file_turn;
mod goals;
mod names;
mod notes;
mod pace;
mod random_places;
mod read_back;
mod replay;
mod seeds;
mod sides;
mod size_draw;
mod slot;
mod split;
#[cfg(test)]
mod tests;
mod think;
mod threads;
mod trims;
mod turns;
mod walk;
mod zones;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Completion, Operation, OperationSet, Request};
use plan::job::{JobPlan, StreamEnd};

use crate::slots::TRANSACTION;
use crate::{Flow, GenerateError, Generator, Step, named};

use access::JobAccess;
pub use goals::{
    DepthReport, FlowTotal, GoalCounts, GoalLimited, GoalProgress, MissKind, MissedRequest,
};
use names::MetadataWorkState;
pub use notes::RequestLogger;
use pace::{DuePace, paces};
use read_back::ReadBackState;
use replay::ReplayState;
pub use seeds::JobSeeds;
use sides::RequestDirection;
use slot::{JobSlot, SlotRequest};
pub use split::{LatencySplitter, SplitLatencies};
use think::ThinkTime;
pub use threads::threads;
use trims::{TrimmedWrites, write_operation};
use turns::{DueSync, MixRule, SyncState, operations};
use walk::{JobWalk, WalkPosition, has_position_only};

/// The requests of one job, determined by its plan, its seed and the completions.
///
/// `Request::file_index` is the index in the plan's files. The loop may call `next` for slots in
/// any order.
#[derive(Debug, Clone)]
pub struct JobStream {
    walk: JobWalk,
    position: WalkPosition,
    mix: MixRule,
    /// Operation of requests in the direction of writes.
    write_operation: Operation,
    /// Writes after trims, if each block is trimmed before it is written.
    trimmed: Option<TrimmedWrites>,
    /// By direction.
    paces: [Option<DuePace>; 2],
    is_paced: bool,
    think: Option<ThinkTime>,
    sync: SyncState,
    read_back_state: Option<ReadBackState>,
    /// `true` if requests of the loop are only counted, so that its writes are read back.
    skips_loop: bool,
    replay: Option<ReplayState>,
    metadata_work: Option<MetadataWorkState>,
    end: StreamEnd,
    goes_on_after_errors: bool,
    ends_on_mismatch: bool,
    stage: JobStage,
    /// Stage in which a loop issues its requests.
    loop_stage: JobStage,
    /// Bytes moved in the current loop.
    moved_bytes: u64,
    request_count: u64,
    loop_count: u64,
    in_flight: u32,
    slots: Box<[JobSlot]>,
    not_before_ns: u64,
    /// Time of the first call of `next`, on the worker's clock.
    start_ns: Option<u64>,
    has_failed: bool,
    /// Set if the job ends because a request failed.
    failure: Option<Arc<AtomicBool>>,
    operations: OperationSet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobStage {
    Loop,
    /// Like `Loop`, for jobs whose next request depends only on the next position.
    Plain(RequestDirection, Operation),
    /// Like `Loop`, with a trim before each write.
    TrimAndWrite,
    /// Requests of a log, in order.
    Replay,
    /// Create, stat or delete files.
    Names,
    /// Read back written blocks: all, or up to `left_count`.
    ReadBack {
        left_count: u64,
    },
    /// Sync each file.
    SyncAll {
        file_index: u32,
    },
    Done,
}

/// Rejects the value 0 of a number in the plan.
fn number(name: &'static str, value: u64, wanted: &'static str) -> Result<(), GenerateError> {
    match value {
        0 => Err(GenerateError::JobNumber {
            what: name,
            value,
            wanted,
        }),
        _ => Ok(()),
    }
}

impl JobStream {
    /// Prepares the stream of a job.
    ///
    /// # Errors
    /// If no file is large enough for a request, or a number, a share or a rate is out of range.
    pub fn new(plan: &JobPlan, seed: u64) -> Result<Self, GenerateError> {
        let stream = &plan.stream;
        number("the queue depth", plan.iodepth.into(), "above 0")?;
        let walk = JobWalk::new(plan, seed)?;
        let position = walk.position(stream.requests_per_file);
        let paces = paces(plan, seed)?;
        let written = ReadBackState::new(plan, &walk, &position)?;
        let mix = MixRule::new(stream.mix)?;
        let write_operation = write_operation(stream.mix);
        let trimmed = TrimmedWrites::of(plan);
        let is_plain = has_position_only(stream)
            && written.is_none()
            && trimmed.is_none()
            && paces.iter().all(Option::is_none);
        let replay = plan.recorded.as_ref().map(ReplayState::new).transpose()?;
        let new_turns = |work| MetadataWorkState::new(work, plan.files.len() as u32);
        let names = plan.names.map(new_turns);
        let stage = match mix {
            _ if names.is_some() => JobStage::Names,
            _ if replay.is_some() => JobStage::Replay,
            MixRule::Always(side) if is_plain && walk.is_plain(side) => {
                JobStage::Plain(side, side.operation(write_operation))
            }
            _ if trimmed.is_some() => JobStage::TrimAndWrite,
            _ => JobStage::Loop,
        };
        Ok(Self {
            mix,
            write_operation,
            trimmed,
            is_paced: paces.iter().any(Option::is_some),
            paces,
            think: stream.think.map(ThinkTime::new),
            sync: SyncState::of(stream, plan.files.len()),
            end: stream.end,
            goes_on_after_errors: plan.goes_on_after_errors,
            ends_on_mismatch: plan.ends_on_mismatch,
            stage,
            loop_stage: stage,
            moved_bytes: 0,
            request_count: 0,
            loop_count: 0,
            in_flight: 0,
            slots: vec![JobSlot::default(); plan.iodepth as usize].into(),
            not_before_ns: 0,
            start_ns: None,
            has_failed: false,
            failure: None,
            operations: operations(plan, written.is_some()),
            skips_loop: stream.skips_writes(),
            read_back_state: written,
            replay,
            metadata_work: names,
            walk,
            position,
        })
    }

    /// Sets `flag` if a failed request ends the job. Call this before the first request.
    pub fn set_failure_flag(&mut self, flag: Arc<AtomicBool>) {
        self.failure = Some(flag);
    }

    #[cold]
    fn fail(&self) -> Step {
        if let Some(flag) = &self.failure {
            flag.store(true, Ordering::Relaxed);
        }
        Step::Finished
    }

    /// `true` if the loop has reached its number of bytes or requests.
    #[inline]
    fn is_loop_over(&self) -> bool {
        let end = &self.end;
        self.moved_bytes >= end.bytes || end.requests.is_some_and(|it| self.request_count >= it)
    }

    /// Direction of the next request, or as an error the time before which none is due.
    #[inline]
    fn side(&mut self, now_ns: u64) -> Result<RequestDirection, u64> {
        use RequestDirection::{Read, Write};
        if !self.is_paced {
            return Ok(self.mix.draw(&mut self.position));
        }
        let start_ns = *self.start_ns.get_or_insert(now_ns);
        let due_ns = |pace: &Option<DuePace>| {
            pace.as_ref()
                .map(|pace| start_ns.saturating_add(pace.due_ns()))
        };
        let [read, write] = [due_ns(&self.paces[0]), due_ns(&self.paces[1])];
        // fio's rates override its mix: the direction that is due first comes next.
        let (side, due_ns) = match (self.mix, read, write) {
            (MixRule::Always(Read), ..) => (Read, read),
            (MixRule::Always(Write), ..) => (Write, write),
            (_, Some(read), Some(write)) if read <= write => (Read, Some(read)),
            (_, Some(_), Some(write)) => (Write, Some(write)),
            // A direction without a rate continues while the other is not due.
            _ => match self.mix.draw(&mut self.position) {
                Read if read.is_some_and(|due| due > now_ns) => (Write, None),
                Write if write.is_some_and(|due| due > now_ns) => (Read, None),
                side => (side, None),
            },
        };
        match due_ns.filter(|due| *due > now_ns) {
            Some(until_ns) => Err(until_ns),
            None => Ok(side),
        }
    }

    /// Next position. At the end, starts over if the loop is to do so.
    #[inline]
    fn access(&mut self, side: RequestDirection) -> Option<JobAccess> {
        let access = self.walk.next(&mut self.position, side);
        if access.is_some() || !self.end.starts_over {
            return access;
        }
        self.walk.start_over(&mut self.position);
        self.walk.next(&mut self.position, side)
    }

    /// Fast path for the request that [`Self::next_in_loop`] would make; `None` if the decision
    /// needs more than the position.
    #[inline]
    fn plain(
        &mut self,
        slot: u32,
        side: RequestDirection,
        operation: Operation,
    ) -> Option<Request> {
        if self.moved_bytes >= self.end.bytes {
            return None;
        }
        let offset_bytes = self.walk.next_plain_offset(&mut self.position, side)?;
        let length_bytes = self.walk.smallest_bytes();
        self.moved_bytes += u64::from(length_bytes);
        self.request_count += 1;
        self.in_flight += 1;
        Some(Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: 0,
            length_bytes,
            offset_bytes,
        })
    }

    fn next_in_loop(&mut self, slot: u32, now_ns: u64) -> Step {
        if let Some(think) = &mut self.think
            && think.is_due()
        {
            if self.in_flight > 0 {
                return Step::Park;
            }
            let pause_ns = think.begin();
            self.paces
                .iter_mut()
                .flatten()
                .for_each(|it| it.paused(pause_ns));
            self.not_before_ns = now_ns.saturating_add(pause_ns);
            return Step::Wait {
                until_ns: self.not_before_ns,
            };
        }
        // Before a sync that is due, which then comes first in the next loop.
        if self.is_loop_over() {
            return self.end_loop();
        }
        if let Some(due) = self.sync.due.take() {
            return self.issue_sync(slot, due);
        }
        if let Some(turns) = &self.read_back_state
            && turns.backlog > 0
            && turns.walk.left_count() >= turns.backlog
        {
            // A write can be read back only after it has completed.
            if self.in_flight > 0 {
                return Step::Park;
            }
            let left_count = match turns.batch {
                0 => u64::MAX,
                batch => batch,
            };
            self.stage = JobStage::ReadBack { left_count };
            return Step::Again;
        }
        let side = match self.side(now_ns) {
            Ok(side) => side,
            Err(until_ns) => return Step::Wait { until_ns },
        };
        match self.access(side) {
            Some(access) if self.skips_loop => self.skip(side, access),
            Some(access) => Step::Issue(self.issue(slot, side, access, now_ns)),
            None => self.end_loop(),
        }
    }

    #[inline]
    fn issue(
        &mut self,
        slot: u32,
        side: RequestDirection,
        access: JobAccess,
        now_ns: u64,
    ) -> Request {
        // The size of a job limits reads and writes together, as in fio.
        self.moved_bytes += u64::from(access.length_bytes);
        self.request_count += 1;
        if let Some(turns) = &mut self.read_back_state {
            turns.walk.issued(access, side);
        }
        if let Some(think) = &mut self.think {
            think.issued(now_ns);
        }
        if side == RequestDirection::Write {
            self.sync.record_write(&access);
        }
        let state = &mut self.slots[slot as usize];
        *state = JobSlot::default();
        if let Some(pace) = &mut self.paces[side as usize] {
            state.due_ns = self
                .start_ns
                .unwrap_or(now_ns)
                .saturating_add(pace.due_ns());
            pace.issued(access.length_bytes);
        }
        self.in_flight += 1;
        self.request(slot, side, access)
    }

    #[inline]
    fn request(&self, slot: u32, side: RequestDirection, access: JobAccess) -> Request {
        let part = &self.walk.parts[access.file_index as usize];
        Request {
            operation: side.operation(self.write_operation),
            fileset: 0,
            handle: 0,
            slot,
            file_index: access.file_index,
            length_bytes: access.length_bytes,
            offset_bytes: part.start_bytes + access.offset_bytes,
        }
    }

    fn issue_sync(&mut self, slot: u32, due: DueSync) -> Step {
        let is_range = due.operation == Operation::SyncFileRange;
        let begin_bytes = match is_range {
            true => self.walk.parts[due.file_index as usize].start_bytes,
            false => 0,
        };
        self.slots[slot as usize] = JobSlot {
            due_ns: 0,
            kind: SlotRequest::Uncounted,
        };
        self.in_flight += 1;
        Step::Issue(Request {
            operation: due.operation,
            fileset: 0,
            handle: due.flags,
            slot,
            file_index: due.file_index,
            length_bytes: due.length_bytes,
            offset_bytes: begin_bytes + due.offset_bytes,
        })
    }
}

impl Generator for JobStream {
    fn operations(&self) -> OperationSet {
        self.operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(TRANSACTION)
    }

    // Not inlined: a copy in each measurement loop would cost hundreds of kilobytes to save a
    // nanosecond.
    #[inline(never)]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        if self.has_failed {
            return self.fail();
        }
        if now_ns < self.not_before_ns {
            return Step::Wait {
                until_ns: self.not_before_ns,
            };
        }
        if let JobStage::Plain(side, operation) = self.stage
            && let Some(request) = self.plain(slot, side, operation)
        {
            return Step::Issue(request);
        }
        match self.stage {
            JobStage::Plain(..) | JobStage::Loop => self.next_in_loop(slot, now_ns),
            JobStage::TrimAndWrite => self.trim_or_write(slot, now_ns),
            JobStage::Replay => self.replay(slot, now_ns),
            JobStage::Names => self.name_work(slot),
            JobStage::ReadBack { left_count } => self.read_back(slot, left_count),
            JobStage::SyncAll { file_index } => self.sync_all(slot, file_index),
            JobStage::Done => Step::Finished,
        }
    }

    #[inline(never)]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        self.in_flight -= 1;
        let errno = completion.result.min(0);
        self.has_failed |= errno < 0 && !self.goes_on_after_errors;
        if let Some(names) = self.metadata_work.as_mut().filter(|_| errno < 0) {
            names.failed();
        }
        let slot = self.slots[completion.slot as usize];
        // A single branch for the usual case.
        if slot.kind != SlotRequest::Counted {
            if slot.kind == SlotRequest::Uncounted {
                return Flow::Uncounted;
            }
            self.trim_ended(completion.slot);
        }
        if let Some(think) = &mut self.think {
            think.completed(now_ns);
        }
        match slot.due_ns {
            0 => Flow::Done(0),
            start_ns => Flow::Timed {
                kind: 0,
                errno,
                start_ns,
            },
        }
    }

    #[cold]
    fn on_mismatch(&mut self) {
        self.has_failed |= self.ends_on_mismatch;
    }
}
