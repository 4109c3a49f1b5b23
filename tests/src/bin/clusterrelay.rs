//! Relays the messages between a leader and a worker, and causes faults as a script demands.
//!
//! `clusterrelay work SCRIPT HOST ...` starts a worker and speaks with the leader over its standard
//! streams, instead of `ssh`. `clusterrelay connect SCRIPT HOST ...` speaks over TCP with
//! `clusterrelay listen SCRIPT HOST`, which starts the worker on the other side. Lines of a script:
//!
//! ```text
//! program PATH              program to start as `PATH worker`
//! log PATH                  file for the log of events
//! address HOST ADDRESS      address on which that host's `listen` waits
//! delay MILLISECONDS        delay of everything that passes `connect`
//! rule HOST WHEN WHAT       fault to cause
//! ```
//!
//! WHEN is `order:NAME` or `report:NAME`, for the first message of that name. WHAT is
//! `kill-worker`, `kill-command`, `kill-leader`, `stop-worker` for 8 s, or `cut`: nothing passes
//! any more.

use std::fs::{File, read_to_string};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flate2::read::DeflateDecoder;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

const STOP_TIME: Duration = Duration::from_secs(8);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["work", script, host, ..] => work(script, host),
        ["connect", script, host, ..] => connect(script, host),
        ["listen", script, host] => listen(script, host),
        _ => Err(io::Error::other("see the source for how it is used")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("relay: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Settings of a script for one host.
#[derive(Default)]
struct Script {
    program: String,
    log: String,
    address: String,
    delay: Duration,
    rules: Vec<(String, String)>,
}

impl Script {
    fn read(path: &str, host: &str) -> io::Result<Self> {
        let mut script = Self::default();
        for line in read_to_string(path)?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["program", path] => script.program = (*path).to_owned(),
                ["log", path] => script.log = (*path).to_owned(),
                ["address", of, address] if *of == host => script.address = (*address).to_owned(),
                ["delay", milliseconds] => {
                    let milliseconds = milliseconds.parse().unwrap_or(0);
                    script.delay = Duration::from_millis(milliseconds);
                }
                ["rule", of, when, what] if *of == host => {
                    script.rules.push(((*when).to_owned(), (*what).to_owned()));
                }
                _ => {}
            }
        }
        Ok(script)
    }
}

/// What both directions share.
struct Relay {
    host: String,
    script: Script,
    worker: Mutex<Child>,
    is_cut: AtomicBool,
    clocks: Clocks,
    leader: Option<Pid>,
}

/// How the worker's clock stands to that of the machine, as pings tell that pass by.
struct Clocks {
    ping_ns: AtomicU64,
    trip_ns: AtomicU64,
    /// What is to be added to the worker's clock.
    offset_ns: AtomicI64,
}

impl Relay {
    fn start(path: &str, host: &str) -> io::Result<Arc<Self>> {
        let script = Script::read(path, host)?;
        let mut command = Command::new(&script.program);
        command
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let worker = command.spawn()?;
        let relay = Self {
            host: host.to_owned(),
            script,
            worker: Mutex::new(worker),
            is_cut: AtomicBool::new(false),
            clocks: Clocks {
                ping_ns: AtomicU64::new(0),
                trip_ns: AtomicU64::new(u64::MAX),
                offset_ns: AtomicI64::new(0),
            },
            leader: getppid(),
        };
        let id = relay.worker().id();
        relay.log(&format!("worker {id}"));
        Ok(Arc::new(relay))
    }

    fn worker(&self) -> std::sync::MutexGuard<'_, Child> {
        self.worker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, text: &str) {
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.script.log);
        let line = format!("{} {text}\n", self.host);
        // One write is one line, even if other processes write at the same time.
        let _ = log.and_then(|mut log| log.write_all(line.as_bytes()));
    }

    /// Causes the faults that the script demands for a message.
    fn harm(&self, name: &str) {
        for (when, what) in &self.script.rules {
            if when != name {
                continue;
            }
            self.log(&format!("{what} at {name}"));
            let worker = Pid::from_child(&self.worker());
            let signal = |to, signal| {
                let _ = kill_process(to, signal);
            };
            match what.as_str() {
                "kill-worker" => signal(worker, Signal::KILL),
                "kill-command" => signal(getpid(), Signal::KILL),
                "kill-leader" => getppid()
                    .into_iter()
                    .for_each(|it| signal(it, Signal::KILL)),
                "stop-worker" => {
                    signal(worker, Signal::STOP);
                    thread::spawn(move || {
                        thread::sleep(STOP_TIME);
                        let _ = kill_process(worker, Signal::CONT);
                    });
                }
                "cut" => self.is_cut.store(true, Ordering::Relaxed),
                _ => self.log("what is this?"),
            }
        }
    }

    /// Carries orders, which are carried out by the rules once they have passed.
    fn relay_orders(&self, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
        while let Some(frame) = frame(&mut from)? {
            self.wait_while_cut();
            let message = self.look("order", &frame);
            to.write_all(&frame)?;
            to.flush()?;
            self.harm(&message);
        }
        Ok(())
    }

    fn relay_reports(&self, mut from: impl Read, mut to: impl Write) -> io::Result<()> {
        let mut byte = [0];
        loop {
            from.read_exact(&mut byte)?;
            to.write_all(&byte)?;
            if byte == *b"\n" {
                break;
            }
        }
        while let Some(frame) = frame(&mut from)? {
            let message = self.look("report", &frame);
            self.harm(&message);
            self.wait_while_cut();
            to.write_all(&frame)?;
            to.flush()?;
        }
        Ok(())
    }

    fn wait_while_cut(&self) {
        while self.is_cut.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(50));
            // The process that started this one is gone.
            if getppid() != self.leader {
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    }

    /// Returns the name of a message; measures the worker's clock by pings and their answers.
    fn look(&self, kind: &str, frame: &[u8]) -> String {
        let text = match frame.get(4) {
            Some(1) => frame[5..].to_vec(),
            Some(2) => {
                let mut text = Vec::new();
                let unpacked = DeflateDecoder::new(&frame[5..]).take(100);
                // The name comes first.
                let _ = { unpacked }.read_to_end(&mut text);
                text
            }
            _ => return String::new(),
        };
        let text = String::from_utf8_lossy(&text);
        let name = text.split('"').nth(1).unwrap_or_default();
        let message = serde_json::from_str::<Value>(&text).unwrap_or_default();
        let at_ns = message[name]["at_ns"].as_u64().unwrap_or(0);
        let (clocks, now_ns) = (&self.clocks, monotonic_ns());
        match name {
            "ping" => clocks.ping_ns.store(now_ns, Ordering::Relaxed),
            "pong" => {
                let sent_ns = clocks.ping_ns.load(Ordering::Relaxed);
                let trip_ns = now_ns.saturating_sub(sent_ns);
                if trip_ns < clocks.trip_ns.fetch_min(trip_ns, Ordering::Relaxed) {
                    let middle_ns = (sent_ns + trip_ns / 2).cast_signed();
                    let ahead_ns = middle_ns.wrapping_sub(at_ns.cast_signed());
                    clocks.offset_ns.store(ahead_ns, Ordering::Relaxed);
                }
            }
            "begun" => {
                let begun_ns = at_ns.cast_signed() + clocks.offset_ns.load(Ordering::Relaxed);
                let within_ns = clocks.trip_ns.load(Ordering::Relaxed) / 2;
                self.log(&format!("begun {begun_ns} {within_ns}"));
            }
            _ => {}
        }
        format!("{kind}:{name}")
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// A message with its length before it; none at the end.
fn frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut frame = vec![0; 4];
    match from.read_exact(&mut frame) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        done => done?,
    }
    let length = frame
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    from.take(length).read_to_end(&mut frame)?;
    Ok(Some(frame))
}

fn work(script: &str, host: &str) -> io::Result<()> {
    serve(&Relay::start(script, host)?, io::stdin(), io::stdout())
}

fn listen(script: &str, host: &str) -> io::Result<()> {
    let address = Script::read(script, host)?.address;
    let listener = TcpListener::bind(address)?;
    println!("listening");
    loop {
        let stream = listener.accept()?.0;
        stream.set_nodelay(true)?;
        let from = stream.try_clone()?;
        let relay = Relay::start(script, host)?;
        thread::spawn(move || serve(&relay, from, stream));
    }
}

/// Carries messages between a worker and a leader until the worker has ended.
fn serve(
    relay: &Arc<Relay>,
    from_leader: impl Read + Send + 'static,
    to_leader: impl Write,
) -> io::Result<()> {
    let (stdin, stdout) = {
        let mut worker = relay.worker();
        (worker.stdin.take(), worker.stdout.take())
    };
    let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(io::Error::other("a worker has its streams"));
    };
    let orders = Arc::clone(relay);
    thread::spawn(move || orders.relay_orders(from_leader, stdin));
    let carried = relay.relay_reports(stdout, to_leader);
    if carried.is_ok() {
        relay.worker().wait()?;
    }
    carried
}

fn connect(script: &str, host: &str) -> io::Result<()> {
    let script = Script::read(script, host)?;
    let stream = TcpStream::connect(script.address)?;
    stream.set_nodelay(true)?;
    let (from, mut to) = (stream.try_clone()?, stream);
    thread::spawn(move || {
        let _ = copy(io::stdin(), &mut to, script.delay);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    copy(from, &mut io::stdout(), script.delay)
}

/// Copies as it comes, as an interactive connection does, each byte so much later.
fn copy(
    mut from: impl Read + Send + 'static,
    to: &mut impl Write,
    delay: Duration,
) -> io::Result<()> {
    let (sender, on_its_way) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let due = Instant::now() + delay;
            if sender.send((due, bytes[..count].to_vec())).is_err() {
                return;
            }
        }
    });
    for (due, bytes) in on_its_way {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        to.write_all(&bytes)?;
        to.flush()?;
    }
    Ok(())
}
