//! Phases of a run.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prefix of a classic program's phase whose name would be ambiguous.
const CLASSIC: &str = "classic:";

/// A phase of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum Phase {
    /// Creating files and writing their content.
    Prepare,
    /// Ramp time, not measured.
    Ramp,
    /// The measurement.
    #[default]
    Measure,
    /// Waiting for requests that were due in the measurement and are not done.
    Drain,
    /// Removing created files.
    Cleanup,
    /// A phase of a classic program, by name.
    Classic(String),
}

impl Phase {
    pub(crate) fn is_measure(&self) -> bool {
        *self == Self::Measure
    }

    /// Name for displays. A classic program's phase may have the same name as a general phase.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Prepare => "prepare",
            Self::Ramp => "ramp",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::Cleanup => "cleanup",
            Self::Classic(name) => name,
        }
    }

    /// Name in records, unique for each phase.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            // Names that begin with the prefix also get it, so that reading removes exactly one.
            Self::Classic(name) if Self::of_kind(name).is_some() || name.starts_with(CLASSIC) => {
                Cow::Owned(format!("{CLASSIC}{name}"))
            }
            other => Cow::Borrowed(other.name()),
        }
    }

    /// The general phase with this name.
    fn of_kind(name: &str) -> Option<Self> {
        let kinds = [
            Self::Prepare,
            Self::Ramp,
            Self::Measure,
            Self::Drain,
            Self::Cleanup,
        ];
        kinds.into_iter().find(|kind| kind.name() == name)
    }
}

impl From<String> for Phase {
    fn from(text: String) -> Self {
        match Self::of_kind(&text) {
            Some(kind) => kind,
            None => Self::Classic(match text.strip_prefix(CLASSIC) {
                Some(name) => name.to_owned(),
                None => text,
            }),
        }
    }
}

impl From<Phase> for String {
    fn from(phase: Phase) -> Self {
        phase.text().into_owned()
    }
}
