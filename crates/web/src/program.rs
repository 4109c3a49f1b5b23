//! Runs pgmeter commands in other processes: for plans, reports and comparisons. Their crashes do
//! not affect the server, and their memory is freed when they end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use rustix::fs::{MemfdFlags, memfd_create};

use crate::answer::RefusedAnswer;
use crate::blocking::blocking;
use crate::bounds::{BOUNDS_VARIABLE, Bounds};
use crate::scratch::{ChildFile, Scratch};
use crate::shared::Shared;

/// Maximum duration of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a command's output, in bytes.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// Start of the message that a Rust program prints when it runs out of memory.
const OUT_OF_MEMORY: &str = "memory allocation of ";

/// Result of a command.
#[derive(Debug, Clone)]
pub(crate) struct ProgramOutput {
    /// Exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: String,
}

impl ProgramOutput {
    /// The output of a successful command.
    pub fn checked(self) -> Result<Vec<u8>, RefusedAnswer> {
        match self.code {
            Some(0) => Ok(self.stdout),
            _ => Err(self.refusal()),
        }
    }

    /// Reason for the failure, from the command's error messages.
    pub fn refusal(&self) -> RefusedAnswer {
        let status = match self.code {
            // Exit codes of pgmeter: 2 is a mistake in the request, 3 something that this machine
            // cannot do.
            Some(2) => StatusCode::BAD_REQUEST,
            Some(3) => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        // The memory of a command is limited. Rust aborts if it is exhausted, so there is no exit
        // code.
        if self.code.is_none() && self.stderr.contains(OUT_OF_MEMORY) {
            let error = "this needs more memory than the page may use";
            return RefusedAnswer::bad(error).help("ask for less, or use the command line");
        }
        let mut error = String::new();
        let mut help = String::new();
        for line in self.stderr.lines() {
            match (line.strip_prefix("error: "), line.strip_prefix("help: ")) {
                (Some(line), _) if error.is_empty() => error.push_str(line),
                (_, Some(line)) if help.is_empty() => help.push_str(line),
                _ => {}
            }
        }
        if error.is_empty() {
            error = match self.code {
                Some(code) => format!("pgmeter exited with code {code} and printed nothing"),
                None => "pgmeter was killed".to_owned(),
            };
        }
        let refusal = RefusedAnswer::new(status, error);
        match help.is_empty() {
            true => refusal,
            false => refusal.help(help),
        }
    }
}

/// Runs a command; `given` is placed in its current directory.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    arguments: Vec<OsString>,
    given: Option<ChildFile>,
) -> Result<ProgramOutput, RefusedAnswer> {
    ask_at_most(shared, (arguments, given), ANSWER_BYTES_MAX).await
}

/// Like [`ask`], for an output of at most `bytes_max` bytes.
pub(crate) async fn ask_at_most(
    shared: &Arc<Shared>,
    (arguments, given): (Vec<OsString>, Option<ChildFile>),
    bytes_max: u64,
) -> Result<ProgramOutput, RefusedAnswer> {
    let turn = shared.children.acquire().await;
    // Held until the command has ended, because the limit is about commands in progress.
    let _turn = turn.map_err(|_| RefusedAnswer::failed("the server is stopping"))?;
    let shared = Arc::clone(shared);
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::ArgumentListTooLong => {
            let error = "the request has a value that is too long for a command line";
            RefusedAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, error)
        }
        _ => RefusedAnswer::failed(format!("cannot run pgmeter: {error}")),
    };
    blocking(move || {
        let scratch = Scratch::with(given.as_ref()).map_err(failed)?;
        let mut bounds = shared.roots.bounds().with_text(text_of(given.as_ref()));
        bounds.is_question = true;
        let prepared = command(&shared, &arguments, (scratch.path(), &bounds));
        answer(prepared, bytes_max).map_err(failed)?
    })
    .await
}

/// Text of the workload file for a process.
pub(crate) fn text_of(given: Option<&ChildFile>) -> Option<&str> {
    given.map(|given| given.text.as_str())
}

/// This program with these arguments. It gets the store and its limits, but neither the terminal
/// nor the token.
pub(crate) fn command(
    shared: &Shared,
    arguments: &[OsString],
    (directory, bounds): (&Path, &Bounds),
) -> Command {
    let mut command = Command::new(&shared.options.program);
    command
        // The program may be `/proc/self/exe`, which nobody would recognize in a list of processes.
        .arg0("pgmeter")
        .args(arguments)
        .arg("--db")
        .arg(&shared.options.store)
        // With this variable, the program may complete words for a shell instead.
        .env_remove("PGMETER_COMPLETE")
        .env_remove("PGMETER_TOKEN_FILE")
        .env(BOUNDS_VARIABLE, bounds.text())
        // The directory contains only the given file, so a relative name can mean no other one.
        .current_dir(directory)
        .stdin(nothing())
        // Ctrl-C at the server must not stop a run.
        .process_group(0);
    command
}

/// An empty file for a child process, even if there is no `/dev/null`.
pub(crate) fn nothing() -> Stdio {
    let null = File::options().read(true).write(true).open("/dev/null");
    let in_memory = || memfd_create("null", MemfdFlags::CLOEXEC).map(File::from);
    let null = null.or_else(|_| in_memory());
    null.map_or_else(|_| Stdio::null(), Stdio::from)
}

/// Runs a command and collects its output; refuses if it takes too long or is too large.
fn answer(
    mut command: Command,
    bytes_max: u64,
) -> io::Result<Result<ProgramOutput, RefusedAnswer>> {
    // Files instead of pipes: a full pipe would block the command until someone reads it.
    let memory = || memfd_create("pgmeter", MemfdFlags::CLOEXEC).map(File::from);
    let (mut output, mut remarks) = (memory()?, memory()?);
    let mut child = command
        .stdout(output.try_clone()?)
        .stderr(remarks.try_clone()?)
        .spawn()?;
    let begin = Instant::now();
    // Short at first, because a quick command should return immediately.
    let mut pause = Duration::from_millis(1);
    // Polled, because `wait` has no time limit.
    let status = loop {
        let exit_status = child.try_wait()?;
        let is_long = |file: &File| Ok::<_, io::Error>(file.metadata()?.len() > bytes_max);
        // Checked while the command writes, because the output is in memory and must not fill it.
        // Checked after its end, because it may have written more since the last time.
        let is_long = is_long(&output)? || is_long(&remarks)?;
        if let Some(status) = exit_status.filter(|_| !is_long) {
            break status;
        }
        if is_long || begin.elapsed() > COMMAND_TIMEOUT {
            child.kill()?;
            // A killed child stays as a zombie until its parent has waited for it.
            child.wait()?;
            let error = format!(
                "the answer takes more than {} s or {} MiB",
                COMMAND_TIMEOUT.as_secs(),
                bytes_max >> 20
            );
            let help = "ask for less, or use the command line";
            return Ok(Err(RefusedAnswer::bad(error).help(help)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let read_all = |file: &mut File| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(Ok(ProgramOutput {
        code: status.code(),
        stdout: read_all(&mut output)?,
        stderr: String::from_utf8_lossy(&read_all(&mut remarks)?).into_owned(),
    }))
}

/// Converts texts to arguments.
pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_of(code: Option<i32>, remarks: &str) -> RefusedAnswer {
        let remarks = remarks.to_owned();
        let output = Vec::new();
        ProgramOutput {
            code,
            stdout: output,
            stderr: remarks,
        }
        .refusal()
    }

    #[test]
    fn a_refusal_quotes_the_error_of_the_program() {
        let refusal = refusal_of(
            Some(2),
            "warning: w\nerror: what failed\n --> x:1\nhelp: do this\n",
        );
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert_eq!(refusal, RefusedAnswer::bad("what failed").help("do this"));
        assert!(refusal_of(None, "").error().contains("killed"));
        let large = refusal_of(None, "memory allocation of 4294967296 bytes failed\n");
        assert_eq!(large.status, StatusCode::BAD_REQUEST);
        assert!(refusal_of(Some(70), "x").error().contains("70"));
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused_even_if_the_command_has_ended() {
        let printed = |text: &str| {
            let mut command = Command::new("printf");
            command.arg(text);
            answer(command, 1 << 10).unwrap()
        };
        assert_eq!(printed("short").unwrap().stdout, b"short");
        let refused = printed(&"x".repeat(2 << 10)).unwrap_err();
        assert!(refused.error().contains("takes more than"), "{refused:?}");
    }
}
