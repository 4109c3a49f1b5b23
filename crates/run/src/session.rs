//! A whole run: targets made ready, cells measured one after another, the record.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Operation, OperationSet, TscClock};
use generate::{ContentSource, Stripes, verify_block_bytes};
use results::{
    RunEvent, RunRecord, Status, Warning, WarningCode, cell_title, doubt, estimates, target_indexes,
};
use target::{FillPlan, Permission, Prepared, Watch};
use workload::plan::{Cell, ContentPlan, EngineKind, Plan, WorkerPlan};

use crate::RunError;
use crate::calibrate::own_cost_ns;
use crate::cell::{CellKit, Mark, Measured, OpenFile, run_cell};
use crate::figures::cell_record;
use crate::lane::{Lane, lanes};
use crate::observe::Observer;
use crate::worker::{Contents, Verify};

/// What a run needs to know besides the plan.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Block devices whose content may be destroyed.
    pub overwrite_devices: Vec<PathBuf>,
    /// Leave the test files for another run.
    pub keep: bool,
    /// The command line, for the record.
    pub command: Vec<String>,
    /// Set from outside to end the run early.
    pub stop: Arc<AtomicBool>,
}

/// What became of a run.
#[derive(Debug)]
pub struct Finished {
    /// Everything that was measured.
    pub record: RunRecord,
    /// Why the run ended before its plan did.
    pub error: Option<RunError>,
}

/// Runs a plan to its end, or until the stop flag is set.
///
/// `warnings` are what planning had to say; they become part of the record.
pub fn run(
    plan: &Plan,
    warnings: Vec<Warning>,
    options: &RunOptions,
    listener: &mut dyn FnMut(&RunEvent),
) -> Finished {
    let paths: Vec<PathBuf> = plan
        .targets
        .iter()
        .map(|target| target.path.clone())
        .collect();
    let environment = target::environment(&paths);
    let record = RunRecord::new(plan.clone(), environment, options.command.clone());
    let mut session = Session {
        plan,
        options,
        listener,
        record,
        targets: BTreeMap::new(),
        clock: TscClock::new(),
    };
    let admitted = match crate::preflight::try_engines(plan).and_then(|()| session.admit_all()) {
        Ok(admitted) => admitted,
        Err(error) => {
            session.record.finish(Status::Failed);
            return Finished {
                record: session.record,
                error: Some(error),
            };
        }
    };
    session.tell(&RunEvent::Started {
        id: session.record.id.clone(),
        plan: Box::new(plan.clone()),
    });
    let before = results::doubt_environment(&session.record.environment);
    warnings
        .into_iter()
        .chain(before)
        .for_each(|warning| session.warn(warning));
    let outcome = session.run_all(admitted);
    session.finish(outcome)
}

/// Why targets that are there would be refused by a run without leave to overwrite devices.
/// Nothing is changed.
#[must_use]
pub fn refusals(plan: &Plan) -> Vec<RunError> {
    let mut refusals = Vec::new();
    for (target_index, target) in (0..).zip(&plan.targets) {
        let used = plan
            .cells
            .iter()
            .filter(|cell| cell.engine != EngineKind::Null);
        let mut used = used
            .filter(|cell| target_indexes(cell).contains(&target_index))
            .peekable();
        if used.peek().is_none() || std::fs::symlink_metadata(&target.path).is_err() {
            continue;
        }
        let read_only = !used.any(|cell| writes(cell, target_index));
        let permission = Permission {
            read_only,
            ..Permission::default()
        };
        refusals.extend(
            target::admit(&target.path, &permission)
                .err()
                .map(RunError::from),
        );
    }
    refusals
}

struct Session<'a> {
    plan: &'a Plan,
    options: &'a RunOptions,
    listener: &'a mut dyn FnMut(&RunEvent),
    record: RunRecord,
    targets: BTreeMap<u32, Prepared>,
    clock: TscClock,
}

/// An admitted target: its index, the first cell that uses it, and leave to use it.
type Site<'a> = (u32, &'a Cell, target::Admitted);

impl<'a> Session<'a> {
    fn tell(&mut self, event: &RunEvent) {
        (self.listener)(event);
    }

    fn warn(&mut self, warning: Warning) {
        self.tell(&RunEvent::Warning {
            warning: warning.clone(),
        });
        self.record.warnings.push(warning);
    }

    fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }

    fn run_all(&mut self, admitted: Vec<Site<'_>>) -> Result<(), RunError> {
        self.prepare_all(admitted)?;
        let count = self.plan.cells.len() as u32;
        for cell in &self.plan.cells {
            if self.stopped() {
                break;
            }
            for target_index in target_indexes(cell) {
                self.make_ready(target_index, cell)?;
            }
            let what = cell_title(cell, self.plan);
            self.tell(&RunEvent::CellStarted {
                index: cell.index,
                count,
                what,
            });
            self.measure(cell)?;
        }
        Ok(())
    }

    /// Decides about all targets before the first byte is written to any.
    fn admit_all(&self) -> Result<Vec<Site<'a>>, RunError> {
        let mut admitted = Vec::new();
        for (target_index, target) in (0..).zip(&self.plan.targets) {
            let used_by: Vec<&Cell> = self
                .plan
                .cells
                .iter()
                .filter(|cell| cell.engine != EngineKind::Null)
                .filter(|cell| target_indexes(cell).contains(&target_index))
                .collect();
            let Some(first) = used_by.first() else {
                continue;
            };
            let permission = Permission {
                overwrite_devices: self.options.overwrite_devices.clone(),
                read_only: !used_by.iter().any(|cell| writes(cell, target_index)),
                run: self.record.id.clone(),
            };
            admitted.push((
                target_index,
                *first,
                target::admit(&target.path, &permission)?,
            ));
        }
        Ok(admitted)
    }

    fn prepare_all(&mut self, admitted: Vec<Site<'_>>) -> Result<(), RunError> {
        for (target_index, first, admitted) in admitted {
            let fill = fill_plan(self.plan, first, target_index)?;
            let target = &self.plan.targets[target_index as usize];
            let name = target.path.display().to_string();
            let listener = &mut *self.listener;
            let mut progress = |done_bytes, total_bytes| {
                listener(&RunEvent::Prepare {
                    target: name.clone(),
                    done_bytes,
                    total_bytes,
                });
            };
            let mut watch = Watch {
                progress: &mut progress,
                stop: &self.options.stop,
            };
            let prepared = target::prepare(admitted, target, &fill, &mut watch)?;
            self.targets.insert(target_index, prepared);
        }
        Ok(())
    }

    /// Writes the target again if an earlier cell left something else than this cell asks for.
    fn make_ready(&mut self, target_index: u32, cell: &Cell) -> Result<(), RunError> {
        let Some(prepared) = self.targets.get_mut(&target_index) else {
            return Ok(());
        };
        let fill = fill_plan(self.plan, cell, target_index)?;
        let target = &self.plan.targets[target_index as usize];
        let name = target.path.display().to_string();
        let listener = &mut *self.listener;
        let mut progress = |done_bytes, total_bytes| {
            listener(&RunEvent::Prepare {
                target: name.clone(),
                done_bytes,
                total_bytes,
            });
        };
        let mut watch = Watch {
            progress: &mut progress,
            stop: &self.options.stop,
        };
        prepared.refill(target, &fill, &mut watch)?;
        if cell.warm {
            prepared.warm(&self.options.stop)?;
        }
        Ok(())
    }

    fn measure(&mut self, cell: &Cell) -> Result<(), RunError> {
        let contents = self.contents(cell)?;
        let own_cost = match lanes(cell, self.plan.seed, self.plan.targets.len()).first() {
            Some(lane) => own_cost_ns(lane, &contents(lane), cell.ring.batch, &self.clock)?,
            None => None,
        };
        let doubts = std::cell::RefCell::new(BTreeMap::new());
        let targets = &self.targets;
        let open = |target_index: u32, operations: OperationSet| {
            open(targets, cell, target_index, operations, &doubts)
        };
        let mut observer = Observer::new(self.targets.values().map(Prepared::path));
        let measured = run_cell(CellKit {
            cell,
            seed: self.plan.seed,
            target_count: self.plan.targets.len(),
            open: &open,
            contents: &contents,
            clock: &self.clock,
            stop: &self.options.stop,
            mark: &mut |mark: Mark, threads: &[i32]| observer.look(mark, threads),
            listener: self.listener,
        })?;
        let mut record = cell_record(self.plan, cell, &measured);
        record.own_cost_ns_per_operation = own_cost;
        observer.complete(&mut record, &measured);
        for warning in doubts.into_inner().into_values() {
            self.warn(warning);
        }
        self.warn_of_mismatch(cell, &measured);
        for warning in doubt(&record, &self.record.environment, self.plan) {
            self.warn(warning);
        }
        self.tell(&RunEvent::CellDone {
            record: Box::new(record.clone()),
        });
        self.record.cells.push(record);
        Ok(())
    }

    /// Where the bytes of each lane come from.
    fn contents(&self, cell: &Cell) -> Result<impl Fn(&Lane) -> Contents + use<>, RunError> {
        let mut sources = Vec::new();
        for worker in &cell.workers {
            let known = sources
                .iter()
                .any(|(plan, _): &(ContentPlan, _)| *plan == worker.content);
            if !known {
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

    fn warn_of_mismatch(&mut self, cell: &Cell, measured: &Measured) {
        let count: u64 = measured
            .lanes
            .iter()
            .map(|lane| lane.outcome.mismatch_count)
            .sum();
        let Some((lane, first)) = measured
            .lanes
            .iter()
            .find_map(|lane| Some((lane, lane.outcome.first_mismatch.as_ref()?)))
        else {
            return;
        };
        let span = &lane.lane.plan.spans[first.file_index as usize];
        let path = match self.targets.get(&span.target_index) {
            Some(prepared) => prepared.path(),
            None => self.plan.targets[span.target_index as usize].path.clone(),
        };
        let message = format!(
            "{count} reads did not return what was written; the first: `{}` at offset {}: \
             wanted {}, seen {}",
            path.display(),
            first.offset_bytes,
            first.wanted,
            first.seen
        );
        self.warn(Warning::of_cell(
            WarningCode::VerifyMismatch,
            cell.index,
            message,
        ));
    }

    fn finish(mut self, outcome: Result<(), RunError>) -> Finished {
        for (_, prepared) in std::mem::take(&mut self.targets) {
            let left = match prepared.release(self.options.keep) {
                Ok(report) => report
                    .left
                    .into_iter()
                    .map(|left| {
                        format!("`{}` was left behind: {}", left.path.display(), left.reason)
                    })
                    .collect(),
                Err(error) => vec![error.to_string()],
            };
            for message in left {
                self.warn(Warning::of_run(WarningCode::LeftoverFiles, message));
            }
        }
        let interrupted = matches!(
            &outcome,
            Err(RunError::Target(target::TargetError::Interrupted { .. }))
        );
        let (status, error) = match outcome {
            _ if self.stopped() || interrupted => (Status::Interrupted, None),
            Ok(()) => (Status::Complete, None),
            Err(error) => (Status::Failed, Some(error)),
        };
        self.record.estimates = estimates(&self.record.cells);
        self.record.finish(status);
        (self.listener)(&RunEvent::Finished { status });
        Finished {
            record: self.record,
            error,
        }
    }
}

fn direct_code(cause: target::DirectCause) -> WarningCode {
    match cause {
        target::DirectCause::WritesBuffered | target::DirectCause::AllBuffered => {
            WarningCode::DirectFallsBack
        }
        _ => WarningCode::DirectNotHonored,
    }
}

fn uses(worker: &WorkerPlan, target_index: u32) -> bool {
    worker
        .spans
        .iter()
        .any(|span| span.target_index == target_index)
}

/// Whether a cell may write to a target, its preparation included.
fn writes(cell: &Cell, target_index: u32) -> bool {
    let mut workers = cell
        .workers
        .iter()
        .filter(|worker| uses(worker, target_index));
    workers.any(|worker| {
        let writes =
            |line: &workload::plan::LinePlan| line.read_percent < 100.0 || line.reply_bytes > 0;
        worker.verify || worker.lines.iter().any(writes)
    })
}

/// What a target must hold when a cell begins.
fn fill_plan(plan: &Plan, cell: &Cell, target_index: u32) -> Result<FillPlan, RunError> {
    let users = || {
        cell.workers
            .iter()
            .filter(|worker| uses(worker, target_index))
    };
    let content = users()
        .next()
        .map_or(ContentPlan::Incompressible, |worker| worker.content);
    let verify_block_bytes = match users().any(|worker| worker.verify) {
        true => Some(stamp_bytes(plan)?),
        false => None,
    };
    let seed = file_seed(plan.seed, target_index);
    Ok(FillPlan {
        content,
        verify_block_bytes,
        seed,
        prepare_device: false,
    })
}

/// Length of stamped blocks, the same for all cells, so that one checks what another wrote.
fn stamp_bytes(plan: &Plan) -> Result<u32, RunError> {
    let workers = plan.cells.iter().flat_map(|cell| &cell.workers);
    Ok(verify_block_bytes(workers.filter(|worker| worker.verify))?)
}

/// The seed of a target's content.
fn file_seed(seed: u64, target_index: u32) -> u64 {
    generate::mix(seed ^ generate::mix(u64::from(target_index) + 1))
}

/// Opens a target for one lane and notes doubts about direct I/O, one a target.
fn open(
    targets: &BTreeMap<u32, Prepared>,
    cell: &Cell,
    target_index: u32,
    operations: OperationSet,
    doubts: &std::cell::RefCell<BTreeMap<u32, Warning>>,
) -> Result<OpenFile, RunError> {
    let prepared = targets
        .get(&target_index)
        .expect("every target of a cell that does I/O was prepared");
    let writes = operations.contains(Operation::Write);
    let reads = operations.contains(Operation::Read);
    // A shared mapping that is written needs both.
    let reads = reads || cell.engine == EngineKind::Mmap;
    let opened = prepared.open(cell.cache, reads, writes)?;
    if let Some(cause) = opened.doubt {
        let code = direct_code(cause.cause);
        let message = cause.to_string();
        let warning = Warning::of_cell(code, cell.index, message);
        doubts.borrow_mut().entry(target_index).or_insert(warning);
    }
    let reopen = match operations.contains(Operation::Open) {
        true => Some(prepared.reopen(cell.cache, reads, writes)?),
        false => None,
    };
    Ok(OpenFile {
        file: opened.file,
        reopen,
    })
}
