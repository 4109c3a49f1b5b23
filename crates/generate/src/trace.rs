//! Recorded calls, executed one after another: data, not a program.
//!
//! All workers share the calls. Each worker has its own position, its own registers for open files,
//! and its own counters for labels.

mod due;
mod request;

use std::sync::Arc;

use engine::{Completion, Operation, OperationSet, Request};
use plan::program::{Trace, TraceCall, TraceOpenMode, TraceOperation, TraceResult};

use crate::program::{PhaseEnd, StepCounter};
use crate::step::EXPECTED_FAILURE;
use crate::{DueQueue, Flow, Generator, RESPONSE_KINDS, Step, named};

/// Negated error number (`EISDIR`) for opening a directory for writing.
const IS_DIRECTORY: i32 = -21;
/// Negated error number (`EIO`) for a call that unexpectedly succeeded.
const UNEXPECTED: i32 = -5;

/// A call that ended differently than recorded, and so ended the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DivergedCall {
    /// Line of the call in its file, from 1.
    pub line: u32,
    /// Error number; `None` if the call succeeded or moved too few bytes.
    pub errno: Option<i32>,
}

/// Context of a worker that replays recorded calls.
#[derive(Debug)]
pub struct ReplayContext<'a> {
    /// The recorded calls.
    pub trace: &'a Trace,
    /// Number of labels.
    pub label_count: usize,
    /// Time at the start in which nothing is counted, in nanoseconds.
    pub ramp_ns: u64,
    /// Time after that in which calls start, in nanoseconds; `None` if there is no limit.
    pub time_ns: Option<u64>,
    /// Start of the run, in seconds since 1970.
    pub start_s: u64,
    /// `true` if results are compared with the recorded ones, which needs a real file system.
    pub checks_results: bool,
    /// End of the phase for all of its workers.
    pub phase_end: &'a Arc<PhaseEnd>,
    /// `true` if calls begin when they are due, not at their recorded times.
    pub is_open_loop: bool,
    /// Number of calls to execute, repeating the recording if it has fewer; `None` for no limit.
    pub call_count: Option<u64>,
}

/// Stage of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceStage {
    LookUp,
    Search,
    LookUpSecond,
    SearchSecond,
    MakeDirectory,
    /// Closes the file that the register still has open.
    CloseOld,
    Main,
    /// Opens again as a directory, because the file to be written is one.
    ReopenDirectory,
    FollowUp,
    /// Closes a file that should not have been opened.
    Undo,
}

/// A worker's progress through recorded calls.
#[derive(Debug)]
pub struct TracePlayer {
    calls: Arc<[TraceCall]>,
    is_repeated: bool,
    /// Number of calls left.
    left_count: u64,
    is_timed: bool,
    bytes_per_second: u64,
    is_bare: bool,
    is_searching: bool,
    syncs_writes: bool,
    syncs_directories: bool,
    checks_results: bool,
    register_count: u8,
    buffer_bytes: u32,
    start_s: u64,
    ramp_ns: u64,
    /// Time in which calls start, including the ramp.
    time_ns: u64,
    phase_end: Arc<PhaseEnd>,
    /// Index of the next call or of the one in progress.
    call_index: usize,
    /// `None` between calls.
    stage: Option<TraceStage>,
    /// First unexpected failure of the call in progress; 0 for none.
    errno: i32,
    call_ns: u64,
    /// Time when the first call of the current round began; `None` before.
    round_start_ns: Option<u64>,
    /// Time from which completed calls are counted.
    count_from_ns: Option<u64>,
    /// Time after which no call begins; known from the first call on.
    end_ns: u64,
    /// Time until which the next call waits; 0 for none.
    wake_ns: u64,
    /// Bytes of the previous call, for which a limited rate makes the next call wait.
    owed_bytes: u32,
    /// Number of consecutive calls without requests.
    idle_count: usize,
    is_open: Box<[bool]>,
    steps: Box<[StepCounter]>,
    diverged: Option<DivergedCall>,
    is_over: bool,
    is_open_loop: bool,
    /// Due times of the calls, once they are known.
    queue: Option<Box<DueQueue>>,
}

impl TracePlayer {
    /// A player at the first call.
    #[must_use]
    pub fn new(context: &ReplayContext<'_>) -> Self {
        let trace = context.trace;
        Self {
            calls: Arc::clone(&trace.calls),
            is_repeated: trace.is_repeated || context.call_count.is_some(),
            left_count: context.call_count.unwrap_or(u64::MAX),
            // Due times replace the recorded ones.
            is_timed: trace.is_timed && !context.is_open_loop,
            bytes_per_second: match context.is_open_loop {
                true => 0,
                false => trace.bytes_per_second,
            },
            is_bare: trace.is_bare,
            is_searching: trace.is_searching,
            syncs_writes: trace.syncs_writes,
            syncs_directories: trace.syncs_directories,
            checks_results: context.checks_results,
            register_count: trace.register_count.max(1),
            buffer_bytes: trace.buffer_bytes.max(512),
            start_s: context.start_s,
            ramp_ns: context.ramp_ns,
            time_ns: context
                .time_ns
                .map_or(u64::MAX, |time_ns| time_ns.saturating_add(context.ramp_ns)),
            phase_end: Arc::clone(context.phase_end),
            call_index: 0,
            stage: None,
            errno: 0,
            call_ns: 0,
            round_start_ns: None,
            count_from_ns: None,
            end_ns: u64::MAX,
            wake_ns: 0,
            owed_bytes: 0,
            idle_count: 0,
            is_open: vec![false; usize::from(trace.register_count.max(1))].into(),
            steps: vec![StepCounter::default(); context.label_count].into(),
            diverged: None,
            is_over: trace.calls.is_empty(),
            is_open_loop: context.is_open_loop,
            queue: None,
        }
    }

    /// Maximum number of files open at the same time.
    #[must_use]
    pub const fn register_count(&self) -> u8 {
        self.register_count
    }

    /// Length of the largest request in bytes.
    #[must_use]
    pub const fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// Counters by label.
    #[must_use]
    pub fn steps(&self) -> &[StepCounter] {
        &self.steps
    }

    /// The call that ended the replay, if any.
    #[must_use]
    pub const fn broken(&self) -> Option<DivergedCall> {
        self.diverged
    }

    /// `true` if the register of the call has a file open.
    fn has_open(&self, call: &TraceCall) -> bool {
        self.is_open.get(usize::from(call.handle)) == Some(&true)
    }

    /// First stage of a call; `None` if it issues no request.
    fn first(&self, call: &TraceCall) -> Option<TraceStage> {
        match call.operation {
            TraceOperation::Pause => None,
            it if it.looks_up() && !self.is_bare => Some(TraceStage::LookUp),
            TraceOperation::Open(_) => Some(self.open_stage(call)),
            it if it.looks_up() => Some(TraceStage::Main),
            TraceOperation::EmptyTree | TraceOperation::Statfs => Some(TraceStage::Main),
            _ => self.has_open(call).then_some(TraceStage::Main),
        }
    }

    /// Next stage of a call; `None` if it is done.
    #[inline]
    fn after(&mut self, call: &TraceCall, stage: TraceStage, result: i32) -> Option<TraceStage> {
        let searches = result < 0 && self.is_searching;
        match stage {
            // dbench imitates Samba: after a failed lookup, it searches the directory and ignores
            // the result.
            TraceStage::LookUp if searches => Some(TraceStage::Search),
            TraceStage::LookUpSecond if searches => Some(TraceStage::SearchSecond),
            TraceStage::LookUp | TraceStage::Search => match call.operation {
                TraceOperation::Rename => Some(TraceStage::LookUpSecond),
                TraceOperation::LookUp => None,
                TraceOperation::Open(TraceOpenMode::Directory) => Some(TraceStage::MakeDirectory),
                TraceOperation::Open(_) => Some(self.open_stage(call)),
                _ => Some(TraceStage::Main),
            },
            TraceStage::LookUpSecond | TraceStage::SearchSecond => Some(TraceStage::Main),
            TraceStage::MakeDirectory => Some(self.open_stage(call)),
            TraceStage::CloseOld => Some(TraceStage::Main),
            // dbench opens a directory again after `EISDIR`.
            TraceStage::Main if result == IS_DIRECTORY && is_open(call) && !self.is_bare => {
                Some(TraceStage::ReopenDirectory)
            }
            TraceStage::Main | TraceStage::ReopenDirectory => self.stage_after_main(call, result),
            TraceStage::FollowUp | TraceStage::Undo => None,
        }
    }

    fn open_stage(&self, call: &TraceCall) -> TraceStage {
        match self.has_open(call) {
            true => TraceStage::CloseOld,
            false => TraceStage::Main,
        }
    }

    #[inline]
    fn stage_after_main(&mut self, call: &TraceCall, result: i32) -> Option<TraceStage> {
        self.judge(call, result);
        if result < 0 {
            return None;
        }
        match call.operation {
            // dbench closes a file whose open should have failed.
            TraceOperation::Open(_)
                if call.expected == TraceResult::Failure && self.checks_results =>
            {
                Some(TraceStage::Undo)
            }
            // dbench calls `fstat` after each successful open.
            TraceOperation::Open(_) => {
                self.is_open[usize::from(call.handle)] = true;
                (!self.is_bare).then_some(TraceStage::FollowUp)
            }
            TraceOperation::Close => {
                self.is_open[usize::from(call.handle)] = false;
                None
            }
            TraceOperation::SetTimes => Some(TraceStage::FollowUp),
            TraceOperation::Write => self.syncs_writes.then_some(TraceStage::FollowUp),
            TraceOperation::Unlink | TraceOperation::Rmdir | TraceOperation::Rename => {
                self.syncs_directories.then_some(TraceStage::FollowUp)
            }
            _ => None,
        }
    }

    /// Records an unexpected failure, and ends the replay if the call must end as recorded.
    #[inline]
    fn judge(&mut self, call: &TraceCall, result: i32) {
        let is_short = call.operation.moves() && result != call.second as i32;
        // A short write ends dbench, but about a short read it only prints a message.
        let is_well = result >= 0 && !(call.operation == TraceOperation::Write && is_short);
        let is_as_recorded = match call.expected {
            TraceResult::Success => is_well,
            TraceResult::Failure => !is_well,
            TraceResult::Any => true,
        };
        if is_as_recorded || !self.checks_results {
            return;
        }
        self.errno = if result < 0 { result } else { UNEXPECTED };
        if call.operation.must_end_as_recorded() && !self.is_bare {
            self.diverged = Some(DivergedCall {
                line: call.line,
                errno: (result < 0).then_some(-result),
            });
            self.is_over = true;
            // The run ends for all workers, not only for this one.
            self.phase_end.stop();
        }
    }

    /// Goes to the next call.
    fn go_on(&mut self) {
        self.stage = None;
        self.call_index += 1;
        if self.call_index == self.calls.len() {
            self.call_index = 0;
            self.round_start_ns = None;
            self.is_over |= !self.is_repeated;
        }
    }

    /// Time until which the next call waits; `None` if it need not wait any more.
    fn wake_time_ns(&mut self, call: &TraceCall, now_ns: u64) -> Option<u64> {
        if self.wake_ns == 0 {
            let begun_ns = self.round_start_ns.unwrap_or(now_ns);
            self.wake_ns = match call.operation {
                TraceOperation::Pause => now_ns + call.due_ns,
                _ if self.is_timed => begun_ns + call.due_ns,
                _ if self.bytes_per_second > 0 => {
                    // Below 2^62, because a call moves less than 2^32 bytes.
                    let owed = u64::from(self.owed_bytes) * 1_000_000_000;
                    self.call_ns + owed / self.bytes_per_second
                }
                _ => return None,
            };
        }
        (now_ns < self.wake_ns).then_some(self.wake_ns)
    }

    /// Begins the next call that issues a request.
    fn begin_call(&mut self, now_ns: u64) -> Result<(TraceCall, TraceStage), Step> {
        loop {
            if self.is_over || now_ns >= self.end_ns || !self.phase_end.is_quiet() {
                return Err(Step::Finished);
            }
            let call = self.calls[self.call_index];
            self.round_start_ns.get_or_insert(now_ns);
            if self.count_from_ns.is_none() {
                self.count_from_ns = Some(now_ns + self.ramp_ns);
                self.end_ns = now_ns.saturating_add(self.time_ns);
                self.call_ns = now_ns;
            }
            if let Some(until_ns) = self.wake_time_ns(&call, now_ns) {
                return Err(Step::Wait {
                    // A wait must not outlast the run.
                    until_ns: until_ns.min(self.end_ns),
                });
            }
            self.wake_ns = 0;
            let Some(stage) = self.first(&call) else {
                self.go_on();
                self.idle_count += 1;
                // A round without requests would never end.
                self.is_over |= self.idle_count > self.calls.len();
                continue;
            };
            if self.left_count == 0 {
                return Err(Step::Finished);
            }
            self.begin_due(now_ns)?;
            self.left_count -= 1;
            self.idle_count = 0;
            self.errno = 0;
            self.call_ns = now_ns;
            self.owed_bytes = match call.operation.moves() {
                true => call.bytes,
                false => 0,
            };
            return Ok((call, stage));
        }
    }
}

const fn is_open(call: &TraceCall) -> bool {
    matches!(call.operation, TraceOperation::Open(_))
}

impl Generator for TracePlayer {
    fn operations(&self) -> OperationSet {
        let all = [
            Operation::Read,
            Operation::Write,
            Operation::Fsync,
            Operation::Fdatasync,
            Operation::Truncate,
            Operation::Open,
            Operation::Close,
            Operation::Stat,
            Operation::Unlink,
            Operation::Mkdir,
            Operation::Rmdir,
            Operation::Rename,
            Operation::Search,
            Operation::Statfs,
            Operation::Utime,
            Operation::Lock,
            Operation::Unlock,
            Operation::EmptyTree,
        ];
        all.into_iter()
            .fold(OperationSet::EMPTY, OperationSet::with)
    }

    fn transaction_kinds(&self) -> Vec<String> {
        match self.is_open_loop {
            true => named(RESPONSE_KINDS),
            false => named(&["call"]),
        }
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        // Recorded calls run one after another, in slot 0.
        if slot != 0 {
            return Step::Finished;
        }
        let (call, stage) = match self.stage {
            Some(stage) => (self.calls[self.call_index], stage),
            None => match self.begin_call(now_ns) {
                Ok(begun) => begun,
                Err(step) => return step,
            },
        };
        self.stage = Some(stage);
        Step::Issue(self.request(&call, stage))
    }

    #[inline]
    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        let call = &self.calls[self.call_index];
        if result >= 0 {
            return match call.operation.moves() {
                true => call.second.min(request.length_bytes),
                false => 0,
            };
        }
        let is_expected = match self.stage {
            // The next stage opens the name again as a directory.
            Some(TraceStage::Main) if result == IS_DIRECTORY && is_open(call) && !self.is_bare => {
                true
            }
            Some(TraceStage::Main | TraceStage::ReopenDirectory) => match call.operation {
                TraceOperation::EmptyTree | TraceOperation::Mkdir | TraceOperation::List => true,
                TraceOperation::Read | TraceOperation::Write => false,
                _ => call.expected != TraceResult::Success,
            },
            Some(TraceStage::CloseOld | TraceStage::FollowUp | TraceStage::Undo) | None => false,
            // A lookup that finds nothing is a normal result.
            Some(_) => true,
        };
        match is_expected {
            true => EXPECTED_FAILURE,
            false => request.length_bytes,
        }
    }

    #[inline]
    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let Some(stage) = self.stage else {
            return Flow::Uncounted;
        };
        let call = self.calls[self.call_index];
        self.stage = self.after(&call, stage, completion.result);
        if self.stage.is_some() {
            return Flow::Continues;
        }
        let errno = match (call.operation, self.errno) {
            // These calls set up or inspect a state that the recording does not know, so failures
            // are ignored.
            (TraceOperation::EmptyTree | TraceOperation::Mkdir | TraceOperation::List, _) => 0,
            (_, errno) => errno,
        };
        if self
            .count_from_ns
            .is_some_and(|counted_ns| now_ns >= counted_ns)
        {
            // dbench counts the requested bytes, whatever was moved.
            let bytes = match call.operation.moves() {
                true => u64::from(call.bytes),
                false => 0,
            };
            let span_ns = now_ns.saturating_sub(self.call_ns);
            self.steps[usize::from(call.label)].record(span_ns, bytes, errno != 0);
        }
        self.go_on();
        let due_ns = self.queue.as_mut().map(|it| it.end(0, now_ns, errno));
        Flow::Timed {
            kind: 0,
            errno,
            start_ns: due_ns.unwrap_or(self.call_ns),
        }
    }
}

#[cfg(test)]
mod tests;
