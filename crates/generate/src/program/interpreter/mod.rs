//! One worker's part of a phase as a stream of requests.

mod calls;
mod failures;
mod fast_path;
mod results;
mod rounds;
mod stream;
mod waits;
mod walks;

use std::sync::Arc;

use plan::program::{OnFailure, OnNoFile, PhaseEndAction, Quota};

use super::code::{Code, Instruction};
use super::compile::compile;
use super::phase_end::{PhaseEnd, Signal};
use super::slot::{CallFrame, OpenStep, SlotSection, SlotState};
use super::states::FileStates;
use super::tokens::{PhaseWaits, TokenUses};
use super::{GroupProgress, StepCounter, TransactionUnit, WorkerContext};
use crate::{DueQueue, Flow, GenerateError, Rng};

pub use fast_path::FastPath;
pub use results::{Amounts, CallFailure, StageTimes, StonewallProgress};

/// After this many consecutive rounds without requests, the worker is done.
// A few idle rounds are normal, for example if a random number of repetitions is 0.
const IDLE_ROUNDS_MAX: u32 = 1000;
/// After this many consecutive instructions without requests, the worker checks the clock.
const QUIET_INSTRUCTIONS_MAX: u32 = 1000;

/// One worker's part of a phase.
#[derive(Debug)]
pub struct Interpreter {
    code: Code,
    states: Box<[Arc<FileStates>]>,
    progress: Arc<GroupProgress>,
    phase_end: Arc<PhaseEnd>,
    waits: Arc<PhaseWaits>,
    /// Tokens and meetings that the group uses.
    uses: TokenUses,
    worker_index: u32,
    worker_count: u32,
    /// Amount of past work that is already paid for, by wait.
    paid: Box<[u64]>,
    on_time_up: PhaseEndAction,
    on_first_done: Option<PhaseEndAction>,
    quotas: Box<[Quota]>,
    /// Number of rounds if the quotas do not determine it.
    rounds: Option<u64>,
    on_no_file: OnNoFile,
    on_failure: OnFailure,
    /// Length of the window, including ramp time, in nanoseconds; `None` if something else ends it.
    time_ns: Option<u64>,
    /// Time when slots leave their bodies; 0 before the window has begun.
    end_ns: u64,
    slots: Box<[SlotState]>,
    rng: Rng,
    steps: Box<[StepCounter]>,
    size_seed: u64,
    rounds_per_us: f64,
    /// `true` if a failed call has ended the worker.
    has_failed: bool,
    first_failure: Option<CallFailure>,
    /// `true` if it ended before time was up because it found no file.
    has_run_dry: bool,
    /// Number of slots in their bodies.
    body_count: u32,
    is_first_done: bool,
    in_flight: u32,
    amounts: Amounts,
    stamps: StageTimes,
    /// Number of rounds it may perform; determined when time is up.
    round_limit: RoundLimit,
    /// The worker's part that the group's amounts already include, by quota.
    merged: Box<[u64]>,
    /// `true` if rounds begin when they are due.
    is_due: bool,
    /// Due times of the rounds, once they are known.
    queue: Option<Box<DueQueue>>,
}

/// Number of rounds that a worker may perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundLimit {
    Unlimited,
    /// As many as the worker with most rounds, a number that is not known yet.
    Pending,
    /// This many.
    Known(u64),
}

impl Interpreter {
    /// A worker that has not started.
    ///
    /// # Errors
    /// If a parameter of a law or a distribution in the program is out of range.
    pub fn new(context: &WorkerContext<'_>) -> Result<Self, GenerateError> {
        let code = compile(context)?;
        let slot_count = context.slot_count.max(1) as usize;
        let is_due = context.unit == TransactionUnit::DueRound;
        let time_ns = context.phase.time_ns;
        Ok(Self {
            slots: vec![SlotState::new(code.register_count); slot_count].into(),
            states: context.states.into(),
            progress: context.progress.clone(),
            phase_end: context.phase_end.clone(),
            waits: context.waits.clone(),
            uses: TokenUses::of(context.program, context.group),
            worker_index: context.worker_index,
            worker_count: context.worker_count,
            paid: vec![0; code.waits.len()].into(),
            on_time_up: context.phase.time_up,
            on_first_done: context.phase.first_done,
            quotas: match context.rounds {
                Some(_) => Box::default(),
                None => context.group.quotas.clone().into(),
            },
            rounds: context.rounds,
            on_no_file: context.group.out,
            on_failure: context.group.failed,
            time_ns: time_ns.map(|ns| ns.saturating_add(context.phase.ramp_ns)),
            end_ns: 0,
            rng: Rng::new(context.seed),
            steps: vec![StepCounter::default(); context.program.labels.len()].into(),
            size_seed: context.program_seed,
            rounds_per_us: context.rounds_per_us,
            has_failed: false,
            first_failure: None,
            has_run_dry: false,
            body_count: 0,
            is_first_done: false,
            in_flight: 0,
            amounts: Amounts::default(),
            stamps: StageTimes::default(),
            round_limit: RoundLimit::Unlimited,
            merged: vec![0; context.group.quotas.len()].into(),
            is_due,
            queue: None,
            code,
        })
    }

    /// Enters the window.
    fn begin_window(&mut self) {
        self.stamps = StageTimes::default();
        // Work before the window counts for no quota and no mark.
        self.amounts = Amounts::default();
        self.round_limit = self.rounds.map_or(RoundLimit::Unlimited, RoundLimit::Known);
        self.body_count = 0;
        self.end_ns = 0;
        self.is_first_done = self.is_empty(self.code.first);
        for index in 0..self.slots.len() {
            // Slot 0 executes the first section for all; the others wait at the start of their
            // bodies.
            if index == 0 && !self.is_first_done {
                self.body_count += 1;
                self.slots[0].enter(SlotSection::First, self.code.first);
            } else {
                self.enter_body(index, 0);
            }
        }
    }

    /// Amounts of work in the window and after it.
    #[must_use]
    pub fn amounts(&self) -> Amounts {
        self.amounts
    }

    /// `true` if the worker ended because it found no file.
    #[must_use]
    pub fn has_run_dry(&self) -> bool {
        self.has_run_dry
    }

    /// The first failed call, if failures end the run.
    #[must_use]
    pub const fn failure(&self) -> Option<CallFailure> {
        self.first_failure
    }

    /// Times at which the worker reached its stages.
    #[must_use]
    pub fn stamps(&self) -> StageTimes {
        self.stamps
    }

    /// Counters of the labels.
    #[must_use]
    pub fn steps(&self) -> &[StepCounter] {
        &self.steps
    }

    /// Names of the transactions.
    #[must_use]
    pub fn kinds(&self) -> &[String] {
        &self.code.kinds
    }

    /// Number of registers per slot.
    #[must_use]
    pub fn register_count(&self) -> u8 {
        // A program has at most 200 registers.
        self.code.register_count as u8
    }

    /// Length of the largest request in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> u32 {
        self.code.buffer_bytes
    }

    fn is_empty(&self, at: u16) -> bool {
        self.code.instructions[usize::from(at)] == Instruction::SectionEnd
    }

    /// The first slot executes a section while the others do nothing. Returns `false` if the
    /// section is empty.
    fn alone(&mut self, section: SlotSection, at: u16) -> bool {
        self.slots
            .iter_mut()
            .for_each(|slot| slot.section = SlotSection::Finished);
        let has_any = !self.is_empty(at);
        if has_any {
            self.slots[0].enter(section, at);
        }
        has_any
    }

    fn enter_body(&mut self, index: usize, now_ns: u64) {
        self.body_count += 1;
        self.slots[index].enter(SlotSection::Body, self.code.body);
        self.begin_round(index, now_ns);
    }

    /// Leaves the body, even with open files. The first slot executes the section that follows.
    fn leave_body(&mut self, index: usize, now_ns: u64) {
        self.body_count -= 1;
        // Nobody shall make room for a worker that has left.
        self.withdraw_demand(index);
        if self.body_count == 0 {
            self.end_body(now_ns);
        }
        self.release(index);
        let slot = &mut self.slots[index];
        slot.section = SlotSection::Finished;
        if index == 0 && !self.is_empty(self.code.last) {
            self.slots[0].enter(SlotSection::Last, self.code.last);
        }
    }

    /// All slots have left the body.
    #[cold]
    fn end_body(&mut self, now_ns: u64) {
        self.stamps.body_end_ns = now_ns;
        // Others must not wait for tokens of a worker that has left.
        self.waits.leave(&self.uses);
        // Others may wait for the largest number of rounds, which this worker may have done.
        if self.round_limit == RoundLimit::Unlimited {
            self.phase_end.arrive(self.amounts.rounds);
        }
        // Only a worker that is done before time is up stops the others.
        let is_own_end = now_ns < self.end_ns;
        match self.on_first_done {
            Some(PhaseEndAction::Stop) if is_own_end => self.phase_end.tell(Signal::Stop),
            Some(PhaseEndAction::Finish) if is_own_end => self.phase_end.tell(Signal::Record),
            _ => {}
        }
    }

    /// Reacts to a signal to all workers. Returns `true` if the slot has moved.
    #[cold]
    pub(super) fn handle_signal(&mut self, index: usize, now_ns: u64) -> bool {
        match self.phase_end.signal() {
            Signal::Continue => false,
            Signal::Record => {
                self.note(now_ns);
                false
            }
            Signal::Stop => {
                self.leave_body(index, now_ns);
                true
            }
        }
    }

    /// Records the current amounts, unless they were recorded before.
    fn note(&mut self, now_ns: u64) {
        let amounts = self.amounts;
        let mark = StonewallProgress {
            at_ns: now_ns,
            amounts,
        };
        self.stamps.stonewall.get_or_insert(mark);
    }

    /// Releases the name of a call that was about to begin.
    fn release(&mut self, index: usize) {
        let call = &mut self.slots[index].call;
        if std::mem::take(&mut call.is_claimed)
            && let Instruction::Call(number) =
                self.code.instructions[usize::from(self.slots[index].instruction)]
        {
            let code = &self.code.calls[usize::from(number)];
            let call = &self.slots[index].call;
            self.states[usize::from(call.fileset)].release(call.file, code.claim);
        }
    }

    /// Executes instructions without requests until a call or a pause is next. Returns the
    /// transaction that ended meanwhile, if any.
    #[inline]
    fn settle(&mut self, index: usize, now_ns: u64) -> Flow {
        let mut flow = Flow::Uncounted;
        for _ in 0..QUIET_INSTRUCTIONS_MAX {
            let slot = &mut self.slots[index];
            let next = slot.instruction + 1;
            match self.code.instructions[usize::from(slot.instruction)] {
                Instruction::Call(_)
                | Instruction::Think(_)
                | Instruction::Burn(_)
                | Instruction::Wait(_) => return flow,
                Instruction::StepBegin(label) => {
                    slot.steps[usize::from(slot.step_count)] = OpenStep {
                        label,
                        start_ns: now_ns,
                        ..OpenStep::default()
                    };
                    slot.step_count += 1;
                    slot.instruction = next;
                }
                Instruction::StepEnd => {
                    slot.instruction = next;
                    self.end_step(index, now_ns);
                }
                Instruction::TransactionBegin { kind, label, end } => {
                    slot.open_frame(Some(kind), label, end);
                    slot.instruction = next;
                }
                Instruction::TransactionEnd => {
                    slot.pass_on_open_files();
                    let frame = slot.frame;
                    slot.open_frame(None, None, 0);
                    slot.instruction = next;
                    // A transaction without calls has no start and does not count.
                    if let (Some(kind), 1..) = (frame.kind, frame.start_ns) {
                        self.count_transaction(&frame, now_ns);
                        let queue = self.queue.as_mut();
                        let due_ns = queue.map(|it| it.end(index, now_ns, frame.errno));
                        flow = Flow::Timed {
                            kind,
                            errno: frame.errno,
                            start_ns: due_ns.unwrap_or(frame.start_ns),
                        };
                    }
                }
                Instruction::RoundEnd => {
                    self.end_round(index, now_ns);
                    return flow;
                }
                Instruction::SectionEnd => {
                    self.end_section(index, now_ns);
                    return flow;
                }
                instruction => self.go_on(index, instruction),
            }
        }
        flow
    }

    /// Continues where an instruction leads.
    #[inline]
    fn go_on(&mut self, index: usize, instruction: Instruction) {
        let slot = &mut self.slots[index];
        let next = slot.instruction + 1;
        match instruction {
            Instruction::LoopBegin { sampler, end } => {
                let sampler = &self.code.samplers[usize::from(sampler)];
                slot.begin_loop(sampler.amount(self.rng.next_u64()), end);
            }
            Instruction::LoopEnd { body } => slot.next_iteration(body),
            Instruction::Mix(number) => {
                let (choice, places) = &self.code.mixes[usize::from(number)];
                slot.instruction = places[choice.pick(self.rng.next_u64())];
            }
            Instruction::Deal(number) => {
                (slot.card, slot.instruction) = self.code.decks[usize::from(number)].next();
            }
            Instruction::Jump(to) => slot.instruction = to,
            Instruction::WalkBegin(walk) => {
                slot.instruction = next;
                let first = self.code.walks[usize::from(walk)].start();
                self.enter_directory(index, walk, first);
            }
            Instruction::WalkNext { walk, read } => {
                let on = self.code.walks[usize::from(walk)].after(slot.walking);
                slot.instruction = if on.is_some() { read } else { next };
                if let Some(on) = on {
                    self.enter_directory(index, walk, on);
                }
            }
            _ => {}
        }
    }

    fn count_transaction(&mut self, frame: &CallFrame, now_ns: u64) {
        if let Some(label) = frame.label {
            let span_ns = now_ns.saturating_sub(frame.start_ns);
            let counter = &mut self.steps[usize::from(label)];
            counter.record(span_ns, frame.bytes, frame.errno != 0);
        }
    }

    fn end_step(&mut self, index: usize, now_ns: u64) {
        let slot = &mut self.slots[index];
        slot.step_count -= 1;
        let step = slot.steps[usize::from(slot.step_count)];
        let span_ns = now_ns.saturating_sub(step.start_ns);
        self.steps[usize::from(step.label)].record(span_ns, step.bytes, step.has_failed);
    }

    fn end_round(&mut self, index: usize, now_ns: u64) {
        let slot = &mut self.slots[index];
        slot.pass_on_open_files();
        let is_idle = !std::mem::take(&mut slot.is_round_busy);
        slot.idle_rounds = if is_idle { slot.idle_rounds + 1 } else { 0 };
        let is_stuck = slot.idle_rounds >= IDLE_ROUNDS_MAX;
        slot.instruction = self.code.body;
        if is_stuck {
            self.has_run_dry = true;
            self.leave_body(index, now_ns);
        } else {
            self.begin_round(index, now_ns);
        }
    }

    fn end_section(&mut self, index: usize, now_ns: u64) {
        match self.slots[index].section {
            SlotSection::First => {
                self.is_first_done = true;
                self.body_count -= 1;
                self.enter_body(index, now_ns);
            }
            _ => self.slots[index].section = SlotSection::Finished,
        }
    }

    /// `true` if the slot has to leave its body now. The first call sets the end of the window.
    #[cold]
    fn is_time_over(&mut self, now_ns: u64) -> bool {
        if self.end_ns == 0 {
            let time_ns = self.time_ns.unwrap_or(u64::MAX);
            // 0 would mean that the window has not begun.
            self.end_ns = now_ns.saturating_add(time_ns).max(1);
            self.stamps.body_start_ns = now_ns;
        }
        if now_ns < self.end_ns {
            return false;
        }
        if self.on_time_up == PhaseEndAction::Stop || self.has_failed {
            return true;
        }
        // The worker continues, so the limit must not be met again.
        self.end_ns = u64::MAX;
        self.note(now_ns);
        if self.on_time_up == PhaseEndAction::Level && self.round_limit == RoundLimit::Unlimited {
            self.round_limit = RoundLimit::Pending;
            self.phase_end.arrive(self.amounts.rounds);
        }
        false
    }
}
