//! A file system that fails, corrupts and stalls: every fault is detected, counted and survived.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs::File;
use std::time::Duration;

use end_to_end::faultfs::{Call, EIO, ENOSPC, Effect, Fault, FaultFs, Settings};
use end_to_end::{LoopDevice, ScratchTarget, need};
use serde_json::Value;

/// Requests before the first fault, so that no fault hits what looks at the target beforehand.
const WARM_UP: u64 = 50;

const READS: &str = "size = \"4m\"\ncache = \"direct\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", random = 100 }]\n";
const WRITES: &str = "size = \"4m\"\ncache = \"direct\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", read = 0, random = 100 }]\n";

/// Measures the kept file from the first read on.
const FROM_THE_START: [&str; 6] = [
    "mine.toml",
    "--keep",
    "--ramp-time",
    "0",
    "--engine",
    "psync",
];

/// A bed on a file system with faults, its test file made and kept.
fn prepared(faultfs: &FaultFs, workload: &str, more: &[&str]) -> ScratchTarget {
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", workload);
    let output = bed.measure(&[&["mine.toml", "--keep", "--engine", "psync"], more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    bed
}

/// The errors counted in the first cell, by the record.
fn errors(record: &Value) -> u64 {
    record["cells"][0]["total"]["errors"].as_u64().unwrap()
}

/// The errnos counted in the first cell.
fn errnos(record: &Value) -> Vec<i32> {
    let counted = record["cells"][0]["errors"].as_array().unwrap();
    counted
        .iter()
        .map(|error| error["errno"].as_i64().unwrap() as i32)
        .collect()
}

#[test]
fn a_mapped_page_that_the_device_cannot_read_is_counted_as_eio() {
    let device = need!(LoopDevice::new(16 << 20));
    // Blocks beyond the end of the image cannot be read.
    let image = File::options().write(true).open(device.image()).unwrap();
    image.set_len(8 << 20).unwrap();
    let bed = ScratchTarget::with_target(device.path()).unwrap();
    bed.file("mine.toml", READS.replace("4m", "16m"));
    let until_done = ["--run-time", "0", "--set", "operations=1000"];
    let arguments = ["mine.toml", "--engine", "mmap", "--cache", "buffered"];
    let (output, record) = bed.record(&[&arguments[..], &until_done].concat());
    assert_eq!(output.code, 1, "{}", output.text());
    assert_eq!(record["status"], "complete");
    assert_eq!(errnos(&record), [EIO]);
    let count = record["cells"][0]["total"]["count"].as_u64().unwrap();
    assert!(count > 0 && errors(&record) > 0, "{count}");
    assert_eq!(count + errors(&record), 1000);
}

#[test]
fn a_failed_read_is_counted_by_its_errno() {
    for engine in ["psync", "io_uring"] {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = prepared(&faultfs, READS, &[]);
        faultfs.arm(&[Fault::once(Call::Read, WARM_UP, Effect::Errno(EIO))]);
        // Failures in the ramp time are not counted, so the run has none.
        let arguments = [
            "mine.toml",
            "--keep",
            "--ramp-time",
            "0",
            "--engine",
            engine,
        ];
        let (output, record) = bed.record(&arguments);
        assert_eq!(faultfs.hits_count(), 1);
        assert_eq!(output.code, 1, "{engine}: {}", output.text());
        assert_eq!(record["status"], "complete");
        assert_eq!(errors(&record), 1);
        assert_eq!(record["cells"][0]["operations"]["read"]["errors"], 1);
        assert_eq!(errnos(&record), [EIO]);
    }
}

#[test]
fn lasting_errors_are_all_counted_and_the_run_ends() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = prepared(&faultfs, READS, &[]);
    faultfs.arm(&[Fault::from(Call::Read, WARM_UP, Effect::Errno(EIO))]);
    let (output, record) = bed.record(&["mine.toml", "--keep", "--engine", "psync"]);
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(errors(&record) > 0);
    let codes = record["warnings"].to_string();
    assert!(codes.contains("io-errors"), "{codes}");
}

#[test]
fn running_out_of_space_while_preparing_is_reported_and_cleaned_up() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", READS.replace("4m", "16m"));
    // Removing the file gives its space back, so only one write finds none.
    let full = Fault::once(Call::Write, 8, Effect::Errno(ENOSPC));
    faultfs.arm(&[full]);
    let output = bed.measure(&["mine.toml", "--engine", "psync"]);
    output.assert_refused(3, &["ran out of space", "help: "]);
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn an_error_while_preparing_is_reported_with_its_offset() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", READS.replace("4m", "16m"));
    faultfs.arm(&[Fault::from(Call::Write, 8, Effect::Errno(EIO))]);
    let output = bed.measure(&["mine.toml", "--engine", "psync"]);
    assert!(matches!(output.code, 1 | 3), "{}", output.text());
    output.assert_refused(output.code, &["failed at byte"]);
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn running_out_of_space_while_measuring_is_counted() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = prepared(&faultfs, WRITES, &[]);
    faultfs.arm(&[Fault::from(Call::Write, WARM_UP, Effect::Errno(ENOSPC))]);
    let (output, record) = bed.record(&["mine.toml", "--keep", "--engine", "psync"]);
    assert_eq!(output.code, 1, "{}", output.text());
    assert_eq!(errnos(&record), [ENOSPC]);
}

#[test]
fn short_reads_are_counted_and_reported() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = prepared(&faultfs, READS, &[]);
    faultfs.arm(&[Fault::from(Call::Read, WARM_UP, Effect::Short)]);
    let (output, record) = bed.record(&["mine.toml", "--keep", "--engine", "psync"]);
    assert!(matches!(output.code, 0 | 1), "{}", output.text());
    let codes = record["warnings"].to_string();
    assert!(codes.contains("short-transfers"), "{codes}");
}

#[test]
fn a_flipped_bit_is_reported_with_its_offset() {
    for engine in ["psync", "io_uring"] {
        let faultfs = need!(FaultFs::new(Settings::default()));
        let bed = prepared(&faultfs, READS, &["--verify"]);
        faultfs.arm(&[Fault::from(Call::Read, WARM_UP, Effect::FlipBit)]);
        let arguments = ["mine.toml", "--keep", "--verify", "--engine", engine];
        let (output, record) = bed.record(&arguments);
        assert_eq!(output.code, 1, "{engine}: {}", output.text());
        let codes = record["warnings"].to_string();
        assert!(codes.contains("verify-mismatch"), "{codes}");
        assert!(
            codes.contains("offset") || output.stderr.contains("offset"),
            "{}",
            output.text()
        );
    }
}

#[test]
fn verification_without_faults_finds_nothing() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let mixed = WRITES.replace("read = 0", "read = 50");
    let bed = prepared(&faultfs, &mixed, &["--verify"]);
    let (output, record) = bed.record(&["mine.toml", "--verify", "--iodepth", "8"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(errors(&record), 0);
}

#[test]
fn a_stall_is_seen_in_the_largest_latency() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = prepared(&faultfs, READS, &[]);
    let stall = Effect::Stall(Duration::from_secs(2));
    faultfs.arm(&[Fault::once(Call::Read, 300, stall)]);
    let (output, record) = bed.record(&[&FROM_THE_START[..], &["--run-time", "1s"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let max_ns = record["cells"][0]["total"]["latency"]["max_ns"]
        .as_u64()
        .unwrap();
    assert!(max_ns >= 2_000_000_000, "{max_ns}");
}

#[test]
fn a_stall_makes_every_request_due_during_it_late() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let workload = format!("rate = \"1k/s\"\narrivals = \"uniform\"\n{READS}");
    let bed = prepared(&faultfs, &workload, &[]);
    let stall = Effect::Stall(Duration::from_secs(2));
    faultfs.arm(&[Fault::once(Call::Read, 300, stall)]);
    let arguments = [
        "mine.toml",
        "--engine",
        "psync",
        "--ramp-time",
        "0",
        "--run-time",
        "6s",
    ];
    let (output, record) = bed.record(&arguments);
    assert_eq!(
        (faultfs.hits_count(), output.code),
        (1, 0),
        "{}",
        output.text()
    );
    let cell = &record["cells"][0];
    let open_loop = &cell["open_loop"];
    let response = &open_loop["response"];
    let count = response["count"].as_f64().unwrap();
    // Tests with a simulated clock check exact figures; here, a busy machine may cause further
    // delays.
    assert!(count <= 6_000.0, "{open_loop}");
    let max_ns = response["max_ns"].as_u64().unwrap();
    assert!(max_ns >= 2_000_000_000, "{max_ns}");
    // The first of the requests that waited was due a millisecond after the stall began.
    let lateness_ns = open_loop["lateness_max_ns"].as_u64().unwrap();
    assert!(lateness_ns >= 1_990_000_000, "{lateness_ns}");
    let slow = share_above(response, 100_000_000);
    assert!(slow > 0.31, "{slow}");
    assert!(open_loop["late_count"].as_f64().unwrap() >= slow * count);
    // From queued to reaped there is one slow request of six thousand.
    assert!(share_above(&cell["total"]["latency"], 1_900_000_000) * count < 1.5);
}

/// On this file system every read waits while one does.
fn one_at_a_time() -> Settings {
    Settings {
        thread_count: 1,
        ..Settings::default()
    }
}

/// 200 reads per second for 2 s. The read that is due about 1 s after the start stalls, and all
/// reads after it wait. Some 25 reads examine the target beforehand.
fn run_with_stall_at_end(engine: &str, iodepth: &str, stall: Duration) -> Option<Value> {
    let faultfs = FaultFs::new(one_at_a_time()).ok()?;
    let workload = format!("rate = \"200/s\"\narrivals = \"uniform\"\n{READS}");
    let bed = prepared(&faultfs, &workload, &[]);
    faultfs.arm(&[Fault::once(Call::Read, 226, Effect::Stall(stall))]);
    let times = ["--ramp-time", "0", "--run-time", "2s"];
    let options = ["mine.toml", "--engine", engine, "--iodepth", iodepth];
    let (output, record) = bed.record(&[&options[..], &times].concat());
    assert_eq!(
        (faultfs.hits_count(), output.code),
        (1, 0),
        "{}",
        output.text()
    );
    Some(record)
}

#[test]
fn a_stall_past_the_end_counts_in_the_response_times() {
    drop(need!(FaultFs::new(one_at_a_time())));
    for (engine, iodepth) in [("psync", "1"), ("psync", "4"), ("io_uring", "8")] {
        let stall = Duration::from_millis(1300);
        let record = run_with_stall_at_end(engine, iodepth, stall).unwrap();
        let open_loop = &record["cells"][0]["open_loop"];
        let response = &open_loop["response"];
        // A thread may be there only after the first were due.
        let count = response["count"].as_u64().unwrap();
        assert!((360..=400).contains(&count), "{engine} {iodepth}: {count}");
        assert_eq!(open_loop.get("censored_count"), None, "{open_loop}");
        // Half of them waited; of the slowest hundredth, the last was due 20 ms into the stall.
        let at = |value: &Value| value.as_u64().unwrap() as f64 / 1e9;
        let max = at(&response["max_ns"]);
        assert!((1.3..2.6).contains(&max), "{engine} {iodepth}: {max}");
        let p99 = at(&response["percentiles_ns"]["99"]);
        assert!(
            (1.28 * 0.95..=max).contains(&p99),
            "{engine} {iodepth}: {p99}"
        );
        let p50 = at(&response["percentiles_ns"]["50"]);
        assert!(p50 < 0.95, "{engine} {iodepth}: {p50}");
        assert!(at(&open_loop["drain_ns"]) >= 0.1, "{open_loop}");
        // Only requests that completed in time count for the rate.
        let achieved = open_loop["achieved_per_second"].as_f64().unwrap();
        assert!(achieved < 190.0, "{engine} {iodepth}: {achieved}");
    }
}

#[test]
fn requests_unanswered_because_of_a_stall_are_reported_as_a_bound() {
    drop(need!(FaultFs::new(one_at_a_time())));
    let record = run_with_stall_at_end("io_uring", "4", Duration::from_secs(14)).unwrap();
    let open_loop = &record["cells"][0]["open_loop"];
    // Four were in flight; the others waited for 10 s after the end, and some longer.
    let censored = open_loop["censored_count"].as_u64().unwrap();
    assert!((150..=240).contains(&censored), "{open_loop}");
    let min_ns = open_loop["censored_min_ns"].as_u64().unwrap();
    assert!(
        (10_000_000_000..11_500_000_000).contains(&min_ns),
        "{min_ns}"
    );
    let response = &open_loop["response"];
    assert!((360..=400).contains(&response["count"].as_u64().unwrap()));
    assert!(response["max_ns"].as_u64().unwrap() >= 14_000_000_000);
    assert!(response["percentiles_ns"]["99"].as_u64().unwrap() >= 10_900_000_000);
    let codes = record["warnings"].to_string();
    assert!(codes.contains("responses-censored"), "{codes}");
}

/// Share of the latencies above `bound_ns`, from the record's buckets.
fn share_above(latency: &Value, bound_ns: u64) -> f64 {
    let buckets = latency["histogram"]["buckets_ns"].as_array().unwrap();
    let above: u64 = buckets
        .iter()
        .filter(|bucket| bucket[0].as_u64().unwrap() > bound_ns)
        .map(|bucket| bucket[2].as_u64().unwrap())
        .sum();
    above as f64 / latency["count"].as_f64().unwrap()
}

#[test]
fn a_fixed_delay_is_in_every_latency() {
    let delay = Duration::from_millis(5);
    let settings = Settings {
        read_delay: delay,
        thread_count: 1,
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let bed = prepared(&faultfs, READS, &[]);
    let (_, record) = bed.record(&["mine.toml", "--engine", "psync", "--run-time", "2s"]);
    // `cargo xtask bench accuracy` tells how close they are to it.
    let min_ns = &record["cells"][0]["total"]["latency"]["min_ns"];
    assert!(min_ns.as_u64().unwrap() >= 5_000_000, "{min_ns}");
}

#[test]
fn the_rate_of_few_slow_requests_follows_from_their_latency() {
    let settings = Settings {
        read_delay: Duration::from_millis(300),
        thread_count: 1,
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let bed = prepared(&faultfs, READS, &["--ramp-time", "0"]);
    for engine in ["psync", "io_uring"] {
        for ramp_time in ["0", "100ms"] {
            let times = ["--run-time", "2s", "--ramp-time", ramp_time];
            let arguments = [&["mine.toml", "--keep", "--engine", engine][..], &times].concat();
            let (output, record) = bed.record(&arguments);
            assert_eq!(output.code, 0, "{engine}: {}", output.text());
            let total = &record["cells"][0]["total"];
            // One after the other, however long a busy machine makes them.
            let rate = total["per_second"].as_f64().unwrap();
            let busy = rate * total["latency"]["mean_ns"].as_f64().unwrap() / 1e9;
            assert!(
                (0.97..1.001).contains(&busy),
                "{engine}, {ramp_time}: {total}"
            );
            let codes = record["warnings"].to_string();
            assert!(codes.contains("few-operations"), "{codes}");
        }
    }
}

/// Reads that are slow at first.
const SLOW_READS: u64 = 12;

/// Compares the warm-up in the first cell's record with its intervals; returns the difference.
fn check_slow_start(record: &Value) -> Result<(), String> {
    let within = &record["cells"][0]["within"];
    let warm_up = &within["warm_up"];
    let length = warm_up["length_ns"].as_f64();
    let length_s = length.ok_or_else(|| format!("none: {:?}", in_intervals(record)))? / 1e9;
    let (mut truth_s, mut reads) = (0.0, 0);
    for interval in record["cells"][0]["intervals"].as_array().unwrap() {
        if reads >= SLOW_READS {
            break;
        }
        truth_s += interval["length_ns"].as_f64().unwrap() / 1e9;
        reads += interval["operations"]["read"]["count"].as_u64().unwrap();
    }
    if !(truth_s - 0.5..truth_s + 2.0).contains(&length_s) {
        return Err(format!("{length_s} s instead of {truth_s} s"));
    }
    let settled = warm_up["settled_mean"].as_f64().unwrap();
    let with_it = record["cells"][0]["total"]["per_second"].as_f64().unwrap();
    if settled <= with_it * 1.1 {
        return Err(format!("{settled}, {with_it} with warm-up"));
    }
    let warnings = record["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|it| it["code"] == "warm-up");
    let message = warning.and_then(|it| it["message"].as_str());
    match message {
        Some(message) if message.contains(" were still warm-up: ") => Ok(()),
        other => Err(format!("the warning is {other:?}")),
    }
}

/// Repeats a check, at most three times, that a busy machine may disturb.
fn retry_three_times(mut check: impl FnMut() -> Result<(), String>) {
    let errors: Vec<String> = (0..3).map_while(|_| check().err()).collect();
    assert!(errors.len() < 3, "{errors:#?}");
}

#[test]
fn a_slow_start_is_reported_as_warm_up_with_its_length() {
    let settings = Settings {
        // Long compared with the delay that a busy machine adds to each read.
        read_delay: Duration::from_millis(20),
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let bed = prepared(&faultfs, READS, &["--run-time", "100ms"]);
    let for_time = |time| [&FROM_THE_START[..], &["--run-time", time]].concat();
    // Even a busy machine does enough reads in this time for 20 intervals of 10.
    let long = for_time("16s");
    // Reads before the measurement must not use up the stalls.
    faultfs.arm(&[]);
    let (_, record) = bed.record(&for_time("100ms"));
    let measured_count = record["cells"][0]["total"]["count"].as_u64().unwrap();
    let prepared_count = faultfs.calls_count(Call::Read) - measured_count;
    // 12 times slower for the first 3 s of 16. Few reads that take long: a busy machine adds to
    // each read, and must not hide the difference or make the slow start last half of the run.
    let slower = Effect::Stall(Duration::from_millis(250));
    let fault = Fault {
        request_count: SLOW_READS,
        ..Fault::once(Call::Read, prepared_count + 1, slower)
    };
    retry_three_times(|| {
        faultfs.arm(&[fault]);
        let (output, record) = bed.record(&long);
        assert_eq!(output.code, 0, "{}", output.text());
        assert_eq!(faultfs.hits_count(), SLOW_READS);
        check_slow_start(&record)
    });
    // Without stalls there is no warm-up.
    retry_three_times(|| {
        let (_, record) = bed.record(&[&long[..], &["--seed", "2"]].concat());
        match &record["cells"][0]["within"]["warm_up"] {
            Value::Null => Ok(()),
            warm_up => Err(warm_up.to_string()),
        }
    });
}

/// The lengths of the first cell's intervals in milliseconds, and the sum of their reads.
fn in_intervals(record: &Value) -> (Vec<u64>, u64) {
    let intervals = record["cells"][0]["intervals"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let lengths = intervals
        .iter()
        .map(|it| number(&it["length_ns"]) / 1_000_000);
    let counts = intervals
        .iter()
        .map(|it| number(&it["operations"]["read"]["count"]));
    (lengths.collect(), counts.sum())
}

#[test]
fn short_runs_and_runs_ended_by_operations_have_enough_intervals() {
    let settings = Settings {
        read_delay: Duration::from_millis(2),
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let bed = prepared(&faultfs, READS, &["--run-time", "100ms"]);
    let timed = ["--run-time", "3s"];
    let counted = ["--run-time", "0", "--set", "operations=2000"];
    for (how, about_ms) in [(&timed[..], 100), (&counted[..], 125)] {
        let (output, record) = bed.record(&[&FROM_THE_START[..], how].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        let (mut lengths_ms, count) = in_intervals(&record);
        assert_eq!(record["cells"][0]["total"]["count"], count);
        lengths_ms.sort_unstable();
        let median_ms = lengths_ms[lengths_ms.len() / 2];
        assert!(
            (about_ms - 20..about_ms + 80).contains(&median_ms),
            "{lengths_ms:?}"
        );
        let within = &record["cells"][0]["within"];
        // As many as had ten operations each.
        assert!(within["intervals"].as_u64().unwrap() >= 10, "{within}");
        assert!(within["drift"].is_object(), "{within}");
    }
}
