//! One worker's part of a phase, as a stream of requests.

mod calls;
mod failures;
mod stream;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use workload::program::{Failed, Measure, Out, Quota, Share};

use super::code::{Code, Instruction};
use super::compile::compile;
use super::slot::{Frame, OpenStep, Section, SlotState};
use super::states::FileStates;
use super::{Progress, Seat, StepCounter};
use crate::{Flow, GenerateError, Rng, mix};

/// Rounds in a row that ask for nothing; after them the worker is done.
const IDLE_ROUNDS_MAX: u32 = 1000;

/// One worker's part of a phase.
#[derive(Debug)]
pub struct Interpreter {
    code: Code,
    states: Box<[Arc<FileStates>]>,
    progress: Arc<Progress>,
    is_over: Arc<AtomicBool>,
    quotas: Box<[Quota]>,
    out: Out,
    failed: Failed,
    /// How long the window is, ramp included; none where something else ends it.
    time_ns: Option<u64>,
    /// When slots leave their bodies; 0 before the window has begun.
    end_ns: u64,
    slots: Box<[SlotState]>,
    rng: Rng,
    steps: Box<[StepCounter]>,
    size_seed: u64,
    rounds_per_us: f64,
    /// Slots that are in their bodies.
    bodies: u32,
    is_first_done: bool,
    in_flight: u32,
    amounts: Amounts,
    /// What of its own the group's amounts have already, by quota.
    told: Box<[u64]>,
}

/// How much a worker has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Amounts {
    rounds: u64,
    calls: u64,
    bytes: u64,
}

impl Interpreter {
    /// A worker that has not begun.
    ///
    /// # Errors
    /// When a law or a distribution of the program has a parameter out of its range.
    pub fn new(seat: &Seat<'_>) -> Result<Self, GenerateError> {
        let code = compile(seat)?;
        let slot_count = seat.slot_count.max(1) as usize;
        let time_ns = seat.phase.time_ns;
        Ok(Self {
            slots: vec![SlotState::new(code.register_count); slot_count].into(),
            states: seat.states.into(),
            progress: seat.progress.clone(),
            is_over: seat.is_over.clone(),
            quotas: seat.group.quotas.clone().into(),
            out: seat.group.out,
            failed: seat.group.failed,
            time_ns: time_ns.map(|ns| ns.saturating_add(seat.phase.ramp_ns)),
            end_ns: 0,
            rng: Rng::new(seat.seed),
            steps: vec![StepCounter::default(); seat.program.labels.len()].into(),
            size_seed: seat.program_seed,
            rounds_per_us: seat.rounds_per_us,
            bodies: 0,
            is_first_done: false,
            in_flight: 0,
            amounts: Amounts::default(),
            told: vec![0; seat.group.quotas.len()].into(),
            code,
        })
    }

    /// Goes to the window.
    fn begin_window(&mut self) {
        self.bodies = 0;
        self.end_ns = 0;
        self.is_first_done = self.is_empty(self.code.first);
        for index in 0..self.slots.len() {
            if index == 0 && !self.is_first_done {
                self.bodies += 1;
                self.slots[0].enter(Section::First, self.code.first);
            } else {
                self.enter_body(index);
            }
        }
    }

    /// What was counted of each label.
    #[must_use]
    pub fn steps(&self) -> &[StepCounter] {
        &self.steps
    }

    /// Names of the transactions.
    #[must_use]
    pub fn kinds(&self) -> &[String] {
        &self.code.kinds
    }

    /// How many registers a slot has.
    #[must_use]
    pub fn register_count(&self) -> u8 {
        // At most as many as bytes can say.
        self.code.register_count as u8
    }

    /// Bytes of the largest request.
    #[must_use]
    pub fn buffer_bytes(&self) -> u32 {
        self.code.buffer_bytes
    }

    /// Computes for so many rounds, which take the same time each while nothing else runs.
    pub fn compute(rounds: u64) {
        let mut value = 0;
        for round in 0..rounds {
            value = black_box(mix(value ^ round));
        }
    }

    fn is_empty(&self, at: u16) -> bool {
        self.code.instructions[usize::from(at)] == Instruction::SectionEnd
    }

    /// The first slot does something while the others do nothing; whether there is anything to do.
    fn alone(&mut self, section: Section, at: u16) -> bool {
        self.slots
            .iter_mut()
            .for_each(|slot| slot.section = Section::Over);
        let has_any = !self.is_empty(at);
        if has_any {
            self.slots[0].enter(section, at);
        }
        has_any
    }

    fn enter_body(&mut self, index: usize) {
        self.bodies += 1;
        self.slots[index].enter(Section::Body, self.code.body);
        if !self.claim_round() {
            self.leave_body(index);
        }
    }

    /// Leaves the body, whatever is open. What follows is done by the first slot.
    fn leave_body(&mut self, index: usize) {
        self.bodies -= 1;
        self.let_go(index);
        let slot = &mut self.slots[index];
        slot.section = Section::Over;
        if index == 0 && !self.is_empty(self.code.last) {
            self.slots[0].enter(Section::Last, self.code.last);
        }
    }

    /// Gives back the name of a call that was about to begin.
    fn let_go(&mut self, index: usize) {
        let call = &mut self.slots[index].call;
        if std::mem::take(&mut call.is_claimed)
            && let Instruction::Call(number) =
                self.code.instructions[usize::from(self.slots[index].at)]
        {
            let code = &self.code.calls[usize::from(number)];
            let call = &self.slots[index].call;
            self.states[usize::from(call.fileset)].release(call.file, code.claim());
        }
    }

    /// Whether another round may begin, which is then counted.
    fn claim_round(&mut self) -> bool {
        let mut may_begin = true;
        for (index, quota) in self.quotas.iter().enumerate() {
            let own = match quota.what {
                Measure::Rounds => self.amounts.rounds,
                Measure::Calls => self.amounts.calls,
                Measure::Bytes => self.amounts.bytes,
                Measure::Steps(label) => self.steps[usize::from(label)].count,
            };
            let done = match (quota.of, quota.what) {
                (Share::Each, _) => own,
                // The round that would begin counts before it does.
                (Share::Group, Measure::Rounds) => {
                    self.progress.amounts[index].fetch_add(1, Ordering::Relaxed)
                }
                (Share::Group, _) => {
                    let more = own - std::mem::replace(&mut self.told[index], own);
                    more + self.progress.amounts[index].fetch_add(more, Ordering::Relaxed)
                }
            };
            may_begin &= done < quota.count;
        }
        self.amounts.rounds += u64::from(may_begin);
        may_begin
    }

    /// Carries out what asks for nothing, until a call or a pause is next; what ended meanwhile.
    #[inline]
    fn settle(&mut self, index: usize, now_ns: u64) -> Flow {
        let mut flow = Flow::Apart;
        loop {
            let slot = &mut self.slots[index];
            let next = slot.at + 1;
            match self.code.instructions[usize::from(slot.at)] {
                Instruction::Call(_) | Instruction::Think(_) | Instruction::Burn(_) => return flow,
                Instruction::Times { sampler, end } => {
                    let sampler = &self.code.samplers[usize::from(sampler)];
                    slot.begin_loop(sampler.amount(self.rng.next_u64()), end);
                }
                Instruction::Again { body } => slot.once_more(body),
                Instruction::Mix(number) => {
                    let (choice, places) = &self.code.mixes[usize::from(number)];
                    slot.at = places[choice.pick(self.rng.next_u64())];
                }
                Instruction::Jump(to) => slot.at = to,
                Instruction::StepBegin(label) => {
                    slot.steps[usize::from(slot.step_count)] = OpenStep {
                        label,
                        start_ns: now_ns,
                        ..OpenStep::default()
                    };
                    slot.step_count += 1;
                    slot.at = next;
                }
                Instruction::StepEnd => {
                    slot.at = next;
                    self.end_step(index, now_ns);
                }
                Instruction::TransactionBegin { kind, label, end } => {
                    slot.open_frame(Some(kind), label, end);
                    slot.at = next;
                }
                Instruction::TransactionEnd => {
                    slot.keep_opened();
                    let frame = slot.frame;
                    slot.open_frame(None, None, 0);
                    slot.at = next;
                    if let (Some(kind), 1..) = (frame.kind, frame.start_ns) {
                        self.count_transaction(&frame, now_ns);
                        flow = Flow::Timed {
                            kind,
                            errno: frame.errno,
                            start_ns: frame.start_ns,
                        };
                    }
                }
                Instruction::RoundEnd => {
                    self.end_round(index);
                    return flow;
                }
                Instruction::SectionEnd => {
                    self.end_section(index);
                    return flow;
                }
            }
        }
    }

    fn count_transaction(&mut self, frame: &Frame, now_ns: u64) {
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

    fn end_round(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        slot.keep_opened();
        let is_idle = !std::mem::take(&mut slot.is_round_busy);
        slot.idle_rounds = if is_idle { slot.idle_rounds + 1 } else { 0 };
        let is_stuck = slot.idle_rounds >= IDLE_ROUNDS_MAX;
        slot.at = self.code.body;
        if is_stuck || !self.claim_round() {
            self.leave_body(index);
        }
    }

    fn end_section(&mut self, index: usize) {
        match self.slots[index].section {
            Section::First => {
                self.is_first_done = true;
                self.bodies -= 1;
                self.enter_body(index);
            }
            _ => self.slots[index].section = Section::Over,
        }
    }

    /// Whether the slot has to leave its body now. The window's end is known once it has begun.
    #[cold]
    fn is_time_over(&mut self, now_ns: u64) -> bool {
        if self.end_ns == 0 {
            let time_ns = self.time_ns.unwrap_or(u64::MAX);
            self.end_ns = now_ns.saturating_add(time_ns).max(1);
        }
        now_ns >= self.end_ns
    }
}
