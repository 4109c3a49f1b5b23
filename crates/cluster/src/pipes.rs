//! Messages over the standard streams of commands, such as `ssh HOST pgmeter worker`.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::ClusterError;
use crate::leader_links::{LeaderLinks, LinkEvent, channel_sender};
use crate::message::{KEEPALIVE, read, words, write};
use crate::worker::ClusterWorker;

/// First bytes of a worker's output. Shells may print a greeting before, which is not a message.
const PREAMBLE: &[u8] = b"\0pgmeter crew\n";
/// Maximum length of such a greeting, in bytes.
const GREETING_BYTES_MAX: usize = 64 << 10;
/// Interval of signs of life from a process with no other message.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// Time limit for commands to end after their input is closed, and again after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum wait for a command's error output after its standard output has ended. Another process,
/// such as a shared ssh connection, may keep the error output open.
pub(crate) const STDERR_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of messages queued for the leader; further senders wait.
const QUEUED_MAX: usize = 4096;
/// Interval at which the end of a process is checked.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Commands that run worker processes elsewhere.
pub struct Children {
    children: Vec<Child>,
}

impl Children {
    /// Starts the commands in this order, and returns the links to their processes.
    ///
    /// # Errors
    /// A command cannot be started; those already started are ended.
    pub fn start(commands: Vec<Command>) -> Result<(Self, LeaderLinks), ClusterError> {
        let (arrivals, from) = sync_channel(QUEUED_MAX);
        let mut all = Self {
            children: Vec::new(),
        };
        let mut to = Vec::new();
        for (rank, mut command) in (0..).zip(commands) {
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().map_err(|source| ClusterError::Start {
                command: command.get_program().to_string_lossy().into_owned(),
                source,
            })?;
            // Unlimited, because the leader must not wait for a process that reads nothing.
            let (sender, messages) = channel();
            to.push(channel_sender(sender));
            if let Some(mut stdin) = child.stdin.take() {
                // Ends when the links are dropped, which also closes the command's input.
                thread::spawn(move || send_all(&mut stdin, &messages));
            }
            if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
                let arrivals = arrivals.clone();
                thread::spawn(move || receive_messages(rank, stdout, stderr, &arrivals));
            }
            all.children.push(child);
        }
        Ok((
            all,
            LeaderLinks {
                senders: to,
                events: from,
            },
        ))
    }

    /// Waits for the commands to end; `true` if all have ended.
    fn have_ended(&mut self, wait: Duration) -> bool {
        let end = Instant::now() + wait;
        loop {
            // Every command is polled, so that none remains as a zombie.
            let at_work = self.children.iter_mut().map(|child| child.try_wait());
            let at_work = at_work.filter(|it| matches!(it, Ok(None))).count();
            if at_work == 0 || Instant::now() > end {
                return at_work == 0;
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        if self.have_ended(EXIT_TIMEOUT) {
            return;
        }
        for child in &mut self.children {
            let is_at_work = matches!(child.try_wait(), Ok(None));
            let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let (true, Some(number)) = (is_at_work, number) {
                // SIGTERM instead of SIGKILL: a stopped process can still remove its files when it
                // is continued.
                let _ = kill_process(number, Signal::TERM);
            }
        }
        self.have_ended(EXIT_TIMEOUT);
    }
}

/// Writes the messages, with signs of life in between.
fn send_all(stream: &mut impl Write, messages: &Receiver<Vec<u8>>) {
    loop {
        let written = match messages.recv_timeout(KEEPALIVE_INTERVAL) {
            Ok(message) => write(stream, &message),
            Err(RecvTimeoutError::Timeout) => write(stream, KEEPALIVE),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if written.is_err() {
            return;
        }
    }
}

fn receive_messages(
    rank: u32,
    mut stdout: impl Read,
    stderr: impl Read + Send + 'static,
    arrivals: &SyncSender<(u32, LinkEvent)>,
) {
    let error_text = Arc::new(Mutex::new(Vec::new()));
    let captured = Arc::clone(&error_text);
    let listener = thread::spawn(move || listen(stderr, &captured));
    let why = match skip_greeting(&mut stdout) {
        Ok(()) => loop {
            match read(&mut stdout) {
                Ok(Some(message)) => {
                    if arrivals.send((rank, LinkEvent::Message(message))).is_err() {
                        return;
                    }
                }
                Ok(None) => break "ended".to_owned(),
                Err(error) => break format!("broke off: {error}"),
            }
        },
        Err(why) => why,
    };
    // A process that writes without end is not waited for.
    drop(stdout);
    let end = Instant::now() + STDERR_TIMEOUT;
    while !listener.is_finished() && Instant::now() < end {
        thread::sleep(POLL_INTERVAL);
    }
    let error_text = error_text.lock().unwrap_or_else(PoisonError::into_inner);
    let why = match first_printable_line(&error_text) {
        words if words.is_empty() => why,
        words => format!("{why}; its command printed `{words}`"),
    };
    let _ = arrivals.send((rank, LinkEvent::Closed(why)));
}

/// Skips the output before the opening.
///
/// # Errors
/// The opening does not come; the error quotes the output instead.
fn skip_greeting(stream: &mut impl Read) -> Result<(), String> {
    let mut greeting = Vec::new();
    // One byte at a time, because the bytes after the opening belong to the first message.
    let mut byte = [0];
    let why = loop {
        if greeting.ends_with(PREAMBLE) {
            return Ok(());
        }
        if greeting.len() > GREETING_BYTES_MAX {
            break "is not pgmeter".to_owned();
        }
        match stream.read(&mut byte) {
            Ok(0) => break "ended before it identified itself".to_owned(),
            Ok(_) => greeting.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break format!("broke off: {error}"),
        }
    };
    match first_printable_line(&greeting) {
        words if words.is_empty() => Err(why),
        words => Err(format!("{why}: it wrote `{words}`")),
    }
}

/// Keeps the beginning of the error output.
pub(crate) fn listen(mut stderr: impl Read, captured: &Mutex<Vec<u8>>) {
    const KEPT_BYTES: usize = 4096;
    let mut bytes = [0; 1024];
    // Reads everything, because a full pipe would block the command.
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
        if captured.len() < KEPT_BYTES {
            captured.extend_from_slice(&bytes[..count]);
        }
    }
}

/// First line that is not blank, made printable and short.
pub(crate) fn first_printable_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    words(
        &line
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect::<String>(),
    )
}

/// Works for the leader at the standard input until the input ends or `stop` is set.
pub fn serve_stdio(stop: Arc<AtomicBool>) {
    let (to, messages) = channel();
    let worker = ClusterWorker::new(channel_sender(to), stop);
    let inbox = worker.inbox();
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Ok(Some(message)) = read(&mut stdin) {
            inbox.take(&message);
        }
        inbox.on_leader_lost();
    });
    thread::spawn(move || {
        let mut stdout = io::stdout();
        if stdout.write_all(PREAMBLE).is_ok() {
            send_all(&mut stdout, &messages);
        }
    });
    worker.work();
    // The reader keeps the channel to the writer open, so the writer cannot be joined. The pause
    // lets it write the last message.
    thread::sleep(Duration::from_millis(50));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_greetings_are_skipped() {
        let mut stream = b"Welcome!\nLast login\n\0pgmeter crew\nrest".as_slice();
        skip_greeting(&mut stream).expect("the opening");
        assert_eq!(stream, b"rest");
    }

    #[test]
    fn a_program_other_than_pgmeter_is_reported_with_its_output() {
        let of = |bytes: &[u8]| skip_greeting(&mut &*bytes).expect_err("no opening");
        assert_eq!(of(b""), "ended before it identified itself");
        let reason = of(b"\n\x1b[31msh: not found\n");
        assert!(
            reason.ends_with("it wrote `\\u{1b}[31msh: not found`"),
            "{reason}"
        );
        let reason = of(&b"y\n".repeat(1 << 20));
        assert_eq!(reason, "is not pgmeter: it wrote `y`");
        assert!(of(&vec![b'x'; 1 << 20]).len() < 300);
    }

    #[test]
    fn a_command_is_gone_even_if_its_standard_error_stays_open() {
        let mut command = Command::new("sh");
        // What is left in the background holds standard error open.
        command.args(["-c", "echo no route >&2; sleep 3 >/dev/null & exit 1"]);
        let (children, hub) = Children::start(vec![command]).expect("sh starts");
        let (rank, arrival) = hub.receive(Duration::from_secs(60)).expect("an end");
        let LinkEvent::Closed(why) = arrival else {
            panic!("a message");
        };
        assert_eq!(rank, 0);
        assert!(why.contains("no route"), "{why}");
        drop((hub, children));
    }
}
