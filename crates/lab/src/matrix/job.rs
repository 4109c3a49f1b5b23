//! One job: a file system is made, its workload measured, and it is taken down.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use description::{Overrides, Workload};
use plan::program::Before;
use target::{DeviceCounters, DeviceSample};

use super::costs::Costs;
use super::outcome::{MatrixOutcome, MeasuredJob};
use super::run::{MatrixRun, planned};
use super::runner::{LabRunner, RunOrder, RunSubject};
use super::written::PreparedBytes;
use crate::age::{AgeProgress, Aged, age};
use crate::bench::{Built, Lab};
use crate::built_as::BuiltAs;
use crate::choice::{Choice, ChoiceKind};
use crate::error::LabError;
use crate::log::Log;
use crate::outcome::LabAlarm;
use crate::schedule::Job;
use crate::watch::{LabEvent, LabStep};

/// So often is told how far aging is.
const TOLD_EVERY: Duration = Duration::from_millis(500);

impl<R: LabRunner> MatrixRun<'_, R> {
    /// Does a job on a file system of this kernel.
    pub fn job_here(
        &self,
        lab: &mut Lab,
        job: &Job,
        outcome: &mut MatrixOutcome,
    ) -> Result<MeasuredJob, R::Error> {
        let request = &self.matrix.request;
        let choice = &request.choices[job.choice_index];
        self.step(LabStep::MakeFileSystem);
        let built = lab.build(choice, &request.medium)?;
        outcome.note_built(job.choice_index, BuiltAs::of(&built), &built.notes);
        let measured = self.on_built(&lab.name(), job, &built);
        let (mkfs, directory) = (built.mkfs_time, built.directory.clone());
        // Whatever became of the workload, the file system goes.
        self.step(LabStep::Unmount);
        let unmounted = lab.take_down(built);
        let mut measured = measured?;
        measured.costs.mkfs = mkfs;
        let is_made = matches!(choice.kind, ChoiceKind::Made { .. });
        match unmounted {
            Ok(elapsed) => measured.costs.unmount = is_made.then_some(elapsed),
            Err(error) => {
                self.stop.store(true, Ordering::Relaxed);
                let left = LabError::Left {
                    what: format!("`{}`", directory.display()),
                    reason: error.to_string(),
                };
                let left = R::Error::from(left).to_string();
                outcome.alarms.push(LabAlarm::Left(left));
            }
        }
        Ok(measured)
    }

    /// Runs the workload on what was built, and makes durable what it wrote.
    pub fn on_built(
        &self,
        lab_name: &str,
        job: &Job,
        built: &Built,
    ) -> Result<MeasuredJob, R::Error> {
        let choice = &self.matrix.request.choices[job.choice_index];
        let aged = self.aged(built)?;
        if self.matrix.is_cold {
            target::drop_caches().map_err(LabError::from)?;
        }
        let counters = DeviceCounters::open([built.directory.as_path()]);
        let sample = || counters.as_ref()?.sample().ok();
        let log = Log::of(built);
        let (before, log_before) = (sample(), log.as_ref().and_then(Log::sample));
        let (workloads, overrides, directory) = self.prepared(job, choice, built)?;
        let order = RunOrder {
            planned: planned((&workloads, &overrides), directory)?,
            workloads: &workloads,
            overrides: &overrides,
            subject: RunSubject::FileSystem {
                choice,
                built_as: &BuiltAs::of(built),
                aged: aged.as_ref(),
            },
            lab_name,
            overwrite_devices: Vec::new(),
        };
        let mut prepared = PreparedBytes::default();
        let record = self
            .runner
            .measure(order, &mut |event| prepared.hear(event))?;
        self.step(LabStep::Sync);
        let sync = built.sync()?;
        let synced = sample();
        let mut costs = Costs {
            sync: Some(sync),
            device_written_bytes: written_between(before, synced),
            user_written_bytes: prepared.and_measured(&record),
            aged,
            ..Costs::default()
        };
        if let Some(log) = &log {
            if log.clean(|| self.is_stopped())? {
                built.sync()?;
                costs.cleaning_written_bytes = written_between(synced, sample());
            }
            let cleaned = log.sample().zip(log_before);
            log.end_cleaner();
            costs.cleaned_segments = cleaned.map(|(after, before)| after.cleaned_since(&before));
        }
        Ok(MeasuredJob {
            job: *job,
            record,
            costs,
        })
    }

    /// Ages what was built, where that is asked for.
    fn aged(&self, built: &Built) -> Result<Option<Aged>, LabError> {
        let Some(aging) = &self.matrix.request.aging else {
            return Ok(None);
        };
        self.step(LabStep::Age(None));
        let mut told = Instant::now();
        let mut progress = |progress: AgeProgress| {
            if told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                let share = progress.written_bytes as f64 / progress.wanted_bytes.max(1) as f64;
                self.step(LabStep::Age(Some(share.min(1.0))));
            }
        };
        let aged = age(&built.directory, aging, self.stop, &mut progress)?;
        self.runner.hear(LabEvent::Aged(&aged));
        Ok(Some(aged))
    }

    /// The workloads for this file system, at its mount point.
    fn prepared<'b>(
        &self,
        job: &Job,
        choice: &Choice,
        built: &'b Built,
    ) -> Result<(Vec<Workload>, Overrides, &'b str), LabError> {
        let workload = &self.matrix.workloads[job.workload_index];
        let mut workloads = workload.workloads.clone();
        if self.matrix.is_cold {
            let before = before_steps(choice, built);
            for workload in &mut workloads {
                workload.begin_steps_behind(before);
            }
        }
        let mut overrides = workload.overrides.clone();
        let Some(directory) = built.directory.to_str() else {
            let path = built.directory.clone();
            return Err(LabError::NotText { path });
        };
        overrides.set_targets(vec![directory.to_owned()]);
        Ok((workloads, overrides, directory))
    }
}

/// What makes steps cold.
fn before_steps(choice: &Choice, built: &Built) -> Before {
    // Without a device of its own a file system would be lost, or is not ours to unmount; one that
    // a program serves is not mounted by a system call, and one that a program cleans is never
    // free.
    let is_own = choice.needs_device()
        && choice.entry().is_some_and(|it| it.name != "overlay")
        && !built.is_served()
        && !built.is_cleaned_by_a_program();
    match is_own {
        true => Before::Remount,
        false => Before::DropCaches,
    }
}

fn written_between(before: Option<DeviceSample>, after: Option<DeviceSample>) -> Option<u64> {
    let (before, after) = before.zip(after)?;
    Some(after.since(&before).write_bytes)
}
