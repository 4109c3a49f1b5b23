//! Checks of values that need no facts about the machine or the targets.

pub(crate) mod access;
mod files;
mod new_file;
mod rate;
mod until;
pub(crate) mod values;

pub use crate::flaw::{PathStep, ValueError};
use crate::model::{Workload, job};

pub use crate::model::job::jobs;
pub use crate::model::program;
pub use access::{REQUEST_BYTES_MAX, is_idle, of_size};
pub(crate) use files::{inapplicable_key, strip};
pub use until::ROUND_MIN;
pub use values::{IODEPTH_MAX, WORKERS_MAX, repeated_target};

/// Checks every value that is written; missing keys are accepted.
///
/// # Errors
/// The first error.
pub fn check(workload: &Workload) -> Result<(), ValueError> {
    values::check(workload)?;
    rate::check(workload)?;
    until::check(workload)?;
    access::check(workload)?;
    files::check(workload)?;
    job::check(workload)?;
    for (index, part) in workload.part.iter().enumerate() {
        let flaw = if part.part.is_empty() {
            check(part).err()
        } else {
            // `resolve` splits a file once, so inner parts would never run.
            Some(ValueError::new(
                "part",
                "a part of a pack has parts",
                "write them as parts of the file",
            ))
        };
        if let Some(flaw) = flaw {
            return Err(flaw.within("part", index));
        }
    }
    Ok(())
}

/// Checks a workload that is complete: nothing will be merged with it.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    check(workload)?;
    values::check_whole(workload)?;
    rate::check_whole(workload)?;
    until::check_whole(workload)?;
    new_file::check_whole(workload)?;
    job::check_whole(workload)?;
    files::check_whole(workload)
}
