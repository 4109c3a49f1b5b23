//! What a workload is called, and where it comes from.

use plan::FrontOrigin;

use super::Workload;

impl Workload {
    /// The name for cells and records.
    #[must_use]
    pub fn name_or_default(&self) -> &str {
        self.name.as_deref().unwrap_or("workload")
    }

    /// Where the workload comes from, as its file or its loader says; empty if neither does.
    #[must_use]
    pub fn source_name(&self) -> &str {
        self.source.as_deref().unwrap_or_default()
    }

    /// Where it comes from, if other arguments or another file stand for it.
    #[must_use]
    pub fn origin(&self) -> Option<&FrontOrigin> {
        let program = self.built.as_ref().map(|it| &it.origin);
        program.or_else(|| self.jobs.as_ref().map(|it| &it.origin))
    }
}
