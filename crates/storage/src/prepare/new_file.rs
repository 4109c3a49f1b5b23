//! A test file that is empty when a cell begins; the cell writes it.

use plan::TargetPlan;

use super::{FillPlan, Prepared, ReadyTarget, begin_file, check_space};
use crate::TargetError;

impl Prepared {
    /// Replaces the test file, if any, by an empty one. There must be space for `firm_bytes`, which
    /// are less than the file's size if a run time may end the cell before.
    ///
    /// # Errors
    /// If there is not enough space for the data to be written, or the file cannot be created.
    pub fn begin_new_file(
        &mut self,
        plan: &TargetPlan,
        fill: &FillPlan,
        firm_bytes: u64,
    ) -> Result<(), TargetError> {
        let Some(ReadyTarget::File(claim)) = &mut self.target else {
            return Err(TargetError::Replaced { path: self.path() });
        };
        check_space(claim, firm_bytes)?;
        self.has_new_file = false;
        self.reused = false;
        self.size_bytes = plan.size_bytes;
        // Without stamps, because the cell writes its own content.
        begin_file(claim, plan, fill, None)?;
        Ok(())
    }

    /// Allows the next cells to use the file if the cell has written it completely.
    ///
    /// # Errors
    /// If the manifest cannot be written.
    pub fn end_new_file(&mut self, written_bytes: u64) -> Result<(), TargetError> {
        let Some(ReadyTarget::File(claim)) = &mut self.target else {
            return Ok(());
        };
        let name = claim.location.test_name();
        let is_whole = claim
            .stat(&name)
            .is_some_and(|it| u64::try_from(it.st_size) == Ok(written_bytes));
        if !is_whole {
            return Ok(());
        }
        self.has_new_file = true;
        claim.note(&name, |entry| {
            entry.size_bytes = written_bytes;
            entry.complete = true;
        });
        claim.save()
    }

    /// `true` if a cell of this run has written the test file, and it has at least `used_bytes` of
    /// the requested content.
    #[must_use]
    pub fn has_new_file(&self, used_bytes: u64, fill: &FillPlan) -> bool {
        let Some(ReadyTarget::File(claim)) = &self.target else {
            return false;
        };
        let entry = claim.manifest.made(&claim.location.test_name());
        self.has_new_file
            // The cell writes without stamps, so a cell that verifies cannot use this file.
            && fill.verify_block_bytes.is_none()
            && entry.is_some_and(|it| it.content == fill.content && it.size_bytes >= used_bytes)
    }
}
