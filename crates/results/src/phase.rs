//! What a cell belongs to.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stands before a classic's phase whose name would be taken for something else.
const CLASSIC: &str = "classic:";

/// What a cell belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum Phase {
    /// Making files and writing their content.
    Prepare,
    /// Running without being measured.
    Ramp,
    /// Being measured.
    #[default]
    Measure,
    /// Waiting for what was due in the measurement and is not done.
    Drain,
    /// Removing what was made.
    Cleanup,
    /// A classic program's own phase.
    Classic(String),
}

impl Phase {
    pub(crate) fn is_measure(&self) -> bool {
        *self == Self::Measure
    }

    /// The name in displays; a classic's own phase may have that of another kind.
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

    /// The text in records, which no two phases share.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Classic(name) if Self::of_kind(name).is_some() || name.starts_with(CLASSIC) => {
                Cow::Owned(format!("{CLASSIC}{name}"))
            }
            other => Cow::Borrowed(other.name()),
        }
    }

    /// The phase that is no classic's, by its name.
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
