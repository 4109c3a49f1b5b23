//! Tests which promises a file system keeps after a crash of its kernel.
//!
//! A writer in a guest works through a [`RecoveryPlan`], which follows from its seed, and reports
//! each finished step to the host. The guest is killed, another guest mounts the image, and
//! [`check`] compares the files with what the finished steps promise.

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
pub use part::{GuestPart, Mounted, check_after_crash, done_step, fsck, write_until_killed};
pub use plan::{RecoveryAct, RecoveryPlan, RecoveryStep, Syncing};
pub use trial::{Trial, TrialsOfOne, TrialsOutcome};
pub use trials::RecoveryTrials;
pub use write::StepWriter;
