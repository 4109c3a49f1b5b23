//! Launchers of MPI, and what they start.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{Finished, FixtureError, installed, run_within};

/// Far above what any test takes.
const TIMEOUT: Duration = Duration::from_secs(180);

/// A launcher of an MPI library that is installed.
#[derive(Debug, Clone)]
pub struct Mpirun {
    program: PathBuf,
    arguments: &'static [&'static str],
    library: Option<PathBuf>,
}

impl Mpirun {
    /// The distribution's Open MPI.
    ///
    /// # Errors
    /// `Unavailable` where it is not installed.
    pub fn open_mpi() -> Result<Mpirun, FixtureError> {
        // Else it refuses root, and more ranks than cores.
        let arguments = &["--allow-run-as-root", "--oversubscribe"];
        Mpirun::of_system("mpirun.openmpi", arguments)
    }

    /// The distribution's MPICH.
    ///
    /// # Errors
    /// `Unavailable` where it is not installed.
    pub fn mpich() -> Result<Mpirun, FixtureError> {
        Mpirun::of_system("mpirun.mpich", &[])
    }

    /// An MPICH with the constants of the MPI 5.0 standard, which `cargo xtask test` installs.
    ///
    /// # Errors
    /// `Unavailable` where it was not.
    pub fn standard() -> Result<Mpirun, FixtureError> {
        let missing = || FixtureError::Unavailable("no MPI library of the 5.0 standard".to_owned());
        let prefix = std::env::var_os("PGMETER_MPI_WHEEL").ok_or_else(missing)?;
        Ok(Mpirun {
            program: PathBuf::from(prefix).join("bin/mpirun"),
            arguments: &[],
            library: None,
        })
    }

    fn of_system(name: &str, arguments: &'static [&'static str]) -> Result<Mpirun, FixtureError> {
        installed(name)?;
        Ok(Mpirun {
            program: name.into(),
            arguments,
            library: None,
        })
    }

    /// The same launcher, with ranks that use this library.
    #[must_use]
    pub fn with_library(self, library: &str) -> Mpirun {
        Mpirun {
            library: Some(library.into()),
            ..self
        }
    }

    /// The directory above the directory of the launcher; `None` if it is found on the path.
    #[must_use]
    pub fn prefix(&self) -> Option<PathBuf> {
        let program = self.program.canonicalize().ok()?;
        Some(program.parent()?.parent()?.to_path_buf())
    }

    /// Starts `ranks_count` ranks of a command line and waits for their end.
    ///
    /// # Errors
    /// The launcher cannot be started or does not end in time.
    pub fn run(&self, ranks_count: usize, line: &[&str]) -> Result<Finished, FixtureError> {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        command.args(["-n", &ranks_count.to_string()]).args(line);
        command.env_remove("PGMETER_LIBMPI");
        if let Some(library) = &self.library {
            command.env("PGMETER_LIBMPI", library);
        }
        run_within(&mut command, TIMEOUT)
    }
}
