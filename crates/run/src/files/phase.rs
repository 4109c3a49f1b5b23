//! Phases: merged results of stages with the same name, as records.

use std::collections::{HashMap, VecDeque};

use plan::{Cell, Plan};
use results::{
    CellRecord, CounterNames, CpuFigures, DueFigures, OperationFigures, Phase, PhaseFigures,
    Status, SteadyRecord, per_second, share_of_time,
};
use stats::Interval;

use crate::due::due_figures;
use crate::figures::{operation_names, record_with_due};
use crate::measured::{MeasuredCell, MeasuredLane};

use super::program::ProgramRun;
use super::stages::longest_ns;
use super::started::ProgramTimes;

/// Phases of a cell, in the order of their first stages.
#[derive(Default)]
pub(super) struct Phases {
    phases: Vec<PhaseStages>,
    /// Index of each phase, by name.
    indexes: HashMap<String, usize>,
}

/// Results of a phase's stages.
struct PhaseStages {
    name: String,
    /// Counters by period; a single period unless rounds continue until they are steady.
    counted: VecDeque<(u64, StageCount)>,
    figures: Option<PhaseFigures>,
    steady: Option<SteadyRecord>,
}

enum StageCount {
    Workers {
        measured: Box<MeasuredCell>,
        /// Resource usage of all stages; its results of operations are from the first stage only.
        usage: Box<CellRecord>,
        /// Outcome of the due requests; `None` if no requests had due times.
        due: Option<Box<DueFigures>>,
        /// `true` if the cell's rate, or the rate to be found, applies to this phase.
        has_rate: bool,
    },
    Programs(ProgramTimes),
}

impl StageCount {
    /// Adds a later stage of the same phase. Programs run only once per phase.
    fn merge(&mut self, later: Self) {
        let (
            Self::Workers {
                measured,
                usage,
                due,
                ..
            },
            Self::Workers {
                measured: more,
                usage: used,
                due: more_due,
                ..
            },
        ) = (self, later)
        else {
            return;
        };
        if let (Some(due), Some(more)) = (due, more_due) {
            due.merge(&more);
        }
        merge(measured, *more);
        merge_usage(usage, &used);
    }
}

impl Phases {
    /// Adds the results of a stage in the period with this index, and drops all but the last `kept`
    /// periods. `has_rate` is `true` if the cell's rate applies to the stage.
    pub fn add(
        &mut self,
        phase: &str,
        (period_index, kept): (u64, usize),
        (measured, usage): (MeasuredCell, CellRecord),
        has_rate: bool,
    ) {
        // Combined per stage, because each stage has its own due times and end.
        let due = measured
            .lanes
            .iter()
            .any(|it| it.outcome.open_loop_end.is_some());
        let due = due.then(|| Box::new(due_figures(&measured)));
        let counted = StageCount::Workers {
            measured: Box::new(measured),
            usage: Box::new(usage),
            due,
            has_rate,
        };
        let sum = self.sum(phase);
        match sum.counted.back_mut() {
            Some((index, so_far)) if *index == period_index => so_far.merge(counted),
            _ => sum.counted.push_back((period_index, counted)),
        }
        // Older periods are outside of the steady window.
        while sum.counted.len() > kept {
            sum.counted.pop_front();
        }
    }

    /// Adds the results of programs.
    pub fn add_programs(&mut self, phase: &str, times: &ProgramTimes) {
        let counted = StageCount::Programs(times.clone());
        self.sum(phase).counted.push_back((0, counted));
    }

    /// Results of a phase so far; creates an empty entry for a new phase.
    fn sum(&mut self, phase: &str) -> &mut PhaseStages {
        // A table instead of a search, because a program may have 50,000 phases.
        let known = self.indexes.get(phase).copied();
        let index = known.unwrap_or_else(|| {
            self.phases.push(PhaseStages {
                name: phase.to_owned(),
                counted: VecDeque::new(),
                figures: None,
                steady: None,
            });
            let index = self.phases.len() - 1;
            self.indexes.insert(phase.to_owned(), index);
            index
        });
        &mut self.phases[index]
    }

    /// Takes the program's results that only it can calculate.
    pub fn close(&mut self, run: &ProgramRun) {
        let mut figures = run.figures();
        for sum in &mut self.phases {
            let (of_sum, steady) = figures.remove(&*sum.name).unzip();
            sum.figures = run.pool_figures(&sum.name).or(of_sum);
            sum.steady = steady.flatten();
        }
    }

    /// Creates the records of all phases.
    pub fn records(self, plan: &Plan, cell: &Cell) -> Vec<CellRecord> {
        let record = |sum: PhaseStages| {
            let counted = sum.counted.into_iter().map(|(_, counted)| counted);
            let counted = counted.reduce(|mut so_far, later| {
                so_far.merge(later);
                so_far
            })?;
            let mut record = match counted {
                StageCount::Workers {
                    measured,
                    usage,
                    due,
                    has_rate,
                } => {
                    let mut record = record_with_due(plan, cell, &measured, due.as_deref());
                    // Phases without the rate are no points of the curve.
                    record.curve = record.curve.filter(|_| has_rate);
                    complete(&mut record, &measured, *usage);
                    record
                }
                StageCount::Programs(times) => of_programs(plan, cell, &times),
            };
            record.phase = Phase::Classic(sum.name);
            record.phase_figures = sum.figures;
            record.steady = record.steady.or(sum.steady);
            Some(record)
        };
        self.phases.into_iter().filter_map(record).collect()
    }
}

/// Sets the total of such a cell, and the resource usage.
fn complete(record: &mut CellRecord, measured: &MeasuredCell, usage: CellRecord) {
    let mut totals = Interval::default();
    let spans = measured.lanes.iter().flat_map(|lane| &lane.spans);
    spans.for_each(|span| totals.merge(span));
    record.total = flows(&totals, record.run_time_ns);
    record.started_at = usage.started_at;
    record.device = usage.device;
    record.cpu = CpuFigures {
        utilization: share_of_time(usage.cpu.user_ns + usage.cpu.system_ns, record.run_time_ns),
        ..usage.cpu
    };
    for (worker, used) in record.worker_figures.iter_mut().zip(usage.worker_figures) {
        *worker = std::mem::take(worker).with_cpu(used.user_ns, used.system_ns);
        if let Some(waited_ns) = used.waited_ns {
            let elapsed_ns = worker.run_time_ns * u64::from(used.threads);
            *worker = std::mem::take(worker).with_waits(used.threads, waited_ns, elapsed_ns);
        }
    }
    if let Some(waited_ns) = record.cpu.waited_ns {
        let threads = record.cpu.threads;
        record.set_threads(threads, waited_ns, record.run_time_ns * u64::from(threads));
    }
}

/// Total of such a cell: its transactions with the bytes transferred, and the errors of all
/// operations.
fn flows(totals: &Interval, run_time_ns: u64) -> OperationFigures {
    // Operations without content count no bytes.
    let moved = totals.total().bytes();
    OperationFigures {
        bytes: moved,
        bytes_per_second: per_second(moved, run_time_ns),
        errors: totals.total().errors(),
        ..OperationFigures::of(&totals.all_transactions(), run_time_ns)
    }
}

fn of_programs(plan: &Plan, cell: &Cell, times: &ProgramTimes) -> CellRecord {
    let executed = &times.executed;
    let operations = operation_names();
    let names = CounterNames {
        operations: &operations,
        transactions: &[],
    };
    let run_time_ns = executed.real_ns;
    let mut record = CellRecord::of(cell, plan, &Interval::default(), run_time_ns, names);
    record.total.count = executed.done_count;
    record.total.errors = executed.failed_count;
    record.total.per_second = per_second(executed.done_count, run_time_ns);
    record.cpu = CpuFigures::of_process(executed.user_ns, executed.system_ns, run_time_ns);
    if executed.is_stopped {
        record.status = Status::Interrupted;
    }
    record.engine_notes.notes = executed.first_failure.iter().cloned().collect();
    record
}

/// Adds a later stage of the same workers, which more workers may have joined.
fn merge(so_far: &mut MeasuredCell, later: MeasuredCell) {
    // In the record, the stages of a phase follow each other without the time between them.
    let offset_ns = longest_ns(so_far);
    let mut added = later.lanes.into_iter();
    for (lane, added) in so_far.lanes.iter_mut().zip(added.by_ref()) {
        merge_lane(lane, added);
    }
    so_far.lanes.extend(added);
    so_far
        .standstills
        .extend(later.standstills.into_iter().map(|it| {
            let at_ns = it.at_ns + offset_ns;
            results::Standstill { at_ns, ..it }
        }));
    so_far
        .intervals
        .extend(later.intervals.into_iter().map(|interval| {
            let at_ns = interval.at_ns + offset_ns;
            results::IntervalRecord { at_ns, ..interval }
        }));
}

fn merge_lane(lane: &mut MeasuredLane, added: MeasuredLane) {
    for (span, more) in lane.spans.iter_mut().zip(&added.spans) {
        span.merge(more);
    }
    let (outcome, more) = (&mut lane.outcome, added.outcome);
    outcome.measured_ns += more.measured_ns;
    outcome.finish_ns = outcome.finish_ns.max(more.finish_ns);
    outcome.stopped |= more.stopped;
    outcome.mismatch_count += more.mismatch_count;
    outcome.first_mismatch = outcome.first_mismatch.take().or(more.first_mismatch);
    outcome.logged.extend(more.logged);
}

fn merge_usage(used: &mut CellRecord, more: &CellRecord) {
    used.cpu.user_ns += more.cpu.user_ns;
    used.cpu.system_ns += more.cpu.system_ns;
    // Shares of different times cannot be added. The largest shows that a quota limited the phase.
    let shares = [used.cpu.throttled, more.cpu.throttled].into_iter();
    used.cpu.throttled = shares.flatten().reduce(f64::max);
    // Shares of different time spans cannot be added.
    used.cpu.machine = None;
    used.cpu.processors.clear();
    used.cpu.pressure = None;
    used.cpu.waited_ns = both(used.cpu.waited_ns, more.cpu.waited_ns);
    if let (Some(device), Some(added)) = (&mut used.device, &more.device) {
        device.read_bytes += added.read_bytes;
        device.write_bytes += added.write_bytes;
        device.reads += added.reads;
        device.writes += added.writes;
        device.own_read_bytes = both(device.own_read_bytes, added.own_read_bytes);
        device.own_write_bytes = both(device.own_write_bytes, added.own_write_bytes);
        device.utilization = None;
        device.covered_ns = both(device.covered_ns, added.covered_ns);
    }
    for (worker, added) in used.worker_figures.iter_mut().zip(&more.worker_figures) {
        worker.user_ns += added.user_ns;
        worker.system_ns += added.system_ns;
        worker.waited_ns = both(worker.waited_ns, added.waited_ns);
    }
    let own_count = used.worker_figures.len();
    let joined = more.worker_figures.iter().skip(own_count);
    used.worker_figures.extend(joined.cloned());
}

/// Sum of both; `None` unless both are known.
fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one?.saturating_add(other?))
}
