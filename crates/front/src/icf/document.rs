//! The content of an Iometer configuration of any version.
//!
//! Spelling is not kept: the parser resolves variants of keys, integers that stand for words, and
//! missing keys. A missing section is `None`, so a file can be written with the same sections.

use description::iometer::{
    Assignment, IdName, IometerWorker, RecordResults, ResultsDisplay, WorkerCount,
};
use description::model::{StepKind, TestType};

/// A whole configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcfDocument {
    /// The version line.
    pub version: Version,
    /// `TEST SETUP`.
    pub setup: Option<TestSetup>,
    /// `RESULTS DISPLAY`.
    pub display: Option<ResultsDisplay>,
    /// `ACCESS SPECIFICATIONS`; names are unique, case ignored.
    pub specs: Option<Vec<IcfAccessSpec>>,
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
    pub const CURRENT: Self = Self {
        major: 1,
        middle: 1,
        minor: 0,
    };

    /// Number by which Iometer 1.1.0 orders versions: every numbered version is newer than every
    /// dated one.
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

/// `TEST SETUP`; missing keys have Iometer's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSetup {
    /// Free text.
    pub description: String,
    /// Measured time; 0 in all parts means until stopped.
    pub run_time: RunTime,
    /// Ramp time in seconds.
    pub ramp_up_seconds: u32,
    /// Number of disk workers of a manager without a saved list.
    pub disk_workers: WorkerCount,
    /// Number of network workers of a manager without a saved list.
    pub network_workers: WorkerCount,
    /// Rows to write to the results file.
    pub record_results: RecordResults,
    /// Cycling of the number of workers.
    pub worker_cycling: IcfCycling,
    /// Cycling of the number of targets.
    pub disk_cycling: IcfCycling,
    /// Cycling of the queue depth.
    pub queue_depth_cycling: QueueDepthCycling,
    /// Parameters that are cycled during the test.
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
            worker_cycling: IcfCycling::default(),
            disk_cycling: IcfCycling::default(),
            queue_depth_cycling: QueueDepthCycling::default(),
            test_type: TestType::Normal,
        }
    }
}

/// Run time as written. Each part may have any value; 1988 minutes is common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunTime {
    /// Hours.
    pub hours: u32,
    /// Minutes; may exceed 59.
    pub minutes: u32,
    /// Seconds; may exceed 59.
    pub seconds: u32,
}

impl RunTime {
    /// The sum of the parts, in seconds.
    #[must_use]
    pub fn total_seconds(self) -> u64 {
        u64::from(self.hours) * 3600 + u64::from(self.minutes) * 60 + u64::from(self.seconds)
    }

    /// The same time in minutes and seconds below 60; `None` if the hours exceed 32 bits.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        Some(Self {
            hours: u32::try_from(seconds / 3600).ok()?,
            minutes: (seconds / 60 % 60) as u32,
            seconds: (seconds % 60) as u32,
        })
    }
}

/// Cycling parameters of `Worker Cycling` and `Disk Cycling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcfCycling {
    /// First value.
    pub start: u32,
    /// Summand or factor between steps.
    pub step: u32,
    /// `step` is added or multiplied.
    pub step_type: StepKind,
}

impl Default for IcfCycling {
    fn default() -> Self {
        Self {
            start: 1,
            step: 1,
            step_type: StepKind::Linear,
        }
    }
}

/// Cycling parameters of `Queue Depth Cycling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepthCycling {
    /// First queue depth.
    pub start: u32,
    /// Largest queue depth.
    pub end: u32,
    /// Summand or factor between steps.
    pub step: u32,
    /// `step` is added or multiplied.
    pub step_type: StepKind,
}

impl Default for QueueDepthCycling {
    fn default() -> Self {
        Self {
            start: 1,
            end: 32,
            step: 2,
            step_type: StepKind::Exponential,
        }
    }
}

/// An access specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IcfAccessSpec {
    /// The name, unique in the file regardless of case.
    pub name: String,
    /// Kinds of new workers that get the specification by default.
    pub assignment: Assignment,
    /// All access lines, also those with 0 %; the shares add up to 100.
    pub lines: Vec<IcfAccessLine>,
}

impl IcfAccessSpec {
    /// Name of the specification that does no I/O.
    pub const IDLE: &'static str = "Idle";

    /// `true` for the name of the specification that does no I/O, regardless of case.
    #[must_use]
    pub fn is_idle_name(name: &str) -> bool {
        name.eq_ignore_ascii_case(Self::IDLE)
    }
}

/// A line of an access specification: one kind of request and its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcfAccessLine {
    /// Request size in bytes.
    pub size: u32,
    /// Share of the transactions, in percent.
    pub of_size: u8,
    /// Share of reads, in percent.
    pub reads: u8,
    /// Share of random positions, in percent.
    pub random: u8,
    /// Delay before a burst, in milliseconds.
    pub delay_ms: u32,
    /// Number of transactions in a burst.
    pub burst: u32,
    /// Alignment of offsets in bytes; 0 means the sector size.
    pub align: u32,
    /// Size of the reply in bytes; 0 means none.
    pub reply: u32,
}

/// A manager, that is, a machine that runs workers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manager {
    /// Number and name.
    pub identity: IdName,
    /// Network address; empty means this machine.
    pub address: String,
    /// Workers of the manager.
    pub workers: Vec<IometerWorker>,
}
