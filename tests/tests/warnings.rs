//! Every warning code: a test provokes it, the documents explain it, and it is absent without its
//! reason.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::faultfs::{Call, EIO, Effect, Fault, FaultFs, Settings};
use end_to_end::{
    FileSystem, Limit, LoopDevice, Mount, MountedImage, Scratch, ScratchTarget, Throttle, finish,
    need, skip,
};
use results::{WarningCode, WarningLevel};
use serde_json::Value;

/// Each code, the file and the test that provoke it: by a real run, and in `doubts` by figures that
/// are made up, where no test can bring it about (stolen time, a bad clock, a busy machine).
const PROVOKED: &str = "
    alignment-raised warnings
        blocks_of_4_kib_raise_an_alignment_of_0
    blank-storage devices
        blank_storage_is_reported_for_a_sparse_loop_device_until_written
    cache-absorbed-writes devices
        cache_absorbed_writes_is_reported_when_memory_absorbs_them
    cache-served-reads kernel
        reads_from_the_cache_are_reported
    cell-cut-short interrupt
        ctrl_c_saves_what_was_measured_and_removes_the_files
    classic-figure file_workloads
        the_published_run_has_the_published_counts
    clock-offset-large cluster_doubts
        poorly_synchronized_clocks_are_reported
    clock-unstable doubts
        an_unstable_clock_is_reported
    compressible-content warnings
        writing_zeros_is_reported_as_compressible
    depth-not-found fio_goals
        a_latency_that_no_depth_meets_ends_the_job_or_is_reported
    differs-from-original fronts
        mdtest_prints_its_summary_and_the_run_is_stored
    direct-falls-back warnings
        direct_writes_to_btrfs_go_through_the_cache
    direct-not-honored warnings
        direct_io_to_memory_is_reported_as_not_honored
    few-operations faults
        the_rate_of_few_slow_requests_follows_from_their_latency
    few-samples-for-percentile runs
        a_warning_about_several_phases_is_printed_once
    file-smaller-than-memory runs
        a_warning_about_several_phases_is_printed_once
    goal-missed fio_goals
        a_missed_goal_is_in_the_text_and_is_a_warning
    interval-late doubts
        a_late_interval_is_reported
    io-errors faults
        lasting_errors_are_all_counted_and_the_run_ends
    lab lab
        file_systems_are_shown_side_by_side_and_nothing_is_left
    leftover-files file_faults
        files_that_cannot_be_removed_at_the_end_are_listed
    limit-in-force warnings
        a_control_group_limit_that_slows_a_device_is_reported
    load-before doubts
        load_before_a_run_is_reported_if_others_kept_using_idle_cpus
    memory-backed devices
        memory_backed_is_reported_for_a_file_system_on_a_loop_device_in_memory
    network-loopback network
        requests_and_replies_of_a_byte_and_of_a_mebibyte_are_counted_exactly
    not-mounted bad_input
        a_target_at_an_unmounted_mount_point_is_a_warning
    not-steady steady
        rounds_that_never_become_steady_are_a_warning_not_a_failure
    not-stored runs
        a_corrupt_store_is_reported_and_left_alone
    nothing-measured warnings
        if_every_read_fails_nothing_is_measured
    other-io-on-device devices
        other_io_on_device_is_reported_in_every_cache_mode
    plan warnings
        cells_that_exceed_their_budget_are_a_warning_about_the_plan
    pool-depleted file_workloads
        an_empty_pool_ends_the_transactions_with_a_warning
    precision-not-reached compare
        repetitions_go_on_until_the_rate_is_precise_or_the_budget_is_spent
    processors-saturated processors
        saturated_cpus_without_a_busy_worker_are_reported
    rank-imbalance cluster_doubts
        slow_processes_are_listed_slowest_first
    rank-lost hosts
        a_killed_process_is_reported_and_the_others_continue
    rate-not-reached warnings
        a_rate_that_is_never_reached_is_reported
    replay-late replays
        a_stall_leaves_the_schedule_unchanged_and_shows_as_lateness
    responses-censored faults
        requests_unanswered_because_of_a_stall_are_reported_as_a_bound
    ring-flags-missing doubts
        missing_ring_flags_are_reported
    run-failed bad_input
        the_report_of_a_failed_run_names_its_error
    short-transfers faults
        short_reads_are_counted_and_reported
    size-reduced warnings
        a_default_size_that_does_not_fit_is_reduced_and_reported
    start-spread cluster_doubts
        processes_that_do_not_start_together_are_reported
    steal-time doubts
        stolen_time_is_reported
    stood-still disturbed
        short_stops_are_reported_too
    store-on-target doubts
        a_results_store_that_adds_to_device_traffic_is_reported
    target-lost disturbed
        a_target_removed_during_the_run_is_reported
    too-short warnings
        very_short_phases_are_reported_in_one_message
    trace-broken dbench
        a_call_with_an_unrecorded_result_ends_the_run_with_its_line
    unequal-hosts cluster_doubts
        differing_hosts_are_reported
    verify-mismatch faults
        a_flipped_bit_is_reported_with_its_offset
    waited-for-processor disturbed
        busy_loops_during_a_run_are_reported
    warm-up doubts
        a_warm_up_longer_than_the_ramp_is_reported
    worker-cpu-bound processors
        a_busy_worker_is_reported
";

/// What others on the machine may bring about in any run, however sound.
const LOAD_WARNINGS: [&str; 11] = [
    "few-operations",
    "few-samples-for-percentile",
    "interval-late",
    "load-before",
    "not-steady",
    "processors-saturated",
    "steal-time",
    "stood-still",
    "warm-up",
    "waited-for-processor",
    "worker-cpu-bound",
];

/// The root of the sources.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a test, of the file named so.
fn text_of(file: &str, test: &str) -> Option<String> {
    let path = match file {
        "cluster_doubts" | "doubts" | "device_doubts" | "processors" => {
            format!("crates/results/tests/results/{file}.rs")
        }
        _ => format!("tests/tests/{file}.rs"),
    };
    let source = fs::read_to_string(sources().join(path)).ok()?;
    let begin = source.find(&format!("#[test]\nfn {test}() {{\n"))?;
    let end = begin + source[begin..].find("\n}\n")?;
    Some(source[begin..end].to_owned())
}

#[test]
fn every_code_is_provoked_by_a_test_that_names_it() {
    let words: Vec<&str> = PROVOKED.split_whitespace().collect();
    let mut provoked = BTreeSet::new();
    for words in words.chunks(3) {
        let [code, file, test] = *words else {
            panic!("{words:?} is no code, file and test");
        };
        let text = text_of(file, test);
        let text = text.unwrap_or_else(|| panic!("`{file}` has no test `{test}`"));
        let variant = format!("{:?}", WarningCode::from(code.to_owned()));
        let names_it = text.contains(&format!("{code}\"")) || text.contains(&variant);
        // In a JSON text, the quotes around a code are escaped.
        let names_it = names_it || text.contains(&format!("{code}\\\""));
        assert!(names_it, "`{test}` of `{file}` does not look for `{code}`");
        provoked.insert(code);
    }
    let known = WarningCode::ALL.iter().map(WarningCode::as_str).collect();
    assert_eq!(provoked, known, "left: provoked, right: all there are");
}

/// The codes of the table in the documents, and which of them are notes.
fn documented_codes() -> BTreeSet<(String, bool)> {
    let text = fs::read_to_string(sources().join("docs/results.md")).unwrap();
    let table = text
        .split_once("| code | meaning | condition |\n")
        .unwrap()
        .1;
    let rows = table
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').nth(1).unwrap());
    let codes = cells.flat_map(|cell| cell.split(','));
    let code = |text: &str| {
        let (code, rest) = text.trim().strip_prefix('`')?.split_once('`')?;
        Some((code.to_owned(), rest == " (note)"))
    };
    codes.map(|text| code(text).unwrap()).collect()
}

#[test]
fn the_table_of_codes_has_every_code_with_its_level() {
    let known = WarningCode::ALL.iter();
    let known = known.map(|code| (code.as_str().to_owned(), code.level() == WarningLevel::Note));
    assert_eq!(documented_codes(), known.collect());
}

/// The codes of a record, each once.
fn codes(record: &Value) -> BTreeSet<&str> {
    let warnings = record["warnings"].as_array().unwrap().iter();
    warnings.map(|it| it["code"].as_str().unwrap()).collect()
}

#[track_caller]
fn assert_warned(record: &Value, code: &str) {
    assert!(codes(record).contains(code), "{}", record["warnings"]);
}

/// All but what others on the machine may bring about.
fn own_codes(record: &Value) -> BTreeSet<&str> {
    let mut codes = codes(record);
    codes.retain(|code| !LOAD_WARNINGS.contains(code));
    codes
}

const NULL: &str = "engine = \"null\"\nsize = \"16m\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", random = 100 }]\n";
const READS: &str = "size = \"16m\"\ncache = \"direct\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", random = 100, align = \"4k\" }]\n";

fn bed(target: &Path, workload: &str) -> ScratchTarget {
    let bed = ScratchTarget::with_target(target).unwrap();
    bed.file("mine.toml", workload);
    bed
}

fn null() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", NULL);
    bed
}

#[test]
fn a_run_that_touches_nothing_has_no_warning() {
    let (output, record) = null().record(&["mine.toml"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(
        own_codes(&record),
        BTreeSet::new(),
        "{}",
        record["warnings"]
    );
}

#[test]
fn direct_reads_of_a_written_file_on_a_disk_have_no_warning() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 128 << 20));
    let bed = bed(mounted.path(), READS);
    let (output, record) = bed.record(&["mine.toml", "--iodepth", "4", "--run-time", "1500ms"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(
        own_codes(&record),
        BTreeSet::new(),
        "{}",
        record["warnings"]
    );
}

#[test]
fn writing_zeros_is_reported_as_compressible() {
    let bed = null();
    bed.file("mine.toml", NULL.replace("random = 100", "read = 0"));
    let (_, record) = bed.record(&["mine.toml", "--set", "content=zero"]);
    assert_warned(&record, "compressible-content");
}

#[test]
fn a_rate_that_is_never_reached_is_reported() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", READS.replace("direct", "buffered"));
    // No system call is done in 100 ns.
    let rate = ["--engine", "psync", "--set", "rate=10000000"];
    let (_, record) = bed.record(&[&["mine.toml"][..], &rate].concat());
    assert_warned(&record, "rate-not-reached");
}

#[test]
fn cells_that_exceed_their_budget_are_a_warning_about_the_plan() {
    let auto = ["--repetitions", "auto", "--budget", "10ms"];
    let (_, record) = null().record(&[&["mine.toml", "--run-time", "50ms"], &auto[..]].concat());
    assert_warned(&record, "plan");
}

#[test]
fn direct_io_to_memory_is_reported_as_not_honored() {
    let scratch = need!(Scratch::in_memory());
    let bed = bed(scratch.path(), READS);
    if bed.measure(&["mine.toml"]).code != 0 {
        skip!("direct I/O to memory is refused here");
    }
    let (_, record) = bed.record(&["mine.toml"]);
    assert_warned(&record, "direct-not-honored");
}

#[test]
fn direct_writes_to_btrfs_go_through_the_cache() {
    let mounted = need!(MountedImage::new(FileSystem::Btrfs, 512 << 20));
    let writes = READS.replace("random = 100", "read = 0, random = 100");
    let bed = bed(mounted.path(), &writes);
    let (_, record) = bed.record(&["mine.toml"]);
    assert_warned(&record, "direct-falls-back");
    let files = "cache = \"direct\"\nrun_time = \"1s\"\n[[fileset]]\nname = \"f\"\ncount = 20\n\
        [[phase]]\nname = \"w\"\n[[phase.group]]\nbody = [\n\
        { create = \"f\", pick = \"around\", which = \"any\" }, { write = 4096 }, \"close\" ]\n";
    bed.file("files.toml", files);
    let (_, record) = bed.record(&["files.toml"]);
    assert_warned(&record, "direct-falls-back");
}

#[test]
fn if_every_read_fails_nothing_is_measured() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let bed = bed(&faultfs.path(), READS);
    bed.measure(&["mine.toml", "--keep", "--engine", "psync"])
        .assert_says(0, &[]);
    // The first reads, which examine the target, succeed; the next ones are in the ramp time.
    faultfs.arm(&[Fault::from(Call::Read, 50, Effect::Errno(EIO))]);
    let ramp = ["--ramp-time", "2s"];
    let run = ["mine.toml", "--keep", "--engine", "psync"];
    let (output, record) = bed.record(&[&run[..], &ramp].concat());
    assert_eq!(output.code, 1, "{}", output.text());
    assert_warned(&record, "nothing-measured");
}

#[test]
fn a_default_size_that_does_not_fit_is_reduced_and_reported() {
    let scratch = Scratch::new().unwrap();
    let mount = need!(Mount::tmpfs(scratch.path(), 64 << 20));
    let without = READS
        .replace("size = \"16m\"\n", "")
        .replace("direct", "buffered");
    let (_, record) = bed(mount.path(), &without).record(&["mine.toml"]);
    assert_warned(&record, "size-reduced");
    let used = record["plan"]["targets"][0]["size_bytes"].as_u64().unwrap();
    assert!(used < 64 << 20, "{used}");
}

#[test]
fn blocks_of_4_kib_raise_an_alignment_of_0() {
    let device = need!(LoopDevice::with_blocks(64 << 20, 4096));
    let word = device.path().to_string_lossy().into_owned();
    let unaligned = READS.replace(", align = \"4k\"", "");
    let run = ["mine.toml", "--overwrite-device", &word];
    let (output, record) = bed(device.path(), &unaligned).record(&run);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_warned(&record, "alignment-raised");
    let (_, record) = bed(device.path(), READS).record(&run);
    assert!(
        !codes(&record).contains("alignment-raised"),
        "{}",
        record["warnings"]
    );
}

/// The record of a run in a control group, and its warnings about the group's limit.
fn throttled_run(bed: &ScratchTarget, throttle: &Throttle, more: &[&str]) -> (Value, Vec<String>) {
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        "mine.toml",
        "--target",
        &target,
        "--json",
        "-",
        "--quiet",
    ];
    let times = ["--run-time", "3s", "--ramp-time", "500ms"];
    let command = bed.command(&[&line[..], &times, more].concat());
    let output = finish(&mut throttle.wrap(&command));
    let record: Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("no record: {error}\n{}", output.text()));
    let warnings = record["warnings"].as_array().unwrap().iter();
    let messages = warnings.filter(|it| it["code"] == "limit-in-force");
    let messages = messages
        .map(|it| it["message"].as_str().unwrap().to_owned())
        .collect();
    (record, messages)
}

#[test]
fn a_control_group_limit_that_slows_a_device_is_reported() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 128 << 20));
    let bed = bed(mounted.path(), &READS.replace("16m", "4m"));
    let number = mounted.device().number().unwrap();
    // Even a busy machine reaches this rate.
    let throttle = need!(Throttle::new(&number, Limit::Iops(20)));
    let (record, messages) = throttled_run(&bed, &throttle, &["--iodepth", "8"]);
    assert_eq!(messages.len(), 1, "{}", record["warnings"]);
    assert_warned(&record, "limit-in-force");
    assert!(
        messages[0].contains("at most 20 reads per second on loop"),
        "{messages:?}"
    );
    assert!(messages[0].contains("`/sys/fs/cgroup/"), "{messages:?}");
    assert_eq!(record["environment"]["limits"][0]["value"], 20.0);
    // A limit that is never reached has no effect.
    let throttle = need!(Throttle::new(&number, Limit::Iops(1_000_000_000)));
    let (record, messages) = throttled_run(&bed, &throttle, &["--iodepth", "8"]);
    assert_eq!(messages, [""; 0], "{}", record["warnings"]);
}

#[test]
fn doctor_and_a_run_report_the_same_limit() {
    let throttle = need!(Throttle::of_processors(5));
    let output = finish(&mut throttle.wrap(&ScratchTarget::new().unwrap().command(&["doctor"])));
    assert!(output.stdout.contains("0.05 CPUs"), "{}", output.text());
    let (record, messages) = throttled_run(&null(), &throttle, &[]);
    assert_eq!(messages.len(), 1, "{}", record["warnings"]);
    assert!(messages[0].contains("0.05 CPUs"), "{messages:?}");
}

#[test]
fn a_page_cache_that_may_not_hold_the_targets_is_reported() {
    let throttle = need!(Throttle::of_memory(128 << 20));
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", READS.replace("direct", "buffered"));
    let (record, messages) = throttled_run(&bed, &throttle, &["--size", "160m"]);
    assert_eq!(messages.len(), 1, "{}", record["warnings"]);
    assert!(messages[0].contains("128 MiB of memory"), "{messages:?}");
    let (record, messages) = throttled_run(&bed, &throttle, &["--size", "16m"]);
    assert_eq!(messages, [""; 0], "{}", record["warnings"]);
}

#[test]
fn very_short_phases_are_reported_in_one_message() {
    let bed = need!(ScratchTarget::in_memory());
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        "create-remove",
        "--target",
        &target,
        "--json",
        "-",
        "--quiet",
    ];
    let few = ["--set", "count=100", "--set", "sizes=4096"];
    let output = bed.run(&[&line[..], &few].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_warned(&record, "too-short");
    let warnings = record["warnings"].as_array().unwrap().iter();
    let short: Vec<&Value> = warnings.filter(|it| it["code"] == "too-short").collect();
    assert_eq!(short.len(), 1, "{short:?}");
    let message = short[0]["message"].as_str().unwrap();
    for phrase in ["create 4KiB (", "remove 4KiB ("] {
        assert!(message.contains(phrase), "no `{phrase}` in {message}");
    }
}
