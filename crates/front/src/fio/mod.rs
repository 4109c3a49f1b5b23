//! fio's language: job files and command lines as jobs, everything about them resolved.
//!
//! Pure text to values: nothing is asked of the file system, and names of files stay as they were
//! written. What is not done is kept and marked, so that whoever runs the jobs refuses it.

mod apply;
mod builder;
mod checks;
#[macro_use]
mod choices;
mod command_line;
mod front;
mod iolog;
mod job_file;
mod jobs;
mod lexer;
pub mod output;
mod place;
mod settings;
mod show;
mod table;
mod text;
mod values;
mod variables;
mod verdicts;
mod work;

pub use command_line::{Action, Invocation, OutputFormat, Progress, read_arguments};
pub(crate) use front::FRONT;
pub use job_file::job_file;
pub use jobs::{Group, Job, JobSet, WrittenOption, WrittenPath};
pub use place::Place;
pub use settings::*;
pub use table::{OptionRow, Table, Verdict};
pub use text::text;
pub use values::{BlockShare, Distribution, Pattern, PatternPart, ZoneShare};
pub use verdicts::{files_touched, markdown, picture, verdicts};

use builder::Builder;
use checks::Limits;
use plan::Diagnostic;

/// What the language depends on besides its own text.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Reads a file that is named.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// CPUs of the machine.
    pub cpu_count: u64,
    /// Memory of the machine in bytes.
    pub memory_bytes: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
}

impl Surroundings<'_> {
    /// Where there are no files and no variables, on a machine of two CPUs.
    pub const EMPTY: Surroundings<'static> = Surroundings {
        read: &|name| Err(format!("there is no `{name}`")),
        variable: &|_| None,
        cpu_count: 2,
        memory_bytes: 1 << 30,
        page_bytes: 4096,
    };
}

/// Reads a job file.
///
/// # Errors
/// All that fio would not take either, with lines and help. Options that are refused
/// here are no errors: see [`JobSet::refusal`].
pub fn read_file(
    name: &str,
    bytes: &[u8],
    surroundings: &Surroundings<'_>,
) -> Result<JobSet, Diagnostic> {
    let mut builder = Builder::new(Limits::default());
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
