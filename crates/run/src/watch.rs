//! The monitor: looks at the workers from outside and tells what it sees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::clock::Clock;
use plan::Cell;
use results::{Phase, RunEvent, Timestamp};

use crate::collect::Collection;
use crate::kit::{CellKit, Course, Mark};
use crate::rounds::rounds_event;
use crate::standstill::Sleep;
use crate::status::{StatusLanes, so_far};
use crate::timeline::Live;
use crate::times::{self, drain_max_ns};

/// How often the monitor looks, in nanoseconds; a worker that is done wakes it at once.
const LOOK_NS: u64 = 100_000_000;

/// How often it tells how far the cell is, in nanoseconds.
const PROGRESS_NS: u64 = 200_000_000;

/// Workers hand over an interval a moment after it has ended. A status waits for them up to this
/// long, in nanoseconds.
const STATUS_WAIT_NS_MAX: u64 = 500_000_000;

/// Time between two looks while a status waits, in nanoseconds.
const STATUS_LOOK_NS: u64 = 1_000_000;

/// What is watched.
pub(crate) struct Watch<'a> {
    /// When the ramp began, in nanoseconds of the clock.
    pub start_ns: u64,
    pub thread_ids: &'a [i32],
    pub all_done: &'a dyn Fn() -> bool,
    /// Set to end the workers.
    pub end: &'a AtomicBool,
    pub of: StatusLanes<'a>,
    /// Begun before the workers.
    pub sleep: Sleep<'a>,
}

/// Watches the workers until all are done.
pub(crate) fn watch(kit: &mut CellKit<'_>, collection: &mut Collection, mut watch: Watch<'_>) {
    let measure_ns = watch.start_ns + kit.cell.ramp_time_ns;
    let end_ns = match times::measure_ns(kit.cell) {
        0 => u64::MAX,
        run_ns => measure_ns.saturating_add(run_ns),
    };
    let round_ns = times::round_ns(kit.cell).unwrap_or(u64::MAX);
    let mut next_round_ns = measure_ns.saturating_add(round_ns);
    let mut next_mark = Some(Mark::Begin);
    let look_ns = look_ns(kit.cell);
    let looks_per_progress = PROGRESS_NS / look_ns;
    let status_ns = kit.status.map_or(u64::MAX, |it| it.interval_ns);
    let mut status = StatusTimes::new(watch.start_ns, status_ns);
    // What was due is waited for behind the end.
    let over_ns = kit.cell.rate.map(|_| end_ns);
    for look in 0_u64.. {
        let now_ns = kit.clock.now_ns();
        match next_mark {
            Some(Mark::Begin) if now_ns >= measure_ns => {
                (kit.mark)(Mark::Begin, watch.thread_ids);
                tell_rounds(kit, collection);
                next_mark = Some(Mark::End);
            }
            Some(Mark::End) if now_ns >= next_round_ns => {
                (kit.mark)(Mark::Round, watch.thread_ids);
                next_round_ns = next_round_ns.saturating_add(round_ns);
            }
            Some(Mark::End) if now_ns >= end_ns => {
                (kit.mark)(Mark::End, watch.thread_ids);
                next_mark = None;
            }
            _ => {}
        }
        collection.waits.look(kit.clock);
        collection.goals.look(now_ns);
        collection.stills.extend(watch.sleep.check(kit.clock));
        collection.collect();
        tell_intervals(kit, collection, measure_ns);
        if collection.judge(kit.meeting) > 0 {
            tell_rounds(kit, collection);
        }
        if collection.is_decided() || kit.is_cut() {
            watch.end.store(true, Ordering::Relaxed);
        }
        if look % looks_per_progress == 0 {
            tell_progress(kit, collection, watch.start_ns, now_ns, over_ns);
        }
        if (watch.all_done)() {
            break;
        }
        if status.is_ready(now_ns, collection) {
            tell_status(kit, collection, watch.of, measure_ns);
            status.advance();
        }
        let until_ns = match next_mark {
            Some(Mark::Begin) => measure_ns,
            Some(_) => end_ns.min(next_round_ns),
            None => u64::MAX,
        };
        let until_ns = until_ns.min(collection.goals.next_ns());
        let until_ns = until_ns.min(status.wake_ns(now_ns));
        let span_ns = until_ns.saturating_sub(now_ns).clamp(1, look_ns);
        let still = watch.sleep.sleep(span_ns, kit.clock, pause);
        collection.stills.extend(still);
    }
    if next_mark == Some(Mark::End) {
        (kit.mark)(Mark::End, watch.thread_ids);
    }
}

/// When the next status document is due.
struct StatusTimes {
    next_ns: u64,
    interval_ns: u64,
    /// How late a document may be while workers still owe figures of its interval.
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

    /// `true` once the document is due and its interval is complete, or the grace period is over.
    fn is_ready(&self, now_ns: u64, collection: &Collection) -> bool {
        let is_late = || now_ns - self.next_ns >= self.grace_ns;
        now_ns >= self.next_ns && (collection.reaches(self.next_ns) || is_late())
    }

    fn advance(&mut self) {
        self.next_ns = self.next_ns.saturating_add(self.interval_ns);
    }

    /// When to look again: at the due time, or soon if the document waits for figures.
    fn wake_ns(&self, now_ns: u64) -> u64 {
        match now_ns >= self.next_ns {
            true => now_ns.saturating_add(STATUS_LOOK_NS),
            false => self.next_ns,
        }
    }
}

/// A worker has two samples to give away, so short intervals are fetched often.
fn look_ns(cell: &Cell) -> u64 {
    (times::interval_ns(cell) / 2).clamp(1, LOOK_NS)
}

/// Sleeps so long, or until a worker is done: a monitor that looked often would take the
/// processor, and what its cache holds, from those who are measured.
fn pause(span_ns: u64) {
    std::thread::park_timeout(Duration::from_nanos(span_ns));
}

fn tell_intervals(kit: &mut CellKit<'_>, collection: &mut Collection, measure_ns: u64) {
    let mut told = collection.timeline.take_told();
    collection.waits.put_into(&mut told, measure_ns);
    for interval in told {
        (kit.listener)(&RunEvent::Interval {
            cell: kit.cell.index,
            interval,
        });
    }
}

/// Tells what was done so far, where that is asked for.
fn tell_status(
    kit: &mut CellKit<'_>,
    collection: &Collection,
    of: StatusLanes<'_>,
    measure_ns: u64,
) {
    if let Some(wish) = kit.status {
        let record = so_far(wish.plan, of, collection, measure_ns);
        (kit.listener)(&RunEvent::SoFar {
            record: Box::new(record),
            at: Timestamp::now(),
        });
    }
}

/// Tells how many rounds are done and how steady they are.
fn tell_rounds(kit: &mut CellKit<'_>, collection: &Collection) {
    let Some(rounds) = &collection.rounds else {
        return;
    };
    (kit.listener)(&rounds_event(kit.cell.index, &rounds.told()));
}

impl Course {
    /// The phase's name, and its length by what has been done of it so far.
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

/// Tells how far the cell is; since `over_ns` what was due is only waited for.
fn tell_progress(
    kit: &mut CellKit<'_>,
    collection: &Collection,
    start_ns: u64,
    now_ns: u64,
    over_ns: Option<u64>,
) {
    let ramp_ns = kit.cell.ramp_time_ns;
    let since_ns = now_ns.saturating_sub(start_ns);
    let over_ns = over_ns.filter(|it| it.saturating_add(LOOK_NS) <= now_ns);
    let (phase, elapsed_ns, total_ns) = if since_ns < ramp_ns {
        (Phase::Ramp, since_ns, ramp_ns)
    } else if let Some(over_ns) = over_ns {
        (Phase::Drain, now_ns - over_ns, drain_max_ns(kit.cell))
    } else {
        let round_ns = times::round_ns(kit.cell).unwrap_or(u64::MAX);
        let measured_ns = (since_ns - ramp_ns) % round_ns;
        (Phase::Measure, measured_ns, kit.cell.run_time_ns)
    };
    let (phase, total_ns) =
        kit.course
            .progress(phase, elapsed_ns, total_ns, collection.transactions);
    let latest = collection.timeline.latest.as_ref();
    let live = latest.map(|slice| slice.live(kit.course.phase.is_some()));
    let live = live.unwrap_or_else(Live::unknown);
    (kit.listener)(&RunEvent::Progress {
        cell: kit.cell.index,
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
