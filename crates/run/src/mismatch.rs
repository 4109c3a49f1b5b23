//! Warns of reads that did not return the data written.

use std::path::PathBuf;

use plan::Cell;
use results::{Warning, WarningCode};

use crate::measured::{MeasuredCell, MeasuredLane};
use crate::session::Session;

impl Session<'_> {
    /// Warning with the number of wrong reads in a cell and the location of the first.
    pub(crate) fn mismatch_warning(&self, cell: &Cell, measured: &MeasuredCell) -> Option<Warning> {
        let lanes = measured.lanes.iter();
        let count: u64 = lanes.map(|lane| lane.outcome.mismatch_count).sum();
        let mut lanes = measured.lanes.iter();
        let (lane, first) =
            lanes.find_map(|lane| Some((lane, &lane.outcome.first_mismatch.as_ref()?.mismatch)))?;
        let job_text = match lane.lane.plan.job {
            Some(_) => format!(" of the job `{}`", units::printable(&lane.lane.plan.name)),
            None => String::new(),
        };
        let message = format!(
            "{count} reads did not return the data written; the first{job_text}: `{}` at offset \
             {}: expected {}, read {}",
            units::printable(&self.path_of(cell, lane, first.file_index).to_string_lossy()),
            first.offset_bytes,
            first.expected,
            first.actual
        );
        let code = WarningCode::VerifyMismatch;
        Some(Warning::of_cell(code, cell.index, message))
    }

    /// Path of one of a lane's files.
    fn path_of(&self, cell: &Cell, lane: &MeasuredLane, file_index: u32) -> PathBuf {
        let plan = &lane.lane.plan;
        let job_file = || {
            let part = plan.job.as_ref()?.files.get(file_index as usize)?;
            cell.job_files()?.files.get(part.file_index as usize)
        };
        let file = job_file();
        let span = plan.spans.get(file_index as usize);
        let target_index = file
            .map(|it| it.target_index)
            .or(span.map(|it| it.target_index))
            .unwrap_or_default();
        if let Some(name) = file.and_then(|it| it.name.as_deref())
            && let Some(job_tree) = self.job_trees.get(&target_index)
        {
            return job_tree.tree.path().join(name);
        }
        match self.targets.get(&target_index) {
            Some(prepared) => prepared.path(),
            None => self.plan.targets[target_index as usize].path.clone(),
        }
    }
}
