//! Results of a matrix.

use results::{RunRecord, Status, WarningCode};

use super::costs::JobCosts;
use crate::built_as::FileSystemSetup;
use crate::outcome::{LabFailure, LabNote, LabVerdict};
use crate::schedule::LabMeasurement;

/// Results of one job.
#[derive(Debug)]
pub struct MeasuredJob {
    /// The job that was measured.
    pub job: LabMeasurement,
    /// Record of its run.
    pub record: RunRecord,
    /// Costs in addition to the workload.
    pub costs: JobCosts,
}

/// Why a job did less work than the same job on other file systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobShortfall {
    /// Operations failed.
    Failures {
        /// Number of failures.
        count: u64,
        /// Descriptions of the failures, without duplicates.
        kinds: Vec<String>,
    },
    /// A file pool ran empty; the message of the warning.
    Depleted(String),
}

/// Results of a matrix.
#[derive(Debug, Default)]
pub struct MatrixOutcome {
    /// Completed jobs, in order.
    pub measured: Vec<MeasuredJob>,
    /// How each file system was created and mounted, if it was.
    pub setups: Vec<Option<FileSystemSetup>>,
    /// Failures that did not end the lab.
    pub failures: Vec<LabFailure>,
    /// Notes for the reader, without duplicates.
    pub notes: Vec<LabNote>,
}

impl MatrixOutcome {
    /// An empty result for this number of file systems.
    pub(super) fn of(choice_count: usize) -> Self {
        Self {
            setups: vec![None; choice_count],
            ..Self::default()
        }
    }

    /// Results of a workload on a file system, in order.
    pub fn of_job(
        &self,
        workload_index: usize,
        choice_index: usize,
    ) -> impl Iterator<Item = &MeasuredJob> {
        let wanted = (workload_index, choice_index);
        let of = |it: &MeasuredJob| (it.job.workload_index, it.job.choice_index);
        self.measured.iter().filter(move |it| of(it) == wanted)
    }

    /// Jobs that did less work than others, because operations failed or a file pool ran empty.
    #[must_use]
    pub fn shortfalls(&self) -> Vec<(LabMeasurement, JobShortfall)> {
        let mut all = Vec::new();
        for MeasuredJob { job, record, .. } in &self.measured {
            all.extend(failures(record).map(|it| (*job, it)));
            let warnings = record.warnings.iter();
            let depleted = warnings.filter(|it| it.code == WarningCode::PoolDepleted);
            all.extend(depleted.map(|it| (*job, JobShortfall::Depleted(it.message.clone()))));
        }
        all
    }

    /// Overall verdict. `is_stopped` is `true` if the user stopped it.
    #[must_use]
    pub fn verdict(&self, is_stopped: bool) -> LabVerdict {
        let records = || self.measured.iter().map(|it| &it.record);
        if !self.failures.is_empty() {
            return LabVerdict::System;
        }
        if is_stopped || records().any(|it| it.status == Status::Interrupted) {
            return LabVerdict::Interrupted;
        }
        match records().any(RunRecord::has_failure) {
            true => LabVerdict::Failed,
            false => LabVerdict::Complete,
        }
    }

    /// Records how a file system was created, and deviations from the request.
    pub(super) fn note_built(
        &mut self,
        choice_index: usize,
        built_as: FileSystemSetup,
        notes: &[String],
    ) {
        // All repetitions build the same, so the first description stands for all.
        self.setups[choice_index].get_or_insert(built_as);
        for note in notes {
            self.note(LabNote::of_file_system(choice_index, note));
        }
    }

    pub(super) fn note(&mut self, note: LabNote) {
        note.push_unique(&mut self.notes);
    }

    /// `true` if a file system failed and is skipped from now on.
    pub(super) fn has_failed(&self, choice_index: usize) -> bool {
        self.failures.iter().any(|it| it.is_of(choice_index))
    }
}

/// The failed operations of a run, if any.
fn failures(record: &RunRecord) -> Option<JobShortfall> {
    let count: u64 = record.cells.iter().map(|it| it.total.errors).sum();
    let errors = record.cells.iter().flat_map(|cell| &cell.errors);
    let mut kinds: Vec<String> = errors.map(|error| error.message.clone()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    (count > 0).then_some(JobShortfall::Failures { count, kinds })
}
