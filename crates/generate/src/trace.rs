//! Recorded calls, carried out one after the other: data, not a program.
//!
//! All workers share the calls. A worker keeps where it is, which registers have a file open, and
//! what its labels count.

mod due;
mod request;

use std::sync::Arc;

use engine::{Completion, Operation, OperationSet, Request};
use plan::program::{Trace, TraceCall, TraceEnd, TraceOperation, TraceWay};

use crate::program::{PhaseEnd, StepCounter};
use crate::step::EXPECTED_FAILURE;
use crate::{DueQueue, Flow, Generator, RESPONSE_KINDS, Step, named};

/// The number of the error (`EISDIR`) of a directory that is opened to be written.
const IS_DIRECTORY: i32 = -21;
/// The number of the error (`EIO`) of what ended well and must not have.
const UNEXPECTED: i32 = -5;

/// What a call that ended otherwise than recorded ends the whole with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrokenCall {
    /// Where it stands in its file, from 1.
    pub line: u32,
    /// The number of the error; none where it went well, or moved too little.
    pub errno: Option<i32>,
}

/// Who plays recorded calls, and when.
#[derive(Debug)]
pub struct PlayerSeat<'a> {
    /// The calls.
    pub trace: &'a Trace,
    /// How many labels there are.
    pub labels_count: usize,
    /// How long nothing is counted, in nanoseconds.
    pub ramp_ns: u64,
    /// How long calls are begun behind that, in nanoseconds; none where they end by themselves.
    pub time_ns: Option<u64>,
    /// Seconds since 1970 when the run began.
    pub begun_s: u64,
    /// Whether there is a file system that could end calls as recorded.
    pub is_judged: bool,
    /// How the phase ends for all of its workers.
    pub phase_end: &'a Arc<PhaseEnd>,
    /// Whether calls begin when they are due, and not when they were recorded.
    pub is_due: bool,
    /// Calls that are done, again from the first where there are fewer; none where they end by
    /// themselves.
    pub calls_count: Option<u64>,
}

/// What a call is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    LookUp,
    Search,
    LookUpSecond,
    SearchSecond,
    MakeDirectory,
    /// What the register still has open.
    CloseOld,
    Main,
    /// Once more, as what was to be written is a directory.
    AsDirectory,
    After,
    /// What should not have been opened.
    Undo,
}

/// A worker's way through recorded calls.
#[derive(Debug)]
pub struct Player {
    calls: Arc<[TraceCall]>,
    is_repeated: bool,
    /// How many more calls are done.
    left_count: u64,
    is_timed: bool,
    bytes_per_second: u64,
    is_searching: bool,
    syncs_writes: bool,
    syncs_directories: bool,
    is_judged: bool,
    register_count: u8,
    buffer_bytes: u32,
    begun_s: u64,
    ramp_ns: u64,
    /// How long calls are begun, ramp included.
    time_ns: u64,
    phase_end: Arc<PhaseEnd>,
    /// The next call, or that which goes on.
    at: usize,
    /// None between calls.
    stage: Option<Stage>,
    /// Of the call that goes on: the first failure that is one.
    errno: i32,
    call_ns: u64,
    /// When the first call began, also of a later round; none before.
    begun_ns: Option<u64>,
    /// When calls are counted that end.
    counted_ns: Option<u64>,
    /// When no further call begins; known from the first on.
    end_ns: u64,
    /// Until when a pause lasts; 0 for none.
    wake_ns: u64,
    /// Bytes of the call before, which a rate makes the next wait for.
    owed_bytes: u32,
    /// Calls in a row that asked for nothing.
    idle_count: usize,
    is_open: Box<[bool]>,
    steps: Box<[StepCounter]>,
    broken: Option<BrokenCall>,
    is_over: bool,
    is_due: bool,
    /// When calls are due, once that is known.
    queue: Option<Box<DueQueue>>,
}

impl Player {
    /// At the first call.
    #[must_use]
    pub fn new(seat: &PlayerSeat<'_>) -> Self {
        let trace = seat.trace;
        Self {
            calls: Arc::clone(&trace.calls),
            is_repeated: trace.is_repeated || seat.calls_count.is_some(),
            left_count: seat.calls_count.unwrap_or(u64::MAX),
            is_timed: trace.is_timed && !seat.is_due,
            bytes_per_second: match seat.is_due {
                true => 0,
                false => trace.bytes_per_second,
            },
            is_searching: trace.is_searching,
            syncs_writes: trace.syncs_writes,
            syncs_directories: trace.syncs_directories,
            is_judged: seat.is_judged,
            register_count: trace.register_count.max(1),
            buffer_bytes: trace.buffer_bytes.max(512),
            begun_s: seat.begun_s,
            ramp_ns: seat.ramp_ns,
            time_ns: seat
                .time_ns
                .map_or(u64::MAX, |time_ns| time_ns.saturating_add(seat.ramp_ns)),
            phase_end: Arc::clone(seat.phase_end),
            at: 0,
            stage: None,
            errno: 0,
            call_ns: 0,
            begun_ns: None,
            counted_ns: None,
            end_ns: u64::MAX,
            wake_ns: 0,
            owed_bytes: 0,
            idle_count: 0,
            is_open: vec![false; usize::from(trace.register_count.max(1))].into(),
            steps: vec![StepCounter::default(); seat.labels_count].into(),
            broken: None,
            is_over: trace.calls.is_empty(),
            is_due: seat.is_due,
            queue: None,
        }
    }

    /// Files that are open at once, at most.
    #[must_use]
    pub const fn register_count(&self) -> u8 {
        self.register_count
    }

    /// Bytes of the largest request.
    #[must_use]
    pub const fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// What was counted, by label.
    #[must_use]
    pub fn steps(&self) -> &[StepCounter] {
        &self.steps
    }

    /// The call that ended the whole.
    #[must_use]
    pub const fn broken(&self) -> Option<BrokenCall> {
        self.broken
    }

    /// Whether a register has a file open.
    fn has_open(&self, call: &TraceCall) -> bool {
        self.is_open.get(usize::from(call.handle)) == Some(&true)
    }

    /// Where a call begins; nowhere where there is nothing to be asked.
    fn first(&self, call: &TraceCall) -> Option<Stage> {
        match call.operation {
            TraceOperation::Pause => None,
            it if it.looks_up() => Some(Stage::LookUp),
            TraceOperation::EmptyTree | TraceOperation::Statfs => Some(Stage::Main),
            _ => self.has_open(call).then_some(Stage::Main),
        }
    }

    /// What a call is at next; nothing where it is done.
    #[inline]
    fn after(&mut self, call: &TraceCall, stage: Stage, result: i32) -> Option<Stage> {
        let searches = result < 0 && self.is_searching;
        match stage {
            Stage::LookUp if searches => Some(Stage::Search),
            Stage::LookUpSecond if searches => Some(Stage::SearchSecond),
            Stage::LookUp | Stage::Search => match call.operation {
                TraceOperation::Rename => Some(Stage::LookUpSecond),
                TraceOperation::LookUp => None,
                TraceOperation::Open(TraceWay::Directory) => Some(Stage::MakeDirectory),
                TraceOperation::Open(_) => Some(self.to_open(call)),
                _ => Some(Stage::Main),
            },
            Stage::LookUpSecond | Stage::SearchSecond => Some(Stage::Main),
            Stage::MakeDirectory => Some(self.to_open(call)),
            Stage::CloseOld => Some(Stage::Main),
            Stage::Main if result == IS_DIRECTORY && is_open(call) => Some(Stage::AsDirectory),
            Stage::Main | Stage::AsDirectory => self.after_main(call, result),
            Stage::After | Stage::Undo => None,
        }
    }

    fn to_open(&self, call: &TraceCall) -> Stage {
        match self.has_open(call) {
            true => Stage::CloseOld,
            false => Stage::Main,
        }
    }

    #[inline]
    fn after_main(&mut self, call: &TraceCall, result: i32) -> Option<Stage> {
        self.judge(call, result);
        if result < 0 {
            return None;
        }
        match call.operation {
            TraceOperation::Open(_) if call.expected == TraceEnd::Ill && self.is_judged => {
                Some(Stage::Undo)
            }
            TraceOperation::Open(_) => {
                self.is_open[usize::from(call.handle)] = true;
                Some(Stage::After)
            }
            TraceOperation::Close => {
                self.is_open[usize::from(call.handle)] = false;
                None
            }
            TraceOperation::SetTimes => Some(Stage::After),
            TraceOperation::Write => self.syncs_writes.then_some(Stage::After),
            TraceOperation::Unlink | TraceOperation::Rmdir | TraceOperation::Rename => {
                self.syncs_directories.then_some(Stage::After)
            }
            _ => None,
        }
    }

    /// Notes a failure that is one, and the end of all where a call must end as recorded.
    #[inline]
    fn judge(&mut self, call: &TraceCall, result: i32) {
        let is_short = call.operation.moves() && result != call.second as i32;
        let is_well = result >= 0 && !(call.operation == TraceOperation::Write && is_short);
        let is_as_recorded = match call.expected {
            TraceEnd::Well => is_well,
            TraceEnd::Ill => !is_well,
            TraceEnd::Any => true,
        };
        if is_as_recorded || !self.is_judged {
            return;
        }
        self.errno = if result < 0 { result } else { UNEXPECTED };
        if call.operation.must_end_as_recorded() {
            self.broken = Some(BrokenCall {
                line: call.line,
                errno: (result < 0).then_some(-result),
            });
            self.is_over = true;
            self.phase_end.stop();
        }
    }

    /// Goes to the next call.
    fn go_on(&mut self) {
        self.stage = None;
        self.at += 1;
        if self.at == self.calls.len() {
            self.at = 0;
            self.begun_ns = None;
            self.is_over |= !self.is_repeated;
        }
    }

    /// Until when the next call waits; not at all where that is over.
    fn waits_until(&mut self, call: &TraceCall, now_ns: u64) -> Option<u64> {
        if self.wake_ns == 0 {
            let begun_ns = self.begun_ns.unwrap_or(now_ns);
            self.wake_ns = match call.operation {
                TraceOperation::Pause => now_ns + call.due_ns,
                _ if self.is_timed => begun_ns + call.due_ns,
                _ if self.bytes_per_second > 0 => {
                    let owed = u64::from(self.owed_bytes) * 1_000_000_000;
                    self.call_ns + owed / self.bytes_per_second
                }
                _ => return None,
            };
        }
        (now_ns < self.wake_ns).then_some(self.wake_ns)
    }

    /// Begins the next call that asks for something.
    fn begin_call(&mut self, now_ns: u64) -> Result<(TraceCall, Stage), Step> {
        loop {
            if self.is_over || now_ns >= self.end_ns || !self.phase_end.is_quiet() {
                return Err(Step::Finished);
            }
            let call = self.calls[self.at];
            self.begun_ns.get_or_insert(now_ns);
            if self.counted_ns.is_none() {
                self.counted_ns = Some(now_ns + self.ramp_ns);
                self.end_ns = now_ns.saturating_add(self.time_ns);
                self.call_ns = now_ns;
            }
            if let Some(until_ns) = self.waits_until(&call, now_ns) {
                return Err(Step::Wait {
                    until_ns: until_ns.min(self.end_ns),
                });
            }
            self.wake_ns = 0;
            let Some(stage) = self.first(&call) else {
                self.go_on();
                self.idle_count += 1;
                // A round of nothing would never end.
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

impl Generator for Player {
    fn operations(&self) -> OperationSet {
        let all = [
            Operation::Read,
            Operation::Write,
            Operation::Fsync,
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
        match self.is_due {
            true => named(RESPONSE_KINDS),
            false => named(&["call"]),
        }
    }

    #[inline]
    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        // Recorded calls come one after the other.
        if slot != 0 {
            return Step::Finished;
        }
        let (call, stage) = match self.stage {
            Some(stage) => (self.calls[self.at], stage),
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
        let call = &self.calls[self.at];
        if result >= 0 {
            return match call.operation.moves() {
                true => call.second.min(request.length_bytes),
                false => 0,
            };
        }
        let is_expected = match self.stage {
            Some(Stage::Main) if result == IS_DIRECTORY && is_open(call) => true,
            Some(Stage::Main | Stage::AsDirectory) => match call.operation {
                TraceOperation::EmptyTree | TraceOperation::Mkdir | TraceOperation::List => true,
                TraceOperation::Read | TraceOperation::Write => false,
                _ => call.expected != TraceEnd::Well,
            },
            Some(Stage::CloseOld | Stage::After | Stage::Undo) | None => false,
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
            return Flow::Apart;
        };
        let call = self.calls[self.at];
        self.stage = self.after(&call, stage, completion.result);
        if self.stage.is_some() {
            return Flow::Continues;
        }
        let errno = match (call.operation, self.errno) {
            // What is there already, or is not, was never asked about.
            (TraceOperation::EmptyTree | TraceOperation::Mkdir | TraceOperation::List, _) => 0,
            (_, errno) => errno,
        };
        if self
            .counted_ns
            .is_some_and(|counted_ns| now_ns >= counted_ns)
        {
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
