//! What a matrix came to.

use std::collections::BTreeMap;

use results::{RunRecord, Status, WarningCode, WarningLevel};

use super::costs::Costs;
use crate::built_as::BuiltAs;
use crate::outcome::{LabAlarm, LabNote, LabVerdict};
use crate::schedule::Job;

/// What one job came to.
#[derive(Debug)]
pub struct MeasuredJob {
    /// Which.
    pub job: Job,
    /// Its run.
    pub record: RunRecord,
    /// What it cost beside.
    pub costs: Costs,
}

/// Why a job did other work than those beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobShortfall {
    /// Operations failed.
    Failures {
        /// How many.
        count: u64,
        /// How, each once, in words.
        kinds: Vec<String>,
    },
    /// Files ran out, in words.
    Depleted(String),
}

/// What a matrix came to.
#[derive(Debug, Default)]
pub struct MatrixOutcome {
    /// The jobs that were done, in the order of doing.
    pub measured: Vec<MeasuredJob>,
    /// How each file system was made and mounted, once it was.
    pub built_as: Vec<Option<BuiltAs>>,
    /// What failed.
    pub alarms: Vec<LabAlarm>,
    /// What the reader should know, each once.
    pub notes: Vec<LabNote>,
}

impl MatrixOutcome {
    /// Nothing yet, of so many file systems.
    pub(super) fn of(choice_count: usize) -> Self {
        Self {
            built_as: vec![None; choice_count],
            ..Self::default()
        }
    }

    /// What became of a workload on a file system, in the order of doing.
    pub fn of_job(
        &self,
        workload_index: usize,
        choice_index: usize,
    ) -> impl Iterator<Item = &MeasuredJob> {
        let wanted = (workload_index, choice_index);
        let of = |it: &MeasuredJob| (it.job.workload_index, it.job.choice_index);
        self.measured.iter().filter(move |it| of(it) == wanted)
    }

    /// Which jobs did other work than those beside them: operations failed, or files ran out.
    #[must_use]
    pub fn shortfalls(&self) -> Vec<(Job, JobShortfall)> {
        let mut all = Vec::new();
        for MeasuredJob { job, record, .. } in &self.measured {
            all.extend(failures(record).map(|it| (*job, it)));
            let warnings = record.warnings.iter();
            let depleted = warnings.filter(|it| it.code == WarningCode::PoolDepleted);
            all.extend(depleted.map(|it| (*job, JobShortfall::Depleted(it.message.clone()))));
        }
        all
    }

    /// How many runs had each warning.
    #[must_use]
    pub fn warning_counts(&self) -> BTreeMap<String, usize> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for MeasuredJob { record, .. } in &self.measured {
            let warnings = record.warnings.iter();
            let grave = warnings.filter(|it| it.level() == WarningLevel::Warning);
            let mut codes: Vec<&WarningCode> = grave.map(|it| &it.code).collect();
            codes.sort();
            codes.dedup();
            for code in codes {
                *counts.entry(code.to_string()).or_default() += 1;
            }
        }
        counts
    }

    /// What is to be said of it as a whole; `is_stopped` where somebody wanted to end it.
    #[must_use]
    pub fn verdict(&self, is_stopped: bool) -> LabVerdict {
        let records = || self.measured.iter().map(|it| &it.record);
        if !self.alarms.is_empty() {
            return LabVerdict::System;
        }
        if is_stopped || records().any(|it| it.status == Status::Interrupted) {
            return LabVerdict::Interrupted;
        }
        match records().any(RunRecord::has_failure) {
            true => LabVerdict::Failed,
            false => LabVerdict::Whole,
        }
    }

    /// Notes how a file system was made, and in what it is other than it was meant to be.
    pub(super) fn note_built(&mut self, choice_index: usize, built_as: BuiltAs, notes: &[String]) {
        self.built_as[choice_index].get_or_insert(built_as);
        for note in notes {
            self.note(LabNote::of_file_system(choice_index, note));
        }
    }

    pub(super) fn note(&mut self, note: LabNote) {
        note.once_among(&mut self.notes);
    }

    /// Whether a file system failed and is left out.
    pub(super) fn has_failed(&self, choice_index: usize) -> bool {
        self.alarms.iter().any(|it| it.is_of(choice_index))
    }
}

/// The operations of a run that failed, if any did.
fn failures(record: &RunRecord) -> Option<JobShortfall> {
    let count: u64 = record.cells.iter().map(|it| it.total.errors).sum();
    let errors = record.cells.iter().flat_map(|cell| &cell.errors);
    let mut kinds: Vec<String> = errors.map(|error| error.message.clone()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    (count > 0).then_some(JobShortfall::Failures { count, kinds })
}
