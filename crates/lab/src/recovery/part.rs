//! The two parts of a trial, each done in a guest, and what programs say of the image afterwards.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::check::{Findings, check};
use super::kernel_log::KernelLog;
use super::plan::Plan;
use super::write::Writer;
use crate::bench::Lab;
use crate::choice::Choice;
use crate::error::LabError;
use crate::tools;
use crate::vm::{Console, Image, enter};

/// What the writer says of a step that is done, before its number.
const DONE: &str = "done ";

/// What a guest does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Carries out the plan of a seed until it is killed.
    Write {
        /// The seed.
        seed: u64,
        /// Whether it syncs what it says it syncs.
        is_honest: bool,
    },
    /// Looks at what is there.
    Check {
        /// The seed.
        seed: u64,
        /// How many steps were done.
        done_count: u32,
    },
}

/// What a guest found when it mounted a file system whose kernel had been killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mounted {
    /// How long mounting took.
    pub elapsed: Duration,
    /// The options that were in force.
    pub options: String,
    /// What the kernel said meanwhile.
    pub said: Vec<String>,
    /// What was there.
    pub findings: Findings,
    /// Why it could not be unmounted.
    pub not_unmounted: Option<String>,
}

/// In a guest: carries out the plan, and tells the host each step that is done.
///
/// # Errors
/// What the system says; nothing else ends it but the end of the guest.
pub fn write_until_killed(
    image: &Image,
    seed: u64,
    is_honest: bool,
) -> Result<Infallible, LabError> {
    let mut console = Console::open()?;
    let built = enter(image)?;
    let writer = Writer::begin(&built.directory, seed, is_honest)?;
    for step in Plan::new(seed) {
        writer.carry_out(&step)?;
        // With the host when this returns: not more than the next step can be under way.
        console.say(&format!("{DONE}{}", step.number))?;
    }
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// The step that a line of the writer says is done.
#[must_use]
pub fn done_step(line: &str) -> Option<u32> {
    line.strip_prefix(DONE)?.parse().ok()
}

/// In another guest: mounts the image, which recovers it, and looks at all that is there; the
/// reason in words where it cannot be mounted.
///
/// # Errors
/// When the kernel's log cannot be read.
pub fn check_after_crash(
    image: &Image,
    seed: u64,
    done_count: u32,
) -> Result<Result<Mounted, String>, LabError> {
    let log = Path::new("/dev/kmsg");
    let kernel_log = KernelLog::open().map_err(|error| LabError::system("open", log, error))?;
    let start = Instant::now();
    let built = match enter(image) {
        Ok(built) => built,
        Err(error) => {
            let mut said = vec![error.to_string()];
            said.extend(kernel_log.read());
            return Ok(Err(said.join("\n  ")));
        }
    };
    let elapsed = start.elapsed();
    let said = kernel_log.read();
    let options = built.mount().map(|mount| mount.options.join(","));
    let findings = check(&built.directory, seed, done_count);
    let not_unmounted = built.unmount().err().map(|error| error.to_string());
    Ok(Ok(Mounted {
        elapsed,
        options: options.unwrap_or_default(),
        said,
        findings,
        not_unmounted,
    }))
}

/// Has the file system's program look at the lab's image, which no guest uses; none where there is
/// no such program, what it printed where it found something.
#[must_use]
pub fn fsck(lab: &mut Lab, choice: &Choice) -> Option<Result<(), String>> {
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
    fn only_whole_words_of_the_writer_count() {
        assert_eq!(done_step("done 17"), Some(17));
        for line in ["done", "done 17EXT4-fs error", "done -1", "up", "17"] {
            assert_eq!(done_step(line), None, "{line}");
        }
    }
}
