//! Storage without a file system.

use super::{BuiltFileSystem, Lab, existing};
use crate::error::LabError;
use crate::medium::LabMedium;

impl Lab {
    /// Creates the storage for file systems, but no file system on it. On failure, everything is
    /// removed again.
    ///
    /// # Errors
    /// Errors of the system or of its programs, or if the device may not be written.
    pub fn build_bare(&mut self, medium: &LabMedium) -> Result<BuiltFileSystem, LabError> {
        let mut built = existing(&self.directory);
        let result = self.device(medium, &mut built);
        self.undo_on_error(result)?;
        Ok(built)
    }
}
