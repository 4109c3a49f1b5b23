//! The command line and the facts of the machine that a front depends on.

use std::path::Path;

use crate::file_access::FileAccess;

/// A command line without the program's name, and the facts that its defaults depend on.
#[derive(Clone, Copy)]
pub struct CommandLine<'a> {
    /// Arguments after the program's name.
    pub arguments: &'a [String],
    /// Access to the files that the arguments may name and to the variables they may read.
    pub files: FileAccess<'a>,
    /// The machine's memory in bytes; 0 if unknown.
    pub memory_bytes: u64,
    /// Directory for temporary files.
    pub temp_dir: &'a Path,
    /// The machine's host name, without its domain.
    pub host: &'a str,
    /// Number of CPUs; 0 if unknown.
    pub cpu_count: u64,
    /// `true` if a launcher started several processes.
    pub has_ranks: bool,
}

impl<'a> CommandLine<'a> {
    /// Arguments with no files, on a machine of which nothing is known.
    #[must_use]
    pub fn of(arguments: &'a [String]) -> Self {
        Self {
            arguments,
            files: FileAccess::EMPTY,
            memory_bytes: 0,
            temp_dir: Path::new("/tmp"),
            host: "localhost",
            cpu_count: 0,
            has_ranks: false,
        }
    }
}
