//! Stage of a phase: its workers with their tasks.

use std::sync::Arc;

use engine::OpenModeIndex;
use generate::program::{
    GroupProgress, Interpreter, PhaseEnd, PhaseWaits, SharedTurnCounters, TransactionUnit,
    WorkerContext,
};
use plan::WorkerPlan;
use plan::program::{Group, ProgramPhase};

use super::ProgramRun;
use super::trace::ReplayWorker;
use crate::RunError;
use crate::file_task::FileTask;
use crate::files::stages::{CellTrees, Stage, StageWork, iodepth, stop_ns, unit};

/// State shared by the workers of a phase.
struct PhaseContext<'a> {
    phase: &'a ProgramPhase,
    waits: Arc<PhaseWaits>,
    phase_end: Arc<PhaseEnd>,
    open_codes: Vec<u64>,
    worker_count: u32,
    /// `true` for creating the files that exist before the first phase.
    is_fill: bool,
    unit: TransactionUnit,
    /// Rounds of all workers together; `None` if the groups set their number.
    rounds: Option<u64>,
}

impl ProgramRun {
    /// Creates the stage of a phase, with a task for each of its workers.
    pub(super) fn stage(
        &mut self,
        cell_trees: &CellTrees,
        phase: &ProgramPhase,
        is_fill: bool,
    ) -> Result<Stage, RunError> {
        self.close_unused_trees(cell_trees, phase)?;
        self.stage_count += 1;
        let is_measured = !is_fill && !phase.is_hidden;
        let is_until_steady = is_measured && self.cell.steady.is_some() && phase.time_ns.is_some();
        let is_ended = is_until_steady || is_measured && self.cell.rate.is_some();
        let endless = ProgramPhase {
            time_ns: None,
            ..phase.clone()
        };
        let all = self.cell.workers.len() as u32;
        let workers_of = |group: &Group| group.workers.unwrap_or(all);
        let modes = 0..self.program.ways.len() as u8;
        // The recorder ends the stage: due requests may be done after that time, or rounds are
        // judged.
        let as_done = if is_ended { &endless } else { phase };
        let context = PhaseContext {
            phase: as_done,
            waits: self.phase_waits(as_done),
            phase_end: self.phase_end(as_done),
            open_codes: modes.map(|mode| OpenModeIndex(mode).code()).collect(),
            worker_count: phase.groups.iter().map(workers_of).sum(),
            is_fill,
            unit: if is_measured {
                unit(&self.cell)
            } else {
                TransactionUnit::Declared
            },
            rounds: self.cell.operations.filter(|_| is_measured),
        };
        let mut tasks = Vec::new();
        let mut workers = self.cell.workers.clone().into_iter();
        let mut first = 0;
        for group in &phase.groups {
            let count = workers_of(group);
            let cluster: Vec<WorkerPlan> = workers.by_ref().take(count as usize).collect();
            tasks.extend(self.cluster(cell_trees, &context, (group, first), &cluster)?);
            first += count;
        }
        Ok(Stage {
            phase: phase.name.clone(),
            is_hidden: phase.is_hidden,
            ramp_ns: phase.ramp_ns,
            transactions: match self.enclosing_until() {
                Some(_) => None,
                None => self.program.transactions_of(phase),
            },
            time_ns: match is_ended {
                true => phase.time_ns.unwrap_or(0),
                false => stop_ns(phase),
            },
            is_until_steady,
            rate_workers: is_measured.then_some(context.worker_count),
            work: StageWork::Tasks(tasks),
        })
    }

    /// Tasks of a group's workers in this process. `first` is the number of its first worker in the
    /// phase.
    fn cluster(
        &mut self,
        cell_trees: &CellTrees,
        context: &PhaseContext<'_>,
        (group, first): (&Group, u32),
        cluster: &[WorkerPlan],
    ) -> Result<Vec<FileTask>, RunError> {
        let PhaseContext {
            phase, phase_end, ..
        } = context;
        let mut tasks = Vec::new();
        let used = group.filesets();
        let shared = SharedTurnCounters::default();
        let progress = Arc::new(GroupProgress::new(group.quotas.len()));
        for (worker_index, worker) in (0..).zip(cluster) {
            // Workers of other processes count for the shares but run there.
            if !self.cell.is_own(worker) {
                continue;
            }
            let (count, number) = (context.worker_count, first + worker_index);
            let rounds = context.rounds;
            let rounds = rounds.map(|all| generate::share(all, count.into(), number.into()));
            // The worker uses its own files, unless the group is shifted.
            let owner = &cluster[(worker_index + group.shift) as usize % cluster.len()];
            if let Some(trace) = &group.trace {
                let replay = ReplayWorker::new(trace, phase, worker_index, phase_end);
                tasks.push(self.player(&replay, worker, cell_trees.of(owner), rounds)?);
                continue;
            }
            let states = self.states(owner);
            let interpreter = Interpreter::new(&WorkerContext {
                program: &self.program,
                phase,
                group,
                worker_index,
                worker_count: cluster.len() as u32,
                slot_count: iodepth(worker),
                // Without the number of the stage, all stages would make the same random choices.
                seed: generate::mix(worker.seed ^ self.stage_count << 32),
                program_seed: self.cell.workers.first().map_or(0, |it| it.seed),
                states: &states,
                shared: &shared,
                progress: &progress,
                phase_end,
                waits: &context.waits,
                open_codes: &context.open_codes,
                rounds_per_us: self.rounds_per_us,
                is_initial: context.is_fill,
                unit: context.unit,
                is_checked: worker.verify,
                rounds,
            })?;
            let field = self.field(cell_trees, owner, &used)?;
            let bytes = interpreter.buffer_bytes();
            tasks.push(self.task(worker, bytes, interpreter.into(), field));
        }
        Ok(tasks)
    }
}
