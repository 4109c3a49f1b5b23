//! Runs one cell: its threads, and the monitor that watches them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{ScopedJoinHandle, Thread, scope};
use std::time::{Duration, Instant};

use engine::TscClock;
use engine::clock::Clock;
use plan::{Cell, RingOptions};
use results::EngineNotes;

use crate::RunError;
use crate::batch::Batch;
use crate::collect::CollectedCounts;
use crate::context::CellContext;
use crate::gate::{Gate, StartSignal};
use crate::goals::GoalWatch;
use crate::job_task;
use crate::lane::Lane;
use crate::measured::{MeasuredCell, MeasuredLane};
use crate::outcome::WorkerOutcome;
use crate::rounds::Rounds;
use crate::sample::exchange;
use crate::schedule::Schedule;
use crate::shares::LaneParts;
use crate::standstill::MonitorSleep;
use crate::start::{Ready, Start};
use crate::status::StatusLanes;
use crate::times;
use crate::watch::{WatchedWorkers, watch};
use crate::worker::{LaneContext, LaneWork, work};

/// Longest time the kernel may take to remove a thread that has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Time during which the monitor only yields. Most threads are gone by then, and a sleep between
/// two phases would let the CPU caches go cold for the second phase.
const EXIT_YIELD_TIME: Duration = Duration::from_micros(200);
const EXIT_POLL_INTERVAL: Duration = Duration::from_micros(100);

/// Runs one cell, or a stage of one, to its end.
pub(crate) fn run_cell(
    mut context: CellContext<'_>,
    parts: Vec<LaneWork>,
) -> Result<MeasuredCell, RunError> {
    let gate = Gate::default();
    let (sender, ready) = channel();
    let (mut inboxes, mut shapes) = (Vec::new(), Vec::new());
    let (mut lanes, mut tasks, mut transaction_kinds) = (Vec::new(), Vec::new(), Vec::new());
    let goals = GoalWatch::of(&parts);
    let held: Vec<_> = parts.iter().map(|part| part.task.held()).collect();
    // The monitor sets this if the cell is to end early, or if its rounds are steady.
    let end = Arc::new(AtomicBool::new(context.is_cut()));
    for part in parts {
        transaction_kinds = part.transaction_kinds;
        let shape = part.lane.shape(part.operations, transaction_kinds.len());
        let (sample, outbox, inbox) = exchange(shape.clone());
        let start = Start {
            sample,
            outbox,
            schedule: schedule(context.cell, &part.lane),
            clock: context.clock.clone(),
            batch: Batch::of(ring(context.cell, &part.lane), part.lane.slot_count()),
            gate: &gate,
            stop: Arc::clone(&end),
            ready: sender.clone(),
        };
        tasks.push((part.task, start));
        lanes.push(part.lane);
        inboxes.push(inbox);
        shapes.push(shape);
    }
    // Otherwise the receiver would wait forever if a thread fails before it is ready.
    drop(sender);
    let cell = context.cell;
    let rounds = Rounds::new(cell, &shapes);
    let mut collection = CollectedCounts::new(inboxes, shapes, times::steps(cell));
    collection.goals = goals;
    collection.rounds = rounds;
    configure_collection(&mut collection, cell, &lanes);
    let threads = tasks
        .into_iter()
        .zip(&lanes)
        .map(|((task, start), lane)| LaneContext {
            lane,
            task,
            cell,
            start,
        });
    let starts = StartSync {
        ready: &ready,
        gate: &gate,
        end: &end,
        lanes: StatusLanes {
            cell,
            lanes: &lanes,
            transaction_kinds: &transaction_kinds,
        },
    };
    let run = run_threads(&mut context, threads.collect(), &starts, &mut collection);
    // Not before the threads have ended: they may use copies in their own descriptor tables.
    drop(held);
    let mut run = run?;
    let is_by_work = cell.operations.is_some() || cell.run_time_ns == 0;
    if is_by_work && !cell.work.is_requests() {
        align_to_first_start(&mut run.outcomes);
    }
    let (mut measured, indexes) = assemble(lanes, run, &mut collection, transaction_kinds);
    keep_last_rounds(&context, &mut collection, &mut measured, &indexes);
    Ok(measured)
}

/// Keeps only the last rounds, which all processes have judged, of a cell measured in rounds.
fn keep_last_rounds(
    context: &CellContext<'_>,
    collection: &mut CollectedCounts,
    measured: &mut MeasuredCell,
    indexes: &[i64],
) {
    collection.judge(context.agreement);
    let Some(mut rounds) = collection.rounds.take() else {
        return;
    };
    if let Some(meeting) = context.agreement {
        rounds.wait_for_remote_results(meeting, &|| context.is_cut());
    }
    rounds.narrow(measured, indexes, context.is_cut());
}

/// Sets which results are kept in addition to the totals, and whether standstills are left out.
fn configure_collection(collection: &mut CollectedCounts, cell: &Cell, lanes: &[Lane]) {
    collection.lane_parts = LaneParts::of(cell, lanes);
    collection.excludes_standstills = can_exclude_time(cell);
    if cell.work.is_requests() {
        collection.keep_series();
    }
}

/// `true` if part of a cell's time can be left out. That excludes cells with results for a number
/// of operations or rounds as a whole, and cells that catch up on requests that became due
/// meanwhile.
fn can_exclude_time(cell: &Cell) -> bool {
    let is_whole = cell.operations.is_some() || cell.run_time_ns == 0 || cell.work.is_acts();
    !is_whole && !cell.work.is_requests() && cell.rate.is_none() && cell.steady.is_none()
}

/// Ring options of a lane: its job's, or else the cell's.
fn ring(cell: &Cell, lane: &Lane) -> RingOptions {
    lane.plan.job.as_ref().map_or(cell.ring, |job| job.ring)
}

fn schedule(cell: &Cell, lane: &Lane) -> Schedule {
    let operations = lane.operations.unwrap_or(u64::MAX);
    if let Some(job) = &lane.plan.job {
        return job_task::schedule(job, cell, operations);
    }
    Schedule {
        start_ns: 0,
        ramp_ns: cell.ramp_time_ns,
        run_ns: times::measure_ns(cell),
        interval_ns: times::interval_ns(cell),
        operations,
        grace_ns: times::grace_ns(cell),
    }
}

/// Results of the threads after they have ended.
struct ThreadResults {
    outcomes: Vec<WorkerOutcome>,
    notes: EngineNotes,
    measure_ns: u64,
}

/// State with which the threads start and end together.
struct StartSync<'a> {
    ready: &'a Receiver<Ready>,
    gate: &'a Gate,
    /// Set here to end the threads.
    end: &'a AtomicBool,
    lanes: StatusLanes<'a>,
}

fn run_threads(
    context: &mut CellContext<'_>,
    threads: Vec<LaneContext<'_>>,
    starts: &StartSync<'_>,
    collection: &mut CollectedCounts,
) -> Result<ThreadResults, RunError> {
    let cell_index = context.cell.index;
    let lane_count = threads.len();
    let (ready, gate, end) = (starts.ready, starts.gate, starts.end);
    let at_work = RunningThreads::new(lane_count);
    scope(|scope| {
        let mut handles = Vec::with_capacity(lane_count);
        for thread in threads {
            let name = format!("worker-{}", thread.lane.worker_index);
            let spawned = std::thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, || {
                    let _leave = at_work.exit_guard();
                    work(thread)
                });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(source) => {
                    gate.open(StartSignal::Abandon);
                    let what = format!("start thread {} of {lane_count}", handles.len() + 1);
                    return Err(RunError::System { what, source });
                }
            }
        }
        let all_ready: Vec<Ready> = ready.iter().take(lane_count).collect();
        let thread_ids: Vec<i32> = all_ready.iter().map(|it| it.thread_id).collect();
        watch_waits(context, collection, &thread_ids);
        let sleep = MonitorSleep::new(lane_count, context.continued, context.clock);
        let Some(start_ns) = start_ns(context, all_ready.len() == lane_count) else {
            gate.open(StartSignal::Abandon);
            return Err(RunError::Stopped);
        };
        let measure_ns = start_ns + context.cell.ramp_time_ns;
        collection.set_measure_start(measure_ns);
        if all_ready.len() < lane_count {
            gate.open(StartSignal::Abandon);
        } else {
            gate.open(StartSignal::Start { start_ns });
            let idle = Idle::new(context.clock, measure_ns + context.cell.run_time_ns, end);
            let all_done = || match lane_count {
                0 => idle.is_over(),
                _ => at_work.is_over(),
            };
            let watch_plan = WatchedWorkers {
                start_ns,
                thread_ids: &thread_ids,
                all_done: &all_done,
                end,
                lanes: starts.lanes,
                sleep,
            };
            watch(context, collection, watch_plan);
        }
        let outcomes = join(handles, cell_index);
        context.report_begin(gate.begin_ns());
        wait_for_thread_exit(thread_ids);
        let outcomes = outcomes?;
        let first = all_ready.into_iter().next().map(|ready| ready.notes);
        Ok(ThreadResults {
            outcomes,
            notes: first.unwrap_or_default(),
            measure_ns,
        })
    })
}

/// Start of the threads: now, or together with other processes. `None` if the cell will not start.
fn start_ns(context: &CellContext<'_>, are_all_ready: bool) -> Option<u64> {
    match context.agreement.filter(|_| are_all_ready) {
        Some(meeting) => meeting.start(context.stop),
        None => Some(context.clock.now_ns()),
    }
}

/// Starts to observe what the threads wait for. This opens a file per thread, which takes time.
fn watch_waits(
    context: &mut CellContext<'_>,
    collection: &mut CollectedCounts,
    thread_ids: &[i32],
) {
    let interval_ns = times::interval_ns(context.cell);
    let devices = context.devices.take();
    // Before the start of the threads, so that the time to open the files is not measured.
    collection.waits.start(devices, thread_ids, interval_ns);
}

/// Number of threads at work. Each wakes the monitor, which created this, when it ends.
struct RunningThreads {
    count: AtomicUsize,
    monitor: Thread,
}

impl RunningThreads {
    fn new(count: usize) -> Self {
        Self {
            count: AtomicUsize::new(count),
            monitor: std::thread::current(),
        }
    }

    /// Guard that a thread drops at its end, even if it panics.
    fn exit_guard(&self) -> RunningThreadGuard<'_> {
        RunningThreadGuard(self)
    }

    fn is_over(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }
}

struct RunningThreadGuard<'a>(&'a RunningThreads);

impl Drop for RunningThreadGuard<'_> {
    fn drop(&mut self) {
        // Subtracted before the wakeup, so that the monitor does not see the old number and sleep
        // again.
        self.0.count.fetch_sub(1, Ordering::Release);
        self.0.monitor.unpark();
    }
}

/// A cell without workers, which shows what the machine does on its own.
struct Idle<'a> {
    clock: &'a TscClock,
    end_ns: u64,
    end: &'a AtomicBool,
}

impl<'a> Idle<'a> {
    const fn new(clock: &'a TscClock, end_ns: u64, end: &'a AtomicBool) -> Self {
        Self { clock, end_ns, end }
    }

    fn is_over(&self) -> bool {
        self.clock.now_ns() >= self.end_ns || self.end.load(Ordering::Relaxed)
    }
}

/// Outcome of every lane, or the first error.
fn join(
    handles: Vec<ScopedJoinHandle<'_, Result<Option<WorkerOutcome>, RunError>>>,
    cell_index: u32,
) -> Result<Vec<WorkerOutcome>, RunError> {
    let mut outcomes = Vec::with_capacity(handles.len());
    let mut first_error = None;
    for (worker_index, handle) in handles.into_iter().enumerate() {
        match handle.join() {
            Ok(Ok(outcome)) => outcomes.extend(outcome),
            Ok(Err(error)) => {
                first_error.get_or_insert(error);
            }
            Err(_) => {
                first_error.get_or_insert(RunError::Panicked {
                    cell_index,
                    worker_index,
                });
            }
        }
    }
    first_error.map_or(Ok(outcomes), Err)
}

/// Waits until the kernel has removed threads that were joined. Only then are the files in a
/// thread's own descriptor table closed, and a file system that is unmounted earlier is busy.
fn wait_for_thread_exit(thread_ids: Vec<i32>) {
    let since = Instant::now();
    for thread_id in thread_ids {
        let task = format!("/proc/self/task/{thread_id}");
        // Another thread may reuse the ID meanwhile, so the wait has a limit.
        while since.elapsed() < EXIT_TIMEOUT && Path::new(&task).exists() {
            match since.elapsed() < EXIT_YIELD_TIME {
                true => std::thread::yield_now(),
                false => std::thread::sleep(EXIT_POLL_INTERVAL),
            }
        }
    }
}

/// Makes every lane's time start with the first lane's. With few CPUs, some lanes that end by
/// operations may be done before others start. The longest lane alone would then be too short a
/// time for the work of all.
fn align_to_first_start(outcomes: &mut [WorkerOutcome]) {
    // A lane that was stopped during the ramp has measured nothing.
    let mut measured: Vec<&mut WorkerOutcome> = outcomes
        .iter_mut()
        .filter(|outcome| outcome.measured_ns > 0)
        .collect();
    let begins = measured.iter().map(|it| it.finish_ns - it.measured_ns);
    let begin_ns = begins.min().unwrap_or_default();
    for outcome in &mut measured {
        outcome.measured_ns = outcome.finish_ns - begin_ns;
    }
}

/// Puts together the results of a cell, and returns them with the indexes of their intervals.
fn assemble(
    lanes: Vec<Lane>,
    mut run: ThreadResults,
    collection: &mut CollectedCounts,
    transaction_kinds: Vec<String>,
) -> (MeasuredCell, Vec<i64>) {
    // Queued samples are older than the rest of their lane, so they come first.
    collection.collect();
    for (index, outcome) in run.outcomes.iter_mut().enumerate() {
        collection.add_rest(index, outcome);
        outcome.drop_samples();
    }
    collection.close();
    let outcomes = run.outcomes.iter();
    let waited_ns = outcomes.map(|it| Some(it.cpu_at_end?.waited_ns())).sum();
    let end_ns = run.outcomes.iter().map(|it| it.finish_ns).max();
    let (mut intervals, indexes) = collection.timeline.take();
    let waits = &mut collection.waits;
    waits.close(end_ns.unwrap_or_default(), waited_ns);
    waits.put_into(&mut intervals, run.measure_ns);
    for (outcome, left_out_ns) in run.outcomes.iter_mut().zip(&collection.excluded_ns) {
        outcome.measured_ns = outcome.measured_ns.saturating_sub(*left_out_ns);
    }
    let stills = collection.standstills.iter();
    let standstills =
        stills.filter_map(|it| it.record(run.measure_ns, collection.excludes_standstills));
    let standstills = standstills.collect();
    let spans = std::mem::take(&mut collection.lanes);
    let mut series = std::mem::take(&mut collection.series).into_iter();
    let parts = lanes.into_iter().zip(spans).zip(run.outcomes);
    let measured = MeasuredCell {
        lanes: parts
            .enumerate()
            .map(|(index, ((lane, spans), outcome))| MeasuredLane {
                goals: collection.goals.figures(index),
                lane,
                spans,
                outcome,
                series: series.next().unwrap_or_default(),
            })
            .collect(),
        intervals,
        engine_notes: run.notes,
        transaction_kinds,
        measure_ns: run.measure_ns,
        standstills,
        steady: None,
    };
    (measured, indexes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_lanes_starts_with_the_first_one() {
        let outcome = |finish_ns, measured_ns| WorkerOutcome {
            finish_ns,
            measured_ns,
            ..WorkerOutcome::default()
        };
        let mut outcomes = [outcome(110, 10), outcome(130, 10), outcome(140, 0)];
        align_to_first_start(&mut outcomes);
        assert_eq!(outcomes.map(|it| it.measured_ns), [10, 30, 0]);
        align_to_first_start(&mut []);
    }
}
