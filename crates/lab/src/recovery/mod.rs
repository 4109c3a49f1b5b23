//! What a file system keeps of what it promised, when its kernel dies.
//!
//! A writer in a guest works through a [`Plan`], which follows from its seed, and tells the host
//! each step that is done. The guest is killed, another one mounts the image, and [`check`] holds
//! what is there against what the steps that were done promise.

mod check;
mod content;
mod crash;
mod kernel_log;
mod part;
mod plan;
mod promise;
mod trial;
mod trials;
mod write;

pub use check::{Beyond, Findings, check};
pub use crash::{Crash, trial_seed};
pub use kernel_log::recovery_lines;
pub use part::{Mounted, Part, check_after_crash, done_step, fsck, write_until_killed};
pub use plan::{Act, Plan, Step, Syncing};
pub use trial::{Trial, TrialsOfOne, TrialsOutcome};
pub use trials::RecoveryTrials;
pub use write::Writer;
