//! Rounds: whether another may begin, and when it is due.

use std::sync::atomic::Ordering;

use plan::program::{Measure, Share};

use super::stream::PAUSE_NS;
use super::{Interpreter, Level};
use crate::program::slot::Section;
use crate::{Backlog, DueQueue, OpenStream, Step, Turn};

impl Interpreter {
    /// Tells it when its rounds are due, which begin then.
    pub fn begin_when_due(&mut self, queue: DueQueue) {
        self.queue = Some(Box::new(queue));
    }

    /// Another round, if there is to be one, and if that is known yet.
    pub(super) fn begin_round(&mut self, index: usize, now_ns: u64) {
        if self.level == Level::Awaited || self.is_due {
            self.slots[index].section = Section::Between;
        } else if !self.claim_round() {
            self.leave_body(index, now_ns);
        }
    }

    /// Begins a slot's next round, or leaves the body, where it is known by now which; else what
    /// it waits for.
    pub(super) fn next_round(&mut self, index: usize, now_ns: u64) -> Option<Step> {
        if self.level == Level::Awaited {
            let Some(rounds) = self.phase_end.level() else {
                return Some(self.wait(now_ns + PAUSE_NS));
            };
            self.level = Level::Known(rounds);
        }
        if !self.phase_end.is_quiet() && self.heed(index, now_ns) {
            return None;
        }
        if self.has_failed {
            self.leave_body(index, now_ns);
            return None;
        }
        let mut due_ns = now_ns;
        if let Some(queue) = &mut self.queue {
            match queue.watched_turn(now_ns) {
                Turn::Due(ns) => due_ns = ns,
                Turn::Over => {
                    self.leave_body(index, now_ns);
                    return None;
                }
                Turn::Wait(until_ns) => return Some(Step::Wait { until_ns }),
            }
        }
        self.slots[index].section = Section::Body;
        if !self.claim_round() {
            self.leave_body(index, now_ns);
        } else if let Some(queue) = &mut self.queue {
            queue.begin(index, due_ns, now_ns);
        }
        None
    }

    /// Whether another round may begin, which is then counted.
    #[inline]
    pub(super) fn claim_round(&mut self) -> bool {
        let mut may_begin = match self.level {
            Level::Known(rounds) => self.amounts.rounds < rounds,
            Level::Free | Level::Awaited => true,
        };
        for (index, quota) in self.quotas.iter().enumerate() {
            let own = self.done(quota.what);
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
