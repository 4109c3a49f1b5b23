//! Runs a program for each file, one after the other.
//!
//! Most of the measured time is the start of the programs. The caller therefore also measures the
//! same number of starts of a program that does nothing.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use engine::ChildrenTime;
use plan::program::{CommandArgument, FileCommand};

use crate::RunError;

/// Search path if `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

/// Result of running programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecResult {
    /// Number of programs that exited successfully.
    pub done_count: u64,
    /// Number of programs that could not be started or did not exit successfully.
    pub failed_count: u64,
    /// Description of the first failure.
    pub first_failure: Option<String>,
    /// `true` if the run was stopped before the last file.
    pub is_stopped: bool,
    /// Elapsed time, in nanoseconds.
    pub real_ns: u64,
    /// CPU time of the programs in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time of the programs in the kernel, in nanoseconds.
    pub system_ns: u64,
}

/// Runs the command's program for each name, which is relative to `directory`, and waits for its
/// end before the next start.
///
/// `stop` is checked before each file. Ctrl-C does not interrupt the running program, which has its
/// own process group. No other thread may wait for child processes meanwhile, because their CPU
/// time would be counted.
///
/// # Errors
/// The program is not found, or there is no null device. Nothing was started then.
pub fn run_for_each(
    command: FileCommand,
    names: impl Iterator<Item = PathBuf>,
    directory: &Path,
    stop: &AtomicBool,
) -> Result<ExecResult, RunError> {
    RepeatedCommand::new(command, directory)?.run_for_each(names, stop)
}

/// A command that can be started many times.
struct RepeatedCommand<'a> {
    command: FileCommand,
    program: PathBuf,
    directory: &'a Path,
    null: File,
    /// `true` if `null` is a regular file, which would keep the programs' output.
    keeps_output: bool,
}

impl<'a> RepeatedCommand<'a> {
    fn new(command: FileCommand, directory: &'a Path) -> Result<Self, RunError> {
        let program = find_program(command.program())?;
        let no_null = |source| RunError::System {
            what: "open the null device".to_owned(),
            source,
        };
        let null = storage::null_device().map_err(no_null)?;
        let keeps_output = null.metadata().map_err(no_null)?.is_file();
        Ok(Self {
            command,
            program,
            directory,
            null,
            keeps_output,
        })
    }

    fn run_for_each(
        &self,
        names: impl Iterator<Item = PathBuf>,
        stop: &AtomicBool,
    ) -> Result<ExecResult, RunError> {
        let mut executed = ExecResult::default();
        // Only this loop waits for child processes, so the difference is their CPU time.
        let (start, start_cpu) = (Instant::now(), ChildrenTime::so_far());
        for name in names {
            if stop.load(Ordering::Relaxed) {
                executed.is_stopped = true;
                break;
            }
            let status = self.start(&name);
            if self.keeps_output {
                // An empty file in memory replaces a missing `/dev/null`, and it must not grow.
                let _ = self.null.set_len(0);
            }
            if status.as_ref().is_ok_and(ExitStatus::success) {
                executed.done_count += 1;
                continue;
            }
            executed.failed_count += 1;
            executed
                .first_failure
                .get_or_insert_with(|| self.failure(&name, status));
        }
        let cpu = ChildrenTime::so_far().since(start_cpu);
        executed.real_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        executed.user_ns = cpu.user_ns;
        executed.system_ns = cpu.system_ns;
        Ok(executed)
    }

    fn start(&self, name: &Path) -> io::Result<ExitStatus> {
        let null = || self.null.try_clone().map(OwnedFd::from).map(Stdio::from);
        let name = protect_leading_dash(name);
        std::process::Command::new(&self.program)
            .args(arguments(self.command, name.as_os_str()))
            .current_dir(self.directory)
            // The terminal sends Ctrl-C to its foreground group only, so the program ends normally.
            .process_group(0)
            .stdin(null()?)
            .stdout(null()?)
            .stderr(null()?)
            .status()
    }

    #[cold]
    fn failure(&self, name: &Path, result: io::Result<ExitStatus>) -> String {
        let (program, name) = (self.command.program(), name.display());
        match result {
            Ok(status) => format!("`{program}` for `{name}`: {status}"),
            Err(error) => format!("`{program}` for `{name}`: {error}"),
        }
    }
}

/// Arguments of the command's program for a file.
///
/// The path must not start with a dash, because programs take that for an option.
fn arguments(command: FileCommand, path: &OsStr) -> Vec<OsString> {
    let argument = |word| match word {
        CommandArgument::Text(text) => OsString::from(text),
        CommandArgument::File(before) => {
            let mut argument = OsString::from(before);
            argument.push(path);
            argument
        }
    };
    command.words().into_iter().map(argument).collect()
}

/// The name in a form that no program takes for an option.
fn protect_leading_dash(name: &Path) -> PathBuf {
    if name.as_os_str().as_bytes().starts_with(b"-") {
        return Path::new(".").join(name);
    }
    name.to_owned()
}

fn find_program(program: &str) -> Result<PathBuf, RunError> {
    let paths = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    find(program, std::env::split_paths(&paths)).map_err(|source| RunError::System {
        what: format!("find the program `{program}`"),
        source,
    })
}

/// First program of this name in the directories.
fn find(program: &str, directories: impl Iterator<Item = PathBuf>) -> io::Result<PathBuf> {
    let is_program = |path: &PathBuf| {
        let found = std::fs::metadata(path);
        found.is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    // The child runs in another directory, where a relative entry would mean another path.
    let absolute = directories.filter_map(|directory| std::path::absolute(directory).ok());
    absolute
        .map(|directory| directory.join(program))
        .find(is_program)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests;
