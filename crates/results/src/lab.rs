//! The record of a lab: runs in columns beside each other, with what no run can tell.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::{JsonDocument, parse_json};

use crate::format;
use crate::record::{Header, run_id};
use crate::{Environment, Program, ReadError, RunRecord};

/// Name and number of the format that records of labs are written in; it changes as
/// [`crate::FORMAT`] does.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `runs` are records of format 2 |
///
/// Added to 1: `trials`.
pub const LAB_FORMAT: &str = "pgmeter-lab/2";

/// The format of labs whose runs are records of format 1.
const LAB_FORMAT_1: &str = "pgmeter-lab/1";

/// File systems measured side by side, or tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabRecord {
    /// Name and number of the format: [`LAB_FORMAT`].
    pub format: String,
    /// Names the lab; later ones sort behind earlier ones.
    pub id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// The program that measured.
    pub pgmeter: Program,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// What it is, in a line.
    pub title: String,
    /// The machine and system of the host.
    #[serde(default)]
    pub environment: Environment,
    /// What holds for all of it, such as the scale.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The file systems.
    pub columns: Vec<LabColumn>,
    /// What failed.
    #[serde(default)]
    pub alarms: Vec<String>,
    /// Whether its times are those of guests, which cannot be compared.
    #[serde(default)]
    pub is_of_guests: bool,
    /// The workloads, or what was looked at.
    pub sections: Vec<LabSection>,
    /// What the reader should know.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The kernels that were killed, in the order of trying, where recovery was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<LabTrial>,
    /// The runs that sections name; in the results store they stand by themselves.
    #[serde(default)]
    pub runs: Vec<RunRecord>,
}

/// A file system of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabColumn {
    /// A short name.
    pub name: String,
    /// How it was made and mounted.
    pub behind: String,
}

/// What one workload came to, or what was looked at.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LabSection {
    /// What it is.
    pub heading: String,
    /// The ids of the runs of each column, in the order of running.
    #[serde(default)]
    pub runs: Vec<Vec<String>>,
    /// Figures that no run has.
    #[serde(default)]
    pub figures: Vec<LabFigure>,
    /// What is told in words.
    #[serde(default)]
    pub words: Vec<LabWords>,
}

/// Which values are the better ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Larger ones.
    Higher,
    /// Smaller ones.
    Lower,
    /// Neither: it is told, and compared with nothing.
    Neither,
}

/// A figure that no run has, such as the time to make a file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabFigure {
    /// What it is, with its unit.
    pub label: String,
    /// The values of each column, one a repetition.
    pub samples: Vec<Vec<f64>>,
    /// Which values are the better ones.
    pub better: Better,
    /// Whether it is a time, or was got from one.
    pub is_time: bool,
}

/// Something that each column has in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabWords {
    /// What it is.
    pub label: String,
    /// What each column has.
    pub values: Vec<Option<String>>,
}

/// What was there after a kernel was killed that wrote to a file system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabTrial {
    /// Index into the columns.
    pub column_index: u32,
    /// Which trial of that file system, 0-based.
    pub trial_index: u32,
    /// Steps of writing that were done when the kernel was killed.
    pub done_count: u32,
    /// How long mounting took afterwards, in nanoseconds; none where it failed.
    pub mount_ns: Option<u64>,
    /// Why it could not be mounted.
    pub not_mounted: Option<String>,
    /// Why it could not be unmounted then.
    pub not_unmounted: Option<String>,
    /// Whether the kernel recovered something while it mounted; none where it did not mount.
    pub has_recovered: Option<bool>,
    /// Whether the file system's own program found it consistent then; none where there is none.
    pub is_consistent: Option<bool>,
    /// How many files were found how, such as `promised`, `intact` and `lost`; none where nothing
    /// could be looked at.
    pub counts: BTreeMap<String, u64>,
    /// The first broken promises, in words.
    pub broken: Vec<String>,
}

impl JsonDocument for LabRecord {
    const FORMAT: &'static str = LAB_FORMAT;

    fn to_document(&self) -> String {
        self.to_json()
    }
}

impl LabRecord {
    /// A record of a lab that begins now.
    #[must_use]
    pub fn new(environment: Environment, command: Vec<String>) -> Self {
        let started_at = Timestamp::now();
        Self {
            format: LAB_FORMAT.to_owned(),
            id: run_id(started_at, std::process::id()),
            started_at,
            finished_at: None,
            pgmeter: Program::current(),
            command,
            title: String::new(),
            environment,
            remarks: Vec::new(),
            columns: Vec::new(),
            alarms: Vec::new(),
            is_of_guests: false,
            sections: Vec::new(),
            notes: Vec::new(),
            trials: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// The run of this id.
    #[must_use]
    pub fn run(&self, id: &str) -> Option<&RunRecord> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// The ids of all runs, each once, in the order of the sections.
    #[must_use]
    pub fn run_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        for id in self.sections.iter().flat_map(|it| it.runs.iter().flatten()) {
            if !ids.contains(&id.as_str()) {
                ids.push(id);
            }
        }
        ids
    }

    /// As JSON, with a final line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        units::json_page(self).expect("its maps have text for keys")
    }

    /// So many bytes tell whether a file is the record of a lab.
    pub const BEGINNING_BYTES: u64 = 200;

    /// Whether a file that begins so is the record of a lab rather than of a run.
    #[must_use]
    pub fn is_meant(beginning: &[u8]) -> bool {
        // The format stands first, as it is written.
        let mark = b"\"pgmeter-lab/";
        beginning.windows(mark.len()).any(|part| part == mark)
    }

    /// Reads what [`LabRecord::to_json`] of this or an earlier version wrote.
    ///
    /// # Errors
    /// When it is no record of a lab, or one of a later format.
    pub fn from_json(json: &str) -> Result<Self, ReadError> {
        let header: Header = parse_json(json)?;
        match header.format.as_str() {
            LAB_FORMAT => {
                let read = parse_json(json);
                Ok(format::or_upgraded(read, || upgraded(parse_json(json)?))?)
            }
            LAB_FORMAT_1 => Ok(upgraded(parse_json(json)?)?),
            _ => Err(ReadError::OtherFormat {
                seen: header.format,
            }),
        }
    }
}

/// The lab that a document of format 1 is.
fn upgraded(mut document: Value) -> serde_json::Result<LabRecord> {
    document["format"] = LAB_FORMAT.into();
    if let Some(Value::Array(runs)) = document.get_mut("runs") {
        runs.iter_mut().try_for_each(format::upgrade)?;
    }
    parse_json(&document.to_string())
}
