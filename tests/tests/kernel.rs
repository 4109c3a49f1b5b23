//! Real file systems on loop devices, direct I/O, every engine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::faultfs::{FaultFs, Settings};
use end_to_end::{FileSystem, LoopDevice, MountedImage, Scratch, ScratchTarget, need, skip};
use serde_json::Value;

const MIXED: &str = "size = \"16m\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", read = 50, random = 100 }]\n";
const READS: &str = "size = \"16m\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

fn bed(target: &std::path::Path, workload: &str) -> ScratchTarget {
    let bed = ScratchTarget::with_target(target).unwrap();
    bed.file("mine.toml", workload);
    bed
}

/// Runs verified writes and reads and checks that all went well.
fn assert_verified(bed: &ScratchTarget, more: &[&str]) -> Value {
    let (output, record) =
        bed.record(&[&["mine.toml", "--verify", "--iodepth", "8"][..], more].concat());
    assert_eq!(output.code, 0, "{more:?}: {}", output.text());
    assert_eq!(record["cells"][0]["total"]["errors"], 0);
    assert!(record["cells"][0]["total"]["count"].as_u64().unwrap() > 0);
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
    record
}

fn warnings(record: &Value) -> String {
    record["warnings"].to_string()
}

#[test]
fn io_uring_reads_directly_from_ext4() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    let record = assert_verified(&bed(mounted.path(), MIXED), &["--engine", "io_uring"]);
    assert_eq!(record["cells"][0]["cache"], "direct");
    assert_eq!(record["cells"][0]["engine"], "io_uring");
    assert!(
        !warnings(&record).contains("direct-"),
        "{}",
        warnings(&record)
    );
}

#[test]
fn io_uring_works_directly_on_xfs() {
    let mounted = need!(MountedImage::new(FileSystem::Xfs, 512 << 20));
    assert_verified(&bed(mounted.path(), MIXED), &["--engine", "io_uring"]);
}

#[test]
fn btrfs_is_measured_with_a_warning_about_direct_io() {
    let mounted = need!(MountedImage::new(FileSystem::Btrfs, 512 << 20));
    let record = assert_verified(&bed(mounted.path(), MIXED), &["--engine", "io_uring"]);
    assert!(
        warnings(&record).contains("direct-"),
        "{}",
        warnings(&record)
    );
}

#[test]
fn every_engine_and_cache_mode_works_on_ext4() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    let bed = bed(mounted.path(), MIXED);
    for engine in ["io_uring", "psync"] {
        for cache in ["direct", "buffered", "dontcache"] {
            assert_verified(&bed, &["--engine", engine, "--cache", cache]);
        }
    }
    assert_verified(&bed, &["--engine", "mmap", "--cache", "buffered"]);
}

#[test]
fn mmap_with_direct_is_refused() {
    let scratch = Scratch::new().unwrap();
    let bed = bed(scratch.path(), MIXED);
    let output = bed.measure(&["mine.toml", "--engine", "mmap", "--cache", "direct"]);
    assert!(matches!(output.code, 2 | 3), "{}", output.text());
    output.assert_refused(output.code, &["mmap", "help: "]);
}

#[test]
fn the_device_under_the_file_is_counted() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    let bed = bed(mounted.path(), READS);
    let (output, record) = bed.record(&["mine.toml", "--iodepth", "4", "--run-time", "2s"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let cell = &record["cells"][0];
    // On a busy machine, the counters are read late and cover less than the measured time.
    let covered = cell["device"]["covered_ns"].as_f64().unwrap();
    let coverage = covered / cell["run_time_ns"].as_f64().unwrap();
    let moved = cell["total"]["bytes"].as_f64().unwrap() * coverage;
    let device = cell["device"]["read_bytes"].as_f64().unwrap();
    assert!(
        (0.9..1.2).contains(&(device / moved)),
        "{device} of {moved} bytes"
    );
}

#[test]
fn reads_from_the_cache_are_reported() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    let bed = bed(mounted.path(), READS);
    let arguments = [
        "mine.toml",
        "--cache",
        "buffered",
        "--set",
        "warm=true",
        "--run-time",
        "2s",
    ];
    // On a busy machine, the counters may be read too late to say anything.
    let mut records = (0..5).map(|_| bed.record(&arguments).1);
    let reported = |record: Value| warnings(&record).contains("cache-served-reads");
    assert!(records.any(reported), "the cache was never reported");
}

#[test]
fn an_empty_device_is_measured_with_overwrite_device() {
    let device = need!(LoopDevice::new(64 << 20));
    let bed = bed(device.path(), MIXED);
    let word = device.path().to_string_lossy().into_owned();
    let arguments = ["mine.toml", "--verify", "--overwrite-device", &word];
    let (output, record) = bed.record(&arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(record["cells"][0]["total"]["count"].as_u64().unwrap() > 0);
}

#[test]
fn polling_is_refused_where_the_queue_does_not_poll() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    let bed = bed(mounted.path(), READS);
    let output = bed.measure(&["mine.toml", "--set", "iopoll=true"]);
    output.assert_refused(3, &["poll", "help: "]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_kernel_thread_can_submit_requests() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 512 << 20));
    assert_verified(&bed(mounted.path(), MIXED), &["--set", "sqpoll=true"]);
}

#[test]
fn kernel_threads_serve_fuse_only_if_a_request_would_block_others() {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let mut numbers = release
        .split(['.', '-'])
        .map(|word| word.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < (6, 18) {
        skip!("Linux {release} may take threads for FUSE in any case");
    }
    for (async_direct, iodepth, threads) in [(true, 8, false), (false, 8, true), (false, 1, false)]
    {
        let faultfs = need!(FaultFs::new(Settings {
            read_delay: std::time::Duration::from_millis(1),
            thread_count: 8,
            polls_clock: false,
            async_direct,
            ..Settings::default()
        }));
        let bed = bed(&faultfs.path(), READS);
        let depth = iodepth.to_string();
        let arguments = ["mine.toml", "--engine", "io_uring", "--iodepth", &depth];
        let until_done = ["--run-time", "0", "--set", "operations=200"];
        let (output, record) = bed.record(&[&arguments[..], &until_done].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        let notes = record["cells"][0]["engine_notes"]["notes"].to_string();
        let label = format!("async {async_direct}, depth {iodepth}: {notes}");
        assert_eq!(notes.contains("run on kernel threads"), threads, "{label}");
    }
}

#[test]
fn tmpfs_is_measured() {
    let scratch = need!(Scratch::in_memory());
    assert_verified(&bed(scratch.path(), MIXED), &["--cache", "buffered"]);
}

#[test]
fn a_twentieth_of_a_small_file_system_stays_free() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let bed = bed(mounted.path(), &READS.replace("16m", "60m"));
    let output = bed.measure(&["mine.toml"]);
    assert!(matches!(output.code, 2 | 3), "{}", output.text());
    output.assert_refused(output.code, &["60 MiB", "stay free", "help: "]);
    assert!(bed.left_in_target().is_empty());
}
