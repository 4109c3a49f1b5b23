//! The monitor: observes the workers from outside and reports what it sees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::clock::Clock;
use plan::Cell;
use results::{Phase, RunEvent, Timestamp};

use crate::collect::CollectedCounts;
use crate::context::{CellContext, CellMark, ShownStage};
use crate::rounds::rounds_event;
use crate::standstill::MonitorSleep;
use crate::status::{StatusLanes, so_far};
use crate::timeline::LiveRates;
use crate::times::{self, drain_max_ns};

/// Interval of the monitor's looks, in nanoseconds; a worker that is done wakes it immediately.
// With looks every 2 ms, the monitor took 0.10 s of the 0.79 s of user time of a PostMark run.
const POLL_INTERVAL_NS: u64 = 100_000_000;

/// Interval of progress reports, in nanoseconds.
const PROGRESS_NS: u64 = 200_000_000;

/// Workers hand over an interval a moment after its end. A status report waits for them up to this
/// time, in nanoseconds.
const STATUS_WAIT_NS_MAX: u64 = 500_000_000;

/// Interval of looks while a status report waits, in nanoseconds.
const STATUS_POLL_NS: u64 = 1_000_000;

/// State of the workers that the monitor watches.
pub(crate) struct WatchedWorkers<'a> {
    /// Start of the ramp, in nanoseconds of the clock.
    pub start_ns: u64,
    pub thread_ids: &'a [i32],
    pub all_done: &'a dyn Fn() -> bool,
    /// Set here to end the workers.
    pub end: &'a AtomicBool,
    pub lanes: StatusLanes<'a>,
    /// Created before the workers started.
    pub sleep: MonitorSleep<'a>,
}

/// Watches the workers until all are done.
pub(crate) fn watch(
    context: &mut CellContext<'_>,
    collection: &mut CollectedCounts,
    mut watch: WatchedWorkers<'_>,
) {
    let measure_ns = watch.start_ns + context.cell.ramp_time_ns;
    let end_ns = times::end_ns(measure_ns, times::measure_ns(context.cell));
    let round_ns = times::round_ns(context.cell).unwrap_or(u64::MAX);
    let mut next_round_ns = measure_ns.saturating_add(round_ns);
    let mut next_mark = Some(CellMark::Begin);
    let look_ns = look_ns(context.cell);
    let looks_per_progress = PROGRESS_NS / look_ns;
    let status_ns = context.status.map_or(u64::MAX, |it| it.interval_ns);
    let mut status = StatusTimes::new(watch.start_ns, status_ns);
    // After the end, an open loop waits for due requests.
    let over_ns = context.cell.rate.map(|_| end_ns);
    for look in 0_u64.. {
        let now_ns = context.clock.now_ns();
        match next_mark {
            Some(CellMark::Begin) if now_ns >= measure_ns => {
                (context.mark)(CellMark::Begin, watch.thread_ids);
                report_rounds(context, collection);
                next_mark = Some(CellMark::End);
            }
            Some(CellMark::End) if now_ns >= next_round_ns => {
                (context.mark)(CellMark::Round, watch.thread_ids);
                next_round_ns = next_round_ns.saturating_add(round_ns);
            }
            Some(CellMark::End) if now_ns >= end_ns => {
                (context.mark)(CellMark::End, watch.thread_ids);
                next_mark = None;
            }
            _ => {}
        }
        collection.waits.look(context.clock);
        collection.goals.look(now_ns);
        // Before the samples are collected, because a standstill decides which ones are left out.
        let standstill = watch.sleep.check(context.clock);
        collection.standstills.extend(standstill);
        collection.collect();
        report_intervals(context, collection, measure_ns);
        if collection.judge(context.agreement) > 0 {
            report_rounds(context, collection);
        }
        if collection.is_decided() || context.is_cut() {
            watch.end.store(true, Ordering::Relaxed);
        }
        if look % looks_per_progress == 0 {
            report_progress(context, collection, watch.start_ns, now_ns, over_ns);
        }
        if (watch.all_done)() {
            break;
        }
        if status.is_ready(now_ns, collection) {
            report_status(context, collection, watch.lanes, measure_ns);
            status.advance();
        }
        let until_ns = mark_ns(next_mark, measure_ns, end_ns.min(next_round_ns));
        let goal_ns = collection.goals.next_ns();
        let until_ns = until_ns.min(goal_ns).min(status.wake_ns(now_ns));
        let span_ns = until_ns.saturating_sub(now_ns).clamp(1, look_ns);
        let standstill = watch.sleep.sleep(span_ns, context.clock, pause);
        collection.standstills.extend(standstill);
    }
    if next_mark == Some(CellMark::End) {
        (context.mark)(CellMark::End, watch.thread_ids);
    }
}

/// Time of the next mark, in nanoseconds of the clock; `u64::MAX` after the last one.
fn mark_ns(mark: Option<CellMark>, measure_ns: u64, end_ns: u64) -> u64 {
    match mark {
        Some(CellMark::Begin) => measure_ns,
        Some(_) => end_ns,
        None => u64::MAX,
    }
}

/// Times of the status reports.
struct StatusTimes {
    next_ns: u64,
    interval_ns: u64,
    /// Maximum delay of a report while workers have not handed over its interval, in nanoseconds.
    grace_ns: u64,
}

impl StatusTimes {
    fn new(start_ns: u64, interval_ns: u64) -> StatusTimes {
        StatusTimes {
            next_ns: start_ns.saturating_add(interval_ns),
            interval_ns,
            grace_ns: (interval_ns / 2).min(STATUS_WAIT_NS_MAX),
        }
    }

    /// `true` if the report is due and its interval is complete, or the delay has reached its
    /// limit.
    fn is_ready(&self, now_ns: u64, collection: &CollectedCounts) -> bool {
        let is_late = || now_ns - self.next_ns >= self.grace_ns;
        now_ns >= self.next_ns && (collection.reaches(self.next_ns) || is_late())
    }

    fn advance(&mut self) {
        self.next_ns = self.next_ns.saturating_add(self.interval_ns);
    }

    /// Time of the next look: the due time, or soon if the report waits for workers.
    fn wake_ns(&self, now_ns: u64) -> u64 {
        match now_ns >= self.next_ns {
            true => now_ns.saturating_add(STATUS_POLL_NS),
            false => self.next_ns,
        }
    }
}

/// A worker has only two spare samples, so short intervals are collected more often.
fn look_ns(cell: &Cell) -> u64 {
    (times::interval_ns(cell) / 2).clamp(1, POLL_INTERVAL_NS)
}

/// Sleeps for this time, or until a worker is done. A monitor that looked often would take CPU time
/// and cache from the workers that are measured.
fn pause(span_ns: u64) {
    std::thread::park_timeout(Duration::from_nanos(span_ns));
}

fn report_intervals(
    context: &mut CellContext<'_>,
    collection: &mut CollectedCounts,
    measure_ns: u64,
) {
    let mut intervals = collection.timeline.take_unreported();
    collection.waits.put_into(&mut intervals, measure_ns);
    for interval in intervals {
        (context.listener)(&RunEvent::Interval {
            cell: context.cell.index,
            interval,
        });
    }
}

/// Reports the results so far, if status reports are enabled.
fn report_status(
    context: &mut CellContext<'_>,
    collection: &CollectedCounts,
    of: StatusLanes<'_>,
    measure_ns: u64,
) {
    if let Some(wish) = context.status {
        let record = so_far(wish.plan, of, collection, measure_ns);
        (context.listener)(&RunEvent::SoFar {
            record: Box::new(record),
            at: Timestamp::now(),
        });
    }
}

/// Reports the number of rounds and their steadiness.
fn report_rounds(context: &mut CellContext<'_>, collection: &CollectedCounts) {
    let Some(rounds) = &collection.rounds else {
        return;
    };
    (context.listener)(&rounds_event(context.cell.index, &rounds.steady_record()));
}

impl ShownStage {
    /// Name of the phase, and its total time as estimated from its progress.
    fn progress(&self, phase: Phase, elapsed_ns: u64, total_ns: u64, done: u64) -> (Phase, u64) {
        let Some(name) = self.phase.clone() else {
            return (phase, total_ns);
        };
        let total_ns = match self.transactions {
            Some(all) if total_ns == 0 && done > 0 => {
                let ratio = all.max(done) as f64 / done as f64;
                (elapsed_ns as f64 * ratio) as u64
            }
            _ => total_ns.max(self.time_ns),
        };
        (Phase::Classic(name), total_ns)
    }
}

/// Reports the progress of the cell. After `over_ns`, the cell only waits for due requests.
fn report_progress(
    context: &mut CellContext<'_>,
    collection: &CollectedCounts,
    start_ns: u64,
    now_ns: u64,
    over_ns: Option<u64>,
) {
    let ramp_ns = context.cell.ramp_time_ns;
    let since_ns = now_ns.saturating_sub(start_ns);
    let over_ns = over_ns.filter(|it| it.saturating_add(POLL_INTERVAL_NS) <= now_ns);
    let (phase, elapsed_ns, total_ns) = if since_ns < ramp_ns {
        (Phase::Ramp, since_ns, ramp_ns)
    } else if let Some(over_ns) = over_ns {
        (Phase::Drain, now_ns - over_ns, drain_max_ns(context.cell))
    } else {
        let round_ns = times::round_ns(context.cell).unwrap_or(u64::MAX);
        // Each round has its own progress.
        let measured_ns = (since_ns - ramp_ns) % round_ns;
        (Phase::Measure, measured_ns, context.cell.run_time_ns)
    };
    let (phase, total_ns) =
        context
            .shown_stage
            .progress(phase, elapsed_ns, total_ns, collection.transactions);
    let latest = collection.timeline.latest.as_ref();
    let live = latest.map(|slice| slice.live(context.shown_stage.phase.is_some()));
    let live = live.unwrap_or_else(LiveRates::unknown);
    (context.listener)(&RunEvent::Progress {
        cell: context.cell.index,
        phase,
        elapsed_ns,
        total_ns,
        iops: live.per_second,
        bytes_per_second: live.bytes_per_second,
        p50_ns: live.p50_ns,
        p99_ns: live.p99_ns,
        octaves: live.octaves,
        errors: live.errors,
    });
}
