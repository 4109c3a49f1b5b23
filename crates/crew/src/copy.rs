//! The program on hosts where it is not installed: copied there for a run, and removed.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::CrewError;
use crate::pipes::{COMPLAINT_MAX, LOOK, first_words, listen};
use crate::worker::is_stopped;

/// A copy may take so long: a slow line carries the program in it.
const COPY_MAX: Duration = Duration::from_secs(300);
/// And its removal so long.
const REMOVAL_MAX: Duration = Duration::from_secs(10);
/// Takes a program on its standard input, and tells where it is.
const SCRIPT: &str = "f=$(mktemp \"${TMPDIR:-/tmp}/pgmeter.XXXXXX\") && cat > \"$f\" && \
     chmod 700 \"$f\" && echo \"$f\"";

/// What a command writes, as far as it is read.
type Heard = Arc<Mutex<Vec<u8>>>;

/// Copies this program to a host, and tells where it is there. `on_host` runs there what it is
/// given; `stop` gives it up.
///
/// # Errors
/// When the host does not take it, or not in time.
pub fn copy_program(
    mut on_host: Command,
    host: &str,
    stop: &AtomicBool,
) -> Result<String, CrewError> {
    let refused = |why: String| CrewError::Copy {
        host: host.to_owned(),
        why,
    };
    let own = File::open("/proc/self/exe").map_err(|error| refused(error.to_string()))?;
    // A shell of the other side splits what it is given, so it is quoted for that.
    on_host
        .args(["sh", "-c", &format!("'{SCRIPT}'")])
        .stdin(own);
    match ran(on_host, COPY_MAX, stop) {
        Ok(path) if path.starts_with('/') => Ok(path),
        Ok(other) => Err(refused(format!("it said `{other}`"))),
        Err(_) if is_stopped(stop) => Err(CrewError::Stopped),
        Err(why) => Err(refused(why)),
    }
}

/// Removes a copy; who runs it goes on.
pub fn remove_copy(mut on_host: Command, path: &str) {
    on_host.args(["rm", "-f", path]).stdin(Stdio::null());
    let _ = ran(on_host, REMOVAL_MAX, &AtomicBool::new(false));
}

/// Runs a command to its end: the first line that it wrote. It is ended when it takes longer than
/// `limit`, or `stop` is set.
///
/// # Errors
/// Why there is no such line.
fn ran(mut command: Command, limit: Duration, stop: &AtomicBool) -> Result<String, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        let program = command.get_program().to_string_lossy();
        format!("cannot start `{program}`: {error}")
    })?;
    let (output, complaint) = (Heard::default(), Heard::default());
    let mut listeners = Vec::new();
    if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
        let (to_output, to_complaint) = (Arc::clone(&output), Arc::clone(&complaint));
        listeners.push(thread::spawn(move || listen(stdout, &to_output)));
        listeners.push(thread::spawn(move || listen(stderr, &to_complaint)));
    }
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(None) if is_stopped(stop) => break Err("it was given up".to_owned()),
            Ok(None) if begun.elapsed() > limit => {
                break Err(format!("it took longer than {} s", limit.as_secs()));
            }
            Ok(None) => thread::sleep(LOOK),
            Ok(Some(status)) => break Ok(status),
            Err(error) => break Err(error.to_string()),
        }
    };
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let end = Instant::now() + COMPLAINT_MAX;
    while !listeners.iter().all(thread::JoinHandle::is_finished) && Instant::now() < end {
        thread::sleep(LOOK);
    }
    let words = |of: &Heard| first_words(&of.lock().unwrap_or_else(PoisonError::into_inner));
    let (status, said) = (ended?, words(&complaint));
    match words(&output) {
        line if status.success() && !line.is_empty() => Ok(line),
        _ if said.is_empty() => Err(format!("its command ended with {status}")),
        _ => Err(format!("its command said `{said}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(script: &str, limit: Duration) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        super::ran(command, limit, &AtomicBool::new(false))
    }

    #[test]
    fn the_first_line_or_what_was_complained_of_is_told() {
        let long = Duration::from_secs(60);
        assert_eq!(ran("echo /tmp/x; echo y", long), Ok("/tmp/x".to_owned()));
        let told = ran("printf '\\033[31mno room\\n' >&2; exit 1", long);
        assert_eq!(
            told,
            Err("its command said `\\u{1b}[31mno room`".to_owned())
        );
        let told = ran("exit 3", long);
        assert_eq!(
            told,
            Err("its command ended with exit status: 3".to_owned())
        );
    }

    #[test]
    fn a_host_that_takes_the_program_tells_where_it_is() {
        // What a shell elsewhere does with what it is given.
        let mut on_host = Command::new("sh");
        on_host.args(["-c", "eval \"$*\"", "sh"]);
        let stop = AtomicBool::new(false);
        let path = copy_program(on_host, "a", &stop).expect("it is copied");
        let own = std::fs::metadata("/proc/self/exe").expect("this program");
        assert_eq!(std::fs::metadata(&path).expect("a copy").len(), own.len());
        let mut on_host = Command::new("sh");
        on_host.args(["-c", "eval \"$*\"", "sh"]);
        remove_copy(on_host, &path);
        assert!(std::fs::metadata(&path).is_err());
        let refused = copy_program(Command::new("false"), "a", &stop).expect_err("no copy");
        let told = refused.to_string();
        assert!(
            told.starts_with("`a` did not take a copy of the program: "),
            "{told}"
        );
    }

    #[test]
    fn who_takes_too_long_is_ended() {
        let begun = Instant::now();
        let told = ran("exec sleep 100", Duration::from_secs(1));
        assert_eq!(told, Err("it took longer than 1 s".to_owned()));
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
