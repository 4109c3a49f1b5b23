//! Errors of developer commands.

use std::path::{Path, PathBuf};

/// Reason that a developer command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line names something unknown.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// Name of the program.
        program: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A program ended with a nonzero status.
    #[error("`{program}` failed: {message}")]
    Program {
        /// Name of the program.
        program: String,
        /// Its status and output.
        message: String,
    },
    /// A program's output does not have the documented format.
    #[error("cannot read the output of `{program}`: {message}")]
    Output {
        /// Name of the program.
        program: String,
        /// The missing part.
        message: String,
    },
    /// A requirement is not available here.
    #[error("{0}")]
    Missing(String),
    /// A fixture could not be set up.
    #[error(transparent)]
    Fixture(#[from] end_to_end::FixtureError),
    /// The checks found problems.
    #[error("{0}")]
    ChecksFailed(String),
    /// Tests failed. The printed count is the last line, so nothing is printed after it.
    #[error("tests failed")]
    TestsFailed,
    /// Ctrl-C was pressed; fixtures have been removed.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// An error on the file at `path`.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure + '_ {
        move |source| Failure::File {
            path: path.to_path_buf(),
            source,
        }
    }

    /// An error of starting a program.
    pub fn start(program: &str) -> impl FnOnce(std::io::Error) -> Failure + '_ {
        move |source| Failure::Start {
            program: program.to_owned(),
            source,
        }
    }
}
