//! One job: creates a file system, measures the workload, and removes the file system.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use description::{Overrides, Workload};
use plan::program::PhasePreparation;
use storage::{DeviceCounters, DeviceSample};

use super::costs::JobCosts;
use super::outcome::{MatrixOutcome, MeasuredJob};
use super::run::{MatrixRun, planned};
use super::runner::{LabRunRequest, LabRunner, RunSubject};
use super::written::PreparedBytes;
use crate::age::{AgedState, AgingProgress, age};
use crate::bench::{BuiltFileSystem, Lab};
use crate::built_as::FileSystemSetup;
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::error::LabError;
use crate::log::FileSystemLog;
use crate::outcome::LabFailure;
use crate::schedule::LabMeasurement;
use crate::watch::{LabEvent, LabStep};

/// Interval of reports about the progress of aging.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

impl<R: LabRunner> MatrixRun<'_, R> {
    /// Runs a job on a file system of this kernel.
    pub fn run_job_here(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        outcome: &mut MatrixOutcome,
    ) -> Result<MeasuredJob, R::Error> {
        let request = &self.matrix.request;
        let choice = &request.choices[job.choice_index];
        self.step(LabStep::MakeFileSystem);
        let built = lab.build(choice, &request.medium)?;
        outcome.note_built(job.choice_index, FileSystemSetup::of(&built), &built.notes);
        let measured = self.run_workload(&lab.name(), job, &built);
        let (mkfs, directory) = (built.mkfs_time, built.directory.clone());
        // The file system is removed even if the workload failed.
        self.step(LabStep::Unmount);
        let unmounted = lab.tear_down(built);
        let mut measured = measured?;
        measured.costs.mkfs = mkfs;
        let is_made = matches!(choice.kind, ChoiceKind::Created { .. });
        match unmounted {
            Ok(elapsed) => measured.costs.unmount = is_made.then_some(elapsed),
            Err(error) => {
                // The next file system needs the same device and mount point, so nothing more can
                // run.
                self.stop.store(true, Ordering::Relaxed);
                let leftover = LabError::NotRemoved {
                    what: format!("`{}`", directory.display()),
                    reason: error.to_string(),
                };
                let message = R::Error::from(leftover).to_string();
                outcome.failures.push(LabFailure::NotRemoved(message));
            }
        }
        Ok(measured)
    }

    /// Runs the workload on the new file system, and syncs its data.
    pub fn run_workload(
        &self,
        lab_name: &str,
        job: &LabMeasurement,
        built: &BuiltFileSystem,
    ) -> Result<MeasuredJob, R::Error> {
        let choice = &self.matrix.request.choices[job.choice_index];
        // Before the counters are opened: aging does not count as the workload's writes.
        let aged = self.aged(built)?;
        if self.matrix.is_cold {
            storage::drop_caches().map_err(LabError::from)?;
        }
        let counters = DeviceCounters::open([built.directory.as_path()]);
        let sample = || counters.as_ref()?.sample().ok();
        let log = FileSystemLog::of(built);
        let (before, log_before) = (sample(), log.as_ref().and_then(FileSystemLog::sample));
        let (workloads, overrides, directory) = self.prepared(job, choice, built)?;
        let order = LabRunRequest {
            planned: planned((&workloads, &overrides), directory)?,
            workloads: &workloads,
            overrides: &overrides,
            subject: RunSubject::FileSystem {
                choice,
                built_as: &FileSystemSetup::of(built),
                aged: aged.as_ref(),
            },
            lab_name,
            overwrite_devices: Vec::new(),
        };
        let mut prepared = PreparedBytes::default();
        let record = self
            .runner
            .measure(order, &mut |event| prepared.on_event(event))?;
        self.step(LabStep::Sync);
        let sync = built.sync()?;
        // Before the cleaner runs, whose writes are reported separately.
        let synced = sample();
        let mut costs = JobCosts {
            sync: Some(sync),
            device_written_bytes: written_between(before, synced),
            user_written_bytes: prepared.total_with_measured(&record),
            aged,
            ..JobCosts::default()
        };
        if let Some(log) = &log {
            if log.clean(|| self.is_stopped())? {
                // What the cleaner has moved is on the device only after a sync.
                built.sync()?;
                costs.cleaning_written_bytes = written_between(synced, sample());
            }
            let cleaned = log.sample().zip(log_before);
            // After the last sample, which still counts what it cleaned.
            log.stop_cleaner();
            costs.cleaned_segments = cleaned.map(|(after, before)| after.cleaned_since(&before));
        }
        Ok(MeasuredJob {
            job: *job,
            record,
            costs,
        })
    }

    /// Ages the new file system, if requested.
    fn aged(&self, built: &BuiltFileSystem) -> Result<Option<AgedState>, LabError> {
        let Some(aging) = &self.matrix.request.aging else {
            return Ok(None);
        };
        self.step(LabStep::Age(None));
        let mut reported_at = Instant::now();
        let mut progress = |progress: AgingProgress| {
            if reported_at.elapsed() >= REPORT_INTERVAL {
                reported_at = Instant::now();
                let share = progress.written_bytes as f64 / progress.wanted_bytes.max(1) as f64;
                self.step(LabStep::Age(Some(share.min(1.0))));
            }
        };
        let aged = age(&built.directory, aging, self.stop, &mut progress)?;
        self.runner.on_event(LabEvent::Aged(&aged));
        Ok(Some(aged))
    }

    /// The workloads for this file system, with its mount point as the target.
    fn prepared<'b>(
        &self,
        job: &LabMeasurement,
        choice: &FileSystemChoice,
        built: &'b BuiltFileSystem,
    ) -> Result<(Vec<Workload>, Overrides, &'b str), LabError> {
        let workload = &self.matrix.workloads[job.workload_index];
        let mut workloads = workload.workloads.clone();
        if self.matrix.is_cold {
            let before = cache_drop_method(choice, built);
            for workload in &mut workloads {
                workload.set_before_each_step(before);
            }
        }
        let mut overrides = workload.overrides.clone();
        let Some(directory) = built.directory.to_str() else {
            let path = built.directory.clone();
            return Err(LabError::NotUtf8 { path });
        };
        overrides.set_targets(vec![directory.to_owned()]);
        Ok((workloads, overrides, directory))
    }
}

/// How to drop caches before each step.
fn cache_drop_method(choice: &FileSystemChoice, built: &BuiltFileSystem) -> PhasePreparation {
    // A remount needs a block device: without one, the data would be lost or the lab does not own
    // the file system. It also needs a mount that a system call can make, which excludes FUSE, and
    // that no cleaner program keeps open.
    let is_own = choice.needs_device()
        && choice.entry().is_some_and(|it| it.name != "overlay")
        && !built.is_fuse_mount()
        && !built.is_cleaned_by_a_program();
    match is_own {
        true => PhasePreparation::Remount,
        false => PhasePreparation::DropCaches,
    }
}

fn written_between(before: Option<DeviceSample>, after: Option<DeviceSample>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.since(&before).write_bytes)
}
