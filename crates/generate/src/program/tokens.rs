//! Waits between the workers of a phase: token counters, and meetings.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use plan::program::{Act, Group, MEETINGS_MAX, Program, ProgramPhase, Refill};

const NS_PER_SECOND: f64 = 1e9;

/// Result of an attempt to put or to take tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenOutcome {
    Granted,
    /// Try again, not before the given time; 0 if no time is known.
    Later(u64),
    /// No worker is left that could grant it.
    Never,
}

/// Workers of this process at a meeting, for the other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeetingReport {
    /// All of them have arrived, and wait for the workers of other processes.
    Arrived,
    /// None of them will arrive at this meeting any more.
    Left,
}

/// Reports the workers of this process at the meeting with this number to other processes.
pub type MeetingReporter = Box<dyn Fn(u8, MeetingReport) + Send + Sync>;

/// Token counters and meetings of the workers of a phase.
pub struct PhaseWaits {
    counters: Box<[CounterSet]>,
    meetings: Box<[WorkerBarrier]>,
    /// Set if other processes have workers of the phase; these count as one more worker of each
    /// meeting.
    reporter: Option<MeetingReporter>,
}

impl fmt::Debug for PhaseWaits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PhaseWaits")
            .field("counters", &self.counters)
            .field("meetings", &self.meetings)
            .finish_non_exhaustive()
    }
}

/// The counters of one kind of tokens.
#[derive(Debug)]
struct CounterSet {
    counters: Box<[TokenCounter]>,
    capacity: Option<u64>,
    refill: Option<Refill>,
    /// Number of workers that put tokens and have not left their bodies.
    putter_count: AtomicU32,
    /// Number of workers that take tokens and have not left their bodies.
    taker_count: AtomicU32,
}

#[derive(Debug)]
struct TokenCounter {
    available: AtomicU64,
    /// Tokens that waiting workers want to take.
    wanted: AtomicU64,
    /// Time up to which the clock has added tokens; 0 before it started.
    refilled_ns: AtomicU64,
}

impl PhaseWaits {
    /// For the workers of a phase; `workers` returns the number of workers in a group.
    #[must_use]
    pub fn new(program: &Program, phase: &ProgramPhase, workers: impl Fn(&Group) -> u32) -> Self {
        let counted = |uses: &dyn Fn(&Act) -> bool| {
            let groups = phase.groups.iter().filter(|group| group.any_act(uses));
            groups.map(&workers).sum::<u32>()
        };
        let set = |(number, tokens): (usize, &plan::program::Tokens)| {
            let number = number as u8;
            let counter = || TokenCounter {
                available: AtomicU64::new(tokens.start.into()),
                wanted: AtomicU64::new(0),
                refilled_ns: AtomicU64::new(0),
            };
            CounterSet {
                counters: (0..tokens.counters.max(1)).map(|_| counter()).collect(),
                capacity: tokens.room.map(u64::from),
                refill: tokens.refill,
                putter_count: counted(&|act| puts(act, number)).into(),
                taker_count: counted(&|act| takes(act, number)).into(),
            }
        };
        let meeting = |number: usize| WorkerBarrier {
            state: AtomicU64::new(counted(&|act| meets(act, number)).into()),
        };
        Self {
            counters: program.tokens.iter().enumerate().map(set).collect(),
            meetings: (0..MEETINGS_MAX).map(meeting).collect(),
            reporter: None,
        }
    }

    /// As [`PhaseWaits::new`], for the `workers` here, while other processes have more. `report` is
    /// called once all workers here have arrived at a meeting or left it; without workers,
    /// immediately. Call [`hear_of_others`](Self::hear_of_others) when the other processes' workers
    /// have arrived. Tokens are not shared between processes.
    #[must_use]
    pub fn with_others(
        program: &Program,
        phase: &ProgramPhase,
        workers: impl Fn(&Group) -> u32,
        report: MeetingReporter,
    ) -> Self {
        let own = Self::new(program, phase, workers);
        let is_held = |number: usize| {
            let mut groups = phase.groups.iter();
            groups.any(|group| group.any_act(&|act| meets(act, number)))
        };
        for (number, meeting) in own.meetings.iter().enumerate() {
            if is_held(number) && meeting.join_others() == 0 {
                report(number as u8, MeetingReport::Left);
            }
        }
        Self {
            reporter: Some(report),
            ..own
        }
    }

    /// Number of counters of a kind.
    pub(super) fn count(&self, tokens: u8) -> u32 {
        self.counters[usize::from(tokens)].counters.len() as u32
    }

    pub(super) fn put(&self, tokens: u8, counter: u32, count: u64) -> TokenOutcome {
        let set = &self.counters[usize::from(tokens)];
        let counter = &set.counters[counter as usize];
        let Some(room) = set.capacity else {
            // Pairs with `Acquire` in `take`: the taker sees everything from before the put.
            counter.available.fetch_add(count, Ordering::Release);
            return TokenOutcome::Granted;
        };
        // Tokens for which a worker waits are taken immediately and need no room.
        let room = room + counter.wanted.load(Ordering::Relaxed);
        let put =
            counter
                .available
                .fetch_update(Ordering::Release, Ordering::Relaxed, |available| {
                    (available + count <= room).then_some(available + count)
                });
        match put {
            Ok(_) => TokenOutcome::Granted,
            // No worker is left that could make room.
            Err(_) if set.taker_count.load(Ordering::Relaxed) == 0 => TokenOutcome::Granted,
            Err(_) => TokenOutcome::Later(0),
        }
    }

    pub(super) fn take(&self, tokens: u8, counter: u32, count: u64, now_ns: u64) -> TokenOutcome {
        let set = &self.counters[usize::from(tokens)];
        let counter = &set.counters[counter as usize];
        // Read before the counter, so that tokens of the last putter are not missed.
        let has_putters = set.putter_count.load(Ordering::Acquire) > 0;
        // First, so that tokens that are due by now can be taken.
        let again_ns = set.refill.map(|refill| counter.refill(&refill, now_ns));
        let taken =
            counter
                .available
                .fetch_update(Ordering::Acquire, Ordering::Relaxed, |available| {
                    available.checked_sub(count)
                });
        match (taken, again_ns) {
            (Ok(_), _) => TokenOutcome::Granted,
            (Err(_), Some(again_ns)) => TokenOutcome::Later(again_ns),
            (Err(_), None) if has_putters => TokenOutcome::Later(0),
            (Err(_), None) => TokenOutcome::Never,
        }
    }

    /// Announces tokens that a waiting worker wants to take, so that there is room for putting
    /// them.
    pub(super) fn announce_demand(&self, tokens: u8, counter: u32, count: u64) {
        let counter = &self.counters[usize::from(tokens)].counters[counter as usize];
        counter.wanted.fetch_add(count, Ordering::Relaxed);
    }

    /// Withdraws an announcement.
    pub(super) fn withdraw_demand(&self, tokens: u8, counter: u32, count: u64) {
        let counter = &self.counters[usize::from(tokens)].counters[counter as usize];
        counter.wanted.fetch_sub(count, Ordering::Relaxed);
    }

    /// A worker arrives at a meeting. Returns the number of the meeting, which ends when all have
    /// arrived.
    pub(super) fn arrive(&self, meeting: u8) -> u32 {
        let arrival = self.meetings[usize::from(meeting)].arrive();
        self.report(meeting, &arrival);
        arrival.number()
    }

    /// The workers of all other processes have arrived at a meeting.
    pub fn hear_of_others(&self, meeting: u8) {
        self.meetings[usize::from(meeting)].arrive();
    }

    /// Reports a meeting if only the other processes are missing.
    fn report(&self, meeting: u8, change: &BarrierChange) {
        let Some(report) = &self.reporter else {
            return;
        };
        match (change.is_last_of_process(), change.after & WORKER_MASK) {
            (false, _) => {}
            (true, 1) => report(meeting, MeetingReport::Left),
            (true, _) => report(meeting, MeetingReport::Arrived),
        }
    }

    /// `true` if all workers have arrived at the meeting with this number.
    pub(super) fn have_all_arrived(&self, meeting: u8, number: u32) -> bool {
        self.meetings[usize::from(meeting)].number() != number
    }

    /// A worker of the group has left its body; others no longer wait for it.
    pub(super) fn leave(&self, group: &TokenUses) {
        for (number, set) in self.counters.iter().enumerate() {
            let number = number as u8;
            if group.puts.contains(&number) {
                set.putter_count.fetch_sub(1, Ordering::Release);
            }
            if group.takes.contains(&number) {
                set.taker_count.fetch_sub(1, Ordering::Release);
            }
        }
        for meeting in &group.meets {
            let change = self.meetings[usize::from(*meeting)].leave();
            self.report(*meeting, &change);
        }
    }
}

impl TokenCounter {
    /// Adds the tokens that are due by the clock. Returns the time of the next ones.
    fn refill(&self, refill: &Refill, now_ns: u64) -> u64 {
        let period = f64::from(refill.at_once.max(1)) / refill.per_second * NS_PER_SECOND;
        let period_ns = (period as u64).max(1);
        // At least 1, because 0 means that the clock has not started.
        let begun = self.refilled_ns.compare_exchange(
            0,
            now_ns.max(1),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        let since_ns = match begun {
            Ok(_) => now_ns.max(1),
            Err(since_ns) => since_ns,
        };
        let portions = now_ns.saturating_sub(since_ns) / period_ns;
        let until_ns = since_ns + portions * period_ns;
        // Several workers may notice the same portions, but only one may add them.
        let is_mine = portions > 0
            && self
                .refilled_ns
                .compare_exchange(since_ns, until_ns, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if is_mine {
            let more = portions.saturating_mul(refill.at_once.into());
            let most = u64::from(refill.most);
            // The limit applies to the clock only; workers may have put more than that.
            let add =
                |available: u64| Some(available.max(available.saturating_add(more).min(most)));
            // Cannot fail, because the function always returns a value.
            let _ = self
                .available
                .fetch_update(Ordering::Release, Ordering::Relaxed, add);
        }
        until_ns + period_ns
    }
}

/// Workers that wait until all of them have arrived. The upper 32 bits count the meetings; then
/// come 16 bits each for the workers that have arrived and for all workers.
#[derive(Debug)]
struct WorkerBarrier {
    // In one word, so that the arrival of the last worker and the next meeting are one atomic step.
    state: AtomicU64,
}

const ONE_ARRIVED: u64 = 1 << 16;
const ONE_MEETING: u64 = 1 << 32;
const WORKER_MASK: u64 = 0xffff;

impl WorkerBarrier {
    fn number(&self) -> u32 {
        (self.state.load(Ordering::Acquire) >> 32) as u32
    }

    fn arrive(&self) -> BarrierChange {
        self.change(|state| state + ONE_ARRIVED)
    }

    fn leave(&self) -> BarrierChange {
        self.change(|state| state - u64::from(state & WORKER_MASK > 0))
    }

    /// Counts the workers of other processes as one more, and returns the number of those here.
    fn join_others(&self) -> u64 {
        self.state.fetch_add(1, Ordering::AcqRel) & WORKER_MASK
    }

    /// Changes the workers, and ends the meeting if all have arrived.
    fn change(&self, to: impl Fn(u64) -> u64) -> BarrierChange {
        let next = |state: u64| {
            let state = to(state);
            let come = state >> 16 & WORKER_MASK;
            // A worker that leaves can end a meeting, but only if another one waits there.
            match come > 0 && come >= state & WORKER_MASK {
                true => (state - come * ONE_ARRIVED).wrapping_add(ONE_MEETING),
                false => state,
            }
        };
        let changed = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| Some(next(it)));
        let before = changed.unwrap_or_else(|state| state);
        BarrierChange {
            before,
            after: next(before),
        }
    }
}

/// States of a barrier before and after a worker arrived or left.
#[derive(Debug, Clone, Copy)]
struct BarrierChange {
    before: u64,
    after: u64,
}

impl BarrierChange {
    /// Number of the meeting before the change.
    fn number(self) -> u32 {
        (self.before >> 32) as u32
    }

    /// `true` if all workers but one have arrived or left, and the change is the reason. If other
    /// processes have workers, these are the one.
    fn is_last_of_process(self) -> bool {
        let missing = |state: u64| (state & WORKER_MASK).saturating_sub(state >> 16 & WORKER_MASK);
        // A meeting that this change ended needs no report.
        self.before >> 32 == self.after >> 32
            && missing(self.before) > 1
            && missing(self.after) == 1
    }
}

/// Token kinds and meetings that a group uses.
#[derive(Debug, Default)]
pub(super) struct TokenUses {
    puts: Vec<u8>,
    takes: Vec<u8>,
    meets: Vec<u8>,
}

impl TokenUses {
    pub(super) fn of(program: &Program, group: &Group) -> Self {
        let tokens = 0..program.tokens.len() as u8;
        let meetings = 0..MEETINGS_MAX;
        let puts = |number: &u8| group.any_act(&|act| puts(act, *number));
        let takes = |number: &u8| group.any_act(&|act| takes(act, *number));
        let meets = |number: &usize| group.any_act(&|act| meets(act, *number));
        Self {
            puts: tokens.clone().filter(puts).collect(),
            takes: tokens.filter(takes).collect(),
            meets: meetings.filter(meets).map(|it| it as u8).collect(),
        }
    }
}

fn puts(act: &Act, number: u8) -> bool {
    matches!(act, Act::Put { tokens, .. } if *tokens == number)
}

fn takes(act: &Act, number: u8) -> bool {
    matches!(act, Act::Take { tokens, .. } if *tokens == number)
}

fn meets(act: &Act, number: usize) -> bool {
    matches!(act, Act::Meet(meeting) if usize::from(*meeting) == number)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use plan::program::{CounterSelection, TakeAmount, Tokens};

    use super::*;

    /// Workers that put and take, one of each.
    fn waits(room: Option<u32>, refill: Option<Refill>) -> (PhaseWaits, TokenUses) {
        let (tokens, whose) = (0, CounterSelection::Mine);
        let count = TakeAmount::Fixed(1);
        let put = Act::Put {
            tokens,
            count: 1,
            whose,
        };
        let group = |body: Vec<Act>| Group {
            body,
            ..Group::default()
        };
        let take = Act::Take {
            tokens,
            count,
            whose,
        };
        let program = Program {
            tokens: vec![Tokens {
                name: "work".to_owned(),
                counters: 1,
                start: 0,
                room,
                refill,
            }],
            ..Program::default()
        };
        let phase = ProgramPhase {
            groups: vec![group(vec![put]), group(vec![take, Act::Meet(3)])],
            ..ProgramPhase::default()
        };
        let putter = TokenUses::of(&program, &phase.groups[0]);
        (PhaseWaits::new(&program, &phase, |_| 1), putter)
    }

    #[test]
    fn no_more_tokens_are_taken_than_were_put() {
        let (waits, putter) = waits(None, None);
        assert_eq!(waits.take(0, 0, 1, 5), TokenOutcome::Later(0));
        assert_eq!(waits.put(0, 0, 3), TokenOutcome::Granted);
        assert_eq!(waits.take(0, 0, 2, 5), TokenOutcome::Granted);
        assert_eq!(waits.take(0, 0, 2, 5), TokenOutcome::Later(0));
        waits.leave(&putter);
        assert_eq!(waits.take(0, 0, 2, 5), TokenOutcome::Never);
        assert_eq!(waits.take(0, 0, 1, 5), TokenOutcome::Granted);
    }

    #[test]
    fn a_waiting_taker_makes_room_for_more_tokens() {
        let (waits, _) = waits(Some(2), None);
        assert_eq!(waits.put(0, 0, 2), TokenOutcome::Granted);
        assert_eq!(waits.put(0, 0, 1), TokenOutcome::Later(0));
        waits.announce_demand(0, 0, 5);
        assert_eq!(waits.put(0, 0, 3), TokenOutcome::Granted);
        assert_eq!(waits.take(0, 0, 5, 1), TokenOutcome::Granted);
        waits.withdraw_demand(0, 0, 5);
        assert_eq!(waits.put(0, 0, 3), TokenOutcome::Later(0));
    }

    #[test]
    fn the_clock_refills_in_portions_up_to_a_limit() {
        let refill = Refill {
            per_second: 100.0,
            at_once: 10,
            most: 25,
        };
        let (waits, _) = waits(None, Some(refill));
        let ms = 1_000_000;
        assert_eq!(waits.take(0, 0, 1, ms), TokenOutcome::Later(101 * ms));
        assert_eq!(waits.take(0, 0, 10, 101 * ms), TokenOutcome::Granted);
        assert_eq!(waits.take(0, 0, 1, 150 * ms), TokenOutcome::Later(201 * ms));
        assert_eq!(
            waits.take(0, 0, 26, 5000 * ms),
            TokenOutcome::Later(5001 * ms)
        );
        assert_eq!(waits.take(0, 0, 25, 5000 * ms), TokenOutcome::Granted);
    }

    #[test]
    fn a_barrier_opens_when_all_workers_have_arrived_or_left() {
        let meeting = WorkerBarrier {
            state: AtomicU64::new(3),
        };
        for _ in 0..2 {
            assert_eq!(meeting.arrive().number(), 0);
            assert_eq!(meeting.number(), 0);
        }
        meeting.leave();
        assert_eq!(meeting.number(), 1);
        assert_eq!(meeting.arrive().number(), 1);
        assert_eq!(meeting.arrive().number(), 1);
        assert_eq!(meeting.number(), 2);
        meeting.leave();
        meeting.leave();
        assert_eq!(
            (
                meeting.number(),
                meeting.state.load(Ordering::Relaxed) & WORKER_MASK
            ),
            (2, 0)
        );
    }

    /// Waits of `own_count` workers that meet at number 3, and the reports to other processes.
    fn shared_waits(own_count: u32) -> (PhaseWaits, TokenUses, mpsc::Receiver<MeetingReport>) {
        let group = Group {
            body: vec![Act::Meet(3)],
            ..Group::default()
        };
        let phase = ProgramPhase {
            groups: vec![group],
            ..ProgramPhase::default()
        };
        let program = Program::default();
        let (sender, reports) = mpsc::channel();
        let report = Box::new(move |meeting, report| {
            assert_eq!(meeting, 3);
            sender.send(report).unwrap();
        });
        let waits = PhaseWaits::with_others(&program, &phase, |_| own_count, report);
        (waits, TokenUses::of(&program, &phase.groups[0]), reports)
    }

    #[test]
    fn a_meeting_of_several_processes_ends_when_the_others_have_arrived_too() {
        let (waits, uses, reports) = shared_waits(2);
        for number in 0..2 {
            assert_eq!(waits.arrive(3), number);
            assert!(reports.try_recv().is_err(), "one worker is missing here");
            waits.arrive(3);
            assert_eq!(reports.try_recv(), Ok(MeetingReport::Arrived));
            assert!(!waits.have_all_arrived(3, number));
            waits.hear_of_others(3);
            assert!(waits.have_all_arrived(3, number));
        }
        // A worker that leaves is not missed.
        waits.arrive(3);
        waits.leave(&uses);
        assert_eq!(reports.try_recv(), Ok(MeetingReport::Arrived));
        waits.hear_of_others(3);
        assert!(waits.have_all_arrived(3, 2));
        waits.leave(&uses);
        assert_eq!(
            reports.try_iter().collect::<Vec<_>>(),
            [MeetingReport::Left]
        );
    }

    #[test]
    fn a_process_without_workers_is_not_awaited() {
        let (_, _, reports) = shared_waits(0);
        assert_eq!(
            reports.try_iter().collect::<Vec<_>>(),
            [MeetingReport::Left]
        );
    }
}
