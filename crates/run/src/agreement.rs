//! Agreement between the processes that share a run.

use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

/// Callback that receives the highest number of rounds done by any worker of all processes.
pub type MaxRoundsCallback = Box<dyn FnOnce(u64) + Send>;

/// Callback for the end of a meeting of the workers of all processes.
pub type MeetingCallback = Box<dyn FnOnce() + Send>;

/// A meeting of workers: the stage's number, and the meeting's number in its phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MeetingId {
    /// Number of the stage, the same in all processes.
    pub stage: u64,
    /// Number of the meeting in the phase.
    pub meeting: u8,
}

/// Agreement of a process with the others that share its run.
pub trait PeerAgreement: Debug + Send + Sync {
    /// Reports that all workers here are ready, and waits for the start of the stage. Returns it in
    /// nanoseconds of this process's [clock](crate::Member::clock); it may be in the future. `None`
    /// if the stage will not start.
    fn start(&self, stop: &AtomicBool) -> Option<u64>;

    /// Sends the file news since the last exchange, and returns the other processes' news. Waits
    /// until all processes call it; `None` if the run ends.
    fn exchange(&self, news: Vec<FileNews>) -> Option<Vec<FileNews>>;

    /// Reports the highest number of rounds that a worker here has done. `then` receives the
    /// highest number of all processes once all have reported theirs.
    fn level(&self, rounds: u64, then: MaxRoundsCallback);

    /// Reports that all workers here have arrived at a meeting. `then` is called once all workers
    /// of all processes have arrived.
    fn meet(&self, meeting: MeetingId, then: MeetingCallback);

    /// Reports that no worker here will arrive at a meeting any more.
    fn leave_meeting(&self, meeting: MeetingId);

    /// Reports this process's operations per second in the cell's next round.
    fn round(&self, per_second: f64);

    /// Operations per second of all processes in a round, 0-based; `None` until all have reported
    /// it.
    fn round_of_all(&self, index: usize) -> Option<f64>;

    /// Reports when the first worker here started a stage, in nanoseconds of the clock; `phase` is
    /// `None` if the cell has no phases.
    fn begun(&self, phase: Option<&str>, begin_ns: u64);
}

/// Files of a fileset that were created or removed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileNews {
    /// Number of the fileset.
    pub fileset: u32,
    /// Worker that owns the files; `None` for shared files.
    pub worker: Option<u32>,
    /// Target of the files; `None` if no target is used.
    pub target: Option<u32>,
    /// Runs of files that were created: number of the first file, number of files, bytes per file.
    pub made: Vec<[u64; 3]>,
    /// Runs of files that were removed: number of the first file, number of files.
    pub removed: Vec<[u64; 2]>,
}
