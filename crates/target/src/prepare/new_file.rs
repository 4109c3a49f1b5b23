//! A test file that is empty when a cell begins, and is written by the cell itself.

use plan::TargetPlan;

use super::{FillPlan, Prepared, Ready, begin_file};
use crate::TargetError;

impl Prepared {
    /// Puts an empty test file in the place of whatever test file there is.
    ///
    /// # Errors
    /// When there is too little space for what will be written, or the file cannot be made.
    pub fn begin_new_file(
        &mut self,
        plan: &TargetPlan,
        fill: &FillPlan,
    ) -> Result<(), TargetError> {
        let Some(Ready::File(claim)) = &mut self.site else {
            return Err(TargetError::Replaced { path: self.path() });
        };
        self.has_new_file = false;
        self.reused = false;
        self.size_bytes = plan.size_bytes;
        begin_file(claim, plan, fill, None)?;
        Ok(())
    }

    /// Lets the next cells use the file that a cell has written to its end.
    ///
    /// # Errors
    /// When the manifest cannot be written.
    pub fn end_new_file(&mut self, written_bytes: u64) -> Result<(), TargetError> {
        let Some(Ready::File(claim)) = &mut self.site else {
            return Ok(());
        };
        let name = claim.place.test_name();
        let is_whole = claim
            .stat(&name)
            .is_some_and(|it| u64::try_from(it.st_size) == Ok(written_bytes));
        if !is_whole {
            return Ok(());
        }
        self.has_new_file = true;
        claim.note(&name, |made| {
            made.size_bytes = written_bytes;
            made.complete = true;
        });
        claim.save()
    }

    /// Whether the test file is one that a cell of this run has written, and has so many bytes of
    /// the content that is asked for.
    #[must_use]
    pub fn has_new_file(&self, used_bytes: u64, fill: &FillPlan) -> bool {
        let Some(Ready::File(claim)) = &self.site else {
            return false;
        };
        let made = claim.manifest.made(&claim.place.test_name());
        self.has_new_file
            && fill.verify_block_bytes.is_none()
            && made.is_some_and(|it| it.content == fill.content && it.size_bytes >= used_bytes)
    }
}
