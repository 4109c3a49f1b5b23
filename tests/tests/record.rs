//! Recordings of requests whose order, places and sizes are known. Needs root and tracefs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Stdio;

use end_to_end::{FileSystem, LoopDevice, MountedImage, ScratchTarget, Zram, need, skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use trace::{TraceBatch, TraceLayer, TraceOptions, TraceReader, TraceRequest, TracedKind};

const BLOCK_BYTES: usize = 4096;
const REQUEST_COUNT: u64 = 500;

/// Memory that direct I/O accepts.
#[repr(align(4096))]
struct AlignedBlock([u8; BLOCK_BYTES]);

/// A trace that was read to its end.
struct ReadTrace {
    /// Requests in order, with the names of their processes.
    rows: Vec<(TraceRequest, String)>,
    notices: String,
}

fn requests(path: &Path) -> ReadTrace {
    let input: Box<dyn std::io::Read> = Box::new(File::open(path).unwrap());
    let mut reader = TraceReader::open(vec![input], TraceOptions::default()).unwrap();
    let (mut all, mut batch) = (Vec::new(), TraceBatch::default());
    while reader.read(&mut batch).unwrap() {
        all.append(&mut batch.requests);
    }
    assert_eq!(reader.lost_events(), 0);
    let named = |it: TraceRequest| (it, reader.names().text(it.process));
    ReadTrace {
        rows: all.into_iter().map(named).collect(),
        notices: reader.notices().join("\n"),
    }
}

/// Why this machine cannot record, if it cannot.
fn refusal(bed: &ScratchTarget, device: &LoopDevice) -> Option<String> {
    let device = device.path().to_string_lossy().into_owned();
    let probe = bed.path().join("probe.pgt").to_string_lossy().into_owned();
    let arguments = [
        "record", "--device", &device, "--for", "100ms", "--force", "-o", &probe,
    ];
    let output = bed.run(&arguments);
    let needs = ["needs root", "no tracefs", "no event"];
    let text = output.text();
    let is_refused = output.code == 3 && needs.iter().any(|it| text.contains(it));
    assert!(output.code == 0 || is_refused, "{text}");
    is_refused.then_some(text)
}

macro_rules! need_recording {
    ($bed:expr, $device:expr) => {
        if let Some(reason) = refusal($bed, $device) {
            skip!("{reason}");
        }
    };
}

/// Offsets of a random order, the same each time.
fn offset(index: u64) -> u64 {
    // 1,021 is a prime number, so each block is used once.
    (index * 389 % 1021) * BLOCK_BYTES as u64
}

/// Writes and reads blocks of a device in turn, each directly.
fn use_device(path: &Path) {
    let device = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed())
        .open(path)
        .unwrap();
    let mut block = Box::new(AlignedBlock([7; BLOCK_BYTES]));
    for index in 0..REQUEST_COUNT {
        match index % 2 {
            0 => device.write_all_at(&block.0, offset(index)).unwrap(),
            _ => device.read_exact_at(&mut block.0, offset(index)).unwrap(),
        }
    }
    device.sync_all().unwrap();
}

/// A recording that runs; killed when dropped.
struct RunningRecording(std::process::Child);

impl RunningRecording {
    /// Starts, and waits until the kernel records.
    fn start(bed: &ScratchTarget, device: &Path, output: &Path) -> Self {
        let device = device.to_string_lossy();
        let output = output.to_string_lossy();
        let mut command = bed.command(&["record", "--device", &device, "--force", "-o", &output]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("recording loop"), "{line}");
        Self(child)
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for RunningRecording {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_request_of_a_device_is_recorded_in_order() {
    let device = need!(LoopDevice::new(64 << 20));
    let bed = ScratchTarget::new().unwrap();
    need_recording!(&bed, &device);
    let path = bed.path().join("known.pgt");
    let mut recording = RunningRecording::start(&bed, device.path(), &path);
    use_device(device.path());
    recording.signal(Signal::INT);
    assert_eq!(recording.0.wait().unwrap().code(), Some(0));

    let found = requests(&path);
    let own = rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs();
    // Other programs, such as udev, may look at a new device.
    let is_own = |it: &&(TraceRequest, String)| it.0.pid == own || it.1.starts_with("kworker");
    let own = found.rows.iter().filter(is_own).map(|it| it.0);
    let own: Vec<TraceRequest> = own
        .filter(|it| matches!(it.kind, TracedKind::Read | TracedKind::Write))
        .collect();
    assert_eq!(own.len() as u64, REQUEST_COUNT, "{}", found.notices);
    for (index, request) in (0..).zip(&own) {
        let kind = [TracedKind::Write, TracedKind::Read][usize::from(index % 2 == 1)];
        assert_eq!(
            (request.offset_bytes, request.length_bytes, request.kind),
            (offset(index), BLOCK_BYTES as u64, kind),
            "request {index}"
        );
        assert_eq!(request.layer, TraceLayer::Issue);
        assert!(request.latency_ns.is_some(), "request {index}");
    }
    assert!(own.is_sorted_by_key(|it| it.time_ns));
    // Each waited for the one before it.
    for pair in own.windows(2) {
        let end_ns = pair[0].time_ns.unsigned_abs() + pair[0].latency_ns.unwrap();
        assert!(end_ns <= pair[1].time_ns.unsigned_abs(), "{pair:?}");
    }
    assert!(found.notices.contains("recorded by pgmeter from loop"));
    assert!(!found.notices.contains("killed"), "{}", found.notices);
    assert_no_instance(&bed);
}

#[test]
fn the_device_of_a_directory_is_recorded_while_a_command_runs() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let bed = ScratchTarget::with_target(mounted.path()).unwrap();
    need_recording!(&bed, mounted.device());
    let (target, file) = (
        mounted.path().to_string_lossy(),
        mounted.path().join("file"),
    );
    let copy = format!("of={}", file.display());
    let output = bed.run(&[
        "record",
        "--target",
        &target,
        "-o",
        "copy.pgt",
        "--force",
        "--",
        "dd",
        "if=/dev/zero",
        &copy,
        "bs=64k",
        "count=16",
        "oflag=direct",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.contains("0 lost"), "{}", output.text());
    assert!(
        output.stdout.contains("pgmeter check copy.pgt"),
        "{}",
        output.text()
    );
    let check = bed.run(&["check", "copy.pgt", "--json"]);
    let trace: Value = serde_json::from_str(&check.stdout).unwrap();
    assert_eq!(trace["recognized_as"], "pgmeter");
    assert_eq!(trace["layer"], "issue");
    assert_eq!(trace["lost_event_count"], 0);
    let device = mounted
        .device()
        .path()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(trace["devices"].as_array().unwrap().len(), 1);
    assert_eq!(trace["devices"][0]["name"], device);
    assert!(
        trace["written_bytes"].as_u64().unwrap() >= 1 << 20,
        "{trace}"
    );
    let processes = trace["processes"].as_array().unwrap();
    assert!(processes.iter().any(|it| it["name"] == "dd"), "{trace}");
}

#[test]
fn a_killed_recording_is_readable_and_clean_removes_its_instance() {
    let device = need!(LoopDevice::new(64 << 20));
    let bed = ScratchTarget::new().unwrap();
    need_recording!(&bed, &device);
    let path = bed.path().join("killed.pgt");
    let recording = RunningRecording::start(&bed, device.path(), &path);
    use_device(device.path());
    end_to_end::wait_for("recorded requests in the file", || {
        std::fs::metadata(&path).unwrap().len() > 4096
    });
    let pid = recording.0.id();
    recording.signal(Signal::KILL);
    drop(recording);
    let found = requests(&path);
    assert!(
        found.rows.len() as u64 >= REQUEST_COUNT,
        "{}",
        found.rows.len()
    );
    assert!(
        found.notices.contains("was killed or is still running"),
        "{}",
        found.notices
    );
    let target = bed.target().to_string_lossy().into_owned();
    let cleaned = bed.run(&["clean", &target]);
    let name = format!("instances/pgmeter-{pid}-");
    assert!(cleaned.stdout.contains(&name), "{}", cleaned.text());
    assert_no_instance(&bed);
}

/// No recording of this test has left its instance. `clean` finds those of ended processes.
fn assert_no_instance(bed: &ScratchTarget) {
    let target = bed.target().to_string_lossy().into_owned();
    let cleaned = bed.run(&["clean", &target]);
    assert!(!cleaned.stdout.contains("instances/"), "{}", cleaned.text());
}

#[test]
fn a_partition_or_disk_that_cannot_be_recorded_is_refused() {
    let bed = ScratchTarget::in_memory();
    let bed = need!(bed);
    bed.file("file", "");
    let target = bed.target().to_string_lossy().into_owned();
    let cases: [(&[&str], &str, &str); 5] = [
        (
            &["--device", "file"],
            "`file` is not a block device",
            "--target DIR",
        ),
        (
            &["--device", "/dev/no-such"],
            "cannot record `/dev/no-such`",
            "lsblk",
        ),
        (
            &["--target", &target],
            "is on no block device of this machine",
            "--device",
        ),
        (&[], "--device", "help"),
        (&["--device", "/dev/null", "--for", "soon"], "soon", "10s"),
    ];
    for (arguments, message, help) in cases {
        let output = bed.run(&[&["record", "-o", "x.pgt"], arguments].concat());
        output.assert_refused(2, &[message, help]);
        assert!(!bed.path().join("x.pgt").exists());
    }
}

#[test]
fn a_trace_is_not_written_to_the_recorded_device() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let bed = ScratchTarget::with_target(mounted.path()).unwrap();
    let target = mounted.path().to_string_lossy().into_owned();
    let file = mounted.path().join("x.pgt");
    let output = bed.run(&["record", "--target", &target, "-o", &file.to_string_lossy()]);
    output.assert_refused(2, &["which is recorded", "--force"]);
    assert!(!file.exists());
}

#[test]
fn a_command_that_cannot_start_leaves_no_trace() {
    let device = need!(LoopDevice::new(64 << 20));
    let bed = ScratchTarget::new().unwrap();
    need_recording!(&bed, &device);
    let path = device.path().to_string_lossy().into_owned();
    let output = bed.run(&["record", "--device", &path, "-o", "x.pgt", "--", "no-such"]);
    output.assert_refused(2, &["cannot start `no-such`", "after `--`"]);
    assert!(!bed.path().join("x.pgt").exists());
}

#[test]
fn queued_requests_are_recorded_where_drivers_take_no_others() {
    let device = need!(Zram::new(64 << 20));
    let bed = ScratchTarget::new().unwrap();
    let path = device.path().to_string_lossy().into_owned();
    let of = format!("of={path}");
    let output = bed.run(&[
        "record",
        "--device",
        &path,
        "-o",
        "zram.pgt",
        "--",
        "dd",
        "if=/dev/zero",
        &of,
        "bs=4k",
        "count=9",
        "oflag=direct",
    ]);
    if output.code == 3 {
        skip!("{}", output.text());
    }
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("at the layer `queue`"),
        "{}",
        output.text()
    );
    let found = requests(&bed.path().join("zram.pgt"));
    let writes = found
        .rows
        .iter()
        .filter(|it| it.0.kind == TracedKind::Write);
    assert_eq!(writes.count(), 9, "{}", found.notices);
    let output = bed.run(&[
        "record", "--device", &path, "--layer", "issue", "-o", "y.pgt",
    ]);
    output.assert_refused(2, &["no requests at the layer `issue`", "--layer queue"]);
}
