//! The jobs of a matrix, one after the other.

use std::sync::atomic::{AtomicBool, Ordering};

use description::{Overrides, Workload};
use planning::{Planned, plan_with};
use results::Status;

use super::LabMatrix;
use super::outcome::MatrixOutcome;
use super::runner::LabRunner;
use crate::age::AgeShortfall;
use crate::bench::Lab;
use crate::error::LabError;
use crate::outcome::{LabAlarm, LabNote};
use crate::schedule::Job;
use crate::task::probe_in;
use crate::watch::{LabEvent, LabStep};

/// A matrix that is being measured.
pub(super) struct MatrixRun<'a, R> {
    pub matrix: &'a LabMatrix,
    pub runner: &'a R,
    pub stop: &'a AtomicBool,
}

impl LabMatrix {
    /// Does all jobs in their order, until it is stopped or the lab cannot be taken down. A file
    /// system that fails is left out from then on.
    ///
    /// # Errors
    /// When there can be no lab, or no guests where there are to be some.
    pub fn measure<R: LabRunner>(
        &self,
        jobs: &[Job],
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
    fn all(&self, jobs: &[Job]) -> Result<MatrixOutcome, R::Error> {
        let request = &self.matrix.request;
        let mut outcome = MatrixOutcome::of(request.choices.len());
        let mut lab = Lab::begin(&request.directory)?;
        if let Some(host) = &request.host {
            probe_in(&mut lab, host, self.stop)?;
        }
        self.runner.hear(LabEvent::Jobs(jobs));
        for (index, job) in jobs.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            if outcome.has_failed(job.choice_index) {
                continue;
            }
            self.runner.hear(LabEvent::Begin(index));
            match self.job(&mut lab, job, &mut outcome) {
                Ok(()) => {}
                Err(_) if self.is_stopped() => outcome.note(LabNote::Interrupted(*job)),
                Err(error) => {
                    let alarm = LabAlarm::FileSystem {
                        choice_index: job.choice_index,
                        reason: error.to_string(),
                    };
                    self.runner.hear(LabEvent::Alarm(&alarm));
                    outcome.alarms.push(alarm);
                }
            }
        }
        if let Err(error) = lab.end() {
            let alarm = LabAlarm::Left(R::Error::from(error).to_string());
            self.runner.hear(LabEvent::Alarm(&alarm));
            outcome.alarms.push(alarm);
        }
        self.runner.hear(LabEvent::End);
        Ok(outcome)
    }

    fn job(&self, lab: &mut Lab, job: &Job, outcome: &mut MatrixOutcome) -> Result<(), R::Error> {
        let request = &self.matrix.request;
        let measured = match &request.host {
            Some(host) => self.job_in_guest(lab, job, host, outcome)?,
            None => self.job_here(lab, job, outcome)?,
        };
        if measured.record.status == Status::Interrupted {
            outcome.note(LabNote::Interrupted(*job));
            return Ok(());
        }
        if let Some((aging, aged)) = request.aging.as_ref().zip(measured.costs.aged) {
            for shortfall in AgeShortfall::all(aging, &aged) {
                outcome.note(LabNote::Age {
                    choice_index: job.choice_index,
                    shortfall,
                });
            }
        }
        self.runner.hear(LabEvent::Measured(&measured.record));
        outcome.measured.push(measured);
        Ok(())
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says what is being done.
    pub fn step(&self, step: LabStep) {
        self.runner.hear(LabEvent::Step(step));
    }
}

/// The plan of workloads on what is mounted at a path, or on a device, which is not refused.
pub(super) fn planned(
    (workloads, overrides): (&[Workload], &Overrides),
    target: &str,
) -> Result<Planned, LabError> {
    let facts = |wanted: &[String]| target::system_facts(wanted, Some(target));
    Ok(plan_with(workloads, overrides, facts)?.accepted()?)
}
