//! Results of a worker: recorded into the current interval, and handed over when it ends.
//!
//! The worker never waits for the reader: if no empty sample has come back in time, the current
//! interval is extended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Operation, Request};
use generate::job::GoalProgress;
use generate::{EXPECTED_FAILURE, Mismatch};

use crate::outcome::{FirstMismatch, WorkerOutcome};
use crate::sample::{Outbox, Sample, exchange};
use crate::schedule::Schedule;
use crate::slots::{EndedFlow, LoopState};
use crate::tally::{BatchTally, Tally, TallyGroup};
use crate::times;

/// Maximum interval between a worker's checks of the stop flag, in nanoseconds.
const POLL_INTERVAL_NS: u64 = 50_000_000;
/// The same during a search that the measurement waits for.
const SEARCH_POLL_INTERVAL_NS: u64 = 1_000_000;

/// Decision after each turn of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tick {
    Continue,
    End,
}

/// Counts the results of a worker's requests.
pub(crate) struct Recorder {
    current: Box<Sample>,
    outbox: Outbox,
    schedule: Schedule,
    stop: Arc<AtomicBool>,
    ramp: bool,
    /// `true` if work that ends within the ramp is measured.
    counts_short_work: bool,
    /// Time from which the thread catches up on due requests, in nanoseconds of the clock. A phase
    /// that was planned for a later time counts from that time. `None` without due times.
    catch_up_from_ns: Option<u64>,
    /// Search that decides when the ramp ends; `None` if time does.
    search: Option<Search>,
    measure_ns: u64,
    end_ns: u64,
    interval_end_ns: u64,
    tick_ns: u64,
    wake_ns: u64,
    finish_ns: u64,
    budget: u64,
    /// `true` if time or a stop ended it, `false` if it had no more work.
    is_cut: bool,
    stopped: bool,
    mismatch_count: u64,
    first_mismatch: Option<FirstMismatch>,
    span_mask: u32,
}

/// Search that the measurement waits for.
struct Search {
    progress: Arc<GoalProgress>,
    /// Start of the search; `None` after it has started.
    begin_ns: Option<u64>,
}

/// Span of a lane that a request counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// The span that its `file_index` selects.
    BySpan,
    /// The only span, whatever its `file_index`.
    SingleSpan,
}

impl Recorder {
    pub fn new(
        current: Box<Sample>,
        outbox: Outbox,
        schedule: Schedule,
        stop: Arc<AtomicBool>,
        counting: Counting,
    ) -> Self {
        Self {
            // Unlike a branch, a mask costs nothing in the hot path.
            span_mask: match counting {
                Counting::BySpan => u32::MAX,
                Counting::SingleSpan => 0,
            },
            current,
            outbox,
            schedule,
            stop,
            ramp: true,
            counts_short_work: false,
            catch_up_from_ns: None,
            search: None,
            measure_ns: 0,
            end_ns: u64::MAX,
            interval_end_ns: u64::MAX,
            tick_ns: 0,
            wake_ns: 0,
            finish_ns: 0,
            budget: u64::MAX,
            is_cut: false,
            stopped: false,
            mismatch_count: 0,
            first_mismatch: None,
        }
    }

    /// Also measures work that ends within the ramp. Until then, its intervals are not reported.
    pub const fn count_short_work(&mut self) {
        self.counts_short_work = true;
    }

    /// Counts phases from their planned starts, but not from before `from_ns`. The kernel may run
    /// the thread late, and it then issues all requests that were due since `from_ns` immediately.
    pub const fn catch_up_from(&mut self, from_ns: u64) {
        self.catch_up_from_ns = Some(from_ns);
    }

    /// Measures from the end of a search, which starts when the ramp ends. If the search does not
    /// end within the measured time, the search itself is measured.
    pub fn measure_after_search(&mut self, board: Arc<GoalProgress>) {
        self.counts_short_work = true;
        self.search = Some(Search {
            progress: board,
            begin_ns: None,
        });
    }

    /// Recorder with the same stop flag, whose counters are discarded.
    pub fn discarding_copy(&self, schedule: Schedule) -> Self {
        let (sample, outbox, _) = exchange((*self.current).clone());
        let stop = Arc::clone(&self.stop);
        let recorder = Self::new(sample, outbox, schedule, stop, Counting::BySpan);
        Self {
            span_mask: self.span_mask,
            ..recorder
        }
    }

    /// Flag that ends the recorder when it is set.
    #[cfg(test)]
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Starts the ramp, or the measurement if there is no ramp.
    pub fn start(&mut self, now_ns: u64) {
        let now_ns = self.begin_ns(self.schedule.start_ns, now_ns);
        self.current.clear(now_ns, true);
        self.interval_end_ns = now_ns + self.schedule.interval_ns;
        let search_ns = now_ns.saturating_add(self.schedule.ramp_ns);
        if let Some(search) = &mut self.search {
            // Without a ramp there is nothing to drop, and the first tick comes only after some
            // requests.
            search.begin_ns = (self.schedule.ramp_ns > 0).then_some(search_ns);
            self.end_ns = times::end_ns(search_ns, self.schedule.run_ns);
        } else if self.schedule.ramp_ns == 0 {
            self.begin_measuring(now_ns, 0);
        }
        self.set_tick(now_ns);
    }

    /// Planned start of the ramp and of the measurement, in nanoseconds of the clock.
    pub fn start_times_ns(&self) -> (u64, u64) {
        let start_ns = self.schedule.start_ns;
        (start_ns, start_ns + self.schedule.ramp_ns)
    }

    /// End of a finished measurement for due times, in nanoseconds of the clock; `None` if it had
    /// no more work.
    pub fn due_end_ns(&self) -> Option<u64> {
        let (_, measure_ns) = self.start_times_ns();
        let planned_ns = times::end_ns(measure_ns, self.schedule.run_ns);
        // A user may stop the measurement before its planned end.
        self.is_cut.then(|| planned_ns.min(self.finish_ns))
    }

    /// Time of the next `tick`, in nanoseconds of the clock.
    #[inline]
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// Time until which the loop may wait for a completion, in nanoseconds of the clock.
    #[inline]
    pub fn wake_ns(&self) -> u64 {
        self.wake_ns
    }

    /// Number of requests that may still be issued.
    #[inline]
    pub fn budget(&self) -> u32 {
        u32::try_from(self.budget).unwrap_or(u32::MAX)
    }

    /// Subtracts issued requests from the budget.
    #[inline]
    pub fn issued(&mut self, count: u32) {
        self.budget -= u64::from(count);
    }

    /// Counts a completion, or gives it to a tally, whose rest [`Recorder::end_turn`] counts. More
    /// than the expected bytes can only come from an engine that does not know where files end.
    #[inline(always)]
    pub fn record<T: Tally>(
        &mut self,
        tally: &mut T,
        request: &Request,
        (expected_bytes, result): (u32, i32),
        latency_ns: u64,
    ) {
        let moves_bytes = request.operation.moves_bytes();
        // A single branch keeps failures and short transfers out of the hot path.
        if result < 0 || moves_bytes && (result as u32) < expected_bytes {
            return self.record_failed_or_short(request, (expected_bytes, result), latency_ns);
        }
        let counter_index = (request.file_index & self.span_mask, request.operation as u8);
        // Other operations return no bytes, but for example a number of entries.
        let bytes = if moves_bytes {
            expected_bytes.into()
        } else {
            0
        };
        match tally.request(counter_index, latency_ns, bytes) {
            Some(group) if T::IS_SINGLE => self.count_requests(&group),
            Some(group) => self.count_requests_outlined(&group),
            None => {}
        }
    }

    /// Counts a request that failed or transferred less than expected.
    #[inline(never)]
    fn record_failed_or_short(
        &mut self,
        request: &Request,
        (expected_bytes, result): (u32, i32),
        latency_ns: u64,
    ) {
        let span = &mut self.current.spans[(request.file_index & self.span_mask) as usize];
        let counter = span.operation_mut(request.operation as usize);
        if result < 0 && expected_bytes != EXPECTED_FAILURE {
            counter.record_error(-result, latency_ns);
        } else if !request.operation.moves_bytes() {
            counter.record(0, latency_ns);
        } else if request.operation == Operation::Trim {
            // The result of a trim is 0. It takes this way because it looks short.
            counter.record(expected_bytes.into(), latency_ns);
        } else {
            counter.record_short(result as u64, latency_ns);
        }
    }

    /// Counts a request that was in flight at the end of the measurement and failed after it.
    #[cold]
    pub fn record_late(
        &mut self,
        request: &Request,
        (expected_bytes, result): (u32, i32),
        latency_ns: u64,
    ) {
        if result < 0 && expected_bytes != EXPECTED_FAILURE {
            self.record_failed_or_short(request, (expected_bytes, result), latency_ns);
        }
    }

    #[inline(never)]
    fn count_requests_outlined(&mut self, group: &TallyGroup) {
        self.count_requests(group);
    }

    #[inline(always)]
    fn count_requests(&mut self, group: &TallyGroup) {
        let (span, number) = group.counter;
        let counter = self.current.spans[span as usize].operation_mut(number.into());
        counter.record_alike(group.count, group.latency_ns, group.bytes);
    }

    /// `true` if the stop flag ended it.
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts a flow that is done, as [`Recorder::record`] does. The flow failed if one of its
    /// requests did.
    #[inline(always)]
    pub fn record_flow<T: Tally>(&mut self, tally: &mut T, request: &Request, flow: EndedFlow) {
        let span = request.file_index & self.span_mask;
        if flow.errno < 0 {
            let counter = self.current.spans[span as usize].transaction_mut(flow.kind.into());
            return counter.record_error(flow.errno, flow.latency_ns);
        }
        match tally.flow((span, flow.kind), flow.latency_ns) {
            Some(group) if T::IS_SINGLE => self.count_flows(&group),
            Some(group) => self.count_flows_outlined(&group),
            None => {}
        }
    }

    #[inline(never)]
    fn count_flows_outlined(&mut self, group: &TallyGroup) {
        self.count_flows(group);
    }

    #[inline(always)]
    fn count_flows(&mut self, group: &TallyGroup) {
        let (span, kind) = group.counter;
        let counter = self.current.spans[span as usize].transaction_mut(kind.into());
        counter.record_alike(group.count, group.latency_ns, 0);
    }

    /// Counts the last requests and flows of a turn that were collected together.
    #[inline(never)]
    pub fn end_turn(&mut self, tally: &BatchTally) {
        for group in tally.requests.iter().filter(|it| it.count > 0) {
            self.count_requests(group);
        }
        if tally.flows.count > 0 {
            self.count_flows(&tally.flows);
        }
    }

    /// Counts a read whose bytes differ from those written, and keeps the first one.
    #[cold]
    pub fn mismatch(&mut self, mismatch: Mismatch, length_bytes: u32) {
        self.mismatch_count += 1;
        self.first_mismatch.get_or_insert(FirstMismatch {
            mismatch,
            length_bytes,
        });
    }

    /// Changes the phase, hands over an interval or ends the measurement, whichever is due. `turns`
    /// still has the completions of this turn.
    #[cold]
    pub fn tick(&mut self, now_ns: u64, turns: &LoopState) -> Tick {
        if self.stop.load(Ordering::Relaxed) {
            self.stopped = true;
            self.is_cut = true;
            return Tick::End;
        }
        self.begin_search(now_ns);
        let ramp_end_ns = self.ramp_end_ns(now_ns);
        if now_ns >= ramp_end_ns {
            if self.waits_for_completion(ramp_end_ns, now_ns, turns) {
                return Tick::Continue;
            }
            let begin_ns = self.begin_ns(ramp_end_ns, now_ns);
            self.hand_over(begin_ns);
            self.begin_measuring(begin_ns, turns.in_flight);
        } else if now_ns >= self.end_ns {
            if !self.waits_for_completion(self.end_ns, now_ns, turns) {
                self.is_cut = true;
                return Tick::End;
            }
            self.budget = 0;
            return Tick::Continue;
        } else if now_ns >= self.interval_end_ns {
            // This interval may be part of the measurement after all, so it is not handed over.
            if !(self.ramp && self.counts_short_work) {
                self.hand_over(now_ns);
            }
            self.next_interval(now_ns);
        }
        self.set_tick(now_ns);
        Tick::Continue
    }

    /// Ends the measurement at `now_ns`.
    pub fn finish(&mut self, now_ns: u64) {
        self.finish_ns = now_ns;
        if self.ramp && self.counts_short_work {
            self.ramp = false;
            self.current.ramp = false;
            self.measure_ns = self.current.at_ns;
        }
        self.current.length_ns = now_ns - self.current.at_ns;
    }

    /// Turns it into the outcome, with the sample that was not handed over.
    // Once per worker; inlined, it would be in the program for each kind of stream and engine.
    #[inline(never)]
    pub fn into_outcome(self) -> WorkerOutcome {
        let measured_ns = if self.ramp {
            0
        } else {
            self.finish_ns - self.measure_ns
        };
        WorkerOutcome {
            last_sample: self.current,
            outbox: Some(self.outbox),
            measured_ns,
            finish_ns: self.finish_ns,
            stopped: self.stopped,
            mismatch_count: self.mismatch_count,
            first_mismatch: self.first_mismatch,
            loop_cpu_ns: 0,
            cpu_at_end: None,
            usage: None,
            logged: Vec::new(),
            split: Vec::new(),
            requests: None,
            open_loop_end: None,
        }
    }

    /// `true` if a phase that should end at `end_ns` is extended to the next completion. Work is
    /// then counted from completion to completion, independent of the phases' times.
    fn waits_for_completion(&mut self, end_ns: u64, now_ns: u64, turns: &LoopState) -> bool {
        // With exact ends, 10 s at 300 ms per request gave 3.0 or 3.5 requests per second, not
        // 3.33.
        let until_ns = end_ns.saturating_add(self.schedule.grace_ns);
        if turns.in_flight == 0 || !turns.done.is_empty() || now_ns >= until_ns {
            return false;
        }
        // Checked again at the end of every turn.
        self.tick_ns = now_ns;
        self.wake_ns = until_ns.min(now_ns + POLL_INTERVAL_NS);
        true
    }

    /// Drops the counts from before a search.
    fn begin_search(&mut self, now_ns: u64) {
        let search = self.search.as_mut();
        let due = search.and_then(|it| it.begin_ns.take_if(|begin_ns| now_ns >= *begin_ns));
        if due.is_some() && self.ramp {
            self.current.clear(now_ns, true);
        }
    }

    /// End of the ramp; `u64::MAX` after it has ended.
    fn ramp_end_ns(&self, now_ns: u64) -> u64 {
        match (&self.search, self.ramp) {
            (Some(search), true) if search.progress.is_settled() => now_ns,
            (None, true) => self.schedule.start_ns + self.schedule.ramp_ns,
            _ => u64::MAX,
        }
    }

    /// Start of a phase that was planned for `planned_ns` and is reached at `now_ns`.
    fn begin_ns(&self, planned_ns: u64, now_ns: u64) -> u64 {
        match self.catch_up_from_ns {
            Some(from_ns) => planned_ns.max(from_ns).min(now_ns),
            None => now_ns,
        }
    }

    fn begin_measuring(&mut self, now_ns: u64, in_flight: u32) {
        self.ramp = false;
        self.measure_ns = now_ns;
        self.current.clear(now_ns, false);
        self.end_ns = times::end_ns(now_ns, self.schedule.run_ns);
        self.interval_end_ns = now_ns + self.schedule.interval_ns;
        // Requests in flight now will complete in the measurement and count towards the limit.
        self.budget = self
            .schedule
            .operations
            .saturating_sub(u64::from(in_flight));
    }

    fn next_interval(&mut self, now_ns: u64) {
        // After a stall, intervals end at the planned times again.
        while self.interval_end_ns <= now_ns {
            self.interval_end_ns += self.schedule.interval_ns;
        }
    }

    fn set_tick(&mut self, now_ns: u64) {
        let search_ns = self.search.as_ref().and_then(|it| it.begin_ns);
        let phase_end_ns = self.end_ns.min(self.ramp_end_ns(now_ns));
        let phase_end_ns = phase_end_ns.min(search_ns.unwrap_or(u64::MAX));
        let look_ns = match self.search {
            Some(_) if self.ramp => SEARCH_POLL_INTERVAL_NS,
            _ => POLL_INTERVAL_NS,
        };
        self.tick_ns = phase_end_ns.min(self.interval_end_ns).min(now_ns + look_ns);
        self.wake_ns = self.tick_ns;
    }

    fn hand_over(&mut self, now_ns: u64) {
        let Some(mut next) = self.outbox.take_empty() else {
            return;
        };
        next.clear(now_ns, self.ramp);
        std::mem::swap(&mut self.current, &mut next);
        next.length_ns = now_ns.saturating_sub(next.at_ns);
        self.outbox.give(next);
    }
}

#[cfg(test)]
mod tests;
