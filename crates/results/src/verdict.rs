//! Whether a run succeeded.

use crate::{CellRecord, Claim, RunRecord, Status, Warning, WarningCode};

impl RunRecord {
    /// `true` if operations failed, contents were wrong, a target or a process was lost, a goal was
    /// missed or a cell is not valid.
    #[must_use]
    pub fn has_failure(&self) -> bool {
        let failed_count = |cell: &CellRecord| {
            // Requests that were due may have failed after the end of the measured time.
            let due = cell.open_loop.as_ref().map_or(0, |it| it.errors);
            cell.total.errors.max(due)
        };
        let is_bad = |cell: &CellRecord| failed_count(cell) > 0 || cell.status == Status::Failed;
        self.cells.iter().any(is_bad) || self.warnings.iter().any(is_failure)
    }

    /// The warnings about failures, at least one if the run [failed](Self::has_failure).
    pub fn failures(&self) -> impl Iterator<Item = &Warning> {
        // A cell that stood still failed only if that time could not be excluded.
        let is_of_failed = |warning: &Warning| {
            let failed = self.cells.iter().filter(|it| it.status == Status::Failed);
            failed.map(|it| Some(it.index)).any(|it| it == warning.cell)
        };
        let all = self.warnings.iter();
        all.filter(move |it| match it.code {
            WarningCode::IoErrors => true,
            WarningCode::StoodStill | WarningCode::NothingMeasured => is_of_failed(it),
            _ => is_failure(it),
        })
    }
}

fn is_failure(warning: &Warning) -> bool {
    warning.contradicts(Claim::Succeeded)
}

#[cfg(test)]
mod tests {
    use plan::Plan;

    use super::*;
    use crate::Environment;

    #[test]
    fn a_complete_run_with_a_lost_target_has_failed() {
        let mut record = RunRecord::new(Plan::default(), Environment::default(), Vec::new());
        record.finish(Status::Complete);
        assert!(!record.has_failure());
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        record.warnings.push(lost);
        assert!(record.has_failure());
    }
}
