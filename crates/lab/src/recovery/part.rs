//! The two parts of a trial, each in a guest, and the check of the image afterwards.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::check::{Findings, check};
use super::kernel_log::KernelLog;
use super::plan::RecoveryPlan;
use super::write::StepWriter;
use crate::bench::Lab;
use crate::choice::FileSystemChoice;
use crate::error::LabError;
use crate::tools;
use crate::vm::{GuestConsole, Image, enter};

/// Prefix of the writer's line for a completed step; the number of the step follows.
const DONE_PREFIX: &str = "done ";

/// Task of a guest in a recovery trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecoveryGuestTask {
    /// Executes the plan of a seed until the guest is killed.
    Write {
        /// Seed of the plan.
        seed: u64,
        /// `true` if it really syncs; `false` for a control.
        is_honest: bool,
    },
    /// Checks the files.
    Check {
        /// Seed of the plan.
        seed: u64,
        /// Number of completed steps.
        done_count: u32,
    },
}

/// Findings of a guest that mounted a file system after its kernel was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountFindings {
    /// Duration of the mount.
    pub elapsed: Duration,
    /// Active mount options.
    pub options: String,
    /// Kernel messages during the mount.
    pub kernel_messages: Vec<String>,
    /// State of the files.
    pub findings: Findings,
    /// Why the unmount failed.
    pub not_unmounted: Option<String>,
}

/// In a guest: executes the plan, and reports each completed step to the host.
///
/// # Errors
/// I/O errors; otherwise it runs until the guest ends.
pub fn write_until_killed(
    image: &Image,
    seed: u64,
    is_honest: bool,
) -> Result<Infallible, LabError> {
    let mut console = GuestConsole::open()?;
    let built = enter(image)?;
    let writer = StepWriter::begin(&built.directory, seed, is_honest)?;
    for step in RecoveryPlan::new(seed) {
        writer.carry_out(&step)?;
        // The host has this line when the call returns, so at most the next step can be in
        // progress.
        console.say(&format!("{DONE_PREFIX}{}", step.number))?;
    }
    // If the plan ends before the kill, the guest must not shut down, which would sync everything.
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Number of the completed step in a line of the writer.
#[must_use]
pub fn parse_done_step(line: &str) -> Option<u32> {
    line.strip_prefix(DONE_PREFIX)?.parse().ok()
}

/// In another guest: mounts the image, which recovers it, and checks all files. Returns the reason
/// if it cannot be mounted.
///
/// # Errors
/// If the kernel's log cannot be read.
pub fn check_after_crash(
    image: &Image,
    seed: u64,
    done_count: u32,
) -> Result<Result<MountFindings, String>, LabError> {
    let log = Path::new("/dev/kmsg");
    // Opened before the mount, to receive all messages of the recovery.
    let kernel_log = KernelLog::open().map_err(|error| LabError::system("open", log, error))?;
    let start = Instant::now();
    let built = match enter(image) {
        Ok(built) => built,
        Err(error) => {
            let mut messages = vec![error.to_string()];
            messages.extend(kernel_log.read());
            return Ok(Err(messages.join("\n  ")));
        }
    };
    let elapsed = start.elapsed();
    // Read before the check, whose read errors would add messages.
    let messages = kernel_log.read();
    let options = built.mount().map(|mount| mount.options.join(","));
    let findings = check(&built.directory, seed, done_count);
    let not_unmounted = built.unmount().err().map(|error| error.to_string());
    Ok(Ok(MountFindings {
        elapsed,
        options: options.unwrap_or_default(),
        kernel_messages: messages,
        findings,
        not_unmounted,
    }))
}

/// Runs the file system's check program on the lab's image, which no guest uses. `None` if there is
/// no such program; its output if it found errors.
#[must_use]
pub fn fsck(lab: &mut Lab, choice: &FileSystemChoice) -> Option<Result<(), String>> {
    let (program, options) = choice.entry()?.fsck.split_first()?;
    tools::find(program)?;
    let image = lab.image_path();
    if fs::symlink_metadata(&image).is_err() {
        return None;
    }
    let mut arguments: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
    arguments.push(image.display().to_string());
    let ran = lab.run(program, &arguments);
    Some(ran.map(drop).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_lines_of_the_writer_count() {
        assert_eq!(parse_done_step("done 17"), Some(17));
        for line in ["done", "done 17EXT4-fs error", "done -1", "up", "17"] {
            assert_eq!(parse_done_step(line), None, "{line}");
        }
    }
}
