//! Resolved settings of a job: fio's defaults, overridden by the options that were given.

use plan::job::PerDirection;

mod access;
mod engine;
mod files;
mod pace;
mod process;
mod records;
mod safety;

pub use access::{
    AccessSettings, Blocks, Direction, JobBlockSizes, RandomGenerator, RandomOrder, Sequencer,
};
pub use access::{FileSpace, ZoneMode};
pub use engine::{Engine, EngineSettings, MemoryKind};
pub use files::{Fallocate, FileSettings, JobFileOrder, ReadAdvice};
pub use pace::{
    DirectionRates, FlowSettings, LatencyGoal, Pauses, SteadyEnd, SteadyMeasure, TimeSettings,
};
pub use process::{CpuPolicy, Grouping, ProcessSettings, WhoEnds};
pub use records::{Logs, MixedResults, Replay, Results, WindowValue};
pub use safety::{Checksum, DedupeMode, Durability, ErrorSettings, IgnoredErrors, WrittenContent};
pub use safety::{SyncOpen, VerifySettings};

/// A value for reads, for writes and for trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByDirection<T> {
    /// Value for reads.
    pub read: T,
    /// Value for writes.
    pub write: T,
    /// Value for trims.
    pub trim: T,
}

impl<T> ByDirection<T> {
    /// The same value for all directions.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        Self {
            read: value.clone(),
            write: value.clone(),
            trim: value,
        }
    }

    /// Applies a function to the value of each direction.
    pub fn map<U>(&self, change: impl Fn(&T) -> U) -> ByDirection<U> {
        ByDirection {
            read: change(&self.read),
            write: change(&self.write),
            trim: change(&self.trim),
        }
    }

    /// Replaces the values of the directions that were given.
    pub(super) fn take(&mut self, given: ByDirection<Option<T>>) {
        for (place, value) in [
            (&mut self.read, given.read),
            (&mut self.write, given.write),
            (&mut self.trim, given.trim),
        ] {
            if let Some(value) = value {
                *place = value;
            }
        }
    }
}

impl<T: Clone> ByDirection<T> {
    /// The values for the plan of a job, in which trims use the rules for writes.
    pub(in crate::fio) fn planned(&self, uses_trim: bool) -> PerDirection<T> {
        let write = if uses_trim { &self.trim } else { &self.write };
        PerDirection {
            read: self.read.clone(),
            write: write.clone(),
        }
    }
}

impl FioSettings {
    /// Request sizes by direction. In a job that trims, all directions have the sizes of its trims,
    /// because a write has the size of the trim before it.
    pub(in crate::fio) fn used_sizes(&self) -> ByDirection<JobBlockSizes> {
        let sizes = self.blocks.sizes();
        // `bs_is_seq_rand` selects the sizes for trims, too.
        match self.access.trims() && !self.blocks.is_seq_rand {
            true => ByDirection::all(sizes.trim),
            false => sizes,
        }
    }

    /// `true` if submissions are timed. That takes a second call for most requests, so they are
    /// timed only for percentiles or a log that contain them.
    pub(in crate::fio) fn times_submission(&self) -> bool {
        let is_logged = self.logs.latency.is_some() && self.logs.window_ms == 0;
        let is_reported = self.results.slat_percentiles || is_logged;
        self.engine.engine.has_ring() && self.results.slat && is_reported
    }
}

/// An amount of data: bytes, or a share of an existing file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeAmount {
    /// Number of bytes.
    Bytes(u64),
    /// Percent of the file or the device.
    Percent(u32),
    /// Number of zones of a zoned device.
    Zones(u32),
}

impl SizeAmount {
    /// Zero bytes.
    pub const ZERO: Self = Self::Bytes(0);

    /// Number of bytes; `None` if it depends on the file or device.
    #[must_use]
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// All settings of a job; options that were not given have fio's defaults.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FioSettings {
    /// Direction and mix of requests.
    pub access: AccessSettings,
    /// Sizes and alignment of requests.
    pub blocks: Blocks,
    /// Where in the files requests go, and how much they transfer.
    pub space: FileSpace,
    /// Order of random requests.
    pub order: RandomOrder,
    /// Names, layout and removal of files.
    pub files: FileSettings,
    /// I/O engine and its options.
    pub engine: EngineSettings,
    /// Rate limits.
    pub rates: DirectionRates,
    /// Pauses between requests.
    pub pauses: Pauses,
    /// Latency target and limits.
    pub latency_goal: LatencyGoal,
    /// How jobs share requests.
    pub flow: FlowSettings,
    /// Start, duration and repetitions.
    pub time: TimeSettings,
    /// Steady state that ends the job; `None` if it does not end that way.
    pub steady_state: Option<SteadyEnd>,
    /// Syncs and synchronous writes.
    pub durability: Durability,
    /// Verification of content.
    pub verify: VerifySettings,
    /// Content of writes.
    pub content: WrittenContent,
    /// Request logs to replay or to write.
    pub replay: Replay,
    /// Threads, CPUs, priorities.
    pub process: ProcessSettings,
    /// Order of jobs, and which jobs are reported as one.
    pub grouping: Grouping,
    /// Errors that do not end the job.
    pub errors: ErrorSettings,
    /// Contents of the job's results.
    pub results: Results,
    /// Logs over time.
    pub logs: Logs,
    /// Meaning of `k` in the options read next.
    pub(super) kilo: Kilo,
}

/// Meaning of the unit `k`: 1024 or 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kilo(pub u64);

impl Default for Kilo {
    fn default() -> Self {
        Self(1024)
    }
}
