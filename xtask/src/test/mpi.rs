//! An MPI library with the constants of the MPI 5.0 standard for tests. It comes from Python's
//! package index and is installed into the target directory, with its launcher.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variable that gives tests its path: the directory above `bin` and `lib`.
pub const WHEEL_VARIABLE: &str = "PGMETER_MPI_WHEEL";
const WHEEL: &str = "mpich==5.0.2";

/// Installs the wheel, unless it is already installed. Returns its directory, or why it is not
/// available.
pub fn wheel() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // This program is `<target>/debug/xtask`.
    let directory = own.ancestors().nth(2).unwrap_or(&own).join("mpi-wheel");
    if let Some(prefix) = prefix(&directory) {
        return Ok(prefix);
    }
    let status = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-input"])
        .args([
            // pip would not install a package that the system's Python already has.
            "--ignore-installed",
            "--no-deps",
            "--no-warn-script-location",
        ])
        .args(["--disable-pip-version-check", "--retries=1", "--timeout=10"])
        .arg("--prefix")
        .args([&directory, Path::new(WHEEL)])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => {
            prefix(&directory).ok_or_else(|| format!("the wheel `{WHEEL}` has no `mpirun`"))
        }
        Ok(status) => Err(format!("the wheel `{WHEEL}` cannot be had (pip: {status})")),
        Err(error) => Err(format!(
            "the wheel `{WHEEL}` cannot be had (python3: {error})"
        )),
    }
}

/// Directory of the wheel's files; Debian's pip uses the subdirectory `local`.
fn prefix(directory: &Path) -> Option<PathBuf> {
    let prefixes = [directory.to_path_buf(), directory.join("local")];
    prefixes
        .into_iter()
        .find(|it| it.join("bin/mpirun").is_file())
}
