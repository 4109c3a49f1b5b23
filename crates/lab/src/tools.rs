//! Programs of the system: found, run, and what they say.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::LabError;
use crate::words;

/// Where administrators' programs are, which an ordinary user's `PATH` leaves out.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Where programs are looked for.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_DIRECTORIES.map(PathBuf::from);
    let all = std::env::split_paths(&path).chain(system);
    std::env::join_paths(all).unwrap_or(path)
}

/// The program of this name, where it is installed.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = path();
    let mut places = std::env::split_paths(&path).map(|directory| directory.join(program));
    places.find(|place| place.is_file())
}

/// Runs a program to its end; returns what it printed on standard output.
///
/// # Errors
/// When it cannot be started, or does not end with 0: then with all that it printed.
pub(crate) fn run(program: &str, arguments: &[String]) -> Result<String, LabError> {
    let output = Command::new(program)
        .args(arguments)
        .env("PATH", path())
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LabError::NoProgram {
                name: "the lab".to_owned(),
                program: program.to_owned(),
                package: package_of(program).to_owned(),
            },
            _ => LabError::system("run", Path::new(program), error),
        })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(LabError::Failed {
        command: words::shown(program, arguments),
        status: output.status.to_string(),
        output: text(&output.stderr) + &text(&output.stdout),
    })
}

/// Mounts a file system, with options separated by commas.
///
/// # Errors
/// What `mount` says.
pub(crate) fn mount(kind: &str, options: &str, source: &str, point: &Path) -> Result<(), LabError> {
    let mut arguments = vec!["-t".to_owned(), kind.to_owned()];
    if !options.is_empty() {
        arguments.extend(["-o".to_owned(), options.to_owned()]);
    }
    arguments.extend([source.to_owned(), point.display().to_string()]);
    run("mount", &arguments).map(drop)
}

/// The Debian package of a program that all file systems need.
fn package_of(program: &str) -> &'static str {
    match program {
        "losetup" | "mount" | "umount" => "mount",
        _ => "util-linux",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_system_are_found() {
        assert!(find("sh").is_some());
        assert_eq!(find("pgmeter-no-such-program"), None);
    }

    #[test]
    fn what_a_failed_program_printed_is_told() {
        let _turn = crate::TURN
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let script = ["-c", "echo why >&2; exit 3"].map(str::to_owned);
        let error = run("sh", &script).unwrap_err().to_string();
        assert!(
            error.starts_with("`sh -c 'echo why >&2; exit 3'` failed"),
            "{error}"
        );
        assert!(error.ends_with("\n  why"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let error = run("pgmeter-no-such-program", &[]).unwrap_err();
        assert!(matches!(error, LabError::NoProgram { .. }), "{error}");
    }
}
