//! What a front sees of the command line and of the machine.

use std::path::Path;

use crate::file_access::FileAccess;

/// A command line, the program's name left out, and what its defaults depend on.
#[derive(Clone, Copy)]
pub struct CommandLine<'a> {
    /// The arguments.
    pub arguments: &'a [String],
    /// Which files the arguments may name, and which variables they may read.
    pub files: FileAccess<'a>,
    /// The machine's memory in bytes; 0 where that is not known.
    pub memory_bytes: u64,
    /// Where temporary files go.
    pub temporary: &'a Path,
    /// The machine's name, without its domain.
    pub host: &'a str,
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
            files: FileAccess::NOTHING,
            memory_bytes: 0,
            temporary: Path::new("/tmp"),
            host: "localhost",
            cpu_count: 0,
            has_ranks: false,
        }
    }
}
