//! The end of an open loop: nothing more becomes due, and what was due still begins.

use engine::{Completion, OperationSet, Request};

use crate::{DueCounts, DueTimes, Flow, Generator, OpenLoop, Step};

/// The transactions of an open loop that were due before its end and have not begun.
#[derive(Debug)]
pub struct LeftOver<G> {
    open: OpenLoop<G>,
    end_ns: u64,
}

/// What an open loop leaves behind: what became of what was due, and what never began.
#[derive(Debug, Clone)]
pub struct Backlog {
    counts: DueCounts,
    pending_ns: Option<u64>,
    start_ns: u64,
    due: DueTimes,
}

impl<G: Generator> LeftOver<G> {
    /// What was due before `end_ns`, in nanoseconds of the worker's clock.
    #[must_use]
    pub fn new(open: OpenLoop<G>, end_ns: u64) -> Self {
        Self { open, end_ns }
    }

    /// What is left when the loop has ended.
    #[must_use]
    pub fn into_backlog(self) -> Backlog {
        let OpenLoop {
            counts,
            pending_ns,
            start_ns,
            due,
            ..
        } = self.open;
        Backlog {
            counts,
            pending_ns,
            start_ns,
            due,
        }
    }
}

impl<G: Generator> Generator for LeftOver<G> {
    fn operations(&self) -> OperationSet {
        self.open.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.open.transaction_kinds()
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let due_ns = self.open.due_next_ns();
        if due_ns >= self.end_ns {
            return Step::Finished;
        }
        let step = self.open.next(slot, now_ns);
        if matches!(step, Step::Issue(_)) && self.open.counts.has(due_ns) {
            self.open.counts.left_count += 1;
        }
        step
    }

    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.open.expected_bytes(request, result)
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        self.open.complete(completion, now_ns)
    }
}

impl Backlog {
    /// What became of what was due.
    #[must_use]
    pub fn counts(&self) -> &DueCounts {
        &self.counts
    }

    /// When the transaction was due that was taken and has not begun, in nanoseconds of the
    /// worker's clock.
    #[must_use]
    pub fn pending_ns(&self) -> Option<u64> {
        self.pending_ns
    }

    /// The due times that nobody has taken, rising and without end, in nanoseconds of the
    /// worker's clock. Threads that share a stream all know the same.
    pub fn untaken_ns(&self) -> impl Iterator<Item = u64> + '_ {
        let due = self.due.left();
        due.map(|due_ns| self.start_ns.saturating_add(due_ns))
    }

    /// How many of these lie before `end_ns`; beyond ten million the rest of a Poisson process is
    /// the mean number in the time left.
    #[must_use]
    pub fn untaken_count(&self, end_ns: u64) -> u64 {
        match end_ns.checked_sub(self.start_ns + 1) {
            Some(last_ns) => self.due.count_until(last_ns),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arrivals;
    use crate::open_loop::tests::{NOW, begins, thousand};

    #[test]
    fn what_was_due_before_the_end_begins_and_nothing_more() {
        let mut open = thousand(NOW, 2);
        assert!(begins(&mut open, 0, 0));
        let mut left = LeftOver::new(open, 3_000_000);
        for (slot, due_ns) in [(1, 1_000_000), (0, 2_000_000)] {
            assert!(matches!(left.next(slot, 3_500_000), Step::Issue(_)));
            let start_ns = due_ns;
            let flow = left.complete(Completion { slot, result: 0 }, 3_600_000);
            assert_eq!(flow, Flow::Spanned { kind: 0, start_ns });
        }
        assert_eq!(left.next(1, 3_700_000), Step::Finished);
        let backlog = left.into_backlog();
        let counts = backlog.counts();
        assert_eq!((counts.left_count, counts.late_count), (2, 2));
        assert_eq!(counts.lateness_ns_max, 2_500_000);
        assert_eq!(counts.responses.latency().max_ns(), Some(2_600_000));
        // It was taken to see that it is due too late.
        assert_eq!(backlog.pending_ns(), Some(3_000_000));
        assert_eq!(backlog.untaken_ns().next(), Some(4_000_000));
        assert_eq!(backlog.untaken_count(4_000_000), 0);
        assert_eq!(backlog.untaken_count(4_000_001), 1);
    }

    #[test]
    fn what_is_left_of_a_stream_can_be_told_without_taking_it() {
        let own = |arrivals: Arrivals| DueTimes::Own(arrivals);
        let shared = |arrivals: Arrivals| DueTimes::Shared(arrivals.shared_by(3).remove(1));
        for make in [own, shared] {
            for mut due in [
                make(Arrivals::uniform(7777.7, 0, 2).unwrap()),
                make(Arrivals::poisson(7777.7, 2, 5).unwrap()),
            ] {
                assert!((0..10).all(|_| due.take_ns() < u64::MAX));
                let left: Vec<u64> = due.left().take(100).collect();
                let taken: Vec<u64> = (0..100).map(|_| due.take_ns()).collect();
                assert_eq!(left, taken);
            }
        }
    }
}
