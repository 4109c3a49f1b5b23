//! fio's language: parses job files and command lines into fully resolved jobs.
//!
//! Turns text into values and never touches the file system; file names stay as written.
//! Unsupported options are kept and marked as refused; [`JobSet::refusal`] turns them into errors.

mod apply;
mod builder;
mod checks;
#[macro_use]
mod choices;
mod command_line;
mod compressed_log;
mod front;
mod iolog;
mod job_file;
mod jobs;
mod lexer;
pub mod output;
mod settings;
mod show;
mod source_line;
mod table;
mod text;
mod trace;
mod values;
mod variables;
mod verdicts;
mod work;

pub use command_line::{Action, FioInvocation, OutputFormat, Progress, read_arguments};
pub(crate) use front::FRONT;
pub use job_file::job_file;
pub use jobs::{FioJob, JobGroup, JobSet, RawFileName, WrittenOption};
pub use settings::*;
pub use source_line::SourceLine;
pub use table::{FioOption, OptionSupport, OptionTable};
pub use text::text;
pub use values::{BlockShare, BytePattern, PatternPart, RandomDistribution, ZoneShare};
pub use verdicts::{files_touched, markdown, picture, verdicts};

use builder::Builder;
use checks::JobLimits;
use plan::Diagnostic;

/// Inputs of the parser other than the text itself.
#[derive(Clone, Copy)]
pub struct ParserEnvironment<'a> {
    /// Reads the file of this name.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Value of an environment variable; `None` if it is not set.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Number of CPUs, the value of `$ncpus`.
    pub cpu_count: u64,
    /// Memory size in bytes; `$mb_memory` is derived from it.
    pub memory_bytes: u64,
    /// Page size in bytes, the value of `$pagesize`.
    pub page_bytes: u64,
    /// Seed of jobs with `randrepeat=0`; `None` for the same order in every run.
    pub random_seed: Option<u64>,
}

impl ParserEnvironment<'_> {
    /// A machine with two CPUs and 1 GiB of memory, without files or variables.
    pub const EMPTY: ParserEnvironment<'static> = ParserEnvironment {
        read: &|name| Err(format!("there is no `{name}`")),
        variable: &|_| None,
        cpu_count: 2,
        memory_bytes: 1 << 30,
        page_bytes: 4096,
        random_seed: None,
    };
}

/// Reads a job file.
///
/// # Errors
/// Everything that fio rejects too, with line and help. Options that only pgmeter refuses are
/// not errors here: see [`JobSet::refusal`].
pub fn read_file(
    name: &str,
    bytes: &[u8],
    surroundings: &ParserEnvironment<'_>,
) -> Result<JobSet, Diagnostic> {
    let mut builder = Builder::new(JobLimits::default(), None);
    let mut notes = Vec::new();
    let sections = lexer::sections(name, bytes, surroundings, &mut notes)?;
    for note in notes {
        builder.note(note)?;
    }
    if let Err(error) = builder.take_file(sections, true) {
        builder.fail(error);
    }
    builder.take_errors()?;
    if builder.set.jobs.is_empty() {
        let error = Diagnostic::error(name, "there is no job in it");
        return Err(error.help("add a section such as `[job]`"));
    }
    Ok(builder.set)
}

#[cfg(test)]
mod tests;
