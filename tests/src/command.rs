//! Runs programs with a time limit, so that a hang is a failed test.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::FixtureError;

/// A program that has ended.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Exit code; 128 plus the signal's number if a signal ended it, as shells have it.
    pub code: i32,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Finished {
    /// Both outputs, for messages of failed tests.
    pub fn text(&self) -> String {
        format!("exit {}\n{}\n{}", self.code, self.stdout, self.stderr)
    }

    /// The lines of standard output in alphabetical order, without the heading of the verdict: a
    /// report that was just measured has its answer last, a stored one has it first.
    #[must_use]
    pub fn lines_of_report(&self) -> Vec<&str> {
        let lines = self.stdout.lines();
        let mut lines: Vec<&str> = lines
            .filter(|it| !it.is_empty() && *it != "verdict")
            .collect();
        lines.sort_unstable();
        lines
    }

    /// Asserts that a program ended well below strace. On a busy machine strace may stop a thread
    /// for so long that the results are refused; the calls are complete all the same.
    ///
    /// # Panics
    /// If it failed for another reason.
    #[track_caller]
    pub fn assert_traced(&self) {
        let stood_still = self.code == 1 && self.stderr.contains("stopped, frozen or paused");
        assert!(self.code == 0 || stood_still, "{}", self.text());
    }

    /// The values of the row that begins with `label`, without the marks that say which are the
    /// better ones and which is the best; none where a column has no number.
    ///
    /// # Panics
    /// When there is no such row.
    #[track_caller]
    pub fn row(&self, label: &str) -> Vec<Option<f64>> {
        let mut lines = self.stdout.lines();
        let values = lines.find_map(|line| line.strip_prefix(label));
        let values = values.unwrap_or_else(|| panic!("no `{label}` in\n{}", self.text()));
        values
            .split_whitespace()
            .filter(|word| !["↑", "↓", "†"].contains(word))
            .map(|word| word.trim_start_matches('*').parse().ok())
            .collect()
    }
}

/// Holds that a program of the system is there, whatever it would do.
///
/// # Errors
/// `Unavailable` if it is not installed.
pub fn installed(program: &str) -> Result<(), FixtureError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed =
        std::env::split_paths(&path).any(|directory| directory.join(program).is_file());
    let missing = || FixtureError::Unavailable(format!("`{program}` is not installed"));
    is_installed.then_some(()).ok_or_else(missing)
}

/// Runs a tool of the system and returns its standard output.
///
/// # Errors
/// `Unavailable` if it is not installed, `Program` if it does not exit with 0.
pub fn run_tool(program: &str, arguments: &[&str]) -> Result<String, FixtureError> {
    let output = match Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
    {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(FixtureError::Unavailable(format!(
                "`{program}` is not installed"
            )));
        }
        Err(error) => {
            return Err(FixtureError::File {
                path: program.into(),
                source: error,
            });
        }
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(FixtureError::Program {
        command: format!("{program} {}", arguments.join(" ")),
        message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// Runs a command to its end, at most for `limit`; then it is killed.
///
/// # Errors
/// `TimedOut`, or `File` if it cannot be started.
pub fn run_within(command: &mut Command, limit: Duration) -> Result<Finished, FixtureError> {
    let line = format!("{command:?}");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| FixtureError::File {
            path: line.clone().into(),
            source,
        })?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let code = wait(&mut child, limit).ok_or(FixtureError::TimedOut {
        command: line,
        seconds: limit.as_secs(),
    })?;
    Ok(Finished {
        code,
        stdout: stdout.join().unwrap_or_default(),
        stderr: stderr.join().unwrap_or_default(),
    })
}

/// Waits for a child, at most for `limit`; kills it and returns nothing if that was not enough.
fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    let start = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return status
                .code()
                .or_else(|| status.signal().map(|signal| 128 + signal));
        }
        if start.elapsed() > limit {
            // The child may have ended since; both calls then only reap it.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reads a pipe to its end while the child runs, because a full pipe would stop the child.
fn collect(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A read error ends the output; what came before still counts.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_tool_is_unavailable() {
        let result = run_tool("pgmeter-no-such-tool", &[]);
        assert!(matches!(result, Err(FixtureError::Unavailable(_))));
    }

    #[test]
    fn a_failed_tool_says_what_it_printed() {
        let error = run_tool("sh", &["-c", "echo broken >&2; exit 3"])
            .unwrap_err()
            .to_string();
        assert!(error.contains("broken"), "{error}");
    }

    #[test]
    fn both_outputs_and_the_code_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 7"]);
        let output = run_within(&mut command, Duration::from_secs(10)).unwrap();
        assert_eq!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()),
            (7, "out\n", "err\n")
        );
    }

    #[test]
    fn more_output_than_a_pipe_holds_does_not_hang() {
        let mut command = Command::new("sh");
        command.args(["-c", "head -c 1000000 /dev/zero"]);
        let output = run_within(&mut command, Duration::from_secs(10)).unwrap();
        assert_eq!(output.stdout.len(), 1_000_000);
    }

    #[test]
    fn a_hanging_program_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("60");
        let result = run_within(&mut command, Duration::from_millis(50));
        assert!(matches!(result, Err(FixtureError::TimedOut { .. })));
    }

    #[test]
    fn a_signal_is_reported_as_shells_do() {
        let mut command = Command::new("sh");
        command.args(["-c", "kill -9 $$"]);
        assert_eq!(
            run_within(&mut command, Duration::from_secs(10))
                .unwrap()
                .code,
            137
        );
    }
}
