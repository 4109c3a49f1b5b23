//! What a job is told, resolved: fio's defaults, then every option that it knows.

mod access;
mod engine;
mod files;
mod pace;
mod process;
mod records;
mod safety;

pub use access::{Access, BlockSizes, Blocks, Direction, Order, RandomGenerator, Sequencer};
pub use access::{Space, ZoneMode};
pub use engine::{Engine, EngineSettings, MemoryKind};
pub use files::{Fallocate, FileOrder, FileSettings, ReadAdvice};
pub use pace::{
    FlowSettings, LatencyGoal, Pauses, Rates, SteadyMeasure, SteadyState, TimeSettings,
};
pub use process::{CpuPolicy, Grouping, ProcessSettings, WhoEnds};
pub use records::{Logs, MixedResults, Replay, Results, WindowValue};
pub use safety::{Checksum, Content, DedupeMode, Durability, ErrorSettings, IgnoredErrors};
pub use safety::{SyncOpen, Verify};

/// A value for reads, for writes and for trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> ByDirection<T> {
    /// The same for all.
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

    /// Each of them changed alike.
    pub fn map<U>(&self, change: impl Fn(&T) -> U) -> ByDirection<U> {
        ByDirection {
            read: change(&self.read),
            write: change(&self.write),
            trim: change(&self.trim),
        }
    }

    /// Each of them where one was given, in place of what is here.
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

/// Bytes, or a share of a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent of the file or the device.
    Percent(u32),
    /// Zones of a zoned device.
    Zones(u32),
}

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self::Bytes(0);

    /// The bytes, where they are known from the text alone.
    #[must_use]
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// Everything that is said of a job, with fio's defaults where nothing is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// Direction and mix.
    pub access: Access,
    /// Sizes and alignment of requests.
    pub blocks: Blocks,
    /// Where in files, and how much.
    pub space: Space,
    /// In which order.
    pub order: Order,
    /// Names and making of files.
    pub files: FileSettings,
    /// How requests are made.
    pub engine: EngineSettings,
    /// How fast.
    pub rates: Rates,
    /// Pauses between requests.
    pub pauses: Pauses,
    /// A latency to keep to.
    pub latency_goal: LatencyGoal,
    /// Whose turn it is among jobs.
    pub flow: FlowSettings,
    /// When, and how long.
    pub time: TimeSettings,
    /// What ends the job in a steady state.
    pub steady_state: Option<SteadyState>,
    /// How what is written comes to rest.
    pub durability: Durability,
    /// Whether content is read back and compared.
    pub verify: Verify,
    /// What is written.
    pub content: Content,
    /// Logs of requests that are replayed and made.
    pub replay: Replay,
    /// Threads, CPUs, priorities.
    pub process: ProcessSettings,
    /// Beside and after whom, and with whom in one result.
    pub grouping: Grouping,
    /// Which errors are borne.
    pub errors: ErrorSettings,
    /// What is told of the job.
    pub results: Results,
    /// Logs over time.
    pub logs: Logs,
    /// What `k` stands for in what is read next: 1024 or 1000.
    pub(super) kilo: Kilo,
}

/// What `k` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kilo(pub u64);

impl Default for Kilo {
    fn default() -> Self {
        Self(1024)
    }
}
