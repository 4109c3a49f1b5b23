//! Work on many files on a failing file system, or with a run that is ended from outside: errors
//! are counted and reported, results are kept, and created files are removed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use end_to_end::faultfs::{
    Call, EIO, EMFILE, ENFILE, ENOSPC, EROFS, Effect, Fault, FaultFs, Settings,
};
use end_to_end::{Finished, ScratchTarget, need, run_tool, wait_for};
use serde_json::Value;

/// Small workloads in whose phases there is time for some hundred requests of each kind.
const POSTMARK: &str = "[postmark]\nnumber = 150\ntransactions = 800\nfsync = \"per-file\"\n";
const CREATE_REMOVE: &str = "[create_remove]\ncount = 300\nsizes = [5000]\nwrite_size = 2000\n\
    directories = 3\nsync = \"fsync\"\n";
const FS_MARK: &str = "[fs_mark]\nfiles = 300\nsize = 5000\nwrite_size = 2000\n";

const WORKLOADS: [(&str, &str); 3] = [
    ("postmark", POSTMARK),
    ("create-remove", CREATE_REMOVE),
    ("fs-mark", FS_MARK),
];

/// A bed on a file system with faults.
fn bed(faultfs: &FaultFs, workload: &str) -> ScratchTarget {
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", workload);
    bed
}

fn line(bed: &ScratchTarget) -> Vec<String> {
    let target = bed.target().to_string_lossy().into_owned();
    let words = [
        "run",
        "mine.toml",
        "--json",
        "saved.json",
        "--target",
        &target,
    ];
    words.map(str::to_owned).to_vec()
}

/// Runs the workload; its report is on standard output.
fn measured(bed: &ScratchTarget, more: &[&str]) -> (Finished, Value) {
    let line = line(bed);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let output = bed.run(&[&line, more].concat());
    assert!(!output.stderr.contains("panicked"), "{}", output.text());
    (output, saved(bed))
}

fn saved(bed: &ScratchTarget) -> Value {
    let text = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cells(record: &Value) -> &[Value] {
    record["cells"].as_array().unwrap()
}

/// Number of failures of an operation with this errno, from the causes in the record.
fn failures(record: &Value, operation: &str, errno: i32) -> u64 {
    let causes = cells(record)
        .iter()
        .flat_map(|cell| cell["errors"].as_array().unwrap());
    let matching = causes.filter(|it| it["operation"] == operation && it["errno"] == errno);
    matching.map(|it| it["count"].as_u64().unwrap()).sum()
}

/// Number of failures of an operation, from its figures.
fn errors(record: &Value, operation: &str) -> u64 {
    let figures = cells(record)
        .iter()
        .map(|cell| &cell["operations"][operation]);
    figures.filter_map(|it| it["errors"].as_u64()).sum()
}

fn failed_transactions(record: &Value) -> u64 {
    let kinds = cells(record)
        .iter()
        .flat_map(|cell| cell["transactions"].as_object().unwrap().values());
    kinds.map(|kind| kind["errors"].as_u64().unwrap()).sum()
}

fn total_errors(record: &Value) -> u64 {
    let totals = cells(record).iter().map(|cell| &cell["total"]["errors"]);
    totals.map(|errors| errors.as_u64().unwrap()).sum()
}

/// `count` failing requests of a kind, starting with the n-th; the operation that counts them, and
/// the text of the error.
struct Failing {
    call: Call,
    from_nth: u64,
    count: u64,
    errno: i32,
    operation: &'static str,
    error_text: &'static str,
}

const fn failing(
    (call, operation): (Call, &'static str),
    (from_nth, count): (u64, u64),
    (errno, words): (i32, &'static str),
) -> Failing {
    Failing {
        call,
        from_nth,
        count,
        errno,
        operation,
        error_text: words,
    }
}

const FULL: (i32, &str) = (ENOSPC, "No space left on device");
const BROKEN: (i32, &str) = (EIO, "Input/output error");

/// Failures of calls that every workload makes.
const COMMON: [Failing; 5] = [
    failing((Call::Write, "write"), (100, 30), FULL),
    failing((Call::Write, "write"), (250, 1), BROKEN),
    failing((Call::Create, "create"), (120, 20), FULL),
    failing((Call::Fsync, "fsync"), (90, 10), BROKEN),
    // The first requests belong to the work directory.
    failing((Call::Unlink, "unlink"), (60, 15), BROKEN),
];

/// Operations that may count the failure: io_uring opens small files as a part of reading them.
fn counted_operations(operation: &'static str) -> Vec<&'static str> {
    match operation {
        "open" | "read" => vec![operation, "read_whole"],
        _ => vec![operation],
    }
}

fn assert_counted(name: &str, workload: &str, failing: &Failing, more: &[&str]) {
    let faultfs = FaultFs::new(Settings::default()).unwrap();
    let bed = bed(&faultfs, workload);
    faultfs.arm(&[Fault {
        call: failing.call,
        from_nth: failing.from_nth,
        request_count: failing.count,
        effect: Effect::Errno(failing.errno),
    }]);
    let (output, record) = measured(&bed, more);
    let label = format!("{name} {more:?}, {} {}", failing.operation, failing.errno);
    assert_eq!(faultfs.hits_count(), failing.count, "{label}");
    assert_eq!(output.code, 1, "{label}: {}", output.text());
    assert_eq!(record["status"], "complete", "{label}");
    let names = counted_operations(failing.operation);
    let counted = names.iter().map(|it| failures(&record, it, failing.errno));
    assert_eq!(counted.sum::<u64>(), failing.count, "{label}");
    let counted = names.iter().map(|it| errors(&record, it));
    assert_eq!(counted.sum::<u64>(), failing.count, "{label}");
    // PostMark continues to write a file after an error. In other workloads, the error ends the
    // file.
    let failed_min = if name == "postmark" { 1 } else { failing.count };
    let failed = failed_transactions(&record);
    assert!(failed >= failed_min, "{label}: {failed}");
    // Later operations on the same file can also fail, such as its removal if it was not created.
    assert!(total_errors(&record) >= failing.count, "{label}");
    for cell in cells(&record) {
        assert!(
            cell["total"]["count"].as_u64().unwrap() > 0,
            "{label}: {}",
            cell["phase"]
        );
    }
    assert!(
        on_one_line(&output.stdout).contains(failing.error_text),
        "{label}: {}",
        output.stdout
    );
    assert!(
        output.stdout.contains("io-errors"),
        "{label}: {}",
        output.stdout
    );
    assert_eq!(bed.left_in_target(), [""; 0], "{label}");
}

/// The text as it is before it is broken into lines.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn errors_during_the_run_are_counted_by_operation_and_cause() {
    drop(need!(FaultFs::new(Settings::default())));
    for (name, workload) in WORKLOADS {
        for failing in &COMMON {
            assert_counted(name, workload, failing, &[]);
        }
    }
}

#[test]
fn errors_during_the_run_are_counted_with_io_uring_too() {
    drop(need!(FaultFs::new(Settings::default())));
    for (name, workload) in WORKLOADS {
        for failing in &COMMON {
            assert_counted(
                name,
                workload,
                failing,
                &["--engine", "io_uring", "--iodepth", "4"],
            );
        }
    }
}

#[test]
fn errors_during_the_run_are_counted_when_files_stay_open() {
    drop(need!(FaultFs::new(Settings::default())));
    let workload = format!("{POSTMARK}buffering = false\nkeep_open = 60\n");
    let full = (EMFILE, "Too many open files");
    let opening = failing((Call::Open, "open"), (100, 20), full);
    for failing in COMMON.iter().chain([&opening]) {
        assert_counted("postmark", &workload, failing, &[]);
    }
}

#[test]
fn opens_that_fail_for_lack_of_descriptors_are_counted() {
    drop(need!(FaultFs::new(Settings::default())));
    let full = [
        (EMFILE, "Too many open files"),
        (ENFILE, "Too many open files in system"),
    ];
    for cause in full {
        for more in [&[][..], &["--engine", "io_uring", "--iodepth", "4"]] {
            let failing = failing((Call::Open, "open"), (100, 20), cause);
            assert_counted("postmark", POSTMARK, &failing, more);
        }
    }
}

#[test]
fn two_workers_each_count_their_errors() {
    drop(need!(FaultFs::new(Settings::default())));
    for pool in ["pool=own", "pool=shared"] {
        let more = ["--workers", "2", "--set", pool];
        assert_counted("postmark", POSTMARK, &COMMON[0], &more);
    }
}

/// Longer than any test.
const UNTIL_RELEASED: Effect = Effect::Stall(Duration::from_secs(600));

/// Starts the workload, and arms the faults after `count` requests of a kind.
fn run_with_later_faults(
    faultfs: &FaultFs,
    bed: &ScratchTarget,
    (call, count): (Call, u64),
    faults: &[Fault],
) -> Option<i32> {
    let line = line(bed);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    faultfs.arm(&[Fault::once(call, count, UNTIL_RELEASED)]);
    let mut child = bed.start(&line);
    wait_for("some requests", || faultfs.hits_count() == 1);
    faultfs.arm(faults);
    faultfs.release();
    end(&mut child)
}

#[test]
fn a_file_system_turning_read_only_ends_the_run_and_leftovers_are_listed() {
    for (name, workload) in WORKLOADS {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        let refused = Call::CHANGING.map(|call| Fault::from(call, 1, Effect::Errno(EROFS)));
        let code = run_with_later_faults(&faultfs, &bed, (Call::Write, 100), &refused);
        assert_eq!(code, Some(1), "{name}");
        let record = saved(&bed);
        assert_eq!(record["status"], "complete", "{name}");
        assert!(failures(&record, "write", EROFS) + failures(&record, "create", EROFS) > 0);
        assert!(
            cells(&record)[0]["total"]["count"].as_u64().unwrap() > 0,
            "{name}"
        );
        let warnings = record["warnings"].to_string();
        for phrase in [
            "leftover-files",
            "Read-only file system",
            "files-0",
            "io-errors",
        ] {
            assert!(
                warnings.contains(phrase),
                "{name}: no `{phrase}` in {warnings}"
            );
        }
        assert_eq!(bed.left_in_target(), ["pgmeter.work"], "{name}");
        faultfs.arm(&[]);
        let cleaned = bed.run(&["clean", &bed.target().to_string_lossy()]);
        assert_eq!(cleaned.code, 0, "{}", cleaned.text());
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn a_file_system_that_fills_up_is_measured_to_the_end() {
    for (name, workload) in WORKLOADS {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        let full = Effect::Errno(ENOSPC);
        faultfs.arm(&[
            Fault::from(Call::Write, 150, full),
            Fault::from(Call::Create, 130, full),
        ]);
        let (output, record) = measured(&bed, &[]);
        assert_eq!(output.code, 1, "{name}: {}", output.text());
        assert_eq!(record["status"], "complete", "{name}");
        assert!(failures(&record, "create", ENOSPC) > 100, "{name}");
        assert!(bed.left_in_target().is_empty(), "{name}");
    }
}

#[test]
fn files_that_cannot_be_removed_at_the_end_are_listed() {
    for (name, workload) in WORKLOADS {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        // The work directory's own files are removed before.
        faultfs.arm(&[Fault::from(Call::Unlink, 20, Effect::Errno(EIO))]);
        let (output, record) = measured(&bed, &[]);
        assert_eq!(output.code, 1, "{name}: {}", output.text());
        assert!(failures(&record, "unlink", EIO) > 0, "{name}");
        for phrase in ["leftover-files", "Input/output error", "are left with it"] {
            assert!(
                on_one_line(&output.stdout).contains(phrase),
                "{name}: {}",
                output.text()
            );
        }
        faultfs.arm(&[]);
        let cleaned = bed.run(&["clean", &bed.target().to_string_lossy()]);
        assert_eq!(cleaned.code, 0, "{}", cleaned.text());
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn a_wrong_read_is_reported_with_its_file_and_offset() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = bed(&faultfs, POSTMARK);
    faultfs.arm(&[Fault::once(Call::Read, 100, Effect::FlipBit)]);
    let (output, record) = measured(&bed, &["--verify"]);
    assert_eq!(output.code, 1, "{}", output.text());
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("verify-mismatch"), "{warnings}");
    assert!(warnings.contains("offset"), "{warnings}");
    assert!(bed.left_in_target().is_empty());
}

/// Waits for the end and returns the exit code; none when a signal ended it.
fn end(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(240) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("did not end within 240 s");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

/// Number of times that the thread for signals has gone to sleep.
fn signal_waits_count(child: &Child) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    let signal_waits = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("status")).ok()?;
        let mut lines = text.lines();
        (lines.next()? == "Name:\tsignals").then_some(())?;
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        count.trim().parse().ok()
    };
    tasks.filter_map(Result::ok).find_map(signal_waits)
}

/// Sends Ctrl-C and returns when it has been taken note of.
fn interrupt(child: &Child) {
    let before_count = signal_waits_count(child);
    signal(child, "INT");
    wait_for("the signal to be heeded", || {
        signal_waits_count(child) > before_count
    });
}

/// Each phase with a request that only it makes, in its middle.
const PHASES: [(&str, &str, &str, (Call, u64)); 7] = [
    ("postmark", "create", POSTMARK, (Call::Create, 100)),
    ("postmark", "transactions", POSTMARK, (Call::Open, 100)),
    // About as many are removed before, by transactions.
    ("postmark", "delete", POSTMARK_SHORT, (Call::Unlink, 60)),
    (
        "create-remove",
        "create 5000B",
        CREATE_REMOVE,
        (Call::Create, 150),
    ),
    (
        "create-remove",
        "remove 5000B",
        CREATE_REMOVE,
        (Call::Unlink, 150),
    ),
    ("fs-mark", "create", FS_MARK, (Call::Fsync, 150)),
    ("fs-mark", "remove", FS_MARK, (Call::Unlink, 150)),
];

/// So few transactions that hardly a file is removed before the end.
const POSTMARK_SHORT: &str = "[postmark]\nnumber = 150\ntransactions = 10\n";

/// Starts a workload and returns when it is in the middle of a phase, held up by a request until
/// that is released.
fn start_blocked(faultfs: &FaultFs, bed: &ScratchTarget, (call, nth): (Call, u64)) -> Child {
    faultfs.arm(&[Fault::once(call, nth, UNTIL_RELEASED)]);
    let line = line(bed);
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let child = bed.start(&line);
    wait_for("the request", || faultfs.hits_count() == 1);
    child
}

#[test]
fn ctrl_c_in_any_phase_removes_the_files_and_saves_the_record() {
    for (name, phase, workload, at) in PHASES {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        let mut child = start_blocked(&faultfs, &bed, at);
        interrupt(&child);
        faultfs.release();
        assert_eq!(end(&mut child), Some(130), "{name} {phase}");
        assert_eq!(bed.left_in_target(), [""; 0], "{name} {phase}");
        let record = saved(&bed);
        assert_eq!(record["status"], "interrupted", "{name} {phase}");
        let last = cells(&record).last().unwrap();
        assert_eq!(last["phase"], phase, "{name}");
        assert_eq!(last["status"], "interrupted", "{name} {phase}");
        assert!(
            last["total"]["count"].as_u64().unwrap() > 0,
            "{name} {phase}"
        );
        assert_eq!(total_errors(&record), 0, "{name} {phase}");
    }
}

#[test]
fn clean_removes_only_the_files_of_a_run_killed_in_any_phase() {
    for (name, phase, workload, at) in PHASES {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        let mine = bed.target().join("mine");
        fs::write(&mine, "precious").unwrap();
        let mut child = start_blocked(&faultfs, &bed, at);
        signal(&child, "KILL");
        faultfs.release();
        assert_eq!(end(&mut child), None, "{name} {phase}");
        assert_eq!(
            bed.left_in_target(),
            ["mine", "pgmeter.work"],
            "{name} {phase}"
        );
        let cleaned = bed.run(&["clean", &bed.target().to_string_lossy()]);
        assert_eq!(cleaned.code, 0, "{name} {phase}: {}", cleaned.text());
        assert_eq!(bed.left_in_target(), ["mine"], "{name} {phase}");
        assert_eq!(fs::read(&mine).unwrap(), b"precious");
    }
}

#[test]
fn a_run_after_a_killed_run_measures_and_cleans_up() {
    for (name, phase, workload, at) in PHASES {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = bed(&faultfs, workload);
        let mut child = start_blocked(&faultfs, &bed, at);
        signal(&child, "KILL");
        faultfs.release();
        assert_eq!(end(&mut child), None, "{name} {phase}");
        let (output, record) = measured(&bed, &[]);
        assert_eq!(output.code, 0, "{name} {phase}: {}", output.text());
        assert_eq!(record["status"], "complete", "{name} {phase}");
        assert_eq!(total_errors(&record), 0, "{name} {phase}");
        assert_eq!(bed.left_in_target(), [""; 0], "{name} {phase}");
    }
}
