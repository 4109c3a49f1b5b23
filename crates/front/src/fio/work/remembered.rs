//! Inputs that a plan stores so that the same jobs can be read again.

use std::collections::BTreeMap;

use plan::Diagnostic;
use serde::{Deserialize, Serialize};

use super::super::{FioInvocation, JobSet, ParserEnvironment, read_arguments};

/// All inputs of the parser.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::fio) struct ParserInputs {
    /// Arguments of the command line, without `--fio-compat`.
    pub arguments: Vec<String>,
    /// Contents of the files that were read, by name as given.
    pub files: BTreeMap<String, String>,
    /// Values of the environment variables that were used.
    pub variables: BTreeMap<String, String>,
    /// Number of CPUs of the machine.
    pub cpu_count: u64,
    /// Memory size of the machine in bytes.
    pub memory_bytes: u64,
    /// Page size of the machine in bytes.
    pub page_bytes: u64,
    /// `true` if fio's own quirks are reproduced (`--fio-compat`).
    pub is_to_the_letter: bool,
    /// Seed of jobs with `randrepeat=0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_seed: Option<u64>,
}

impl ParserInputs {
    /// The inputs as one line of JSON.
    pub fn text(&self) -> String {
        // Texts and numbers can always be written as JSON.
        units::json_line(self).unwrap_or_default()
    }

    /// Reads the output of [`ParserInputs::text`]; `None` for any other text.
    pub fn of(text: &str) -> Option<Self> {
        units::parse_json(text).ok()
    }

    /// Reads the same jobs again.
    ///
    /// # Errors
    /// Jobs that this version no longer accepts.
    pub fn read(&self) -> Result<(FioInvocation, JobSet), Diagnostic> {
        let surroundings = ParserEnvironment {
            read: &|name| {
                // The files may have changed since the run, or be on another machine.
                let known = self.files.get(name).map(|text| text.clone().into_bytes());
                known.ok_or_else(|| "it was not read before".to_owned())
            },
            variable: &|name| self.variables.get(name).cloned(),
            cpu_count: self.cpu_count,
            memory_bytes: self.memory_bytes,
            page_bytes: self.page_bytes,
            random_seed: self.random_seed,
        };
        read_arguments(&self.arguments, &surroundings)
    }
}
