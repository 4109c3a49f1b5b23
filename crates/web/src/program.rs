//! Questions that this program answers in another process: a plan, a report, a comparison. What
//! goes wrong there harms nothing here, and what it takes of memory is given back.

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

use crate::answer::Refusal;
use crate::blocking::blocking;
use crate::bounds::{BOUNDS, Bounds};
use crate::scratch::{Given, Scratch};
use crate::shared::Shared;

/// An answer that takes longer is given up.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Longer answers are given up.
const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// What a process says that has no memory left.
const OUT_OF_MEMORY: &str = "memory allocation of ";

/// What the program said.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub remarks: String,
}

impl Said {
    /// The output of a program that ended well.
    pub fn checked(self) -> Result<Vec<u8>, Refusal> {
        match self.code {
            Some(0) => Ok(self.output),
            _ => Err(self.refusal()),
        }
    }

    /// Why it did not end well, as it said.
    pub fn refusal(&self) -> Refusal {
        let status = match self.code {
            Some(2) => StatusCode::BAD_REQUEST,
            Some(3) => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if self.code.is_none() && self.remarks.contains(OUT_OF_MEMORY) {
            let error = "this takes more memory than a page may use";
            return Refusal::bad(error).help("ask for less, or use the command line");
        }
        let mut error = String::new();
        let mut help = String::new();
        for line in self.remarks.lines() {
            match (line.strip_prefix("error: "), line.strip_prefix("help: ")) {
                (Some(line), _) if error.is_empty() => error.push_str(line),
                (_, Some(line)) if help.is_empty() => help.push_str(line),
                _ => {}
            }
        }
        if error.is_empty() {
            error = match self.code {
                Some(code) => format!("pgmeter ended with exit code {code} and said nothing"),
                None => "pgmeter was killed".to_owned(),
            };
        }
        let refusal = Refusal::new(status, error);
        match help.is_empty() {
            true => refusal,
            false => refusal.help(help),
        }
    }
}

/// Asks the program; `given` lies in its current directory.
pub(crate) async fn ask(
    shared: &Arc<Shared>,
    arguments: Vec<OsString>,
    given: Option<Given>,
) -> Result<Said, Refusal> {
    ask_at_most(shared, (arguments, given), ANSWER_BYTES_MAX).await
}

/// As [`ask`], for an answer of at most `bytes_max` bytes.
pub(crate) async fn ask_at_most(
    shared: &Arc<Shared>,
    (arguments, given): (Vec<OsString>, Option<Given>),
    bytes_max: u64,
) -> Result<Said, Refusal> {
    let turn = shared.children.acquire().await;
    let _turn = turn.map_err(|_| Refusal::failed("the server is ending"))?;
    let shared = Arc::clone(shared);
    let failed = |error: io::Error| Refusal::failed(format!("cannot ask pgmeter: {error}"));
    blocking(move || {
        let place = Scratch::with(given.as_ref()).map_err(failed)?;
        let mut bounds = shared.roots.bounds().with_text(text_of(given.as_ref()));
        bounds.is_question = true;
        let asked = command(&shared, &arguments, (place.path(), &bounds));
        answer(asked, bytes_max).map_err(failed)?
    })
    .await
}

/// The variable by which a process is told to measure no TCP peers: the page offers roots, and
/// whoever uses it shall not reach through this machine into its network.
pub const NO_PEERS: &str = "PGMETER_NO_PEERS";

/// The text of a file that a process is given.
pub(crate) fn text_of(given: Option<&Given>) -> Option<&str> {
    given.map(|given| given.text.as_str())
}

/// This program with these arguments, which knows the store and its bounds, and nothing of the
/// terminal or the token.
pub(crate) fn command(
    shared: &Shared,
    arguments: &[OsString],
    (directory, bounds): (&Path, &Bounds),
) -> Command {
    let mut command = Command::new(&shared.options.program);
    command
        .arg0("pgmeter")
        .args(arguments)
        .arg("--db")
        .arg(&shared.options.store)
        .env_remove("PGMETER_COMPLETE")
        .env_remove("PGMETER_TOKEN_FILE")
        .env(NO_PEERS, "1")
        .env(BOUNDS, bounds.text())
        .current_dir(directory)
        .stdin(nothing())
        // A Ctrl-C at the server is not one at a run.
        .process_group(0);
    command
}

/// A file without content for a child, also where there is no `/dev/null`.
pub(crate) fn nothing() -> Stdio {
    let null = File::options().read(true).write(true).open("/dev/null");
    let in_memory = || memfd_create("null", MemfdFlags::CLOEXEC).map(File::from);
    let null = null.or_else(|_| in_memory());
    null.map_or_else(|_| Stdio::null(), Stdio::from)
}

/// What a process says; what takes too long or is too large is refused.
fn answer(mut command: Command, bytes_max: u64) -> io::Result<Result<Said, Refusal>> {
    let memory = || memfd_create("pgmeter", MemfdFlags::CLOEXEC).map(File::from);
    let (mut output, mut remarks) = (memory()?, memory()?);
    let mut child = command
        .stdout(output.try_clone()?)
        .stderr(remarks.try_clone()?)
        .spawn()?;
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let is_long = |file: &File| Ok::<_, io::Error>(file.metadata()?.len() > bytes_max);
        if begin.elapsed() > TIME_MAX || is_long(&output)? || is_long(&remarks)? {
            child.kill()?;
            child.wait()?;
            let error = format!(
                "the answer takes more than {} s or {} MiB",
                TIME_MAX.as_secs(),
                bytes_max >> 20
            );
            let help = "ask for less, or use the command line";
            return Ok(Err(Refusal::bad(error).help(help)));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let whole = |file: &mut File| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(Ok(Said {
        code: status.code(),
        output: whole(&mut output)?,
        remarks: String::from_utf8_lossy(&whole(&mut remarks)?).into_owned(),
    }))
}

/// Arguments from texts.
pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<OsString> {
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: Option<i32>, remarks: &str) -> Refusal {
        let remarks = remarks.to_owned();
        let output = Vec::new();
        Said {
            code,
            output,
            remarks,
        }
        .refusal()
    }

    #[test]
    fn what_the_program_refused_is_refused_in_its_words() {
        let refusal = said(
            Some(2),
            "warning: w\nerror: what failed\n --> x:1\nhelp: do this\n",
        );
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert_eq!(refusal, Refusal::bad("what failed").help("do this"));
        assert!(said(None, "").error().contains("killed"));
        let large = said(None, "memory allocation of 4294967296 bytes failed\n");
        assert_eq!(large.status, StatusCode::BAD_REQUEST);
        assert!(said(Some(70), "x").error().contains("70"));
    }
}
