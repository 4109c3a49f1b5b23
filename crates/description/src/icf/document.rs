//! Everything that an Iometer configuration says, whatever version wrote it.
//!
//! The tree knows no spelling: key variants, integers for words and missing keys are settled by
//! the parser. A section that is missing is `None`, so that a file reads back as it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Seed;

use super::keywords::{Assignment, RecordResults, StepType, TestType, UpdateType, WorkerKind};

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The version line.
    pub version: Version,
    /// `TEST SETUP`.
    pub setup: Option<TestSetup>,
    /// `RESULTS DISPLAY`.
    pub display: Option<ResultsDisplay>,
    /// `ACCESS SPECIFICATIONS`; names are unique, case ignored.
    pub specs: Option<Vec<AccessSpec>>,
    /// `MANAGER LIST`.
    pub managers: Option<Vec<Manager>>,
}

/// The three numbers of the version line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Year, or major number.
    pub major: u32,
    /// Month, or middle number.
    pub middle: u32,
    /// Day, or minor number.
    pub minor: u32,
}

impl Version {
    /// The version that [`super::write`] writes.
    pub const WRITTEN: Self = Self {
        major: 1,
        middle: 1,
        minor: 0,
    };

    /// A number that orders versions as Iometer 1.1.0 does: every numbered version is newer than
    /// every dated one.
    #[must_use]
    pub fn order(self) -> u64 {
        let (major, middle, minor) = (
            u64::from(self.major),
            u64::from(self.middle),
            u64::from(self.minor),
        );
        if major > 1900 {
            major * 10_000 + middle * 100 + minor
        } else {
            major * 10_000_000_000 + middle * 100_000 + minor
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.major > 1900 {
            write!(f, "{}.{:02}.{:02}", self.major, self.middle, self.minor)
        } else {
            write!(f, "{}.{}.{}", self.major, self.middle, self.minor)
        }
    }
}

/// `TEST SETUP`, with Iometer's defaults for keys that are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSetup {
    /// Free text.
    pub description: String,
    /// Measured time; all zero means until stopped.
    pub run_time: RunTime,
    /// Time before measuring, in seconds.
    pub ramp_up_seconds: u32,
    /// Disk workers of a manager without a saved list.
    pub disk_workers: WorkerCount,
    /// Network workers of a manager without a saved list.
    pub network_workers: WorkerCount,
    /// Which rows the results file has.
    pub record_results: RecordResults,
    /// Steps in the number of workers.
    pub worker_cycling: Cycling,
    /// Steps in the number of targets.
    pub disk_cycling: Cycling,
    /// Steps in the queue depth.
    pub queue_depth_cycling: QueueDepthCycling,
    /// Which of the steps are taken.
    pub test_type: TestType,
}

impl Default for TestSetup {
    fn default() -> Self {
        Self {
            description: String::new(),
            run_time: RunTime::default(),
            ramp_up_seconds: 0,
            disk_workers: WorkerCount::PerCpu,
            network_workers: WorkerCount::Count(0),
            record_results: RecordResults::All,
            worker_cycling: Cycling::default(),
            disk_cycling: Cycling::default(),
            queue_depth_cycling: QueueDepthCycling::default(),
            test_type: TestType::Normal,
        }
    }
}

/// Run time as written: each part may be of any size (1988 minutes is common).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunTime {
    /// Hours.
    pub hours: u32,
    /// Minutes.
    pub minutes: u32,
    /// Seconds.
    pub seconds: u32,
}

impl RunTime {
    /// The sum, in seconds.
    #[must_use]
    pub fn total_seconds(self) -> u64 {
        u64::from(self.hours) * 3600 + u64::from(self.minutes) * 60 + u64::from(self.seconds)
    }

    /// The same time with parts below 60, where it fits.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        Some(Self {
            hours: u32::try_from(seconds / 3600).ok()?,
            minutes: (seconds / 60 % 60) as u32,
            seconds: (seconds % 60) as u32,
        })
    }
}

/// How many workers a manager without a saved list gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerCount {
    /// One for each CPU (`NUMBER_OF_CPUS`).
    PerCpu,
    /// A fixed number.
    Count(u32),
}

/// Steps of `Worker Cycling` and `Disk Cycling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycling {
    /// First value.
    pub start: u32,
    /// Added, or multiplied by, from step to step.
    pub step: u32,
    /// Added or multiplied.
    pub step_type: StepType,
}

impl Default for Cycling {
    fn default() -> Self {
        Self {
            start: 1,
            step: 1,
            step_type: StepType::Linear,
        }
    }
}

/// Steps of `Queue Depth Cycling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepthCycling {
    /// First queue depth.
    pub start: u32,
    /// Largest queue depth.
    pub end: u32,
    /// Added, or multiplied by, from step to step.
    pub step: u32,
    /// Added or multiplied.
    pub step_type: StepType,
}

impl Default for QueueDepthCycling {
    fn default() -> Self {
        Self {
            start: 1,
            end: 32,
            step: 2,
            step_type: StepType::Exponential,
        }
    }
}

/// `RESULTS DISPLAY`: what Iometer's window shows; kept, never used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResultsDisplay {
    /// Write a result file for each update.
    pub record_last_update: bool,
    /// Seconds between updates; 0 means at the end only.
    pub update_frequency_seconds: u32,
    /// What an update shows.
    pub update_type: UpdateType,
    /// The lines of the bar charts, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
}

impl Default for ResultsDisplay {
    fn default() -> Self {
        Self {
            record_last_update: false,
            update_frequency_seconds: 0,
            update_type: UpdateType::WholeTest,
            bars: Vec::new(),
        }
    }
}

/// One line about a bar chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Which chart, from 1.
    pub chart: u32,
    /// What it shows.
    pub shows: BarLine,
}

/// What a bar chart shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BarLine {
    /// The statistic, in Iometer's words.
    Statistic(String),
    /// The manager whose figure it is.
    Manager(IdName),
    /// The worker whose figure it is.
    Worker(IdName),
}

/// A number and a name, as managers and workers are identified.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdName {
    /// Tells those of the same name apart.
    pub id: i32,
    /// The name; may be empty.
    pub name: String,
}

/// One access specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSpec {
    /// The name, unique in the file with case ignored.
    pub name: String,
    /// Which new workers get it.
    pub assignment: Assignment,
    /// All lines, those with 0 % included; the shares add up to 100.
    pub lines: Vec<AccessLine>,
}

impl AccessSpec {
    /// The name of the specification that does nothing.
    pub const IDLE: &'static str = "Idle";

    /// Whether the name is that of the specification that does nothing.
    #[must_use]
    pub fn is_idle_name(name: &str) -> bool {
        name.eq_ignore_ascii_case(Self::IDLE)
    }
}

/// One access line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessLine {
    /// Bytes of a request.
    pub size: u32,
    /// Share of the transactions, in percent.
    pub of_size: u8,
    /// Share of reads, in percent.
    pub reads: u8,
    /// Share of random positions, in percent.
    pub random: u8,
    /// Wait before a burst, in milliseconds.
    pub delay_ms: u32,
    /// Transactions of a burst.
    pub burst: u32,
    /// Bytes of which offsets are multiples; 0 means the sector.
    pub align: u32,
    /// Bytes of the answer; 0 means none.
    pub reply: u32,
}

/// One manager: a machine that runs workers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manager {
    /// Number and name.
    pub identity: IdName,
    /// How Iometer reaches it; empty means this machine.
    pub address: String,
    /// Its workers.
    pub workers: Vec<Worker>,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// The name; need not be unique.
    pub name: String,
    /// What it drives.
    pub kind: WorkerKind,
    /// `Default target settings for worker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<TargetSettings>,
    /// `Assigned access specs`, in the order of running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<Vec<String>>,
    /// `Target assignments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<Target>>,
}

/// `Default target settings for worker`, with Iometer's defaults for keys that are missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TargetSettings {
    /// Requests in flight on each target.
    pub outstanding_ios: u32,
    /// Open and close the target every so many transactions.
    pub test_connection_rate: bool,
    /// How many transactions that is.
    pub transactions_per_connection: u32,
    /// Use the seed.
    pub use_fixed_seed: bool,
    /// The seed.
    pub fixed_seed: Seed,
    /// Sectors that are used, at most 2^63-1; 0 means all.
    pub max_size_sectors: u64,
    /// First sector that is used, at most 2^63-1.
    pub starting_sector: u64,
    /// 0 repeating bytes, 1 pseudo-random, 2 full random.
    pub data_pattern: u8,
    /// The local interface of a network worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_interface: Option<String>,
    /// Requests in flight of a VI worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vi_outstanding_ios: Option<u32>,
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self {
            outstanding_ios: 1,
            test_connection_rate: false,
            transactions_per_connection: 1,
            use_fixed_seed: false,
            fixed_seed: Seed(0),
            max_size_sectors: 0,
            starting_sector: 0,
            data_pattern: 0,
            network_interface: None,
            vi_outstanding_ios: None,
        }
    }
}

/// One target of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// A path, a drive letter, a device, or an address; may be empty.
    pub name: String,
    /// What it is.
    pub kind: WorkerKind,
    /// The manager at the other end of a network target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager: Option<IdName>,
}
