//! What is needed to read jobs again, as a plan remembers it.

use std::collections::BTreeMap;

use plan::Diagnostic;
use serde::{Deserialize, Serialize};

use super::super::{Invocation, JobSet, Surroundings, read_arguments};

/// Everything that jobs were read from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::fio) struct Remembered {
    /// The command line.
    pub arguments: Vec<String>,
    /// The files that were read, by the names that were asked for.
    pub files: BTreeMap<String, String>,
    /// The variables that were asked for.
    pub variables: BTreeMap<String, String>,
    /// Of the machine.
    pub cpu_count: u64,
    /// Of the machine.
    pub memory_bytes: u64,
    /// Of the machine.
    pub page_bytes: u64,
    /// Whether fio's slips are done, too.
    pub is_to_the_letter: bool,
}

impl Remembered {
    /// As one text.
    pub fn text(&self) -> String {
        // A map of texts and numbers is always JSON.
        units::json_line(self).unwrap_or_default()
    }

    /// From what [`Remembered::text`] made; none of anything else.
    pub fn of(text: &str) -> Option<Self> {
        units::parse_json(text).ok()
    }

    /// The same jobs once more.
    ///
    /// # Errors
    /// When a later version does not take them any more.
    pub fn read(&self) -> Result<(Invocation, JobSet), Diagnostic> {
        let surroundings = Surroundings {
            read: &|name| {
                let known = self.files.get(name).map(|text| text.clone().into_bytes());
                known.ok_or_else(|| "it was not read before".to_owned())
            },
            variable: &|name| self.variables.get(name).cloned(),
            cpu_count: self.cpu_count,
            memory_bytes: self.memory_bytes,
            page_bytes: self.page_bytes,
        };
        read_arguments(&self.arguments, &surroundings)
    }
}
