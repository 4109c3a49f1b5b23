//! The record: plan, environment and results of one run.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use plan::{Plan, TargetKind, TargetPlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::{JsonDocument, json_page, parse_json, read_json};

use crate::format::{self, FORMAT_1};
use crate::{
    CellRecord, ClusterRecord, Environment, EstimateRecord, FORMAT, ImportRecord,
    PreconditionRecord, Status, Warning,
};

/// Plan, environment and results of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Name and number of the format: [`FORMAT`].
    pub format: String,
    /// Id of the run; ids sort by start time.
    pub id: String,
    /// Start of the run. Of imported results, the time that the source states, or else the time of
    /// the import: see [`ImportOrigin::time`](crate::ImportOrigin::time).
    pub started_at: Timestamp,
    /// End of the run; none while it is running, and of imported results.
    pub finished_at: Option<Timestamp>,
    /// The program that measured, or that imported the results.
    pub pgmeter: ProgramRecord,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// How the run ended.
    pub status: Status,
    /// The plan, with every value resolved.
    pub plan: Plan,
    /// The request as a workload file in TOML, including all options. It can be used to repeat or
    /// change the run. None if the request came from another program's arguments, for files larger
    /// than 256 KiB, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_file: Option<String>,
    /// Hardware and operating system.
    #[serde(default)]
    pub environment: Environment,
    /// The processes that shared the run; none for a single process.
    #[serde(rename = "crew", default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterRecord>,
    /// Warnings about the results.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// Writes before the first cell that uses a target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<PreconditionRecord>,
    /// Results of the cells, in running order.
    pub cells: Vec<CellRecord>,
    /// Results over repetitions; empty if nothing was repeated.
    #[serde(default)]
    pub estimates: Vec<EstimateRecord>,
    /// The run that alternated with this one, cell by cell; none for a run alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternation: Option<Alternation>,
    /// Results of another program; none for a run of pgmeter. A run with imported results has no
    /// cells, and its plan is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub import: Option<ImportRecord>,
}

/// The other of two runs that were measured alternately.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alternation {
    /// Side of this run: `a` or `b`.
    pub side: String,
    /// Id of the other run.
    pub other: String,
    /// Order of the two runs in each repetition.
    pub order: String,
}

impl Alternation {
    /// For the run on `side`, whose counterpart is the run `other`.
    #[must_use]
    pub fn of(side: &str, other: String) -> Self {
        Self {
            side: side.to_owned(),
            other,
            order: "a b in every odd repetition of a cell, b a in every even one".to_owned(),
        }
    }
}

/// The program that measured, or that imported the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Program")]
pub struct ProgramRecord {
    /// The version of pgmeter.
    pub version: String,
}

impl ProgramRecord {
    /// The running program.
    #[must_use]
    pub fn current() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Reason that a record cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not JSON, or not a record.
    #[error("{}", not_a_record(.0))]
    NotARecord(#[from] serde_json::Error),
    /// A record that needs a later version.
    #[error("the record's format is `{seen}`, but this version reads `{FORMAT}`")]
    UnsupportedFormat {
        /// Format named in the record.
        seen: String,
    },
}

fn not_a_record(error: &serde_json::Error) -> String {
    let wanted = match error.is_syntax() {
        true => "JSON",
        false => "a pgmeter record",
    };
    format!("this is not {wanted}: {error}")
}

impl JsonDocument for RunRecord {
    const FORMAT: &'static str = FORMAT;

    fn to_document(&self) -> String {
        self.to_json()
    }
}

impl RunRecord {
    /// The record of a run that starts now, without results.
    #[must_use]
    pub fn new(plan: Plan, environment: Environment, command: Vec<String>) -> Self {
        let started_at = Timestamp::now();
        Self {
            format: FORMAT.to_owned(),
            id: run_id(started_at, std::process::id()),
            started_at,
            finished_at: None,
            pgmeter: ProgramRecord::current(),
            command,
            // What holds if the run never gets to its end.
            status: Status::Interrupted,
            plan,
            workload_file: None,
            environment,
            cluster: None,
            warnings: Vec::new(),
            preconditions: Vec::new(),
            cells: Vec::new(),
            estimates: Vec::new(),
            alternation: None,
            import: None,
        }
    }

    /// The record of imported results. It has no plan and no cells, because pgmeter measured
    /// nothing.
    #[must_use]
    pub fn imported(import: ImportRecord, imported_at: Timestamp) -> Self {
        let started_at = import.origin.time.unwrap_or(imported_at);
        let plan = Plan {
            workloads: Vec::new(),
            targets: Vec::new(),
            cells: Vec::new(),
            seed: 0,
            settings: Vec::new(),
            repetition_rule: None,
        };
        Self {
            id: import.id(),
            started_at,
            status: Status::Complete,
            import: Some(import),
            ..Self::new(plan, Environment::default(), Vec::new())
        }
    }

    /// Ends the run: sets the end time and the status.
    pub fn finish(&mut self, status: Status) {
        self.finished_at = Some(Timestamp::now());
        self.status = status;
    }

    /// Absolute path of a target if the record has the directory; otherwise the path as given.
    ///
    /// The name of a target without a file, such as a TCP peer, is not a path and is unchanged.
    #[must_use]
    pub fn full_path(&self, target: &TargetPlan) -> PathBuf {
        let directory = Path::new(&self.environment.directory);
        let is_path = !matches!(target.kind, TargetKind::Null | TargetKind::Network);
        if !is_path || !directory.is_absolute() {
            return target.path.clone();
        }
        // Joins by components, which drops parts such as `.`.
        directory.join(&target.path).components().collect()
    }

    /// The record as one JSON document with a final line break.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_page(self)
            .expect("every map key of a record is text and every path is written as text")
    }

    /// Reads a record that [`RunRecord::to_json`] of this or an earlier version wrote.
    ///
    /// # Errors
    /// If the text is not JSON, lacks a required field, or has an unknown format number.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let record = match parse_json::<Self>(text) {
            // Most records are of the current format, so the header alone is read only of others.
            Ok(record) if record.format == FORMAT => record,
            read => match parse_json::<RecordHeader>(text)?.written()? {
                RecordAge::Current => format::or_upgraded(read, || upgraded(parse_json(text)?))?,
                RecordAge::Earlier => upgraded(parse_json(text)?)?,
            },
        };
        Ok(Self::with_keys(record))
    }

    /// Like [`RunRecord::from_json`], but without holding the whole text in memory.
    ///
    /// # Errors
    /// Like [`RunRecord::from_json`], and if `input` cannot be read.
    pub fn read(mut input: impl Read + Seek) -> Result<Self, ReadError> {
        // The format decides how the rest is read.
        let header: RecordHeader = read_json(&mut input)?;
        input.rewind().map_err(serde_json::Error::io)?;
        let record = match header.written()? {
            RecordAge::Current => format::or_upgraded(read_json(&mut input), || {
                input.rewind().map_err(serde_json::Error::io)?;
                upgraded(read_json(&mut input)?)
            })?,
            RecordAge::Earlier => upgraded(read_json(&mut input)?)?,
        };
        Ok(Self::with_keys(record))
    }

    fn with_keys(mut record: Self) -> Self {
        record.fill_in_keys();
        record
    }
}

/// The record from a document of an earlier format.
fn upgraded(mut document: Value) -> serde_json::Result<RunRecord> {
    format::upgrade(&mut document)?;
    // Converted to text because the parser for text is compiled anyway.
    parse_json(&document.to_string())
}

/// Format age of a record.
enum RecordAge {
    /// Written in the current format.
    Current,
    /// Written in an earlier format.
    Earlier,
}

/// The part of a record that is read first.
#[derive(Deserialize)]
pub(crate) struct RecordHeader {
    /// Name and number of the format.
    pub format: String,
}

impl RecordHeader {
    fn written(self) -> Result<RecordAge, ReadError> {
        match self.format.as_str() {
            FORMAT => Ok(RecordAge::Current),
            FORMAT_1 => Ok(RecordAge::Earlier),
            _ => Err(ReadError::UnsupportedFormat { seen: self.format }),
        }
    }
}

/// Id of a run: start in UTC to the millisecond and the process ID, so that ids sort by time.
#[must_use]
pub(crate) fn run_id(started_at: Timestamp, process_id: u32) -> String {
    let start = started_at.strftime("%Y%m%d-%H%M%S");
    let milliseconds = started_at.as_millisecond().rem_euclid(1000);
    // Two processes can start in the same millisecond, so the time alone is not unique.
    format!("{start}-{milliseconds:03}-{process_id:x}")
}
