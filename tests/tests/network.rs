//! TCP peers: what is counted, who is let in, and that nothing hangs whatever the other end does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use end_to_end::{Finished, ScratchTarget, run_tool, skip};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

const MAGIC: &[u8; 8] = b"\x89PGMSNK\n";
/// Numbers of statuses in frames.
const WELCOME: u32 = 2;
const VERSION: u32 = 4;
const FULL: u32 = 6;
const REFUSED: u32 = 7;
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// `pgmeter sink` that ends with the test.
struct Sink {
    child: Child,
    _output: BufReader<ChildStdout>,
    stderr: Option<ChildStderr>,
    target: String,
    address: SocketAddr,
}

impl Sink {
    fn start(bed: &ScratchTarget, more: &[&str]) -> Self {
        let arguments = [&["sink", "--listen", "127.0.0.1:0"], more].concat();
        let mut command = bed.command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut target = String::new();
        output.read_line(&mut target).unwrap();
        let target = target.trim().to_owned();
        let address = target.strip_prefix("tcp://").unwrap();
        Self {
            address: address.parse().unwrap(),
            stderr: child.stderr.take(),
            child,
            _output: output,
            target,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let most = Some(Duration::from_secs(60));
        stream.set_read_timeout(most).unwrap();
        stream
    }

    /// Ends it and returns what it said.
    fn end(&mut self) -> String {
        run_tool("kill", &["-TERM", &self.child.id().to_string()]).unwrap();
        let mut text = String::new();
        let mut remarks = self.stderr.take().unwrap();
        remarks.read_to_string(&mut text).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{text}");
        text
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A frame that begins a connection.
fn frame(major: u16, status: u32) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..10].copy_from_slice(&major.to_le_bytes());
    bytes[12..16].copy_from_slice(&status.to_le_bytes());
    bytes
}

fn status(stream: &mut TcpStream) -> u32 {
    let mut bytes = [0; 64];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes[..8], MAGIC);
    u32::from_le_bytes(bytes[12..16].try_into().unwrap())
}

/// A workload of one line.
fn line(line: &str, more: &str) -> String {
    format!("ramp_time = 0\n{more}\n[[access_spec]]\nname = \"Line\"\nline = [{line}]\n")
}

fn record(bed: &ScratchTarget, arguments: &[&str]) -> (Finished, Value) {
    let all = [arguments, &["--json", "-", "--quiet", "--no-db"]].concat();
    let finished = bed.run(&all);
    let record = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("no record: {error}\n{}", finished.text()));
    (finished, record)
}

fn figure(record: &Value, operation: &str, name: &str) -> u64 {
    let operations = &record["cells"][0]["operations"];
    operations[operation][name].as_u64().unwrap_or(0)
}

#[test]
fn requests_and_replies_of_a_byte_and_of_a_mebibyte_are_counted_exactly() {
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &[]);
    for engine in ["psync", "io_uring"] {
        for (size, read, reply) in [(1, 100, 1), (1 << 20, 100, 1), (1, 0, 1 << 20), (5, 0, 3)] {
            let spec = format!("{{ size = {size}, read = {read}, reply = {reply} }}");
            let more = format!("engine = \"{engine}\"\noperations = 40\niodepth = 1");
            bed.file("w.toml", line(&spec, &more));
            let (run, record) = record(&bed, &["run", "w.toml", "--target", &sink.target]);
            assert_eq!(run.code, 0, "{}", run.text());
            let (first, second) = match read {
                100 => ("read", "write"),
                _ => ("write", "read"),
            };
            let counts = |operation| {
                let figure = |name| figure(&record, operation, name);
                (figure("count"), figure("bytes"), figure("errors"))
            };
            assert_eq!(counts(first), (20, 20 * size, 0), "{engine} {spec}");
            assert_eq!(counts(second), (20, 20 * reply, 0), "{engine} {spec}");
            assert_eq!(record["plan"]["targets"][0]["kind"], "network");
            assert_eq!(record["cells"][0]["target"], sink.target);
            let warnings = record["warnings"].to_string();
            assert!(warnings.contains("network-loopback"), "{warnings}");
        }
    }
}

#[test]
fn shares_of_receives_and_sends_are_kept_at_any_depth() {
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &[]);
    for engine in ["psync", "io_uring"] {
        let more = format!("engine = \"{engine}\"\noperations = 4000\niodepth = 8");
        bed.file("w.toml", line("{ size = 512, read = 25 }", &more));
        let (run, record) = record(&bed, &["run", "w.toml", "--target", &sink.target]);
        assert_eq!(run.code, 0, "{}", run.text());
        let (reads, writes) = (
            figure(&record, "read", "count"),
            figure(&record, "write", "count"),
        );
        assert_eq!(reads + writes, 4000);
        assert!((850..1150).contains(&reads), "{engine}: {reads}");
        // A warning explains the latency of a send.
        let warnings = record["warnings"].to_string();
        assert!(warnings.contains("sends without a `reply`"), "{warnings}");
    }
}

#[test]
fn connections_are_opened_and_closed_at_a_rate() {
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &[]);
    bed.file(
        "w.toml",
        // Not by time: on a busy machine, no connection might be closed in it.
        line("{ size = 100, reply = 1 }", "operations = 180"),
    );
    for engine in ["psync", "io_uring"] {
        let set = ["--engine", engine, "--set", "transactions_per_connection=3"];
        let arguments = [&["run", "w.toml", "--target", &sink.target], &set[..]].concat();
        let (run, record) = record(&bed, &arguments);
        assert_eq!(run.code, 0, "{}", run.text());
        let count = |kind: &str| {
            let transactions = &record["cells"][0]["transactions"];
            transactions[kind]["count"].as_u64().unwrap()
        };
        let (connections, transactions) = (count("connection"), count("transaction"));
        assert!(connections > 1, "{connections}");
        assert!(
            transactions.abs_diff(3 * connections) <= 4,
            "{transactions} {connections}"
        );
        assert!(figure(&record, "open", "count").abs_diff(connections) <= 1);
    }
}

#[test]
fn pgmeter_starts_its_own_sink_for_the_run() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "w.toml",
        line("{ size = \"4k\", reply = 1 }", "operations = 100"),
    );
    let arguments = [
        "run",
        "w.toml",
        "--target",
        "tcp://127.0.0.1:0",
        "--iodepth",
        "4",
    ];
    let (run, record) = record(&bed, &arguments);
    assert_eq!(run.code, 0, "{}", run.text());
    assert_eq!(record["cells"][0]["total"]["count"], 100);
}

#[test]
fn several_hosts_share_one_sink_and_their_counts_add_up() {
    let bed = ScratchTarget::new().unwrap();
    let token = bed.file("token", TOKEN);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let sink = Sink::start(&bed, &["--token-file", "token"]);
    let program = bed.command(&[]).get_program().to_os_string();
    let script = format!("#!/bin/sh\ncd /\nexec {} worker\n", program.display());
    let ssh = bed.script("ssh", script);
    // Each worker's twenty begin with a write and end with its reply: at a greater depth, the last
    // ones may be writes alone.
    let more = "operations = 240\niodepth = 1\nworkers = 4";
    bed.file(
        "w.toml",
        line("{ size = \"4k\", read = 0, reply = 1 }", more),
    );
    let arguments = [
        "run",
        "w.toml",
        "--target",
        &sink.target,
        "--hosts",
        "a,b,c",
    ];
    let carrier = ["--ssh", &ssh];
    let all = [&arguments[..], &carrier, &["--sink-token-file", "token"]].concat();
    let (run, record) = record(&bed, &all);
    assert_eq!(run.code, 0, "{}", run.text());
    let cell = &record["cells"][0];
    assert_eq!(figure(&record, "write", "count"), 120);
    assert_eq!(figure(&record, "write", "bytes"), 120 << 12);
    assert_eq!(figure(&record, "read", "bytes"), 120);
    let ranks = cell["crew"]["ranks"].as_array().unwrap();
    let counts = ranks.iter().map(|it| it["count"].as_u64().unwrap());
    assert_eq!((ranks.len(), counts.sum::<u64>()), (3, 240));
    let targets = cell["target_figures"].as_array().unwrap();
    assert_eq!(
        (targets.len(), &targets[0]["transactions"]),
        (1, &Value::from(120))
    );
    // Each process says so, and they are all.
    let warnings = record["warnings"].as_array().unwrap().iter();
    assert_eq!(
        warnings
            .filter(|it| it["code"] == "network-loopback")
            .count(),
        1
    );
    let without = [&arguments[..], &carrier, &["--no-db"]].concat();
    bed.run(&without).assert_refused(3, &["rank ", "token"]);
}

#[test]
fn a_protocol_version_mismatch_is_reported_on_both_sides() {
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &[]);
    let mut stream = sink.connect();
    stream.write_all(&frame(2, 0)).unwrap();
    assert_eq!(status(&mut stream), VERSION);
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it closes");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        stream.write_all(&frame(2, WELCOME)).unwrap();
    });
    let run = bed.run(&[
        "run", "--rw", "read", "--bs", "1k", "--target", &target, "--no-db",
    ]);
    answer.join().unwrap();
    assert_eq!(run.code, 3, "{}", run.text());
    assert!(
        run.stderr.contains("version 2.0, but 1.0 is required"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_peer_that_is_silent_or_not_a_sink_is_an_error() {
    let bed = ScratchTarget::new().unwrap();
    let measure = |target: &str| {
        let run = bed.run(&[
            "run", "--rw", "read", "--bs", "1k", "--target", target, "--no-db",
        ]);
        assert_eq!(run.code, 3, "{}", run.text());
        run.stderr
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        stream.write_all(&[b'\x1b'; 64]).unwrap();
        listener
    });
    let text = measure(&target);
    assert!(
        text.contains("is not a pgmeter sink") && !text.contains('\u{1b}'),
        "{text}"
    );
    // It listens and never answers.
    let listener = answer.join().unwrap();
    let start = Instant::now();
    let text = measure(&target);
    assert!(text.contains("did not complete the greeting"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(40));
    drop(listener);
    let text = measure(&target);
    assert!(
        text.contains("cannot connect") && text.contains("pgmeter sink"),
        "{text}"
    );
}

#[test]
fn a_connection_that_does_not_greet_is_closed_after_ten_seconds() {
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &[]);
    let start = Instant::now();
    let mut silent = sink.connect();
    // Some of a frame, and no more.
    let mut partial = sink.connect();
    partial.write_all(&frame(1, 1)[..20]).unwrap();
    for stream in [&mut silent, &mut partial] {
        let read = stream.read(&mut [0; 1]);
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
    }
    let took = start.elapsed();
    assert!((8..20).contains(&took.as_secs()), "{took:?}");
}

/// A peer that greets and then answers nothing.
fn silent_peer() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp://{}", listener.local_addr().unwrap());
    let serving = listener.try_clone().unwrap();
    std::thread::spawn(move || {
        let mut streams = Vec::new();
        while let Ok((mut stream, _)) = serving.accept() {
            if stream.read_exact(&mut [0; 64]).is_ok() {
                let _ = stream.write_all(&frame(1, WELCOME));
                streams.push(stream);
            }
        }
    });
    (listener, target)
}

#[test]
fn requests_that_a_silent_peer_never_answers_count_as_failed() {
    let bed = ScratchTarget::new().unwrap();
    let (_listener, target) = silent_peer();
    let silent = line("{ size = \"1k\", read = 100 }", "");
    bed.file("silent.toml", silent);
    let runs = ["io_uring", "psync"].map(|engine| {
        let arguments = [
            "run",
            "silent.toml",
            "--target",
            &target,
            "--engine",
            engine,
            "--iodepth",
            "2",
            "--run-time",
            "1s",
            "--no-db",
        ];
        bed.command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    });
    for run in runs {
        let output = run.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            text.contains("failed") && !text.contains("no operation failed"),
            "{text}"
        );
    }
}

#[test]
fn hostile_bytes_are_refused_and_other_clients_are_served() {
    let bed = ScratchTarget::new().unwrap();
    let mut sink = Sink::start(&bed, &[]);
    let mut noise = sink.connect();
    noise.write_all(&[b'G'; 64]).unwrap();
    assert_eq!(status(&mut noise), REFUSED);
    // Headers of no operation, of too many bytes, and without their end.
    let invalid: [[u32; 4]; 4] = [
        [9, 1, 1, 0x5047_4d7c],
        [1, u32::MAX, 0, 0x5047_4d7c],
        [2, 1, (64 << 20) + 1, 0x5047_4d7c],
        [1, 1, 1, 0],
    ];
    for words in invalid {
        let mut stream = sink.connect();
        stream.write_all(&frame(1, 0)).unwrap();
        assert_eq!(status(&mut stream), WELCOME);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        stream.write_all(&bytes).unwrap();
        assert_eq!(status(&mut stream), REFUSED);
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    // Half a request, and then nobody.
    let mut half = sink.connect();
    half.write_all(&frame(1, 0)).unwrap();
    assert_eq!(status(&mut half), WELCOME);
    half.write_all(&[1, 0, 0]).unwrap();
    drop(half);
    bed.file(
        "w.toml",
        line("{ size = 10, reply = 1 }", "operations = 10"),
    );
    let (run, _) = record(&bed, &["run", "w.toml", "--target", &sink.target]);
    assert_eq!(run.code, 0, "{}", run.text());
    let printed = sink.end();
    assert!(
        printed.contains("was refused") && printed.contains("127.0.0.1:"),
        "{printed}"
    );
}

#[test]
fn a_sink_that_is_killed_ends_the_run_with_errors() {
    for engine in ["psync", "io_uring"] {
        let bed = ScratchTarget::new().unwrap();
        let mut sink = Sink::start(&bed, &[]);
        let more = format!("engine = \"{engine}\"\nrun_time = 60\niodepth = 4");
        bed.file("w.toml", line("{ size = \"4k\", reply = 1 }", &more));
        let arguments = [
            "run",
            "w.toml",
            "--target",
            &sink.target,
            "--json",
            "saved.json",
        ];
        let start = Instant::now();
        let mut run = bed.start(&arguments);
        bed.wait_for_intervals(1);
        sink.child.kill().unwrap();
        let code = run.wait().unwrap().code();
        assert!(
            start.elapsed() < Duration::from_secs(45),
            "{:?}",
            start.elapsed()
        );
        assert_eq!(code, Some(1), "{engine}");
        let text = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
        let record: Value = serde_json::from_str(&text).unwrap();
        // Each connection has failed once.
        let errors = record["cells"][0]["total"]["errors"].as_u64().unwrap();
        assert!((1..=4).contains(&errors), "{errors}");
        let warnings = record["warnings"].to_string();
        assert!(warnings.contains("io-errors"), "{warnings}");
        let lost = format!("connections to `{}` that failed", sink.target);
        assert!(warnings.contains(&lost), "{warnings}");
    }
}

/// A file with a token that only its owner can read.
fn token_file(bed: &ScratchTarget, name: &str, token: &str) -> PathBuf {
    let path = bed.file(name, token);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    path
}

#[test]
fn a_sink_reachable_from_other_hosts_requires_a_token() {
    let bed = ScratchTarget::new().unwrap();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = bed.run(&["sink", "--listen", address]);
        assert_eq!(refused.code, 2, "{}", refused.text());
        assert!(
            refused.stderr.contains("there is no token"),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("ssh -L"), "{}", refused.stderr);
    }
    let open = bed.file("open", TOKEN);
    let refused = bed.run(&["sink", "--token-file", &open.to_string_lossy()]);
    assert_eq!(refused.code, 2, "{}", refused.text());
    assert!(
        refused.stderr.contains("others can read it"),
        "{}",
        refused.stderr
    );
}

#[test]
fn only_clients_with_the_token_connect_and_no_output_shows_it() {
    let bed = ScratchTarget::new().unwrap();
    let right = token_file(&bed, "right", TOKEN);
    let wrong = token_file(&bed, "wrong", &TOKEN.replace('0', "f"));
    let (right, wrong) = (right.to_string_lossy(), wrong.to_string_lossy());
    let mut sink = Sink::start(&bed, &["--token-file", &right]);
    bed.file(
        "w.toml",
        line("{ size = 10, reply = 1 }", "operations = 10"),
    );
    let run = |more: &[&str]| {
        let target = ["run", "w.toml", "--no-db", "--target", &sink.target];
        bed.run(&[&target, more].concat())
    };
    let without = run(&[]);
    assert_eq!(without.code, 3, "{}", without.text());
    assert!(
        without.stderr.contains("requires a token"),
        "{}",
        without.stderr
    );
    let other = run(&["--sink-token-file", &wrong]);
    assert_eq!(other.code, 3, "{}", other.text());
    assert!(
        other.stderr.contains("has another token"),
        "{}",
        other.stderr
    );
    let let_in = run(&["--sink-token-file", &right, "--json", "saved.json"]);
    assert_eq!(let_in.code, 0, "{}", let_in.text());
    let saved = std::fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let printed = sink.end();
    assert!(printed.contains("it has another token"), "{printed}");
    for text in [saved, printed, let_in.text(), other.text()] {
        assert!(!text.contains(TOKEN), "{text}");
    }
}

#[test]
fn each_of_ten_thousand_connections_is_served_or_refused_as_full() {
    const COUNT: usize = 10_000;
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: Some(COUNT as u64 + 200),
        maximum: limit.maximum,
    };
    let is_possible = limit
        .current
        .is_none_or(|current| current > COUNT as u64 + 200);
    if !is_possible && setrlimit(Resource::Nofile, raised).is_err() {
        skip!("no {COUNT} files can be open here");
    }
    let bed = ScratchTarget::new().unwrap();
    let sink = Sink::start(&bed, &["--connections", "500"]);
    let mut streams = Vec::with_capacity(COUNT);
    for _ in 0..COUNT {
        let mut stream = sink.connect();
        // A connection that is refused for lack of room may be closed before this.
        let _ = stream.write_all(&frame(1, 0));
        streams.push(stream);
    }
    let statuses = streams.iter_mut().map(status);
    let statuses: Vec<u32> = statuses.collect();
    let count = |wanted| statuses.iter().filter(|it| **it == wanted).count();
    assert_eq!((count(WELCOME), count(FULL)), (500, COUNT - 500));
    let full = bed.run(&[
        "run",
        "--rw",
        "read",
        "--bs",
        "1k",
        "--target",
        &sink.target,
        "--no-db",
    ]);
    assert_eq!(full.code, 3, "{}", full.text());
    assert!(
        full.stderr.contains("its limit of 500 connections"),
        "{}",
        full.stderr
    );
    // New connections are accepted after the others have closed.
    drop(streams);
    std::thread::sleep(Duration::from_millis(500));
    bed.file(
        "w.toml",
        line("{ size = 10, reply = 1 }", "operations = 10"),
    );
    let (run, _) = record(&bed, &["run", "w.toml", "--target", &sink.target]);
    assert_eq!(run.code, 0, "{}", run.text());
}

#[test]
fn file_options_are_refused_for_network_targets() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "w.toml",
        line("{ size = 10, reply = 1 }", "operations = 10"),
    );
    let target = ["run", "w.toml", "--no-db", "--target", "tcp://127.0.0.1:0"];
    for (more, said) in [
        (&["--verify"][..], "`verify` applies to files"),
        (&["--size", "1m"], "`size` applies to files"),
        (&["--cache", "direct"], "`cache` applies to files"),
        (&["--engine", "mmap"], "maps files"),
        (
            &["--target", "."],
            "a worker uses either files or TCP peers",
        ),
    ] {
        let refused = bed.run(&[&target, more].concat());
        assert_eq!(refused.code, 2, "{}", refused.text());
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    for wrong in ["tcp://127.0.0.1", "tcp://:1", "tcp://\u{1b}[31m:1"] {
        let refused = bed.run(&["run", "w.toml", "--no-db", "--target", wrong]);
        assert_eq!(refused.code, 2, "{}", refused.text());
        assert!(!refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    }
}

/// An Iometer configuration with a network worker whose target is `target` on a manager, and a
/// disk worker if there is a path for it.
fn icf(target: &str, manager: &str, rate: &str, disk: Option<&str>) -> String {
    let worker = |name: &str, kind: &str, settings: &str, target: &str| {
        format!(
            "'Worker\n\t{name}\n'Worker type\n\t{kind}\n\
             'Default target settings for worker\n\
             'Number of outstanding IOs,test connection rate,transactions per connection\n\
             \t{settings}\n'End default target settings for worker\n\
             'Assigned access specs\n\tping\n'End assigned access specs\n\
             'Target assignments\n'Target\n\t{target}\n'Target type\n\t{kind}\n{}'End target\n\
             'End target assignments\n'End worker\n",
            match kind {
                "DISK" => String::new(),
                _ => format!("'Target manager ID, manager name\n\t{manager}\n"),
            }
        )
    };
    let disk = disk.map(|path| worker("disk", "DISK", "1,DISABLED,1", path));
    format!(
        "Version 1.1.0\n'TEST SETUP ====\n'Run Time\n'\thours\tminutes\tseconds\n\t0\t0\t1\n\
         'END test setup\n'ACCESS SPECIFICATIONS ====\n\
         'Access specification name,default assignment\n\tping,NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n\
         \t4096,100,50,0,0,1,0,512\n'END access specifications\n'MANAGER LIST ====\n\
         'Manager ID, manager name\n\t1,alpha\n'Manager network address\n\t\n{}{}\
         'End manager\n'END manager list\nVersion 1.1.0\n",
        worker("net", "NETWORK,TCP", rate, target),
        disk.unwrap_or_default()
    )
}

#[test]
fn the_loopback_layout_of_iometer_runs_on_one_machine() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("net.icf", icf("10.9.8.7", "1,alpha", "3,ENABLED,10", None));
    let (run, alone) = record(&bed, &["run", "net.icf"]);
    assert_eq!(run.code, 0, "{}", run.text());
    let warnings = alone["warnings"].to_string();
    assert!(
        warnings.contains("a sink that pgmeter starts for the run"),
        "{warnings}"
    );
    let worker = &alone["plan"]["cells"][0]["workers"][0];
    assert_eq!(worker["transactions_per_connection"], 10);
    assert_eq!(worker["spans"][0]["iodepth"], 3);
    assert!(
        alone["cells"][0]["transactions"]["connection"]["count"]
            .as_u64()
            .unwrap()
            > 0
    );

    let target = bed.target().to_string_lossy().into_owned();
    let mixed = icf("10.9.8.7", "1,alpha", "1,DISABLED,1", Some(&target));
    bed.file("mixed.icf", mixed);
    let options = ["--size", "1m", "--cache", "buffered"];
    let (run, both) = record(&bed, &[&["run", "mixed.icf"], &options[..]].concat());
    assert_eq!(run.code, 0, "{}", run.text());
    let workers = both["cells"][0]["worker_figures"].as_array();
    assert_eq!(workers.map(Vec::len), Some(2), "{}", both["cells"][0]);
}

#[test]
fn a_target_on_another_machine_is_named_by_an_option() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("net.icf", icf("10.9.8.7", "2,beta", "1,DISABLED,1", None));
    let refused = bed.run(&["run", "net.icf", "--no-db"]);
    assert_eq!(refused.code, 2, "{}", refused.text());
    assert!(
        refused
            .stderr
            .contains("`tcp://10.9.8.7` of `net` has no port"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("--target tcp://HOST:PORT"),
        "{}",
        refused.stderr
    );
    let checked = bed.run(&["check", "net.icf"]);
    assert_eq!(checked.code, 0, "{}", checked.text());
    let sink = Sink::start(&bed, &[]);
    let (run, record) = record(&bed, &["run", "net.icf", "--target", &sink.target]);
    assert_eq!(run.code, 0, "{}", run.text());
    assert_eq!(record["cells"][0]["target"], sink.target);
}
