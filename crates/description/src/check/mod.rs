//! Values that no target could make right, found without facts.

mod access;
mod files;
mod jobs;
mod new_file;
mod program;
mod rate;
mod until;
mod values;

use crate::model::Workload;
use plan::Diagnostic;

pub use access::{REQUEST_BYTES_MAX, is_idle, of_size};
pub(crate) use files::{meaningless, strip};
pub(crate) use jobs::{
    FileState, LooseJob, LoosePart, clones_of, taken_apart, waves, with_defaults,
};
pub use jobs::{job_title, jobs, waves_of_jobs, whole_job_tables};
pub use program::program;
pub(crate) use program::{
    largest, usual_align, usual_names, usual_piece, usual_turn, usual_way, usual_which,
};
pub use until::ROUND_MIN;
pub use values::{IODEPTH_MAX, WORKERS_MAX, given_twice};

/// A step on the way to a value of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Into a table.
    Key(&'static str),
    /// Into a list, 0-based.
    Index(usize),
}

/// Something wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The way to the value.
    pub path: Vec<Step>,
    /// What was seen against what was wanted.
    pub message: String,
    /// One action.
    pub help: String,
}

impl Flaw {
    /// A flaw of the value under `key`.
    pub fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            path: vec![Step::Key(key)],
            message: message.into(),
            help: help.into(),
        }
    }

    /// The same flaw seen from one list element further out.
    pub fn within(mut self, key: &'static str, index: usize) -> Self {
        self.path.splice(0..0, [Step::Key(key), Step::Index(index)]);
        self
    }

    /// The error, without line and column.
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        Diagnostic::error(file, self.message.clone()).help(self.help.clone())
    }
}

/// Checks every value that is written; what is not written is no flaw.
pub(crate) fn check(workload: &Workload) -> Result<(), Flaw> {
    values::check(workload)?;
    rate::check(workload)?;
    until::check(workload)?;
    access::check(workload)?;
    files::check(workload)?;
    jobs::check(workload)?;
    for (index, part) in workload.part.iter().enumerate() {
        let flaw = if part.part.is_empty() {
            check(part).err()
        } else {
            Some(Flaw::new(
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

/// Checks a workload that is complete in itself: nothing will be laid over or under it.
pub fn check_whole(workload: &Workload) -> Result<(), Flaw> {
    check(workload)?;
    values::check_whole(workload)?;
    rate::check_whole(workload)?;
    until::check_whole(workload)?;
    new_file::check_whole(workload)?;
    jobs::check_whole(workload)?;
    files::check_whole(workload)
}
