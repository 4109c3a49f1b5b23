//! The record of a lab: runs side by side in columns, and results that belong to no single run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::{JsonDocument, parse_json};

use crate::format;
use crate::record::{RecordHeader, run_id};
use crate::{Environment, ProgramRecord, ReadError, RunRecord};

/// Name and number of the format of lab records. It changes under the same rules as
/// [`crate::FORMAT`].
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
/// | 2 | 0.1.0 | `runs` are records of format 2 |
///
/// Added to 1: `trials`.
pub const LAB_FORMAT: &str = "pgmeter-lab/2";

/// The format of labs whose runs have format 1.
const LAB_FORMAT_1: &str = "pgmeter-lab/1";

/// File systems measured side by side, or tested for recovery after a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabRecord {
    /// Name and number of the format: [`LAB_FORMAT`].
    pub format: String,
    /// Id of the lab; ids sort by start time.
    pub id: String,
    /// Start of the lab.
    pub started_at: Timestamp,
    /// End of the lab.
    pub finished_at: Option<Timestamp>,
    /// The program that measured.
    pub pgmeter: ProgramRecord,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// Title, one line.
    pub title: String,
    /// Hardware and operating system of the host.
    #[serde(default)]
    pub environment: Environment,
    /// Remarks on the whole lab, such as the scale.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The file systems, one per column.
    pub columns: Vec<LabColumn>,
    /// Failures.
    #[serde(default)]
    pub alarms: Vec<String>,
    /// `true` if the times were measured in guests and cannot be compared with native runs.
    #[serde(default)]
    pub is_of_guests: bool,
    /// The workloads or other topics.
    pub sections: Vec<LabSection>,
    /// Notes for the reader.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Kernels that were killed in recovery tests, in the order of the trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<LabTrial>,
    /// The runs that sections refer to. The results store keeps them as separate runs.
    #[serde(default)]
    pub runs: Vec<RunRecord>,
}

/// A file system of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabColumn {
    /// Short name.
    pub name: String,
    /// How it was created and mounted.
    pub behind: String,
}

/// Results of one workload or topic.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LabSection {
    /// Heading of the section.
    pub heading: String,
    /// Ids of the runs, per column, in running order.
    #[serde(default)]
    pub runs: Vec<Vec<String>>,
    /// Values that belong to no run.
    #[serde(default)]
    pub figures: Vec<LabFigure>,
    /// Results in words.
    #[serde(default)]
    pub words: Vec<LabText>,
}

/// Which of two values is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BetterDirection {
    /// The larger value.
    Higher,
    /// The smaller value.
    Lower,
    /// Neither: the value is shown but not compared.
    Neither,
}

/// A value that belongs to no run, such as the time to create a file system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabFigure {
    /// Name of the value, with its unit.
    pub label: String,
    /// The values of each column, one per repetition.
    pub samples: Vec<Vec<f64>>,
    /// Which of two values is better.
    pub better: BetterDirection,
    /// `true` if the value is a time, or derived from one.
    pub is_time: bool,
}

/// A result in words for each column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabText {
    /// Name of the result.
    pub label: String,
    /// The result of each column, if it has one.
    pub values: Vec<Option<String>>,
}

/// State of a file system after a kernel that was writing to it was killed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LabTrial {
    /// Index into the lab's columns.
    pub column_index: u32,
    /// Number of the trial for this file system, 0-based.
    pub trial_index: u32,
    /// Number of write steps that were completed when the kernel was killed.
    pub done_count: u32,
    /// Duration of the mount after the crash, in nanoseconds; none if it failed.
    pub mount_ns: Option<u64>,
    /// Why the mount failed.
    pub not_mounted: Option<String>,
    /// Why the unmount after the check failed.
    pub not_unmounted: Option<String>,
    /// `true` if the kernel recovered something during the mount; none if it did not mount.
    pub has_recovered: Option<bool>,
    /// `true` if the file system's own check program then found it consistent; none if there is no
    /// such program.
    pub is_consistent: Option<bool>,
    /// Number of files per state found, such as `promised`, `intact` and `lost`. Empty if nothing
    /// could be checked.
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
    /// The record of a lab that starts now.
    #[must_use]
    pub fn new(environment: Environment, command: Vec<String>) -> Self {
        let started_at = Timestamp::now();
        Self {
            format: LAB_FORMAT.to_owned(),
            id: run_id(started_at, std::process::id()),
            started_at,
            finished_at: None,
            pgmeter: ProgramRecord::current(),
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

    /// The run with this id.
    #[must_use]
    pub fn run(&self, id: &str) -> Option<&RunRecord> {
        self.runs.iter().find(|run| run.id == id)
    }

    /// The ids of all runs, without duplicates, in the order of the sections.
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

    /// The record as JSON, with a final line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        units::json_page(self).expect("its maps have text for keys")
    }

    /// Number of bytes from the start of a file that [`Self::is_lab_record`] needs.
    pub const SNIFF_BYTES: u64 = 200;

    /// `true` if a file that starts with these bytes is the record of a lab, not of a run.
    #[must_use]
    pub fn is_lab_record(beginning: &[u8]) -> bool {
        // The format is the first field that is written.
        let mark = b"\"pgmeter-lab/";
        beginning.windows(mark.len()).any(|part| part == mark)
    }

    /// Reads a lab record that [`LabRecord::to_json`] of this or an earlier version wrote.
    ///
    /// # Errors
    /// If it is not a lab record, or has a later format.
    pub fn from_json(json: &str) -> Result<Self, ReadError> {
        let header: RecordHeader = parse_json(json)?;
        let mut lab: Self = match header.format.as_str() {
            LAB_FORMAT => {
                let read = parse_json(json);
                format::or_upgraded(read, || upgraded(parse_json(json)?))?
            }
            LAB_FORMAT_1 => upgraded(parse_json(json)?)?,
            _ => {
                return Err(ReadError::UnsupportedFormat {
                    seen: header.format,
                });
            }
        };
        lab.runs.iter_mut().for_each(RunRecord::fill_in_keys);
        Ok(lab)
    }
}

/// The lab record from a document of format 1.
fn upgraded(mut document: Value) -> serde_json::Result<LabRecord> {
    document["format"] = LAB_FORMAT.into();
    if let Some(Value::Array(runs)) = document.get_mut("runs") {
        runs.iter_mut().try_for_each(format::upgrade)?;
    }
    parse_json(&document.to_string())
}
