//! Finds and runs system programs.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::command_line;
use crate::error::LabError;
use crate::journal::Journal;
use crate::processes::start_ticks;
use crate::step::JournalStep;

/// Becomes the program after reading a line. It ends if the pipe is closed, because then the
/// process that writes the journal is dead.
const GATE: &str = "read -r _ && exec \"$@\" </dev/null";

/// Directories of system administration programs, which an ordinary user's `PATH` lacks.
const SYSTEM_DIRECTORIES: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Search path for programs.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = SYSTEM_DIRECTORIES.map(PathBuf::from);
    // After the user's directories, so that the user can replace a program.
    let all = std::env::split_paths(&path).chain(system);
    std::env::join_paths(all).unwrap_or(path)
}

/// Path of the program with this name, if it is installed.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = path();
    let mut candidates = std::env::split_paths(&path).map(|directory| directory.join(program));
    candidates.find(|candidate| candidate.is_file())
}

/// Runs a program until it ends; returns its standard output.
///
/// # Errors
/// If it cannot be started, or its exit code is not 0; the error then has all of its output.
pub(crate) fn run(program: &str, arguments: &[String]) -> Result<String, LabError> {
    let output = with_lab_environment(&mut Command::new(program))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| start_error(program, error))?;
    stdout_of_success(program, arguments, &output)
}

/// Like [`run`], but the program's process is in the journal before it does anything.
pub(crate) fn run_journaled(
    journal: &mut Journal,
    program: &str,
    arguments: &[String],
) -> Result<String, LabError> {
    // The shell would report a missing program only by exit code 127.
    if find(program).is_none() {
        return Err(start_error(program, io::ErrorKind::NotFound.into()));
    }
    let mut child = with_lab_environment(&mut gated_command(program))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| start_error(program, error))?;
    release(&mut child, program, journal)?;
    let output = child.wait_with_output();
    let output = output.map_err(|error| LabError::system("run", Path::new(program), error))?;
    stdout_of_success(program, arguments, &output)
}

/// A program that waits for [`release`] before it starts. Arguments may be added.
pub(crate) fn gated_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", GATE, "sh"]).arg(program);
    command.stdin(Stdio::piped());
    command
}

/// Writes a gated program's process to the journal and lets it start. Kills it if that fails.
pub(crate) fn release(
    child: &mut Child,
    program: &str,
    journal: &mut Journal,
) -> Result<(), LabError> {
    let noted = journal.note(JournalStep::Process {
        pid: child.id(),
        // A child that is dead already has no start time, and 0 matches no process.
        start_ticks: start_ticks(child.id()).unwrap_or(0),
        program: program.to_owned(),
    });
    // Dropped at the end of `opened`: closing it without a line ends the shell.
    let gate = child.stdin.take();
    let opened = noted.and_then(|()| {
        let written = gate.map_or(Ok(()), |mut gate| gate.write_all(b"\n"));
        written.map_err(|error| LabError::system("run", Path::new(program), error))
    });
    if opened.is_err() {
        // Fails if it has already ended, which is fine.
        let _ = child.kill();
        let _ = child.wait();
    }
    opened
}

fn with_lab_environment(command: &mut Command) -> &mut Command {
    // Outputs are parsed, so they must not be translated.
    command.env("PATH", path()).env("LC_ALL", "C.UTF-8")
}

fn start_error(program: &str, error: io::Error) -> LabError {
    match error.kind() {
        io::ErrorKind::NotFound => LabError::MissingProgram {
            name: "the lab".to_owned(),
            program: program.to_owned(),
            package: package_of(program).to_owned(),
        },
        _ => LabError::system("run", Path::new(program), error),
    }
}

/// Standard output of a program that has ended; an error if its exit code is not 0.
fn stdout_of_success(
    program: &str,
    arguments: &[String],
    output: &Output,
) -> Result<String, LabError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(LabError::Failed {
        command: command_line::shown(program, arguments),
        status: output.status.to_string(),
        output: text(&output.stderr) + &text(&output.stdout),
    })
}

/// Mounts a file system, with options separated by commas.
///
/// # Errors
/// If `mount` fails.
pub(crate) fn mount(kind: &str, options: &str, source: &str, point: &Path) -> Result<(), LabError> {
    run("mount", &mount_arguments(kind, options, source, point)).map(drop)
}

pub(crate) fn mount_arguments(
    kind: &str,
    options: &str,
    source: &str,
    point: &Path,
) -> Vec<String> {
    let mut arguments = vec!["-t".to_owned(), kind.to_owned()];
    if !options.is_empty() {
        arguments.extend(["-o".to_owned(), options.to_owned()]);
    }
    arguments.extend([source.to_owned(), point.display().to_string()]);
    arguments
}

/// Debian package of a program that all file systems need.
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
    fn an_error_contains_the_output_of_the_failed_program() {
        let _turn = crate::TEST_LOCK
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
    fn a_program_starts_only_after_its_process_is_noted() {
        let _turn = crate::TEST_LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let begin = JournalStep::Begin {
            pid: 1,
            start_ticks: 2,
            has_made_place: false,
        };
        let mut journal = Journal::begin(directory.path(), begin).unwrap();
        // The journal as the program finds it.
        let path = directory.path().join(crate::journal::JOURNAL);
        let script = ["-c", "cat \"$0\"; echo $$", path.to_str().unwrap()];
        let output = run_journaled(&mut journal, "sh", &script.map(str::to_owned)).unwrap();
        let lines: Vec<&str> = output.lines().collect();
        let noted: JournalStep = serde_json::from_str(lines[1]).unwrap();
        let pid: u32 = lines[2].parse().unwrap();
        let JournalStep::Process {
            pid: noted_pid,
            program,
            ..
        } = noted
        else {
            panic!("{output}");
        };
        assert_eq!((noted_pid, program.as_str()), (pid, "sh"));
        let error = run_journaled(&mut journal, "pgmeter-no-such-program", &[]).unwrap_err();
        assert!(matches!(error, LabError::MissingProgram { .. }), "{error}");
    }

    #[test]
    fn a_program_whose_parent_died_never_starts() {
        let _turn = crate::TEST_LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let directory = tempfile::tempdir().unwrap();
        let marker = directory.path().join("made");
        let mut child = gated_command("touch").arg(&marker).spawn().unwrap();
        // The end of the pipe goes with the process that has it.
        drop(child.stdin.take());
        assert!(!child.wait().unwrap().success());
        assert!(!marker.exists());
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let error = run("pgmeter-no-such-program", &[]).unwrap_err();
        assert!(matches!(error, LabError::MissingProgram { .. }), "{error}");
    }
}
