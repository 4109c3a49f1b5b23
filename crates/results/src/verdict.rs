//! Whether what was measured is all right.

use crate::{CellRecord, Claim, RunRecord, Status, Warning, WarningCode};

impl RunRecord {
    /// Whether operations failed, contents were wrong, a target or a process went away, a goal was
    /// missed or a cell is not valid.
    #[must_use]
    pub fn has_failure(&self) -> bool {
        let failed_count = |cell: &CellRecord| {
            let due = cell.open_loop.as_ref().map_or(0, |it| it.errors);
            cell.total.errors.max(due)
        };
        let is_bad = |cell: &CellRecord| failed_count(cell) > 0 || cell.status == Status::Failed;
        self.cells.iter().any(is_bad) || self.warnings.iter().any(is_failure)
    }

    /// The warnings that say what failed.
    pub fn failures(&self) -> impl Iterator<Item = &Warning> {
        let all = self.warnings.iter();
        all.filter(|it| is_failure(it) || it.code == WarningCode::IoErrors)
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
    fn a_target_that_went_away_is_a_failure_of_a_run_that_measured_to_its_end() {
        let mut record = RunRecord::new(Plan::default(), Environment::default(), Vec::new());
        record.finish(Status::Complete);
        assert!(!record.has_failure());
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        record.warnings.push(lost);
        assert!(record.has_failure());
    }
}
