//! What can go wrong in a developer command.

use std::path::{Path, PathBuf};

/// Why a developer command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line names something unknown.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot use `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// The program's name.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program ended with another status than 0.
    #[error("`{program}` failed: {message}")]
    Program {
        /// The program's name.
        program: String,
        /// Its status and what it printed.
        message: String,
    },
    /// A program's output is not what its documentation says.
    #[error("cannot read the output of `{program}`: {message}")]
    Output {
        /// The program's name.
        program: String,
        /// What is missing.
        message: String,
    },
    /// What is needed cannot be had here.
    #[error("{0}")]
    Missing(String),
    /// A fixture could not be set up.
    #[error(transparent)]
    Fixture(#[from] end_to_end::FixtureError),
    /// The checks ran and found something.
    #[error("{0}")]
    Found(String),
    /// Tests failed, and the count that has been printed says so; nothing is printed behind it.
    #[error("tests failed")]
    Counted,
    /// Ctrl-C was pressed; what was set up has been taken down.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// A file error at `path`.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure + '_ {
        move |source| Failure::File {
            path: path.to_path_buf(),
            source,
        }
    }

    /// A program that could not be started.
    pub fn start(program: &str) -> impl FnOnce(std::io::Error) -> Failure + '_ {
        move |source| Failure::Start {
            program: program.to_owned(),
            source,
        }
    }
}
