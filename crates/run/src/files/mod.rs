//! Cells that work on many files: measures the stages of a program in order.

mod lasting;
mod phase;
mod program;
mod stages;
mod started;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use engine::TscClock;
use generate::{Generator, Mismatch};
use plan::program::{FileCommand, FileOperation, PhasePreparation, Program};
use plan::{Cell, Plan, SteadyRule};
use results::{CellRecord, RunEvent, Status, Warning, WarningCode, target_indexes};
use storage::{Prepared, TargetError, Tree};

use crate::RunError;
use crate::agreement::PeerAgreement;
use crate::cell::run_cell;
use crate::context::{self, CellContext, CellMark};
use crate::exec;
use crate::figures::usage_record;
use crate::file_requests::FileRequests;
use crate::file_task::FileTask;
use crate::lane::{Lane, set_paces};
use crate::measured::MeasuredCell;
use crate::meet::{open_semaphores, skip_line};
use crate::observe::{Counters, Observer};
use crate::stop_conditions::is_cut;
use crate::targets::{direct_io_warnings, losses};
use crate::worker::{LaneWork, Task};

use phase::Phases;
use program::{ProgramRun, uses_only_own_files};
use stages::{
    CellTrees, Stage, StageEffort, StageOutcome, StageWork, lane, longest_ns, with_ramp_ns,
};
use started::{ProgramTimes, Programs};

/// Maximum number of starts of a program that does nothing; more do not improve the result.
const BASELINE_COUNT_MAX: u64 = 1000;

/// Prefix of directories that several processes share; the cell's index follows.
pub const COMMON_PREFIX: &str = "common-";

/// Resources that the run lends to a cell that works on many files.
pub(crate) struct FilesContext<'a> {
    pub plan: &'a Plan,
    pub cell: &'a Cell,
    pub targets: &'a mut BTreeMap<u32, Prepared>,
    pub clock: &'a TscClock,
    /// Set by a signal handler to end the run.
    pub stop: &'a AtomicBool,
    /// Set by a signal handler to continue with the next cell.
    pub skip: &'a AtomicBool,
    /// Set by the handler of `SIGCONT`, after the process was stopped.
    pub continued: &'a AtomicBool,
    /// Agreement with other processes; `None` if this process runs alone.
    pub agreement: Option<&'a Arc<dyn PeerAgreement>>,
    pub listener: &'a mut dyn FnMut(&RunEvent),
    /// `true` if the files of the last cell stay.
    pub keeps_files: bool,
    /// Number of reads that did not return the data written, and the first of them.
    pub mismatches: (u64, Option<Mismatch>),
    /// Counters of the stages, opened by the first stage.
    pub counters: Option<Rc<Counters>>,
}

/// Records of the phases, and the reason if the cell ended early.
pub(crate) struct FilesMeasured {
    pub records: Vec<CellRecord>,
    pub warnings: Vec<Warning>,
    pub outcome: Result<(), RunError>,
}

/// Measures a cell that works on many files.
pub(crate) fn measure(mut context: FilesContext<'_>, program: &Program) -> FilesMeasured {
    let mut phases = Phases::default();
    let mut cell_trees = CellTrees::default();
    let mut warnings = Vec::new();
    let outcome = ProgramRun::new(context.cell, program).and_then(|mut run| {
        run.set_meeting(context.agreement.cloned());
        context.make_trees(program, &mut cell_trees)?;
        let mut outcome = context.run(&mut run, &mut cell_trees, &mut phases);
        // A run that was stopped leaves no files.
        if let (Some(files), false) = (&program.lasting, context.is_cut()) {
            let mut trees = cell_trees.trees.values();
            outcome = outcome.and_then(|()| trees.try_for_each(|it| lasting::finish(files, it)));
        }
        if outcome.is_err() || context.is_cut() {
            outcome = outcome.and(run.remove_traces(&cell_trees));
        }
        phases.close(&run);
        warnings = run.warnings();
        warnings.extend(context.mismatch());
        outcome
    });
    drop(cell_trees);
    // Checked before the removal, which would look like a loss.
    warnings.extend(losses(context.targets, context.cell));
    let writes = program.operations().contains(&FileOperation::Write);
    warnings.extend(direct_io_warnings(context.targets, context.cell, writes));
    if !context.keeps_files {
        warnings.extend(
            context
                .remove_trees()
                .err()
                .and_then(|error| context.left(&error)),
        );
    }
    let mut records = phases.records(context.plan, context.cell);
    if context.is_cut()
        && let Some(last) = records.last_mut()
        && last.status == Status::Complete
    {
        // The stop may have come between two phases, when no phase was cut short.
        last.status = Status::Interrupted;
    }
    FilesMeasured {
        records,
        warnings,
        outcome,
    }
}

impl FilesContext<'_> {
    fn is_cut(&self) -> bool {
        is_cut(self.stop, Some(self.skip))
    }

    /// Warning about a failed cleanup, which does not affect the results. Files that could not be
    /// removed are tried again and listed when the target is released, so they get no warning here.
    fn left(&self, error: &RunError) -> Option<Warning> {
        if let RunError::Target(TargetError::TreeNotRemoved { .. }) = error {
            return None;
        }
        let code = WarningCode::LeftoverFiles;
        Some(Warning::of_cell(code, self.cell.index, error.to_string()))
    }

    fn make_trees(
        &mut self,
        program: &Program,
        cell_trees: &mut CellTrees,
    ) -> Result<(), RunError> {
        // Without targets (engine `null`), files are neither made nor found.
        if let (Some(files), false) = (&program.lasting, self.targets.is_empty()) {
            lasting::check(files)?;
        }
        if self.keeps_files {
            // Only the files of the last cell stay.
            self.remove_trees()?;
        }
        let name = self
            .has_others(program)
            .then(|| format!("{COMMON_PREFIX}{}", self.cell.index));
        for target_index in target_indexes(self.cell) {
            let Some(prepared) = self.targets.get_mut(&target_index) else {
                continue;
            };
            // A shared directory is next to the processes' own ones.
            let own = &self.plan.targets[target_index as usize].path;
            let existing = program.lasting.as_ref().filter(|it| it.exist_before_run());
            let tree = match (&name, own.parent()) {
                _ if let Some(files) = existing => Tree::found(&files.directory)?,
                (Some(name), Some(beneath)) => Tree::open_shared(beneath, name)?,
                _ => prepared.make_tree()?,
            };
            cell_trees.trees.insert(target_index, tree);
        }
        let is_in_place = cell_trees.trees.values().any(Tree::is_in_place);
        // Calls on names that the program did not create could damage the user's files.
        if is_in_place && !uses_only_own_files(program) {
            return Err(RunError::System {
                what: "work among the user's files".to_owned(),
                source: std::io::ErrorKind::Unsupported.into(),
            });
        }
        Ok(())
    }

    fn remove_trees(&mut self) -> Result<(), RunError> {
        for target_index in target_indexes(self.cell) {
            if let Some(prepared) = self.targets.get_mut(&target_index) {
                let name = prepared.path().display().to_string();
                let listener = &mut *self.listener;
                let mut progress = |removed: u64| {
                    listener(&RunEvent::Cleanup {
                        target: name.clone(),
                        removed,
                    });
                };
                prepared.remove_tree(&mut progress)?;
            }
        }
        Ok(())
    }

    fn run(
        &mut self,
        run: &mut ProgramRun,
        cell_trees: &mut CellTrees,
        phases: &mut Phases,
    ) -> Result<(), RunError> {
        let is_common = self.has_others(run.program());
        while !self.is_cut() {
            if is_common {
                self.hear_of_others(run)?;
            }
            for before in run.before(cell_trees) {
                self.before(before, cell_trees)?;
            }
            let next = run.next(cell_trees);
            // Reported before a failure of the next stage ends the cell.
            run.pending_events()
                .iter()
                .for_each(|it| (self.listener)(it));
            let Some(stage) = next? else {
                break;
            };
            self.stage(run, stage, phases)?;
        }
        Ok(())
    }

    /// `true` if other processes work on the same files or in the same directories.
    fn has_others(&self, program: &Program) -> bool {
        self.cell.rank.is_some() && (program.needs_coordination() || program.lasting.is_some())
    }

    /// Waits until all processes have reached this point, and exchanges news of files.
    fn hear_of_others(&self, run: &mut ProgramRun) -> Result<(), RunError> {
        let Some(meeting) = self.agreement else {
            return Ok(());
        };
        let news = run.news();
        match meeting.exchange(news) {
            Some(others) => run.apply_news(&others),
            None => return Err(RunError::Stopped),
        }
        Ok(())
    }

    fn before(
        &mut self,
        before: PhasePreparation,
        cell_trees: &mut CellTrees,
    ) -> Result<(), RunError> {
        match before {
            PhasePreparation::Sync => rustix::fs::sync(),
            PhasePreparation::Pause { ns } => self.pause(ns),
            PhasePreparation::Semaphore { key, number } => {
                let met = open_semaphores(key)?.meet(number, || self.is_cut());
                met.map_err(|source| RunError::Semaphores { key, source })?;
            }
            PhasePreparation::Prompt { number } => {
                (self.listener)(&RunEvent::Prompted { number });
                skip_line(rustix::stdio::stdin(), || self.is_cut())?;
            }
            PhasePreparation::DropCaches => {
                if !cell_trees.trees.is_empty() {
                    storage::drop_caches()?;
                }
            }
            PhasePreparation::Remount => {
                // The new mount may be on another device.
                self.counters = None;
                // `remount` closes the trees: open directories would make the unmount fail with
                // EBUSY.
                for (target_index, tree) in std::mem::take(&mut cell_trees.trees) {
                    let prepared = self
                        .targets
                        .get_mut(&target_index)
                        .expect("a tree was made in each of these targets");
                    let tree = prepared.remount(tree)?;
                    cell_trees.trees.insert(target_index, tree);
                }
            }
        }
        Ok(())
    }

    fn pause(&self, span_ns: u64) {
        const STEP: Duration = Duration::from_millis(50);
        let end = Instant::now() + Duration::from_nanos(span_ns);
        while !self.is_cut() && Instant::now() < end {
            // Short sleeps, so that Ctrl-C ends the pause.
            std::thread::sleep(STEP.min(end.saturating_duration_since(Instant::now())));
        }
    }

    fn stage(
        &mut self,
        run: &mut ProgramRun,
        stage: Stage,
        phases: &mut Phases,
    ) -> Result<(), RunError> {
        match stage.work {
            StageWork::Exec(programs) => {
                let times = self.programs(programs)?;
                phases.add_programs(&stage.phase, &times);
                run.done(&stage.phase, StageOutcome::from_programs(&times));
            }
            StageWork::Tasks(tasks) => {
                let shown = context::ShownStage {
                    phase: Some(stage.phase.clone()),
                    transactions: stage.transactions,
                    time_ns: stage.time_ns,
                };
                let steady = self.cell.steady.filter(|_| stage.is_until_steady);
                let times = (stage.ramp_ns, stage.rate_workers, steady);
                let (measured, usage) = self.tasks(run, shown, times, tasks)?;
                if !stage.is_hidden {
                    phases.add(
                        &stage.phase,
                        run.period(),
                        (measured, usage),
                        stage.rate_workers.is_some(),
                    );
                }
            }
        }
        Ok(())
    }

    /// Lets the workers do their tasks; returns the results and the resource usage.
    fn tasks(
        &mut self,
        run: &mut ProgramRun,
        shown: context::ShownStage,
        (ramp_time_ns, rate_workers, steady): (u64, Option<u32>, Option<SteadyRule>),
        tasks: Vec<FileTask>,
    ) -> Result<(MeasuredCell, CellRecord), RunError> {
        let rate = self.cell.rate.filter(|_| rate_workers.is_some());
        let cell = Cell {
            // The recorder ends stages that have a rate or run until they are steady. Other streams
            // end themselves.
            run_time_ns: match rate.is_some() || steady.is_some() {
                true => shown.time_ns,
                false => 0,
            },
            ramp_time_ns,
            operations: None,
            rate,
            steady,
            ..self.cell.clone()
        };
        let lanes = self.cell.own_workers().take(tasks.len());
        let mut lanes: Vec<Lane> = lanes.map(|(index, it)| lane(index, it)).collect();
        if let (Some(rate), Some(worker_count)) = (rate, rate_workers) {
            set_paces(&mut lanes, rate, &cell, worker_count)?;
        }
        let parts = lanes.into_iter().zip(tasks);
        let parts = parts.map(|(lane, it)| part(lane, it)).collect();
        let phase = shown.phase.clone().unwrap_or_default();
        let counters = Rc::clone(self.counters());
        let devices = counters.devices();
        let mut observer = Observer::new(counters);
        let mut measured = run_cell(
            CellContext {
                cell: &cell,
                clock: self.clock,
                stop: self.stop,
                skip: Some(self.skip),
                continued: self.continued,
                agreement: self.agreement.map(|it| &**it),
                shown_stage: shown,
                devices,
                status: None,
                mark: &mut |mark: CellMark, threads: &[i32]| {
                    observer.look(mark, threads, self.clock)
                },
                listener: self.listener,
            },
            parts,
        )?;
        let requests = self.take_requests(&mut measured);
        let is_cut = measured.lanes.iter().any(|lane| lane.outcome.stopped);
        let mut usage = usage_record(self.plan, self.cell, &measured);
        observer.complete(&mut usage, &measured);
        let cpu = usage.worker_figures.iter();
        let done = StageOutcome {
            total_ns: with_ramp_ns(&measured, ramp_time_ns),
            cpu: cpu.map(|it| (it.user_ns, it.system_ns)).collect(),
            requests,
            is_cut,
            agreed_start_ns: self.agreement.map(|_| measured.measure_ns),
            effort: StageEffort::of(&measured, &usage),
            lanes: &measured.lanes,
            ..StageOutcome::timed(longest_ns(&measured))
        };
        run.done(&phase, done);
        Ok((measured, usage))
    }

    fn counters(&mut self) -> &Rc<Counters> {
        let paths = self.targets.values().map(Prepared::path);
        // Opened once per cell: a search before each stage took milliseconds, in which the CPU
        // caches lost the files of the next stage.
        self.counters.get_or_insert_with(|| Counters::open(paths))
    }

    /// Takes the workers' streams, and counts mismatches.
    fn take_requests(&mut self, measured: &mut MeasuredCell) -> Vec<FileRequests> {
        let mut requests = Vec::new();
        for lane in &mut measured.lanes {
            let outcome = &mut lane.outcome;
            self.mismatches.0 += outcome.mismatch_count;
            let first = outcome.first_mismatch.take().map(|it| it.mismatch);
            self.mismatches.1 = self.mismatches.1.take().or(first);
            requests.extend(outcome.requests.take());
        }
        requests
    }

    fn mismatch(&self) -> Option<Warning> {
        let (count, Some(first)) = &self.mismatches else {
            return None;
        };
        let message = format!(
            "{count} reads did not return the data written; the first: file {} at offset {}: \
             expected {}, read {}",
            first.file_index, first.offset_bytes, first.expected, first.actual
        );
        let code = WarningCode::VerifyMismatch;
        Some(Warning::of_cell(code, self.cell.index, message))
    }

    /// Runs a program for each file, after as many runs of a program that does nothing.
    fn programs(&self, programs: Programs) -> Result<ProgramTimes, RunError> {
        let count = programs.count.min(BASELINE_COUNT_MAX);
        let directory = programs.directory.as_path();
        let nothing = (0..count).map(|_| PathBuf::new());
        let baseline = exec::run_for_each(FileCommand::Nothing, nothing, directory, self.stop)?;
        let executed = exec::run_for_each(programs.command, programs.names, directory, self.stop)?;
        Ok(ProgramTimes { executed, baseline })
    }
}

/// Combines a lane with its task.
fn part(lane: Lane, task: FileTask) -> LaneWork {
    LaneWork {
        operations: task.requests.operations(),
        transaction_kinds: task.requests.transaction_kinds(),
        task: Task::Files(Box::new(task)),
        lane,
    }
}

#[cfg(test)]
mod tests;
