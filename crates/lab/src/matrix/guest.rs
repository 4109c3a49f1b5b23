//! Jobs in guests: the host's side and the guest's side.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use results::RunRecord;
use serde::{Deserialize, Serialize};

use super::LabMatrix;
use super::costs::JobCosts;
use super::outcome::{MatrixOutcome, MeasuredJob};
use super::run::MatrixRun;
use super::runner::{LabRunner, RunSubject};
use crate::bench::Lab;
use crate::built_as::FileSystemSetup;
use crate::error::LabError;
use crate::schedule::LabMeasurement;
use crate::task::GuestTask;
use crate::vm::{Host, Image, ListenAction, answer_of, enter, listen};
use crate::watch::{LabEvent, LabStep};

/// Results that a guest sends to the host.
#[derive(Debug, Serialize, Deserialize)]
pub struct GuestMatrixResults {
    /// The exported record, as JSON.
    record: String,
    costs: JobCosts,
    built_as: FileSystemSetup,
}

impl LabMatrix {
    /// In a guest: measures one job on its image.
    ///
    /// # Errors
    /// If it cannot be measured.
    pub fn measure_in_guest<R: LabRunner>(
        &self,
        (job, lab_name): (&LabMeasurement, &str),
        image: &Image,
        runner: &R,
        stop: &AtomicBool,
    ) -> Result<GuestMatrixResults, R::Error> {
        let run = MatrixRun {
            matrix: self,
            runner,
            stop,
        };
        let built = enter(image)?;
        let built_as = FileSystemSetup::of(&built);
        let MeasuredJob {
            record, mut costs, ..
        } = run.run_workload(lab_name, job, &built)?;
        // Not all file systems support it.
        costs.trimmed_bytes = built.trim().ok();
        costs.unmount = Some(built.unmount()?);
        Ok(GuestMatrixResults {
            record: record.to_json(),
            costs,
            built_as,
        })
    }
}

impl<R: LabRunner> MatrixRun<'_, R> {
    /// On the host: runs a job in a guest.
    pub fn run_job_in_guest(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        host: &Host,
        outcome: &mut MatrixOutcome,
    ) -> Result<MeasuredJob, R::Error> {
        let request = &self.matrix.request;
        let choice = &request.choices[job.choice_index];
        self.step(LabStep::MakeFileSystem);
        let image = lab.build_image(choice, &request.medium, &host.kernel)?;
        self.step(LabStep::StartGuest);
        let answered = self.ask(lab, job, host, &image);
        // Removed before the answer is examined, because it may be an error.
        lab.remove_image()?;
        let GuestMatrixResults {
            record,
            mut costs,
            built_as,
        } = answered?;
        // The host created the file system, so the guest does not know this time.
        costs.mkfs = image.mkfs_time;
        let mut record = RunRecord::from_json(&record).map_err(LabError::from)?;
        let subject = RunSubject::FileSystem {
            choice,
            built_as: &built_as,
            aged: costs.aged.as_ref(),
        };
        self.runner.keep(&mut record, subject, &lab.name())?;
        outcome.note_built(job.choice_index, built_as, &image.notes);
        Ok(MeasuredJob {
            job: *job,
            record,
            costs,
        })
    }

    fn ask(
        &self,
        lab: &mut Lab,
        job: &LabMeasurement,
        host: &Host,
        image: &Image,
    ) -> Result<GuestMatrixResults, LabError> {
        let task = GuestTask::Measure {
            job: *job,
            lab: lab.name(),
        };
        let mut guest = lab.boot(image, task, host)?;
        listen(&mut guest, self.stop, Duration::MAX, |line| {
            self.runner.on_event(LabEvent::GuestLine(line));
            ListenAction::Listen
        })?;
        answer_of(&guest, &lab.answer())
    }
}
