//! A run in progress: its targets, its cells in order, and its record.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{OperationSet, TscClock};
use generate::{ContentSource, Stripes};
use plan::program::Program;
use plan::{Cell, ContentPlan, Plan, Work};
use results::{
    CellNames, CellRecord, RunEvent, RunRecord, Status, Warning, WarningCode, WithinRun,
    cell_title, doubt, estimates,
};
use storage::{InPlace, Prepared};
use store::StoreError;

use crate::RunError;
use crate::agreement::PeerAgreement;
use crate::calibrate::own_cost_ns;
use crate::cell::run_cell;
use crate::cluster::Cluster;
use crate::context::{CellContext, CellMark, ShownStage};
use crate::figures::cell_record;
use crate::files::{self, FilesContext};
use crate::goals::missed_goal_warnings;
use crate::job_tree::JobTree;
use crate::lane::{Lane, lanes};
use crate::observe::{Counters, Observer};
use crate::parts::{Sources, parts};
use crate::peers::Peers;
use crate::repeats::ReachedPrecision;
use crate::spans::{Contents, Verify};
use crate::status::StatusRequest;
use crate::stop_conditions::is_cut;
use crate::targets::{file_seed, keeps_files, losses, open, stamp_bytes};
use crate::worker::LaneWork;

/// Settings of a run in addition to the plan.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Block devices whose content may be destroyed.
    pub overwrite_devices: Vec<PathBuf>,
    /// `true` if missing targets may be created.
    pub create: bool,
    /// Settings for files directly in the target directories, next to the user's files.
    pub in_place: Option<InPlace>,
    /// File with the token for sinks of `tcp://` targets.
    pub sink_token_file: Option<PathBuf>,
    /// `true` if targets in memory are intended, so that there is no warning.
    pub is_memory_intended: bool,
    /// Interval of status reports during cells of jobs, in nanoseconds; 0 for none.
    pub status_interval_ns: u64,
    /// Set by a signal handler to end the run early.
    pub stop: Arc<AtomicBool>,
    /// Set by a signal handler to end the current cell and continue with the next one.
    pub skip: Arc<AtomicBool>,
    /// Set by the handler of `SIGCONT`, after the process was stopped.
    pub continued: Arc<AtomicBool>,
    /// Agreement with the other processes if several share the run.
    pub agreement: Option<Arc<dyn PeerAgreement>>,
}

/// Result of a run.
#[derive(Debug)]
pub struct Finished {
    /// Record with everything that was measured.
    pub record: RunRecord,
    /// Reason why the run ended early.
    pub error: Option<RunError>,
    /// Reason why the run is not in the results store, if it was to be stored.
    pub not_stored: Option<StoreError>,
}

impl Finished {
    /// `true` if the record is worth keeping.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.error.is_none() || !self.record.cells.is_empty()
    }
}

pub(crate) struct Session<'a> {
    pub plan: &'a Plan,
    pub options: &'a RunOptions,
    pub listener: &'a mut dyn FnMut(&RunEvent),
    pub record: RunRecord,
    pub targets: BTreeMap<u32, Prepared>,
    /// Targets that are TCP peers.
    pub peers: Peers,
    /// Directory trees of jobs' files, by target.
    pub job_trees: BTreeMap<u32, JobTree>,
    pub clock: TscClock,
    /// `true` if another session has the same targets. Only one of both holds them at a time.
    pub borrows_targets: bool,
    /// `true` if a cell was interrupted, or if the other of two runs in turn failed.
    pub is_cut_short: bool,
    /// `true` if the listener has received the start of the run.
    pub has_started: bool,
    /// Processes that measure instead of this one.
    pub cluster: Option<&'a mut dyn Cluster>,
    conclusions: Vec<ReachedPrecision>,
}

impl<'a> Session<'a> {
    /// Creates a run that has not started.
    pub fn new(
        plan: &'a Plan,
        options: &'a RunOptions,
        listener: &'a mut dyn FnMut(&RunEvent),
    ) -> Self {
        let paths = plan.targets.iter().map(|target| target.path.clone());
        let environment = storage::environment(&paths.collect::<Vec<PathBuf>>());
        let words = std::env::args_os();
        let command = words.map(|word| word.to_string_lossy().into_owned());
        let record = RunRecord::new(plan.clone(), environment, command.collect());
        Session {
            plan,
            options,
            listener,
            record,
            targets: BTreeMap::new(),
            peers: Peers::default(),
            job_trees: BTreeMap::new(),
            clock: TscClock::new(),
            borrows_targets: false,
            is_cut_short: false,
            has_started: false,
            cluster: None,
            conclusions: Vec::new(),
        }
    }

    /// Replaces the ID of a run that has not started with one of the current time.
    pub fn rename(&mut self) {
        let environment = self.record.environment.clone();
        let command = self.record.command.clone();
        let workload_file = self.record.workload_file.take();
        self.record = RunRecord::new(self.plan.clone(), environment, command);
        self.record.workload_file = workload_file;
    }

    /// Reports the start of the run, and the warnings known before it.
    pub fn start(&mut self, warnings: Vec<Warning>) {
        self.has_started = true;
        self.tell(&RunEvent::Started {
            record: Box::new(self.record.clone()),
        });
        let before = results::environment_warnings(&self.record.environment);
        let in_memory = match self.options.is_memory_intended {
            true => Vec::new(),
            false => results::memory_target_warnings(&self.record.environment, self.plan),
        };
        let peers = self.peers.warnings(self.plan);
        warnings
            .into_iter()
            .chain(before)
            .chain(peers)
            .chain(in_memory)
            .for_each(|warning| self.warn(warning));
    }

    fn tell(&mut self, event: &RunEvent) {
        (self.listener)(event);
    }

    pub(crate) fn warn(&mut self, warning: Warning) {
        self.tell(&RunEvent::Warning {
            warning: warning.clone(),
        });
        self.record.warnings.push(warning);
    }

    pub fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }

    /// Appends cells to the plan.
    pub fn add_cells(&mut self, cells: Vec<Cell>) {
        self.record.plan.cells.extend(cells.iter().cloned());
        let plan = &self.record.plan;
        let names = CellNames::of(plan);
        let titles = cells.iter().map(|cell| names.planned_title(cell, plan));
        let titles = titles.collect();
        self.tell(&RunEvent::CellsAdded {
            cells,
            whats: titles,
        });
    }

    /// Measures one cell.
    pub fn measure_cell(
        &mut self,
        cell: &Cell,
        budget_left_ns: Option<u64>,
    ) -> Result<(), RunError> {
        if self.is_too_deep(cell) {
            return Ok(());
        }
        let Some(cell) = self.resolve_rate(cell) else {
            return Ok(());
        };
        let cell = &*cell;
        if self.cluster.is_none() && !self.prepare_for(cell)? {
            return Ok(());
        }
        self.tell(&RunEvent::CellStarted {
            index: cell.index,
            count: u32::try_from(self.record.plan.cells.len()).unwrap_or(u32::MAX),
            what: cell_title(cell, &self.record.plan),
            budget_left_ns,
        });
        if self.options.agreement.is_none() {
            // A skip request for an earlier cell is obsolete. Under a leader, the request may
            // already be for this cell, so it is kept.
            self.options.skip.store(false, Ordering::Relaxed);
        }
        let first = self.record.cells.len();
        let outcome = match &cell.work {
            _ if self.cluster.is_some() => self.measure_by_cluster(cell),
            Work::Acts(program) => self.measure_files(cell, program),
            Work::Requests(files) => self.measure_jobs(cell, files),
            Work::Access => self.measure(cell),
        };
        // Cells that continued without a lost process were not interrupted.
        let went_on = |record: &CellRecord| {
            let cluster = record.cluster.as_ref();
            cluster.is_some_and(|cluster| cluster.ranks.iter().any(|it| it.lost_ns.is_some()))
        };
        let is_whole =
            |record: &CellRecord| record.status != Status::Interrupted || went_on(record);
        self.is_cut_short |= !self.record.cells[first..].iter().all(is_whole);
        outcome
    }

    /// Stores the precision that the results reached, and adds warnings.
    pub fn conclude(&mut self, conclusions: Vec<ReachedPrecision>) {
        for warning in conclusions.iter().filter_map(ReachedPrecision::warning) {
            self.warn(warning);
        }
        self.conclusions = conclusions;
    }

    fn measure(&mut self, cell: &Cell) -> Result<(), RunError> {
        let contents = self.contents(cell)?;
        let own_cost = match lanes(cell, self.plan.seed, self.plan.targets.len())?.first() {
            Some(lane) if !self.stopped() => {
                own_cost_ns(lane, &contents(lane), cell.ring.batch, &self.clock)?
            }
            _ => None,
        };
        let warnings = std::cell::RefCell::new(BTreeMap::new());
        let targets = &self.targets;
        let open = |target_index: u32, operations: OperationSet| {
            open(targets, cell, target_index, operations, &warnings)
        };
        let sources = Sources {
            seed: self.plan.seed,
            target_count: self.plan.targets.len(),
            open: &open,
            peer: &|target_index| self.peers.get(target_index),
            contents: &contents,
        };
        let parts = parts(cell, &sources)?;
        let warnings = warnings.into_inner().into_values().collect();
        self.measure_parts(cell, parts, own_cost, warnings)
    }

    /// Measures lanes that are ready.
    pub(crate) fn measure_parts(
        &mut self,
        cell: &Cell,
        parts: Vec<LaneWork>,
        own_cost: Option<f64>,
        warnings: Vec<Warning>,
    ) -> Result<(), RunError> {
        let counters = Counters::open(self.targets.values().map(Prepared::path));
        let devices = counters.devices();
        let mut observer = Observer::new(counters);
        let context = CellContext {
            cell,
            clock: &self.clock,
            stop: &self.options.stop,
            skip: Some(&self.options.skip),
            continued: &self.options.continued,
            agreement: self.options.agreement.as_deref(),
            shown_stage: ShownStage::default(),
            devices,
            status: match self.options.status_interval_ns {
                interval_ns @ 1.. if cell.work.is_requests() => Some(StatusRequest {
                    interval_ns,
                    plan: self.plan,
                }),
                _ => None,
            },
            mark: &mut |mark: CellMark, threads: &[i32]| observer.look(mark, threads, &self.clock),
            listener: self.listener,
        };
        let mut measured = run_cell(context, parts)?;
        let is_cut = is_cut(&self.options.stop, Some(&self.options.skip));
        if cell.work.is_requests() && !is_cut {
            // Jobs that end each other, as planned, were not stopped from outside.
            let outcomes = measured.lanes.iter_mut().map(|lane| &mut lane.outcome);
            outcomes.for_each(|outcome| outcome.stopped = false);
        }
        let mut record = cell_record(self.plan, cell, &measured);
        record.own_cost_ns_per_operation = own_cost;
        observer.complete(&mut record, &measured);
        for warning in warnings {
            self.warn(warning);
        }
        for warning in losses(&self.targets, cell) {
            self.warn(warning);
        }
        if let Some(warning) = self.mismatch_warning(cell, &measured) {
            self.warn(warning);
        }
        for warning in missed_goal_warnings(cell, &measured) {
            self.warn(warning);
        }
        let is_whole = record.status == Status::Complete && record.total.errors == 0;
        self.take(record);
        match cell.new_file && is_whole {
            true => self.end_new_files(cell),
            false => Ok(()),
        }
    }

    fn measure_files(&mut self, cell: &Cell, program: &Program) -> Result<(), RunError> {
        self.precondition_files(cell)?;
        let context = FilesContext {
            plan: self.plan,
            cell,
            targets: &mut self.targets,
            clock: &self.clock,
            stop: &self.options.stop,
            skip: &self.options.skip,
            keeps_files: keeps_files(self.plan),
            continued: &self.options.continued,
            agreement: self.options.agreement.as_ref(),
            listener: self.listener,
            mismatches: (0, None),
            counters: None,
        };
        let measured = files::measure(context, program);
        measured.warnings.into_iter().for_each(|it| self.warn(it));
        measured.records.into_iter().for_each(|it| self.take(it));
        measured.outcome
    }

    /// Stores a cell's record, with the warnings about it.
    pub(crate) fn take(&mut self, mut record: CellRecord) {
        if self.options.agreement.is_some() {
            // The leader has the merged results and checks those.
            self.record.cells.push(record);
            return;
        }
        record.within = WithinRun::of(&record);
        for warning in doubt(&record, &self.record.environment, &self.record.plan) {
            if !self.has_warned(&warning) {
                self.warn(warning);
            }
        }
        self.tell(&RunEvent::CellDone {
            record: Box::new(record.clone()),
        });
        self.record.cells.push(record);
    }

    /// `true` if another phase of the same cell has caused the same warning.
    fn has_warned(&self, warning: &Warning) -> bool {
        // The tables show which phases are too short, so one warning is enough.
        let is_enough = warning.code == WarningCode::FewSamplesForPercentile;
        self.record.warnings.iter().any(|it| {
            it.code == warning.code
                && it.cell == warning.cell
                && (is_enough || it.message == warning.message)
        })
    }

    /// Creates a function that returns the sources of each lane's content.
    pub(crate) fn contents(
        &self,
        cell: &Cell,
    ) -> Result<impl Fn(&Lane) -> Contents + use<>, RunError> {
        let mut sources = Vec::new();
        for worker in &cell.workers {
            let is_known = sources
                .iter()
                .any(|(plan, _): &(ContentPlan, _)| *plan == worker.content);
            if !is_known {
                sources.push((worker.content, ContentSource::new(&worker.content)?));
            }
        }
        let block_bytes = match cell.workers.iter().any(|worker| worker.verify) {
            true => Some(stamp_bytes(self.plan)?),
            false => None,
        };
        let seed = self.plan.seed;
        let checked_count = block_bytes.map_or(0, |_| self.plan.targets.len());
        let stripes: Vec<Stripes> = (0..checked_count).map(|_| Stripes::default()).collect();
        Ok(move |lane: &Lane| {
            let source = sources
                .iter()
                .find(|(plan, _)| *plan == lane.plan.content)
                .map(|(_, source)| source.clone())
                .expect("a lane has the content of its worker");
            let targets = || lane.plan.spans.iter().map(|span| span.target_index);
            let verify = block_bytes
                .filter(|_| lane.plan.verify)
                .map(|block_bytes| Verify {
                    file_seeds: targets().map(|index| file_seed(seed, index)).collect(),
                    block_bytes,
                    stripes: targets()
                        .map(|index| stripes[index as usize].clone())
                        .collect(),
                });
            Contents { source, verify }
        })
    }

    pub fn finish(mut self, outcome: Result<(), RunError>) -> Finished {
        self.with_cluster(|cluster, watch| cluster.finish(watch));
        self.leave_job_files(outcome.is_ok() && !self.stopped());
        let keep = keeps_files(self.plan);
        for (_, prepared) in std::mem::take(&mut self.targets) {
            let messages = match prepared.release(keep) {
                Ok(report) => report
                    .left
                    .into_iter()
                    .map(|left| left.to_string())
                    .collect(),
                Err(error) => vec![error.to_string()],
            };
            for message in messages {
                self.warn(Warning::of_run(WarningCode::LeftoverFiles, message));
            }
        }
        // A stop during the preparation of a target is no failure.
        let interrupted = matches!(
            &outcome,
            Err(RunError::Target(storage::TargetError::Interrupted { .. }))
        );
        let (status, error) = match outcome {
            _ if self.stopped() || interrupted => (Status::Interrupted, None),
            Ok(()) if self.is_cut_short => (Status::Interrupted, None),
            Ok(()) => (Status::Complete, None),
            Err(error) => (Status::Failed, Some(error)),
        };
        // The leader has the merged results and checks those.
        if self.options.agreement.is_none() {
            self.add_run_warnings();
        }
        self.record
            .warnings
            .extend(error.as_ref().map(RunError::warning));
        self.record.estimates = estimates(&self.record.cells);
        self.note_verdicts();
        self.record.finish(status);
        (self.listener)(&RunEvent::Finished { status });
        Finished {
            record: self.record,
            error,
            not_stored: None,
        }
    }

    /// Ends a run that could not start.
    pub fn end_early(mut self, error: Option<RunError>) -> Finished {
        if self.has_started {
            return self.finish(error.map_or(Ok(()), Err));
        }
        self.record
            .warnings
            .extend(error.as_ref().map(RunError::warning));
        self.record.finish(Status::Failed);
        Finished {
            record: self.record,
            error,
            not_stored: None,
        }
    }

    /// Adds the verdicts to the estimates that they belong to.
    fn note_verdicts(&mut self) {
        for conclusion in &self.conclusions {
            let is_first = |cell: &&CellRecord| {
                cell.index == conclusion.cell_index && cell.phase.name() == conclusion.phase
            };
            let Some(first) = self.record.cells.iter().find(is_first) else {
                continue;
            };
            let mut estimates = self.record.estimates.iter_mut();
            if let Some(estimate) = estimates.find(|it| it.is_principal_of(first)) {
                estimate.verdict = Some(conclusion.verdict);
            }
        }
    }
}
