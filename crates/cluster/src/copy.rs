//! Copies the program to hosts where it is not installed, for one run, and removes it again.

use std::fs::File;
use std::io;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::ClusterError;
use crate::pipes::{POLL_INTERVAL, STDERR_TIMEOUT, first_printable_line, listen};
use crate::worker::is_stopped;

/// Time limit for a copy: over a slow line, sending the program takes minutes.
const COPY_TIMEOUT: Duration = Duration::from_secs(300);
/// Time limit for the removal of a copy.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);

/// The first bytes that a command wrote.
type CapturedOutput = Arc<Mutex<Vec<u8>>>;

/// A copy of this program on a host. The remote shell that stored it removes it when its standard
/// input ends. That happens when this value is dropped, and also when this process or the
/// connection ends for any reason.
#[derive(Debug)]
pub struct ProgramCopy {
    path: String,
    shell: Child,
    /// Keeps the remote shell's input open while the copy is needed.
    input: Option<ChildStdin>,
}

impl ProgramCopy {
    /// Path on the host.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for ProgramCopy {
    /// Makes the shell remove the copy and waits for it. Processes that run the copy continue.
    fn drop(&mut self) {
        drop(self.input.take());
        let end = Instant::now() + REMOVAL_TIMEOUT;
        while matches!(self.shell.try_wait(), Ok(None)) {
            if Instant::now() >= end {
                let _ = self.shell.kill();
                let _ = self.shell.wait();
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Shell script that reads a program of this size from standard input, prints its path, and removes
/// it when standard input ends. It removes an incomplete copy immediately.
fn script(size_bytes: u64) -> String {
    // The script contains no single quotes because it is enclosed in them.
    // `cat` waits until standard input ends; only then does the trap remove the file.
    format!(
        "f=$(mktemp \"${{TMPDIR:-/tmp}}/pgmeter.XXXXXX\") || exit 1; \
         trap \"rm -f \\\"$f\\\"\" EXIT; trap \"exit 1\" HUP INT TERM PIPE; \
         head -c {size_bytes} > \"$f\" && chmod 700 \"$f\" || exit 1; \
         s=$(wc -c < \"$f\") && [ \"$s\" -eq {size_bytes} ] || \
         {{ echo \"only $s of {size_bytes} bytes arrived\" >&2; exit 1; }}; \
         echo \"$f\"; cat > /dev/null"
    )
}

/// Copies this program to a host for the lifetime of the result. `on_host` is the command that runs
/// another command on that host; setting `stop` aborts the copy.
///
/// # Errors
/// The host does not accept the copy, or not in time.
pub fn copy_program(
    mut on_host: Command,
    host: &str,
    stop: &AtomicBool,
) -> Result<ProgramCopy, ClusterError> {
    let refused = |why: String| ClusterError::Copy {
        host: host.to_owned(),
        why,
    };
    // This opens the running program even if its file was replaced or removed meanwhile.
    let own = File::open("/proc/self/exe").map_err(|error| refused(error.to_string()))?;
    let size_bytes = own
        .metadata()
        .map_err(|error| refused(error.to_string()))?
        .len();
    // The remote shell splits the command line, so the script is quoted.
    on_host.args(["sh", "-c", &format!("'{}'", script(size_bytes))]);
    let first_line = UploadCommand::of(on_host, own).and_then(|it| it.wait(COPY_TIMEOUT, stop));
    match first_line {
        // A shell may print other text first, and that text must not be run as a program.
        Ok(copy) if copy.path.starts_with('/') => Ok(copy),
        Ok(other) => Err(refused(format!("it printed `{}`", other.path))),
        Err(_) if is_stopped(stop) => Err(ClusterError::Stopped),
        Err(why) => Err(refused(why)),
    }
}

/// A command that receives a file on its standard input, which stays open, and prints one line.
struct UploadCommand {
    child: Child,
    feeder: JoinHandle<io::Result<ChildStdin>>,
    readers: Vec<JoinHandle<()>>,
    output: CapturedOutput,
    error_output: CapturedOutput,
}

impl UploadCommand {
    fn of(mut command: Command, mut input: File) -> Result<Self, String> {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy();
            format!("cannot start `{program}`: {error}")
        })?;
        let (output, error_text) = (CapturedOutput::default(), CapturedOutput::default());
        let mut listeners = Vec::new();
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            let (to_output, to_complaint) = (Arc::clone(&output), Arc::clone(&error_text));
            listeners.push(thread::spawn(move || listen(stdout, &to_output)));
            listeners.push(thread::spawn(move || listen(stderr, &to_complaint)));
        }
        let stdin = child.stdin.take();
        // A host that stops reading blocks the write, so this thread must stay free to check the
        // limits.
        let feeder = thread::spawn(move || {
            let mut stdin = stdin.ok_or(io::ErrorKind::BrokenPipe)?;
            io::copy(&mut input, &mut stdin)?;
            Ok(stdin)
        });
        Ok(Self {
            child,
            feeder,
            readers: listeners,
            output,
            error_output: error_text,
        })
    }

    /// Waits for the first line. Kills the command if it takes longer than `limit` or if `stop` is
    /// set.
    ///
    /// # Errors
    /// The reason why no line was printed.
    fn wait(mut self, limit: Duration, stop: &AtomicBool) -> Result<ProgramCopy, String> {
        let begun = Instant::now();
        let why = loop {
            if self.feeder.is_finished() && has_line(&self.output) {
                match self.feeder.join() {
                    Ok(Ok(input)) => {
                        return Ok(ProgramCopy {
                            path: words(&self.output),
                            shell: self.child,
                            input: Some(input),
                        });
                    }
                    _ => return Err("it did not accept the whole program".to_owned()),
                }
            }
            match self.child.try_wait() {
                Ok(None) if is_stopped(stop) => break "it was given up".to_owned(),
                Ok(None) if begun.elapsed() > limit => {
                    break format!("it took longer than {} s", limit.as_secs());
                }
                Ok(None) => thread::sleep(POLL_INTERVAL),
                Ok(Some(status)) => return Err(self.ended(status)),
                Err(error) => break error.to_string(),
            }
        };
        // The kill closes the pipe, so the feeder thread ends too.
        let _ = self.child.kill();
        let _ = self.child.wait();
        Err(why)
    }

    /// Reason why a command ended without printing a path.
    fn ended(&self, status: ExitStatus) -> String {
        let end = Instant::now() + STDERR_TIMEOUT;
        while !self.readers.iter().all(JoinHandle::is_finished) && Instant::now() < end {
            thread::sleep(POLL_INTERVAL);
        }
        match words(&self.error_output) {
            said if said.is_empty() => format!("its command ended with {status}"),
            said => format!("its command printed `{said}`"),
        }
    }
}

fn words(of: &CapturedOutput) -> String {
    first_printable_line(&of.lock().unwrap_or_else(PoisonError::into_inner))
}

fn has_line(output: &CapturedOutput) -> bool {
    let buffer = output.lock().unwrap_or_else(PoisonError::into_inner);
    let text = buffer.trim_ascii_start();
    text.contains(&b'\n')
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn first_line(script: &str, limit: Duration) -> Result<ProgramCopy, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let input = File::open("/dev/null").expect("it is there");
        UploadCommand::of(command, input)?.wait(limit, &AtomicBool::new(false))
    }

    /// What a shell elsewhere does with what it is given, with its temporary files in a directory.
    fn shell(directory: &Path) -> Command {
        let mut on_host = Command::new("sh");
        on_host.args(["-c", "eval \"$*\"", "sh"]);
        on_host.env("TMPDIR", directory);
        on_host
    }

    fn is_empty(directory: &Path) -> bool {
        fs::read_dir(directory)
            .expect("a directory")
            .next()
            .is_none()
    }

    /// The shell elsewhere removes it soon after.
    fn becomes_empty(directory: &Path) -> bool {
        let end = Instant::now() + Duration::from_secs(20);
        while !is_empty(directory) && Instant::now() < end {
            thread::sleep(POLL_INTERVAL);
        }
        is_empty(directory)
    }

    #[test]
    fn the_first_line_or_the_error_output_is_reported() {
        let long = Duration::from_secs(60);
        let first = first_line("echo /tmp/x; echo y; cat", long).expect("a line");
        assert_eq!(first.path(), "/tmp/x");
        let reason = |script| first_line(script, long).map(|_| ()).expect_err("no line");
        assert_eq!(
            reason("printf '\\033[31mno room\\n' >&2; exit 1"),
            "its command printed `\\u{1b}[31mno room`"
        );
        assert_eq!(reason("exit 3"), "its command ended with exit status: 3");
    }

    #[test]
    fn a_host_keeps_the_program_until_the_copy_is_dropped() {
        let directory = tempfile::tempdir().expect("a directory");
        let stop = AtomicBool::new(false);
        let copy = copy_program(shell(directory.path()), "a", &stop).expect("it is copied");
        let own = fs::metadata("/proc/self/exe").expect("this program");
        assert_eq!(fs::metadata(copy.path()).expect("a copy").len(), own.len());
        drop(copy);
        assert!(is_empty(directory.path()));
        let refused = copy_program(Command::new("false"), "a", &stop).expect_err("no copy");
        let message = refused.to_string();
        assert!(
            message.starts_with("`a` did not accept a copy of the program"),
            "{message}"
        );
    }

    #[test]
    fn a_connection_that_ends_leaves_nothing_behind() {
        let directory = tempfile::tempdir().expect("a directory");
        let stop = AtomicBool::new(false);
        let mut copy = copy_program(shell(directory.path()), "a", &stop).expect("it is copied");
        // What is left of a leader that was killed: its end of the pipe is closed.
        drop(copy.input.take());
        assert!(becomes_empty(directory.path()));
        drop(copy);
        // One that is killed in the middle of the copy.
        let mut command = shell(directory.path());
        command.args(["sh", "-c", &format!("'{}'", script(1 << 30))]);
        let input = File::open("/proc/self/exe").expect("this program");
        let partial = UploadCommand::of(command, input).expect("it starts");
        let outcome = partial.wait(Duration::from_secs(1), &stop);
        assert_eq!(
            outcome.map(|_| ()),
            Err("it took longer than 1 s".to_owned())
        );
        assert!(becomes_empty(directory.path()));
    }

    #[test]
    fn a_full_host_is_reported_and_keeps_no_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 8; eval \"$*\"", "sh"]);
        command.env("TMPDIR", directory.path());
        let stop = AtomicBool::new(false);
        let refused = copy_program(command, "a", &stop).expect_err("no room");
        assert!(refused.to_string().contains("its command "), "{refused}");
        assert!(becomes_empty(directory.path()));
    }

    #[test]
    fn a_command_that_takes_too_long_is_stopped() {
        let begun = Instant::now();
        let outcome = first_line("exec sleep 100", Duration::from_secs(1));
        assert_eq!(
            outcome.map(|_| ()),
            Err("it took longer than 1 s".to_owned())
        );
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
