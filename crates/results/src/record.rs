//! The record: everything that was planned, found and measured in one run.

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
    CellRecord, CrewRecord, Environment, EstimateRecord, FORMAT, PreconditionRecord, Status,
    Warning,
};

/// Everything that was planned, found and measured in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// Name and number of the format: [`FORMAT`].
    pub format: String,
    /// Names the run; later runs sort behind earlier ones.
    pub id: String,
    /// When the run began.
    pub started_at: Timestamp,
    /// When the run ended; none while it goes on.
    pub finished_at: Option<Timestamp>,
    /// The program that measured.
    pub pgmeter: Program,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// How the run ended.
    pub status: Status,
    /// What was asked for, every value resolved.
    pub plan: Plan,
    /// What was asked for as a workload file in TOML, with all options in place, by which the run
    /// can be repeated or changed; none where another program's arguments asked for it, where it
    /// is longer than 256 KiB, and in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_file: Option<String>,
    /// The machine and system.
    #[serde(default)]
    pub environment: Environment,
    /// The processes that shared the run; none where one measured alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crew: Option<CrewRecord>,
    /// Reasons to doubt a figure.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// What was written before the first cell that uses a target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<PreconditionRecord>,
    /// What was measured, in the order of running.
    pub cells: Vec<CellRecord>,
    /// Figures over repetitions; empty when nothing was repeated.
    #[serde(default)]
    pub estimates: Vec<EstimateRecord>,
    /// The run beside which this one was measured, cell by cell in turn; none for a run alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternation: Option<Alternation>,
}

/// The other one of two runs that were measured in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alternation {
    /// Which of the two this run is: `a` or `b`.
    pub side: String,
    /// The other run's id.
    pub other: String,
    /// Who came first in which repetition.
    pub order: String,
}

impl Alternation {
    /// The place of the run that is this `side`, beside the `other` run.
    #[must_use]
    pub fn of(side: &str, other: String) -> Self {
        Self {
            side: side.to_owned(),
            other,
            order: "a b in every odd repetition of a cell, b a in every even one".to_owned(),
        }
    }
}

/// The program that measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// The version of pgmeter.
    pub version: String,
}

impl Program {
    /// This program.
    #[must_use]
    pub fn current() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Not JSON, or not a record.
    #[error("this is not a pgmeter record: {0}")]
    NotARecord(#[from] serde_json::Error),
    /// A record that only a later version can read.
    #[error("the record's format is `{seen}`, but this version reads `{FORMAT}`")]
    OtherFormat {
        /// The format named in the record.
        seen: String,
    },
}

impl JsonDocument for RunRecord {
    const FORMAT: &'static str = FORMAT;

    fn to_document(&self) -> String {
        self.to_json()
    }
}

impl RunRecord {
    /// A record of a run that begins now and has measured nothing.
    #[must_use]
    pub fn new(plan: Plan, environment: Environment, command: Vec<String>) -> Self {
        let started_at = Timestamp::now();
        Self {
            format: FORMAT.to_owned(),
            id: run_id(started_at, std::process::id()),
            started_at,
            finished_at: None,
            pgmeter: Program::current(),
            command,
            status: Status::Interrupted,
            plan,
            workload_file: None,
            environment,
            crew: None,
            warnings: Vec::new(),
            preconditions: Vec::new(),
            cells: Vec::new(),
            estimates: Vec::new(),
            alternation: None,
        }
    }

    /// Ends the run: sets its end and how it ended.
    pub fn finish(&mut self, status: Status) {
        self.finished_at = Some(Timestamp::now());
        self.status = status;
    }

    /// A target's path from the root, where the record tells it; else as it was given.
    ///
    /// The name of a target that is not touched is no path and stays as it is.
    #[must_use]
    pub fn full_path(&self, target: &TargetPlan) -> PathBuf {
        let directory = Path::new(&self.environment.directory);
        let is_path = !matches!(target.kind, TargetKind::Null | TargetKind::Network);
        if !is_path || !directory.is_absolute() {
            return target.path.clone();
        }
        // By its components, which leaves out what only means "here".
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
    /// When the text is not JSON, lacks what a record must have, or has a format number that is not
    /// known.
    pub fn from_json(text: &str) -> Result<Self, ReadError> {
        let record = match parse_json::<Header>(text)?.written()? {
            Written::Now => format::or_upgraded(parse_json(text), || upgraded(parse_json(text)?))?,
            Written::Before => upgraded(parse_json(text)?)?,
        };
        Ok(Self::with_keys(record))
    }

    /// As [`RunRecord::from_json`], without ever holding the whole text.
    ///
    /// # Errors
    /// As [`RunRecord::from_json`], and when it cannot be read.
    pub fn read(mut input: impl Read + Seek) -> Result<Self, ReadError> {
        let header: Header = read_json(&mut input)?;
        input.rewind().map_err(serde_json::Error::io)?;
        let record = match header.written()? {
            Written::Now => format::or_upgraded(read_json(&mut input), || {
                input.rewind().map_err(serde_json::Error::io)?;
                upgraded(read_json(&mut input)?)
            })?,
            Written::Before => upgraded(read_json(&mut input)?)?,
        };
        Ok(Self::with_keys(record))
    }

    fn with_keys(mut record: Self) -> Self {
        record.fill_in_keys();
        record
    }
}

/// The record that a document of an earlier format is.
fn upgraded(mut document: Value) -> serde_json::Result<RunRecord> {
    format::upgrade(&mut document)?;
    // Read from text, for which the code is there.
    parse_json(&document.to_string())
}

/// Which version wrote a record.
enum Written {
    /// One with the format of this.
    Now,
    /// One with an earlier format.
    Before,
}

/// What is looked at before the rest is read.
#[derive(Deserialize)]
pub(crate) struct Header {
    /// Name and number of the format.
    pub format: String,
}

impl Header {
    fn written(self) -> Result<Written, ReadError> {
        match self.format.as_str() {
            FORMAT => Ok(Written::Now),
            FORMAT_1 => Ok(Written::Before),
            _ => Err(ReadError::OtherFormat { seen: self.format }),
        }
    }
}

/// A run's id: its start in UTC to the millisecond and the process, so that ids sort by time.
#[must_use]
pub(crate) fn run_id(started_at: Timestamp, process_id: u32) -> String {
    let start = started_at.strftime("%Y%m%d-%H%M%S");
    let milliseconds = started_at.as_millisecond().rem_euclid(1000);
    format!("{start}-{milliseconds:03}-{process_id:x}")
}
