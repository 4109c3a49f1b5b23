//! Acts that wait for other workers.

use plan::program::{CounterSelection, Measure, TakeAmount};

use super::Interpreter;
use crate::Step;
use crate::program::code::{Instruction, WaitCode};
use crate::program::slot::{SlotSection, WaitProgress};
use crate::program::tokens::TokenOutcome;

/// First pause before the next attempt, in nanoseconds.
const PAUSE_MIN_NS: u64 = 20_000;
/// Pauses double up to this length, in nanoseconds.
// Long enough that 200 waiting threads cost next to nothing.
const PAUSE_MAX_NS: u64 = 1_000_000;

impl Interpreter {
    /// Continues an act that may have to wait; returns a step if it does.
    pub(super) fn wait_for_others(
        &mut self,
        index: usize,
        number: u16,
        now_ns: u64,
    ) -> Option<Step> {
        if !self.phase_end.is_quiet()
            && self.slots[index].section == SlotSection::Body
            && self.handle_signal(index, now_ns)
        {
            return None;
        }
        // A wait is work of the round, so the worker does not end as idle.
        self.slots[index].is_round_busy = true;
        let code = self.code.waits[usize::from(number)];
        if !self.slots[index].waiting.is_begun {
            self.begin_wait(index, number);
        }
        loop {
            let waiting = self.slots[index].waiting;
            let wish = match code {
                WaitCode::Put { tokens, .. } => {
                    self.waits.put(tokens, waiting.counter, waiting.count)
                }
                WaitCode::Take { tokens, .. } => {
                    self.waits
                        .take(tokens, waiting.counter, waiting.count, now_ns)
                }
                WaitCode::Meet(meeting)
                    if self.waits.have_all_arrived(meeting, waiting.meeting) =>
                {
                    TokenOutcome::Granted
                }
                WaitCode::Meet(_) => TokenOutcome::Later(0),
            };
            match wish {
                TokenOutcome::Granted => {
                    self.withdraw_demand(index);
                    let slot = &mut self.slots[index];
                    if slot.waiting.more_count == 0 {
                        slot.waiting = WaitProgress::default();
                        slot.instruction += 1;
                        return None;
                    }
                    slot.waiting.more_count -= 1;
                    slot.waiting.counter += 1;
                    // The next counter starts with the shortest pause.
                    slot.waiting.pause_ns = 0;
                }
                TokenOutcome::Later(again_ns) => {
                    return Some(self.pause(index, code, again_ns, now_ns));
                }
                TokenOutcome::Never => {
                    self.handle_no_file_left(index, now_ns);
                    return None;
                }
            }
        }
    }

    fn pause(&mut self, index: usize, code: WaitCode, again_ns: u64, now_ns: u64) -> Step {
        let waiting = &mut self.slots[index].waiting;
        if let (WaitCode::Take { tokens, .. }, false) = (code, waiting.is_announced) {
            // Announced to the workers that put tokens, so that they have room for these.
            waiting.is_announced = true;
            self.waits
                .announce_demand(tokens, waiting.counter, waiting.count);
        }
        waiting.pause_ns = (waiting.pause_ns * 2).clamp(PAUSE_MIN_NS, PAUSE_MAX_NS);
        let until_ns = match again_ns {
            0 => now_ns + waiting.pause_ns,
            known_ns => known_ns,
        };
        // A wait must not outlast the time of the phase.
        self.wait(until_ns.min(self.end_ns.max(1)))
    }

    /// Determines the amount and the counters.
    fn begin_wait(&mut self, index: usize, number: u16) {
        let mut waiting = WaitProgress {
            is_begun: true,
            ..WaitProgress::default()
        };
        match self.code.waits[usize::from(number)] {
            WaitCode::Meet(meeting) => waiting.meeting = self.waits.arrive(meeting),
            WaitCode::Put {
                tokens,
                count,
                whose,
                ..
            } => {
                waiting.count = count.into();
                (waiting.counter, waiting.more_count) = self.counters(tokens, whose, number);
            }
            WaitCode::Take {
                tokens,
                count,
                whose,
                ..
            } => {
                waiting.count = self.due(count, number);
                (waiting.counter, waiting.more_count) = self.counters(tokens, whose, number);
            }
        }
        self.slots[index].waiting = waiting;
    }

    /// The first counter, and the number of counters after it.
    fn counters(&mut self, tokens: u8, selection: CounterSelection, number: u16) -> (u32, u32) {
        let count = self.waits.count(tokens);
        let at = |worker: u32| {
            let index = u64::from(worker) * u64::from(count) / u64::from(self.worker_count.max(1));
            (index as u32).min(count - 1)
        };
        let (begin, end) = (at(self.worker_index), at(self.worker_index + 1));
        match selection {
            CounterSelection::Mine => (begin, 0),
            CounterSelection::Each => (0, count - 1),
            CounterSelection::Turns => {
                let is_last = self.worker_index + 1 == self.worker_count;
                let own = (if is_last { count } else { end } - begin).max(1);
                let mut counter = begin;
                if let Some(turn) = self.code.waits[usize::from(number)].turn() {
                    counter += *turn % own;
                    *turn = (*turn + 1) % own;
                }
                (counter, 0)
            }
        }
    }

    /// Amount to take now.
    fn due(&mut self, count: TakeAmount, number: u16) -> u64 {
        let (what, each) = match count {
            TakeAmount::Fixed(count) => return count.into(),
            TakeAmount::Since { what, each } => (what, each.max(1)),
        };
        let done = self.done(what);
        let paid = &mut self.paid[usize::from(number)];
        let due = done.saturating_sub(*paid) / each;
        // Only whole amounts are paid; the rest counts the next time.
        *paid += due * each;
        due
    }

    /// Amount of work that the worker has done.
    pub(super) fn done(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Rounds => self.amounts.rounds,
            Measure::Calls => self.amounts.calls,
            Measure::Bytes => self.amounts.read_bytes + self.amounts.written_bytes,
            Measure::Steps(label) => self.steps[usize::from(label)].count,
            Measure::StepBytes(label) => self.steps[usize::from(label)].bytes,
        }
    }

    /// Withdraws the announced demand of the slot.
    pub(super) fn withdraw_demand(&mut self, index: usize) {
        let waiting = &mut self.slots[index].waiting;
        if std::mem::take(&mut waiting.is_announced)
            && let Instruction::Wait(number) =
                self.code.instructions[usize::from(self.slots[index].instruction)]
            && let WaitCode::Take { tokens, .. } = self.code.waits[usize::from(number)]
        {
            let waiting = self.slots[index].waiting;
            self.waits
                .withdraw_demand(tokens, waiting.counter, waiting.count);
        }
    }
}
