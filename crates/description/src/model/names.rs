//! Name and source of a workload.

use plan::FrontOrigin;

use super::Workload;
use super::keyed::Keyed;

impl Workload {
    /// The name for cells and records.
    #[must_use]
    pub fn name_or_default(&self) -> &str {
        self.name.as_deref().unwrap_or("workload")
    }

    /// The keys that are written, in the order of the reference page.
    #[must_use]
    pub fn written_keys(&self) -> Vec<&'static str> {
        self.written()
    }

    /// Source of the workload, as its file or its loader states it; empty if neither does.
    #[must_use]
    pub fn source_name(&self) -> &str {
        self.source.as_deref().unwrap_or_default()
    }

    /// The other program's arguments or file from which the workload was converted, if any.
    #[must_use]
    pub fn origin(&self) -> Option<&FrontOrigin> {
        let program = self.built.as_ref().map(|it| &it.origin);
        program.or_else(|| self.jobs.as_ref().map(|it| &it.origin))
    }
}
