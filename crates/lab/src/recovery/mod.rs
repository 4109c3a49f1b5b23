//! Tests which guarantees a file system keeps after a crash of its kernel.
//!
//! A writer in a guest works through a [`RecoveryPlan`], which follows from its seed, and reports
//! each finished step to the host. The guest is killed, another guest mounts the image, and
//! [`check`] compares the files with what the finished steps guarantee.

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

pub use check::{Findings, UnpromisedFindings, check};
pub use crash::{CrashPoint, trial_seed};
pub use kernel_log::recovery_lines;
pub use part::{
    MountFindings, RecoveryGuestTask, check_after_crash, fsck, parse_done_step, write_until_killed,
};
pub use plan::{RecoveryOperation, RecoveryPlan, RecoveryStep, SyncKind};
pub use trial::{FileSystemTrials, Trial, TrialsOutcome};
pub use trials::RecoveryTrials;
pub use write::StepWriter;
