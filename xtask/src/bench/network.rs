//! Compares requests and replies over loopback with a bare loop of the same calls to the same sink.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use network::{ByteDirection, HEADER_BYTES, Peer, TransactionHeader};

use super::contest::{ComparedProgram, ProgramComparison, Requirement};
use super::programs::Pgmeter;
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Minimum share of the bare loop's rate.
const RATIO_MIN: f64 = 0.9;
/// Same length as pgmeter's ramp.
const RAMP: Duration = Duration::from_millis(500);

/// A size of request and reply.
struct MessageCase {
    title: &'static str,
    engine: &'static str,
    bytes: u32,
}

const fn case(title: &'static str, engine: &'static str, bytes: u32) -> MessageCase {
    MessageCase {
        title,
        engine,
        bytes,
    }
}

const CASES: [MessageCase; 8] = [
    case("psync, 1 B", "psync", 1),
    case("psync, 4 KiB", "psync", 4 << 10),
    case("psync, 64 KiB", "psync", 64 << 10),
    case("psync, 1 MiB", "psync", 1 << 20),
    case("io_uring, 1 B", "io_uring", 1),
    case("io_uring, 4 KiB", "io_uring", 4 << 10),
    case("io_uring, 64 KiB", "io_uring", 64 << 10),
    case("io_uring, 1 MiB", "io_uring", 1 << 20),
];

/// Runs all comparisons and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let pgmeter = Pgmeter::of(effort)?;
    let sink = SinkProcess::start(&pgmeter)?;
    let seconds = effort.seconds_or(3);
    let mut missed_count = 0;
    for case in CASES.iter().filter(|case| effort.wants(case.title)) {
        let text = workload(case, seconds);
        let target = sink.target.as_str();
        let measure_iops = || Ok(pgmeter.measure(&text, Some(Path::new(target)))?.iops);
        // Connected once and before the measurement, as in pgmeter.
        let bare = RefCell::new(BareMessageLoop::connect(target, case.bytes)?);
        let theirs = || bare.borrow_mut().measure(Duration::from_secs(seconds));
        let contest = ProgramComparison {
            title: case.title,
            unit: "requests and replies a second",
            contestants: vec![
                ComparedProgram {
                    name: "pgmeter",
                    measure: Box::new(measure_iops),
                },
                ComparedProgram {
                    name: "bare loop",
                    measure: Box::new(theirs),
                },
            ],
            requirements: vec![Requirement {
                against: "bare loop",
                ratio_min: RATIO_MIN,
            }],
        };
        missed_count += contest.hold(effort.rounds_or(5), interrupt)?;
    }
    Ok(missed_count)
}

fn workload(case: &MessageCase, seconds: u64) -> String {
    let MessageCase { engine, bytes, .. } = case;
    format!(
        "engine = \"{engine}\"\niodepth = 1\nrun_time = {seconds}\nramp_time = \"{}ms\"\n\
         [[access_spec]]\nline = [{{ size = {bytes}, read = 0, reply = {bytes} }}]\n",
        RAMP.as_millis()
    )
}

/// `pgmeter sink`, killed when this is dropped.
struct SinkProcess {
    child: Child,
    target: String,
}

impl SinkProcess {
    fn start(pgmeter: &Pgmeter) -> Result<Self, Failure> {
        let mut command = pgmeter.plain(&["sink", "--listen", "127.0.0.1:0"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(Failure::start("pgmeter sink"))?;
        let mut target = String::new();
        if let Some(output) = child.stdout.take() {
            // The first line is the target with the port that the kernel has chosen.
            let read = BufReader::new(output).read_line(&mut target);
            read.map_err(Failure::start("pgmeter sink"))?;
        }
        let target = target.trim().to_owned();
        Ok(Self { child, target })
    }
}

impl Drop for SinkProcess {
    fn drop(&mut self) {
        // Fails if it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The minimum of calls: a send of header and bytes, and receives of the reply.
struct BareMessageLoop {
    stream: TcpStream,
    message: Vec<u8>,
    reply: Vec<u8>,
}

impl BareMessageLoop {
    fn connect(target: &str, bytes: u32) -> Result<Self, Failure> {
        let address = target.strip_prefix("tcp://").unwrap_or_default();
        let (host, port) = address.rsplit_once(':').unwrap_or_default();
        let failed = |error: network::NetworkError| Failure::ChecksFailed(error.to_string());
        // pgmeter's own client connects, so that both programs use the same socket options and
        // greeting.
        let peer = Peer::find(host, port.parse().unwrap_or(0), None).map_err(failed)?;
        let stream = peer.connect().map_err(failed)?;
        let header = TransactionHeader {
            direction: ByteDirection::ToSink,
            length_bytes: bytes,
            reply_bytes: bytes,
        };
        let mut message = header.to_bytes().to_vec();
        message.resize(HEADER_BYTES + bytes as usize, 0x5a);
        Ok(Self {
            stream,
            message,
            reply: vec![0; bytes as usize],
        })
    }

    /// Sends and receives per second, counted as in pgmeter.
    fn measure(&mut self, span: Duration) -> Result<f64, Failure> {
        self.go_on(RAMP)?;
        let start = Instant::now();
        let count = self.go_on(span)?;
        // pgmeter counts the request and its reply as two operations.
        Ok(2.0 * count as f64 / start.elapsed().as_secs_f64())
    }

    fn go_on(&mut self, span: Duration) -> Result<u64, Failure> {
        let failed = Failure::start("the bare loop");
        let start = Instant::now();
        let mut count = 0;
        let mut one = || {
            self.stream.write_all(&self.message)?;
            self.stream.read_exact(&mut self.reply)
        };
        // One clock read per iteration, as in pgmeter.
        while start.elapsed() < span {
            if let Err(error) = one() {
                return Err(failed(error));
            }
            count += 1;
        }
        Ok(count)
    }
}
