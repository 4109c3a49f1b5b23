//! Targets of a run: admitted, prepared, and made ready for each cell.

use plan::program::{PhasePreparation, Program};
use plan::{Cell, ContentPlan, EngineKind, Plan, TargetKind, TargetPlan, WorkerPlan};
use results::{RunEvent, target_indexes};
use storage::{FillPlan, FillWatch, Permission, TargetError};

use crate::RunError;
use crate::meet::open_semaphores;
use crate::peers::Peers;
use crate::session::Session;
use crate::targets::{file_seed, stamp_bytes};

/// An admitted target: its index, the first cell that uses it, and the permission to use it.
pub(crate) type TargetUse<'a> = (u32, &'a Cell, storage::Admitted);

/// Reasons why a run would reject targets without permission to overwrite devices, and to create
/// targets unless `create` is set. Changes nothing.
#[must_use]
pub fn refusals(plan: &Plan, create: bool) -> Vec<RunError> {
    let mut refusals = Vec::new();
    for (target_index, target) in (0..).zip(&plan.targets) {
        let used = plan
            .cells
            .iter()
            .filter(|cell| cell.engine != EngineKind::Null);
        let used = used.filter(|cell| target_indexes(cell).contains(&target_index));
        let used: Vec<&Cell> = used.collect();
        if used.is_empty() || target.kind == TargetKind::Network {
            continue;
        }
        let read_only = !used.iter().any(|cell| writes(cell, target_index));
        let permission = Permission {
            read_only,
            create,
            ..Permission::default()
        };
        let admitted = storage::admit(&target.path, &permission).map_err(RunError::from);
        // Planning already reports all other targets that do not exist.
        let is_reported = !matches!(
            admitted,
            Err(RunError::Target(TargetError::NotFound { .. }))
        );
        if is_reported && std::fs::symlink_metadata(&target.path).is_err() {
            continue;
        }
        let checked = admitted.and_then(|admitted| check_between(&used, &admitted));
        refusals.extend(checked.err());
    }
    refusals
}

/// Checks that the actions between the phases of these cells are possible, before anything is
/// created.
fn check_between(cells: &[&Cell], admitted: &storage::Admitted) -> Result<(), RunError> {
    for cell in cells {
        for before in before_phases(cell) {
            match before {
                PhasePreparation::Sync
                | PhasePreparation::Pause { .. }
                | PhasePreparation::Prompt { .. } => {}
                PhasePreparation::Semaphore { key, .. } => {
                    open_semaphores(key)?;
                }
                PhasePreparation::DropCaches => storage::check_drop_caches()?,
                PhasePreparation::Remount => admitted.check_remount()?,
            }
        }
    }
    Ok(())
}

/// Actions before the phases of a cell.
fn before_phases(cell: &Cell) -> Vec<PhasePreparation> {
    let phases = cell.program().into_iter().flat_map(Program::phases);
    phases.flat_map(|phase| phase.before.clone()).collect()
}

impl<'a> Session<'a> {
    /// Connects to all targets that are TCP peers.
    pub fn connect_peers(&mut self) -> Result<(), RunError> {
        let token_file = self.options.sink_token_file.as_deref();
        self.peers = Peers::find(self.plan, token_file)?;
        Ok(())
    }

    /// Decides about all targets before the first byte is written to any.
    pub fn admit_all(&self) -> Result<Vec<TargetUse<'a>>, RunError> {
        let mut admitted = Vec::new();
        for (target_index, target) in (0..).zip(&self.plan.targets) {
            let used_by: Vec<&Cell> = self
                .plan
                .cells
                .iter()
                .filter(|cell| cell.engine != EngineKind::Null)
                .filter(|cell| cell.own_target_indexes().any(|it| it == target_index))
                .collect();
            let Some(first) = used_by.first() else {
                continue;
            };
            if target.kind == TargetKind::Network {
                continue;
            }
            let permission = Permission {
                overwrite_devices: self.options.overwrite_devices.clone(),
                create: self.options.create,
                // Cells that only read may use any file, which is then opened for reading alone.
                read_only: !used_by.iter().any(|cell| writes(cell, target_index)),
                run_id: self.record.id.clone(),
                in_place: self.options.in_place.clone(),
                ..Permission::default()
            };
            let site = storage::admit(&target.path, &permission)?;
            check_between(&used_by, &site)?;
            admitted.push((target_index, *first, site));
        }
        Ok(admitted)
    }

    pub fn prepare_all(&mut self, admitted: Vec<TargetUse<'_>>) -> Result<(), RunError> {
        for (target_index, first, admitted) in admitted {
            // Cells that work on many files, or that write their own file, need no test file.
            let fill = match !first.work.is_access() || first.new_file {
                true => None,
                false => Some(fill_plan(self.plan, first, target_index)?),
            };
            let target = &self.plan.targets[target_index as usize];
            let mut progress = progress(target, self.listener);
            let mut watch = FillWatch {
                progress: &mut progress,
                stop: &self.options.stop,
            };
            let prepared = storage::prepare(admitted, target, fill.as_ref(), &mut watch)?;
            self.targets.insert(target_index, prepared);
        }
        Ok(())
    }

    /// Lets later cells use the test file that this cell wrote.
    pub fn end_new_files(&mut self, cell: &Cell) -> Result<(), RunError> {
        for target_index in target_indexes(cell) {
            if let Some(prepared) = self.targets.get_mut(&target_index) {
                prepared.end_new_file(used_bytes(cell, target_index))?;
            }
        }
        Ok(())
    }

    /// Writes the target again if an earlier cell left other content than this cell requires.
    pub fn make_ready(&mut self, target_index: u32, cell: &Cell) -> Result<(), RunError> {
        let Some(prepared) = self.targets.get_mut(&target_index) else {
            return Ok(());
        };
        if !cell.work.is_access() {
            return Ok(());
        }
        let fill = fill_plan(self.plan, cell, target_index)?;
        let target = &self.plan.targets[target_index as usize];
        if cell.new_file {
            let firm_bytes = match cell.run_time_ns {
                0 => target.size_bytes,
                // The run time may end the cell before the file has its size.
                _ => 0,
            };
            return Ok(prepared.begin_new_file(target, &fill, firm_bytes)?);
        }
        let mut progress = progress(target, self.listener);
        let mut watch = FillWatch {
            progress: &mut progress,
            stop: &self.options.stop,
        };
        match prepared.has_new_file(used_bytes(cell, target_index), &fill) {
            // An earlier cell has just written this content, so only its cached pages must go.
            true => prepared.evict_file()?,
            false => prepared.refill(target, &fill, &mut watch)?,
        }
        if cell.warm {
            prepared.warm(&self.options.stop)?;
        }
        Ok(())
    }
}

/// End of the byte range that a cell uses of a target; 0 if it uses none.
fn used_bytes(cell: &Cell, target_index: u32) -> u64 {
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    spans
        .filter(|span| span.target_index == target_index)
        .map(|span| span.start_bytes.saturating_add(span.size_bytes))
        .max()
        .unwrap_or(0)
}

/// Creates a callback that reports the progress of preparing a target.
fn progress(target: &TargetPlan, listener: &mut dyn FnMut(&RunEvent)) -> impl FnMut(u64, u64) {
    let name = target.path.display().to_string();
    move |done_bytes, total_bytes| {
        listener(&RunEvent::Prepare {
            target: name.clone(),
            done_bytes,
            total_bytes,
        });
    }
}

fn uses(worker: &WorkerPlan, target_index: u32) -> bool {
    worker
        .spans
        .iter()
        .any(|span| span.target_index == target_index)
}

/// `true` if a cell may write to a target, including its preparation.
fn writes(cell: &Cell, target_index: u32) -> bool {
    let mut workers = cell
        .workers
        .iter()
        .filter(|worker| uses(worker, target_index));
    workers.any(|worker| {
        let writes = |line: &plan::LinePlan| line.read_percent < 100.0 || line.reply_bytes > 0;
        cell.work.is_acts()
            || worker.job.as_ref().is_some_and(|job| job.writes())
            || creates_files(cell, target_index)
            || cell.precondition.is_some()
            // The preparation writes the stamps that verified reads need.
            || worker.verify
            || worker.lines.iter().any(writes)
    })
}

/// `true` if jobs have their own files there.
fn creates_files(cell: &Cell, target_index: u32) -> bool {
    let mut files = cell.job_files().into_iter().flat_map(|jobs| &jobs.files);
    files.any(|file| file.target_index == target_index && file.name.is_some())
}

/// Content that a target must have when a cell starts.
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
