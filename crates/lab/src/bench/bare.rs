//! What file systems are made on, without one.

use super::{Built, Lab, existing};
use crate::error::LabError;
use crate::medium::LabMedium;

impl Lab {
    /// Makes what file systems are to lie on, and none on it; where that fails, nothing stays.
    ///
    /// # Errors
    /// What the system or one of its programs says, or a device that may not be written.
    pub fn build_bare(&mut self, medium: &LabMedium) -> Result<Built, LabError> {
        let mut built = existing(&self.directory);
        let made = self.device(medium, &mut built);
        self.or_undone(made)?;
        Ok(built)
    }
}
