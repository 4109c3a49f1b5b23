//! Where a process that shares a run agrees with the others.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

/// Hears how many rounds any worker of all processes has done.
pub type HearRounds = Box<dyn FnOnce(u64) + Send>;

/// Where a process that shares a run agrees with the others on when to begin.
pub trait Meeting: Debug + Send + Sync {
    /// All workers here are ready. When they are to begin, in nanoseconds of this process's
    /// [clock](crate::Member::clock), which may lie ahead; none where nobody begins any more.
    fn start(&self, stop: &AtomicBool) -> Option<u64>;

    /// What became of files here since the last time, for what became of them elsewhere: comes
    /// back when all processes are as far; none where nobody goes on.
    fn exchange(&self, news: Vec<FileNews>) -> Option<Vec<FileNews>>;

    /// Workers here have done so many rounds at most; `then` hears how many any has, once all
    /// processes have said so.
    fn level(&self, rounds: u64, then: HearRounds);

    /// In the cell's next round, so many operations a second were done here.
    fn round(&self, per_second: f64);

    /// How many all processes did in that round, 0-based; none until all have said so.
    fn round_of_all(&self, index: usize) -> Option<f64>;

    /// The first of the workers here began at that time of the clock, in a stage of that phase
    /// where the cell has phases.
    fn begun(&self, phase: Option<&str>, begin_ns: u64);
}

/// What became of some files of a fileset.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileNews {
    /// The number of the fileset.
    pub fileset: u32,
    /// The worker whose they are; none for those of all.
    pub worker: Option<u32>,
    /// The target that they are on; none where nothing is touched.
    pub target: Option<u32>,
    /// Files that were made: the first, how many follow each other, bytes of each.
    pub made: Vec<[u64; 3]>,
    /// Files that were removed: the first, how many follow each other.
    pub removed: Vec<[u64; 2]>,
}
