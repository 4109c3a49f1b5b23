//! What a front sees of the command line and of the machine.

use std::path::Path;

/// The content of a file that an argument names, or why it cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// A command line, the program's name left out, and what its defaults depend on.
#[derive(Clone, Copy)]
pub struct CommandLine<'a> {
    /// The arguments.
    pub arguments: &'a [String],
    /// Reads a file that an argument names.
    pub read: ReadFile<'a>,
    /// Bytes of a regular file of that name, whoever made it; none where there is none.
    pub file_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// The machine's memory in bytes; 0 where that is not known.
    pub memory_bytes: u64,
    /// Where temporary files go.
    pub temporary: &'a Path,
    /// The machine's name, without its domain.
    pub host: &'a str,
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The machine's processors; 0 where that is not known.
    pub cpu_count: u64,
    /// Whether a launcher has started several processes.
    pub has_ranks: bool,
}

impl<'a> CommandLine<'a> {
    /// Arguments where there are no files, on a machine of which nothing is known.
    #[must_use]
    pub fn of(arguments: &'a [String]) -> Self {
        Self {
            arguments,
            read: &|name| Err(format!("there is no `{name}`")),
            file_bytes: &|_| None,
            memory_bytes: 0,
            temporary: Path::new("/tmp"),
            host: "localhost",
            variable: &|_| None,
            cpu_count: 0,
            has_ranks: false,
        }
    }
}
