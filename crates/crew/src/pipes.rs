//! Messages over the standard streams of commands: `ssh HOST pgmeter worker`, or whatever starts a
//! process elsewhere.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::CrewError;
use crate::hub::{Arrival, Hub};
use crate::message::{ALIVE, read, write};
use crate::worker::Worker;

/// Who has nothing to say shows this often that it is there.
const SIGN: Duration = Duration::from_secs(1);
/// Commands may take so long to end once nothing is said to them any more.
const END_MAX: Duration = Duration::from_secs(2);

/// Commands that have processes work elsewhere.
pub struct Children {
    children: Vec<Child>,
}

impl Children {
    /// Starts one command for each, in this order, and a hub to speak with them.
    ///
    /// # Errors
    /// When one cannot be started; those that were are ended.
    pub fn start(commands: Vec<Command>) -> Result<(Self, Hub), CrewError> {
        let (arrivals, from) = channel();
        let mut all = Self {
            children: Vec::new(),
        };
        let mut to = Vec::new();
        for (rank, mut command) in (0..).zip(commands) {
            command
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = command.spawn().map_err(|source| CrewError::Start {
                command: command.get_program().to_string_lossy().into_owned(),
                source,
            })?;
            let (sender, messages) = channel();
            to.push(sender);
            if let Some(mut stdin) = child.stdin.take() {
                // Ends with the hub, and the command's input with it.
                thread::spawn(move || send_all(&mut stdin, &messages));
            }
            if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
                let arrivals = arrivals.clone();
                thread::spawn(move || hear_all(rank, stdout, stderr, &arrivals));
            }
            all.children.push(child);
        }
        Ok((all, Hub { to, from }))
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        let end = Instant::now() + END_MAX;
        for child in &mut self.children {
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
                thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn send_all(stream: &mut impl io::Write, messages: &Receiver<Vec<u8>>) {
    loop {
        let written = match messages.recv_timeout(SIGN) {
            Ok(message) => write(stream, &message),
            Err(RecvTimeoutError::Timeout) => write(stream, ALIVE),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if written.is_err() {
            return;
        }
    }
}

fn hear_all(
    rank: u32,
    mut stdout: impl Read,
    stderr: impl Read + Send + 'static,
    arrivals: &Sender<(u32, Arrival)>,
) {
    let complaint = thread::spawn(move || first_words(stderr));
    let why = loop {
        match read(&mut stdout) {
            Ok(Some(message)) => {
                if arrivals.send((rank, Arrival::Message(message))).is_err() {
                    return;
                }
            }
            Ok(None) => break "ended".to_owned(),
            Err(error) => break format!("broke off: {error}"),
        }
    };
    let words = complaint.join().unwrap_or_default();
    let why = match words.as_str() {
        "" => why,
        words => format!("{why}; its command said `{words}`"),
    };
    let _ = arrivals.send((rank, Arrival::Gone(why)));
}

/// The first line that a command complains with, made printable and short.
fn first_words(mut stderr: impl Read) -> String {
    let mut text = Vec::new();
    let _ = stderr.by_ref().take(4096).read_to_end(&mut text);
    // It must be able to say more, or it would wait.
    let _ = io::copy(&mut stderr, &mut io::sink());
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line: String = line.unwrap_or_default().chars().take(200).collect();
    units::printable(&line).into_owned()
}

/// Works for whoever speaks on the standard input, until that ends; `stop` also ends it.
pub fn serve_stdio(stop: Arc<AtomicBool>) {
    let (to, messages) = channel();
    let worker = Worker::new(to, stop);
    let desk = worker.desk();
    thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Ok(Some(message)) = read(&mut stdin) {
            desk.take(&message);
        }
        desk.leader_is_gone();
    });
    let writer = thread::spawn(move || send_all(&mut io::stdout(), &messages));
    worker.work();
    // The desk's end of the channel lives on in the reader; what was said last is written first.
    drop(writer);
    thread::sleep(Duration::from_millis(50));
}
