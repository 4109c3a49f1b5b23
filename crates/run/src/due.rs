//! Combines what each lane knows about the requests that were due in a measurement.

use std::ops::Range;

use generate::Backlog;
use results::DueFigures;
use stats::Histogram;

use crate::measured::MeasuredCell;
use crate::outcome::OpenLoopEnd;

/// Maximum number of requests that were due but never started and are recorded one by one. The rest
/// is spread evenly.
// From the same number on, `Arrivals::count_until` estimates by the mean.
const LISTED_MAX: u64 = 10_000_000;
/// Number of steps over which the rest is spread.
const REST_STEPS: u64 = 1000;

/// Outcome of all requests that were due.
pub(crate) fn due_figures(measured: &MeasuredCell) -> DueFigures {
    let mut all = DueFigures::default();
    // Lanes of the same worker are neighbors in this list.
    for of_worker in measured
        .lanes
        .chunk_by(|a, b| a.lane.worker_index == b.lane.worker_index)
    {
        let lanes = of_worker.iter().map(|lane| &lane.outcome.open_loop_end);
        let lanes: Vec<&OpenLoopEnd> = lanes.flatten().collect();
        add_worker(&mut all, &lanes);
    }
    all
}

/// Adds the results of one worker's lanes, which share their due times.
fn add_worker(all: &mut DueFigures, lanes: &[&OpenLoopEnd]) {
    for lane in lanes {
        let counts = lane.backlog.counts();
        all.responses.merge(counts.responses.latency());
        all.errors += counts.responses.errors();
        all.late_count += counts.late_count;
        all.lateness_max_ns = all.lateness_max_ns.max(counts.lateness_ns_max);
        all.backlog_end += counts.left_count;
        if let Some(lateness) = &counts.lateness {
            all.lateness
                .get_or_insert_with(Histogram::new)
                .merge(lateness);
        }
    }
    let Some(end_ns) = lanes.iter().filter_map(|lane| lane.end_ns).max() else {
        // The cell ended after its number of operations, so none of them is missing.
        let end_ns = lanes
            .iter()
            .map(|lane| lane.issue_end_ns)
            .max()
            .unwrap_or(0);
        let lane = lanes.first();
        all.backlog_end += lane.map_or(0, |it| it.backlog.untaken_count(end_ns));
        return;
    };
    let done_ns = lanes.iter().map(|lane| lane.done_ns).max().unwrap_or(0);
    let drain_ns = done_ns.saturating_sub(end_ns);
    all.drain_ns = all.drain_ns.max(drain_ns);
    let unanswered = unanswered(lanes, end_ns);
    let count = unanswered.count();
    if let Some(lateness) = &mut all.lateness {
        // A request that never started is as late as it waited.
        lateness.merge(&unanswered);
    }
    all.responses.merge(&unanswered);
    all.censored_count += count;
    all.censored_min_ns = all
        .censored_min_ns
        .into_iter()
        .chain(unanswered.min_ns())
        .min();
    all.late_count += count;
    all.backlog_end += count;
    let longest_ns = unanswered.max_ns().unwrap_or(0);
    all.lateness_max_ns = all.lateness_max_ns.max(longest_ns);
}

/// Time that unanswered requests due before `end_ns` had waited when no more were started. It is a
/// lower bound of their response time.
fn unanswered(lanes: &[&OpenLoopEnd], end_ns: u64) -> Histogram {
    let mut waited = Histogram::new();
    let mut quit_ns = 0;
    for lane in lanes {
        let is_inside = |due_ns: &u64| lane.backlog.counts().has(*due_ns) && *due_ns < end_ns;
        for due_ns in lane.backlog.unended_ns().filter(is_inside) {
            waited.record(lane.issue_end_ns.saturating_sub(due_ns));
        }
        quit_ns = quit_ns.max(lane.issue_end_ns);
    }
    // The lanes of a worker share their due times, so each of them knows which ones no lane took.
    if let Some(lane) = lanes.first() {
        let start_ns = lane.backlog.counts().window().start_ns;
        add_untaken(&mut waited, &lane.backlog, start_ns..end_ns, quit_ns);
    }
    waited
}

/// Adds the requests due in this span that no lane has taken.
fn add_untaken(waited: &mut Histogram, backlog: &Backlog, span_ns: Range<u64>, quit_ns: u64) {
    let before = backlog.untaken_count(span_ns.start);
    let count = backlog.untaken_count(span_ns.end).saturating_sub(before);
    let (mut recorded_count, mut last_ns) = (0, span_ns.start);
    if before < LISTED_MAX {
        let untaken_ns = backlog.untaken_ns().skip(before as usize);
        for due_ns in untaken_ns.take(count.min(LISTED_MAX) as usize) {
            waited.record(quit_ns.saturating_sub(due_ns));
            (recorded_count, last_ns) = (recorded_count + 1, due_ns);
        }
    }
    let rest = count - recorded_count;
    let step_ns = span_ns.end.saturating_sub(last_ns) / REST_STEPS;
    for step in 0..REST_STEPS {
        // The end of the step, because no request in it has waited less.
        let due_ns = last_ns + (step + 1) * step_ns;
        let share = rest / REST_STEPS + u64::from(step < rest % REST_STEPS);
        waited.record_n(quit_ns.saturating_sub(due_ns), share);
    }
}
