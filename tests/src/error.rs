//! What can go wrong with a fixture.

use std::path::{Path, PathBuf};

/// Why a fixture is not there.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// This system cannot provide it: not root, no loop device, a program missing.
    #[error("{0}")]
    Unavailable(String),
    /// A program failed.
    #[error("`{command}` failed: {message}")]
    Program {
        /// The command line.
        command: String,
        /// What it printed.
        message: String,
    },
    /// A program did not end in time and was killed.
    #[error("`{command}` did not end within {seconds} s")]
    TimedOut {
        /// The command line.
        command: String,
        /// How long was waited.
        seconds: u64,
    },
    /// A file could not be used.
    #[error("cannot use `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A text is not what it should be.
    #[error("{0}")]
    Syntax(String),
}

impl FixtureError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> FixtureError + '_ {
        move |source| FixtureError::File {
            path: path.to_path_buf(),
            source,
        }
    }
}

/// The fixture, or the reason why this system cannot provide it.
///
/// # Errors
/// The reason to skip.
///
/// # Panics
/// When the fixture should have been possible and failed.
pub fn available<T>(fixture: Result<T, FixtureError>) -> Result<T, String> {
    match fixture {
        Ok(fixture) => Ok(fixture),
        Err(FixtureError::Unavailable(reason)) => Err(reason),
        Err(failure) => panic!("the fixture failed: {failure}"),
    }
}
