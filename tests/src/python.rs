//! Packages of Python that read what pgmeter writes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bed::finish;
use crate::command::Finished;
use crate::error::FixtureError;

/// Python packages in a directory of their own.
#[derive(Debug)]
pub struct PythonPackages {
    directory: PathBuf,
}

impl PythonPackages {
    /// Installs packages into a new subdirectory of a scratch directory.
    ///
    /// # Errors
    /// `Unavailable` if pip or its index cannot be used.
    pub fn new(scratch: &Path, packages: &[&str]) -> Result<PythonPackages, FixtureError> {
        let directory = scratch.join("python");
        let output = Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--retries=1", "--timeout=10"])
            .arg("--target")
            .arg(&directory)
            .args(packages)
            .output();
        let reason = match output {
            Ok(output) if output.status.success() => return Ok(PythonPackages { directory }),
            Ok(output) => output.status.to_string(),
            Err(error) => error.to_string(),
        };
        let packages = packages.join(", ");
        Err(FixtureError::Unavailable(format!(
            "pip cannot install {packages} (python3: {reason})"
        )))
    }

    /// Path of a program that a package has installed.
    #[must_use]
    pub fn program(&self, name: &str) -> String {
        self.directory.join("bin").join(name).display().to_string()
    }

    /// Runs Python with these packages in a directory.
    #[must_use]
    pub fn run(&self, directory: &Path, arguments: &[&str]) -> Finished {
        let mut command = Command::new("python3");
        // Some packages run programs that other packages have installed.
        let path = std::env::var("PATH").unwrap_or_default();
        let programs = self.directory.join("bin");
        command
            .args(arguments)
            .env("PYTHONPATH", &self.directory)
            .env("PATH", format!("{}:{path}", programs.display()))
            .current_dir(directory);
        finish(&mut command)
    }
}
