//! Start of rounds, and their due times.

use std::sync::atomic::Ordering;

use plan::program::{AmountScope, Measure};

use super::stream::PAUSE_NS;
use super::{Interpreter, RoundLimit};
use crate::program::slot::SlotSection;
use crate::{Backlog, DueQueue, DueStep, OpenStream, Step};

impl Interpreter {
    /// Sets the queue of due times at which rounds begin.
    pub fn set_due_queue(&mut self, queue: DueQueue) {
        self.queue = Some(Box::new(queue));
    }

    /// Begins another round, leaves the body, or waits until it is known which.
    pub(super) fn begin_round(&mut self, index: usize, now_ns: u64) {
        if self.round_limit == RoundLimit::Pending || self.is_due {
            self.slots[index].section = SlotSection::Between;
        } else if !self.claim_round() {
            self.leave_body(index, now_ns);
        }
    }

    /// Begins a slot's next round or leaves the body; returns a step if the slot has to wait first.
    pub(super) fn next_round(&mut self, index: usize, now_ns: u64) -> Option<Step> {
        if self.round_limit == RoundLimit::Pending {
            let Some(rounds) = self.phase_end.level() else {
                return Some(self.wait(now_ns + PAUSE_NS));
            };
            self.round_limit = RoundLimit::Known(rounds);
        }
        if !self.phase_end.is_quiet() && self.handle_signal(index, now_ns) {
            return None;
        }
        if self.has_failed {
            self.leave_body(index, now_ns);
            return None;
        }
        let mut due_ns = now_ns;
        if let Some(queue) = &mut self.queue {
            match queue.turn_with_short_wait(now_ns) {
                DueStep::Due(ns) => due_ns = ns,
                DueStep::Finished => {
                    self.leave_body(index, now_ns);
                    return None;
                }
                DueStep::Wait(until_ns) => return Some(Step::Wait { until_ns }),
            }
        }
        self.slots[index].section = SlotSection::Body;
        if !self.claim_round() {
            self.leave_body(index, now_ns);
        } else if let Some(queue) = &mut self.queue {
            queue.begin(index, due_ns, now_ns);
        }
        None
    }

    /// Claims another round. Returns `true` if it may begin; it is then counted.
    #[inline]
    pub(super) fn claim_round(&mut self) -> bool {
        let mut may_begin = match self.round_limit {
            RoundLimit::Known(rounds) => self.amounts.rounds < rounds,
            RoundLimit::Unlimited | RoundLimit::Pending => true,
        };
        for (index, quota) in self.quotas.iter().enumerate() {
            let own = self.done(quota.what);
            let done = match (quota.of, quota.what) {
                (AmountScope::Each, _) => own,
                // In a shared quota of rounds, the next round counts before it begins.
                (AmountScope::Group, Measure::Rounds) => {
                    self.progress.amounts[index].fetch_add(1, Ordering::Relaxed)
                }
                (AmountScope::Group, _) => {
                    let more = own - std::mem::replace(&mut self.merged[index], own);
                    more + self.progress.amounts[index].fetch_add(more, Ordering::Relaxed)
                }
            };
            // No early return: every shared quota must learn this worker's part.
            may_begin &= done < quota.count;
        }
        self.amounts.rounds += u64::from(may_begin);
        may_begin
    }
}

impl OpenStream for Interpreter {
    fn close(&mut self, end_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.close(end_ns);
        }
    }

    fn backlog(&self) -> Option<Backlog> {
        self.queue.as_ref().map(|it| it.backlog())
    }
}
