//! Runs the jobs of a matrix, one after another.

use std::sync::atomic::{AtomicBool, Ordering};

use description::{Overrides, Workload};
use planning::{Planned, plan_with};
use results::Status;

use super::LabMatrix;
use super::outcome::MatrixOutcome;
use super::runner::LabRunner;
use crate::age::AgingShortfall;
use crate::bench::Lab;
use crate::error::LabError;
use crate::outcome::{LabFailure, LabNote};
use crate::schedule::LabMeasurement;
use crate::task::probe_in;
use crate::watch::{LabEvent, LabStep};

/// A matrix that is being measured.
pub(super) struct MatrixRun<'a, R> {
    pub matrix: &'a LabMatrix,
    pub runner: &'a R,
    pub stop: &'a AtomicBool,
}

impl LabMatrix {
    /// Runs all jobs in order, until it is stopped or the lab cannot be removed. A file system that
    /// fails is skipped from then on.
    ///
    /// # Errors
    /// If no lab can be started, or the required guests do not run.
    pub fn measure<R: LabRunner>(
        &self,
        jobs: &[LabMeasurement],
        runner: &R,
        stop: &AtomicBool,
    ) -> Result<MatrixOutcome, R::Error> {
        let run = MatrixRun {
            matrix: self,
            runner,
            stop,
        };
        run.all(jobs)
    }
}

impl<R: LabRunner> MatrixRun<'_, R> {
    fn all(&self, jobs: &[LabMeasurement]) -> Result<MatrixOutcome, R::Error> {
        let request = &self.matrix.request;
        let mut outcome = MatrixOutcome::of(request.choices.len());
        let mut lab = Lab::begin(&request.directory)?;
        if let Some(host) = &request.host {
            // Otherwise, each file system would fail alone, after its image was created.
            probe_in(&mut lab, host, self.stop)?;
        }
        self.runner.on_event(LabEvent::Jobs(jobs));
        for (index, job) in jobs.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            // It would fail again in each repetition, after the time for mkfs and mount.
            if outcome.has_failed(job.choice_index) {
                continue;
            }
            self.runner.on_event(LabEvent::Begin(index));
            match self.job(&mut lab, job, &mut outcome) {
                Ok(()) => {}
                // After a stop, errors of the job are consequences of the stop.
                Err(_) if self.is_stopped() => outcome.note(LabNote::Interrupted(*job)),
                Err(error) => {
                    let alarm = LabFailure::FileSystem {
                        choice_index: job.choice_index,
                        reason: error.to_string(),
                    };
                    self.runner.on_event(LabEvent::Failure(&alarm));
                    outcome.failures.push(alarm);
                }
            }
        }
        if let Err(error) = lab.end() {
            let alarm = LabFailure::NotRemoved(R::Error::from(error).to_string());
            self.runner.on_event(LabEvent::Failure(&alarm));
            outcome.failures.push(alarm);
        }
        self.runner.on_event(LabEvent::End);
        Ok(outcome)
    }

    fn job(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        outcome: &mut MatrixOutcome,
    ) -> Result<(), R::Error> {
        let request = &self.matrix.request;
        let measured = match &request.host {
            Some(host) => self.run_job_in_guest(lab, job, host, outcome)?,
            None => self.run_job_here(lab, job, outcome)?,
        };
        // Left out, because its counts would lower the means of the complete repetitions.
        if measured.record.status == Status::Interrupted {
            outcome.note(LabNote::Interrupted(*job));
            return Ok(());
        }
        if let Some((aging, aged)) = request.aging.as_ref().zip(measured.costs.aged) {
            for shortfall in AgingShortfall::all(aging, &aged) {
                outcome.note(LabNote::Age {
                    choice_index: job.choice_index,
                    shortfall,
                });
            }
        }
        self.runner.on_event(LabEvent::Measured(&measured.record));
        outcome.measured.push(measured);
        Ok(())
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Reports the current step.
    pub fn step(&self, step: LabStep) {
        self.runner.on_event(LabEvent::Step(step));
    }
}

/// The plan of workloads on a mount point or device.
pub(super) fn planned(
    (workloads, overrides): (&[Workload], &Overrides),
    target: &str,
) -> Result<Planned, LabError> {
    let facts = |wanted: &[String]| storage::system_facts(wanted, Some(target));
    Ok(plan_with(workloads, overrides, facts)?.accepted()?)
}
