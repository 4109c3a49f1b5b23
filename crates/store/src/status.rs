//! Status of a run.

use std::fmt;
use std::str::FromStr;

use results::{ProcessIdentity, Status};
use schemars::JsonSchema;
use serde::Serialize;

/// Status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The process that makes it may still be running.
    Running,
    /// Everything was measured.
    Complete,
    /// It was stopped early or killed.
    Interrupted,
    /// It could not continue.
    Failed,
}

impl RunStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [
        Self::Running,
        Self::Complete,
        Self::Interrupted,
        Self::Failed,
    ];

    /// The word for the status.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// The status of a run from its stored status. A run whose process is gone counts as
    /// interrupted. `is_live` is the state of its lock.
    pub(crate) fn of(stored: &str, owner: Option<&str>, is_live: Option<bool>) -> Option<Self> {
        let status = stored.parse().ok()?;
        let may_run = || {
            // The lock is certain; a process ID may belong to another container or have been
            // reused.
            if is_live.is_some() {
                return is_live;
            }
            let owner = units::parse_json::<ProcessIdentity>(owner?).ok()?;
            Some(owner.may_run())
        };
        if status == Self::Running && may_run() != Some(true) {
            return Some(Self::Interrupted);
        }
        Some(status)
    }
}

impl From<Status> for RunStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Complete,
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::Failed,
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for RunStatus {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == word)
            .ok_or(())
    }
}
