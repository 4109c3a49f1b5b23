//! Work on many files from outside: PostMark to the digit, every engine and option, large counts.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use end_to_end::{Finished, ScratchTarget, available, need, samples, skip};
use serde_json::Value;

/// Runs a workload on files and returns its output and record.
fn measured(bed: &ScratchTarget, arguments: &[&str]) -> (Finished, Value) {
    let target = bed.target().to_string_lossy().into_owned();
    let line = ["run", "--target", &target, "--json", "-", "--quiet"];
    let output = bed.run(&[&line, arguments].concat());
    let record = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("no record: {error}\n{}", output.text()));
    (output, record)
}

/// As [`measured`], of a run in which nothing fails and nothing is left.
#[track_caller]
fn complete(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let (output, record) = measured(bed, arguments);
    assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
    assert_eq!(record["status"], "complete", "{arguments:?}");
    for cell in record["cells"].as_array().unwrap() {
        assert_eq!(cell["total"]["errors"], 0, "{arguments:?}");
    }
    assert_eq!(bed.left_in_target(), [""; 0], "{arguments:?}");
    record
}

fn phase<'a>(record: &'a Value, name: &str) -> &'a Value {
    let cells = record["cells"].as_array().unwrap();
    let found = cells.iter().find(|cell| cell["phase"] == name);
    found.unwrap_or_else(|| panic!("no phase `{name}`"))
}

/// Number of operations of this kind in a phase.
fn operations(record: &Value, phase_name: &str, operation: &str) -> u64 {
    let counted = &phase(record, phase_name)["operations"][operation];
    counted["count"].as_u64().unwrap_or(0)
}

/// PostMark's own figures.
fn pool(record: &Value) -> &Value {
    &phase(record, "transactions")["phase_figures"]["pool"]
}

fn transaction_count(record: &Value) -> u64 {
    pool(record)["transactions_count"].as_u64().unwrap()
}

fn warnings(record: &Value) -> String {
    record["warnings"].to_string()
}

const COUNTS: [&str; 8] = [
    "created",
    "created_alone",
    "created_mixed",
    "read",
    "appended",
    "deleted",
    "deleted_alone",
    "deleted_mixed",
];

/// The counts of a record, by PostMark's names.
fn counts(record: &Value) -> BTreeMap<&'static str, u64> {
    let pool = pool(record);
    let count = |name: &str| {
        let value = pool[name].as_u64();
        value.unwrap_or_else(|| panic!("no `{name}`"))
    };
    let created = [count("created_count"), count("created_before_count")];
    let deleted = [count("deleted_count"), count("deleted_after_count")];
    let counts = [
        created[0],
        created[1],
        created[0] - created[1],
        count("read_count"),
        count("appended_count"),
        deleted[0],
        deleted[1],
        deleted[0] - deleted[1],
    ];
    COUNTS.into_iter().zip(counts).collect()
}

/// A figure of PostMark's in its megabytes.
fn in_megabytes(record: &Value, name: &str) -> String {
    format!("{:.2}", pool(record)[name].as_f64().unwrap() / 1_048_576.0)
}

/// Megabytes read and written, as PostMark adds them up and prints them.
fn megabytes(record: &Value) -> Vec<String> {
    ["read_bytes_float", "written_bytes_float"]
        .map(|name| in_megabytes(record, name))
        .to_vec()
}

/// The counts and the megabytes of each verbose report of PostMark in a text.
fn reported(text: &str) -> Vec<(BTreeMap<&'static str, u64>, Vec<String>)> {
    let mut reports = Vec::new();
    for report in text.split("\nFiles:\n").skip(1) {
        let number = |line: &str| {
            let words = line.split_whitespace();
            let mut digits = words.filter(|word| word.starts_with(|it: char| it.is_ascii_digit()));
            digits.next().unwrap().to_owned()
        };
        let lines: Vec<&str> = report.lines().take_while(|line| *line != "Data:").collect();
        let figures = lines.iter().filter(|line| !line.is_empty());
        let numbers = figures.map(|line| number(line).parse().unwrap());
        let data = report.lines().filter(|line| line.contains("megabytes "));
        reports.push((
            COUNTS.into_iter().zip(numbers).collect(),
            data.map(number).collect(),
        ));
    }
    reports
}

/// Scripts whose counts depend on everything that the generator does, with enough transactions
/// for megabytes.
const SCRIPTS: [&str; 8] = [
    "set transactions 2000\nset location w\nrun\n",
    "set number 300\nset transactions 3000\nset seed 7\nset location w\nset subdirectories 7\n\
     run\n",
    "set number 77\nset transactions 3000\nset location w 2\nset location +w2 5\nrun\n",
    "set number 200\nset transactions 4000\nset location w\nset bias read 7\nset bias create 6\n\
     set buffering false\nrun\n",
    "set number 900\nset transactions 3000\nset seed 123456\nset location w 1\n\
     set location +w2 3\nset subdirectories 3\nset size 100 30000\nset read 1000\nset write 700\n\
     set buffering false\nset bias create 4\nrun\n",
    "set transactions 2000\nset location w\nset size 4096 4096\nrun\n",
    "set transactions 4000\nset location w\nset bias read -1\nrun\nset bias read 7\n\
     set bias create -1\nrun\n",
    "set number 400\nset transactions 5\nset location w\nrun\n",
];

#[test]
fn a_measured_script_has_the_counts_that_postmark_prints() {
    for script in SCRIPTS {
        let bed = need!(ScratchTarget::in_memory());
        fs::create_dir(bed.path().join("w")).unwrap();
        fs::create_dir(bed.path().join("w2")).unwrap();
        bed.file("script.pm", format!("{script}quit\n"));
        let played = bed.run(&["as", "postmark", "script.pm"]);
        assert_eq!(played.code, 0, "{}", played.text());
        let reports = reported(&played.stdout);
        assert!(!reports.is_empty(), "{}", played.text());
        let record = complete(&bed, &["script.pm"]);
        let runs = record["cells"].as_array().unwrap().chunks(3);
        assert_eq!(runs.len(), reports.len(), "{script}");
        for (cells, (played, data)) in runs.zip(reports) {
            let one = serde_json::json!({ "cells": cells });
            assert_eq!(counts(&one), played, "{script}");
            let moved = megabytes(&one);
            // Amounts below a megabyte are printed in other units.
            for printed in &data {
                assert!(moved.contains(printed), "{script}: {moved:?}, not {data:?}");
            }
        }
    }
}

/// Numbers that the published run printed, on hardware of 2007.
const PUBLISHED: [u64; 8] = [
    2_510_496, 9_999, 2_500_497, 2_499_695, 2_472_080, 2_510_496, 10_993, 2_499_503,
];

/// `true` if the program under test is optimized, and therefore fast.
fn is_optimized_build() -> bool {
    std::env::var_os("PGMETER_BIN").is_some()
}

/// Numbers that PostMark 1.53 printed after a tenth of the published transactions.
const TENTH: [u64; 8] = [
    259_789, 9_999, 249_790, 249_940, 247_425, 259_789, 9_579, 250_210,
];

#[test]
fn a_tenth_of_the_published_run_has_the_counts_that_postmark_printed() {
    let bed = need!(ScratchTarget::in_memory());
    let line = "postmark --set number=9999 --set transactions=500000 --engine null";
    let arguments: Vec<&str> = line.split(' ').collect();
    let record = complete(&bed, &arguments);
    assert_eq!(counts(&record), COUNTS.into_iter().zip(TENTH).collect());
    assert_eq!(megabytes(&record), ["1614.59", "1679.57"]);
}

#[test]
fn the_published_run_has_the_published_counts() {
    if !is_optimized_build() {
        skip!("five million transactions are too many for a debug build; set `PGMETER_BIN`");
    }
    let bed = need!(ScratchTarget::in_memory());
    let line = "postmark --set number=9999 --set transactions=5000000 --engine null";
    let arguments: Vec<&str> = line.split(' ').collect();
    let record = complete(&bed, &arguments);
    assert_eq!(counts(&record), COUNTS.into_iter().zip(PUBLISHED).collect());
    assert_eq!(megabytes(&record), ["16307.03", "16302.64"]);
    for (name, exact) in [("read_bytes", "16268.74"), ("written_bytes", "16345.57")] {
        assert_eq!(in_megabytes(&record, name), exact);
    }
    // A warning gives both figures.
    let text = warnings(&record);
    for figure in [
        "16307.03",
        "16268.74",
        "16302.64",
        "16345.57",
        "classic-figure",
    ] {
        assert!(text.contains(figure), "{text}");
    }
}

#[test]
fn the_published_script_is_the_published_run() {
    let folder = match available(samples("postmark/golden")) {
        Ok(folder) => folder,
        Err(reason) => skip!("{reason}"),
    };
    // A debug build takes too long for five million transactions.
    let name = match is_optimized_build() {
        true => "99_published_lfs",
        false => "04_netapp_20000_100000",
    };
    let Ok(script) = fs::read(folder.join(format!("{name}.pm"))) else {
        skip!("the published script is not here");
    };
    let printed = fs::read_to_string(folder.join(format!("{name}.out"))).unwrap();
    let bed = need!(ScratchTarget::in_memory());
    bed.file("published.pm", script);
    let record = complete(&bed, &["published.pm", "--engine", "null"]);
    let reports = reported(&printed);
    assert_eq!(reports, [(counts(&record), megabytes(&record))]);
}

#[test]
fn fewer_than_ten_transactions_are_measured() {
    let bed = need!(ScratchTarget::in_memory());
    for count in ["1", "5", "9"] {
        let transactions = format!("transactions={count}");
        let record = complete(&bed, &["postmark", "--set", &transactions]);
        assert_eq!(transaction_count(&record).to_string(), count);
        assert_eq!(operations(&record, "create", "create"), 500);
    }
}

#[test]
fn an_empty_pool_ends_the_transactions_with_a_warning() {
    let bed = need!(ScratchTarget::in_memory());
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        "postmark",
        "--target",
        &target,
        "--json",
        "saved.json",
    ];
    let options = ["number=5", "transactions=5000", "create_bias=2"];
    let options = options.iter().flat_map(|option| ["--set", option]);
    let arguments: Vec<&str> = line.into_iter().chain(options).collect();
    let output = bed.run(&arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.contains("out of files"), "{}", output.text());
    assert!(output.stdout.contains("pool-depleted"), "{}", output.text());
    let saved = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let record: Value = serde_json::from_str(&saved).unwrap();
    let counts = counts(&record);
    assert!(counts["created"] >= 5, "{counts:?}");
    assert_eq!(counts["created"], counts["deleted"]);
    assert_eq!(counts["deleted_alone"], 0);
    let done = transaction_count(&record);
    assert!((5..5000).contains(&done), "{done}");
    assert_eq!(phase(&record, "transactions")["total"]["errors"], 0);
    assert!(bed.left_in_target().is_empty());
}

/// Names of locations that lead out of the target, with the message about each.
const HOSTILE: [(&str, &str); 3] = [
    ("/etc", "is an absolute path"),
    ("../x", "leads out of the target"),
    ("a/../../b", "leads out of the target"),
];

#[test]
fn a_script_location_outside_the_target_is_refused_with_its_line() {
    for (location, why) in HOSTILE {
        let bed = need!(ScratchTarget::in_memory());
        bed.file(
            "s.pm",
            format!("set number 5\nset location {location}\nrun\nquit\n"),
        );
        let output = bed.run(&["run", "s.pm"]);
        let message = format!("the location `{location}` {why}");
        output.assert_refused(2, &[&message, "--> s.pm:2", "help: "]);
        assert_eq!(end_to_end::names_in(bed.path()), ["s.pm", "target"]);
    }
}

#[test]
fn no_location_of_a_script_may_be_outside_the_target() {
    for (location, why) in HOSTILE {
        let bed = need!(ScratchTarget::in_memory());
        let target = bed.target().to_string_lossy().into_owned();
        let lines = format!("set location w\nset location +{location}\nrun\nquit\n");
        bed.file("s.pm", lines);
        let output = bed.run(&["run", "s.pm", "--target", &target]);
        let message = format!("the location `{location}` {why}");
        output.assert_refused(2, &[&message, "--> s.pm:2", "help: "]);
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn a_given_target_replaces_the_only_location_of_a_script() {
    let bed = need!(ScratchTarget::in_memory());
    let outside = bed.path().join("outside");
    let lines = format!("set location {}\nrun\nquit\n", outside.display());
    bed.file("s.pm", lines);
    let record = complete(&bed, &["s.pm"]);
    assert!(
        warnings(&record).contains("takes its place"),
        "{}",
        warnings(&record)
    );
    assert!(!outside.exists());
}

#[test]
fn locations_of_a_table_outside_the_target_are_refused_with_their_line() {
    for (location, why) in HOSTILE {
        for locations in [
            format!("\"{location}\""),
            format!("[\"ok\", \"{location} 3\"]"),
        ] {
            let bed = need!(ScratchTarget::in_memory());
            let target = bed.target().to_string_lossy().into_owned();
            bed.file("l.toml", format!("[postmark]\nlocations = {locations}\n"));
            let output = bed.run(&["run", "l.toml", "--target", &target]);
            output.assert_refused(2, &[location, why, "--> l.toml:2:", "help: "]);
            assert!(bed.left_in_target().is_empty());
        }
    }
}

#[test]
fn a_location_on_the_command_line_is_the_target() {
    let bed = need!(ScratchTarget::in_memory());
    let location = format!("location={}", bed.target().display());
    let output = bed.run(&[
        "run",
        "postmark",
        "--set",
        &location,
        "--json",
        "saved.json",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    let saved = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let record: Value = serde_json::from_str(&saved).unwrap();
    let target = record["cells"][0]["target"].to_string();
    assert!(
        target.contains(&*bed.target().to_string_lossy()),
        "{target}"
    );
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_command_line_location_outside_the_target_is_refused() {
    let bed = need!(ScratchTarget::in_memory());
    let target = bed.target().to_string_lossy().into_owned();
    for (location, phrase) in [
        ("../x", "leads out of the target"),
        ("a/../../b", "leads out of the target"),
        ("/etc", "both targets"),
    ] {
        let option = format!("location={location}");
        let output = bed.run(&["run", "postmark", "--set", &option, "--target", &target]);
        output.assert_refused(2, &[phrase, location, "help: "]);
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn links_in_place_of_the_target_or_the_work_directory_are_refused() {
    let bed = need!(ScratchTarget::in_memory());
    let victim = bed.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("1"), "precious").unwrap();
    let link = bed.target().join("link");
    symlink(&victim, &link).unwrap();
    for workload in ["postmark", "create-remove", "lat-fs", "fs-mark"] {
        let output = bed.run(&["run", workload, "--target", &link.to_string_lossy()]);
        output.assert_refused(3, &["link` is a symbolic link", "help: "]);
    }
    fs::rename(&link, bed.target().join("pgmeter.work")).unwrap();
    let target = bed.target().to_string_lossy().into_owned();
    let output = bed.run(&["run", "postmark", "--target", &target]);
    output.assert_refused(
        3,
        &[
            "pgmeter.work` exists and was not created by pgmeter",
            "help: ",
        ],
    );
    assert_eq!(bed.left_in_target(), ["pgmeter.work"]);
    assert_eq!(end_to_end::names_in(&victim), ["1"]);
    assert_eq!(fs::read(victim.join("1")).unwrap(), b"precious");
}

#[test]
fn a_location_is_created_in_the_work_directory_even_if_its_name_exists() {
    let bed = need!(ScratchTarget::in_memory());
    let victim = bed.path().join("victim");
    fs::create_dir(&victim).unwrap();
    for name in 1..100 {
        fs::write(victim.join(name.to_string()), "precious").unwrap();
    }
    symlink(&victim, bed.target().join("w")).unwrap();
    bed.file("s.pm", "set location w\nset number 50\nrun\nquit\n");
    let (output, record) = measured(&bed, &["s.pm"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(counts(&record)["created_alone"], 50);
    assert_eq!(bed.left_in_target(), ["w"]);
    assert_eq!(end_to_end::names_in(&victim).len(), 99);
}

#[test]
fn server_workloads_scale_with_memory_and_report_a_lack_of_space() {
    let bed = need!(ScratchTarget::in_memory());
    let cases: [(&str, &[&str]); 4] = [
        ("mail-server", &["--set", "transactions=500"]),
        ("build", &[]),
        // Memory does no direct I/O.
        (
            "database",
            &[
                "--run-time",
                "50ms",
                "--ramp-time",
                "0s",
                "--cache",
                "buffered",
            ],
        ),
        ("backup", &["--run-time", "50ms"]),
    ];
    for (name, more) in cases {
        let small = [name, "--set", "times_memory=0.0005x"];
        let record = complete(&bed, &[&small[..], more].concat());
        let settings = record["plan"]["settings"].as_array().unwrap();
        let mut matching = settings.iter().filter(|it| it["key"] == "times_memory");
        assert_eq!(matching.next().unwrap()["value"], "0.0005x", "{name}");
    }
    // A hundred times the memory is nowhere free.
    let output = bed.run(&[
        "check",
        "database",
        "--target",
        ".",
        "--set",
        "times_memory=100x",
    ]);
    let less = "of the memory), because more would fill over three quarters of the free space";
    assert!(
        output.code == 0 && output.stdout.contains(less),
        "{}",
        output.text()
    );
}

/// Few enough files and transactions for many runs.
const SMALL: [&str; 5] = [
    "postmark",
    "--set",
    "number=150",
    "--set",
    "transactions=600",
];

#[test]
fn workers_have_their_own_pools_or_share_the_directories() {
    let bed = need!(ScratchTarget::in_memory());
    let alone = counts(&complete(&bed, &SMALL));
    for pool in ["pool=own", "pool=shared"] {
        for places in [
            "locations=w",
            "subdirectories=3",
            "locations=[\"a\", \"b/c 2\"]",
        ] {
            let more = ["--workers", "2", "--set", pool, "--set", places];
            let record = complete(&bed, &[&SMALL, &more[..]].concat());
            assert_eq!(
                operations(&record, "create", "create"),
                300,
                "{pool} {places}"
            );
            assert_eq!(transaction_count(&record), 1200, "{pool} {places}");
            let both = counts(&record);
            assert_eq!(both["created"], both["deleted"]);
            // The workers' seeds differ, so that two do not do twice what one does.
            assert_ne!(both["read"], 2 * alone["read"]);
        }
    }
}

#[test]
fn many_files_in_flight_with_io_uring_give_the_same_counts() {
    let bed = need!(ScratchTarget::in_memory());
    let alone = counts(&complete(&bed, &SMALL));
    for depth in ["1", "8"] {
        let more = ["--engine", "io_uring", "--iodepth", depth];
        let record = complete(&bed, &[&SMALL, &more[..]].concat());
        assert_eq!(counts(&record), alone, "iodepth {depth}");
        assert_eq!(record["cells"][0]["engine"], "io_uring");
    }
    let options = [
        "count=200",
        "sizes=[0, 10000]",
        "directories=3",
        "order=random",
    ];
    let options = options.iter().flat_map(|option| ["--set", option]);
    let more = [
        "create-remove",
        "--engine",
        "io_uring",
        "--iodepth",
        "8",
        "--workers",
        "2",
    ];
    let record = complete(&bed, &more.into_iter().chain(options).collect::<Vec<_>>());
    for cell in record["cells"].as_array().unwrap() {
        assert_eq!(cell["total"]["count"], 200, "{}", cell["phase"]);
    }
    let depth = [
        "fs-mark",
        "--engine",
        "io_uring",
        "--iodepth",
        "4",
        "--set",
        "files=50",
    ];
    let record = complete(&bed, &depth);
    assert_eq!(operations(&record, "create", "fsync"), 50);
}

#[test]
fn direct_io_requires_files_of_whole_blocks() {
    let bed = ScratchTarget::new().unwrap();
    let output = bed.run(
        &[
            &["run"],
            &SMALL[..],
            &["--cache", "direct", "--target"],
            &[&bed.target().to_string_lossy()],
        ]
        .concat(),
    );
    output.assert_refused(
        2,
        &["direct I/O", "`postmark.min_size`", "500 bytes", "help: "],
    );
    assert!(bed.left_in_target().is_empty());
    let (output, record) = measured(
        &bed,
        &[
            "create-remove",
            "--cache",
            "direct",
            "--set",
            "count=50",
            "--set",
            "sizes=16k",
        ],
    );
    // Not every file system of temporary files knows direct I/O.
    if output.code == 3 || output.stderr.contains("direct I/O") {
        skip!("no direct I/O here: {}", output.stderr);
    }
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(record["cells"][0]["cache"], "direct");
    assert_eq!(record["cells"][0]["total"]["bytes"], 50 * 16384);
    let output = bed.run(&[&["run"], &SMALL[..], &["--cache", "dontcache"]].concat());
    output.assert_refused(2, &["`dontcache` does not work", "help: "]);
}

#[test]
fn fsync_per_file_syncs_each_written_file_and_per_transaction_directories_too() {
    let bed = need!(ScratchTarget::in_memory());
    for (engine, depth) in [("psync", "1"), ("io_uring", "8")] {
        for fsync in ["none", "per-file", "per-transaction"] {
            let option = format!("fsync={fsync}");
            let more = ["--engine", engine, "--iodepth", depth, "--set", &option];
            let record = complete(&bed, &[&SMALL, &more[..]].concat());
            let counts = counts(&record);
            let written = counts["created_mixed"] + counts["appended"];
            let changed = counts["created_mixed"] + counts["deleted_mixed"];
            let (created, mixed, deleted) = match fsync {
                "none" => (0, 0, 0),
                "per-file" => (150, written, 0),
                _ => (300, written + changed, counts["deleted_alone"]),
            };
            let synced = |phase: &str| operations(&record, phase, "fsync");
            assert_eq!(synced("create"), created, "{engine} {fsync}");
            assert_eq!(synced("transactions"), mixed, "{engine} {fsync}");
            assert_eq!(synced("delete"), deleted, "{engine} {fsync}");
        }
    }
}

#[test]
fn files_may_be_chosen_by_zipfs_law() {
    let bed = need!(ScratchTarget::in_memory());
    let more = ["--set", "choice={ zipf = 1.2 }"];
    let record = complete(&bed, &[&SMALL, &more[..]].concat());
    assert_eq!(transaction_count(&record), 600);
    assert_ne!(counts(&record), counts(&complete(&bed, &SMALL)));
}

#[test]
fn files_that_stay_open_are_opened_once_with_the_same_counts() {
    let bed = need!(ScratchTarget::in_memory());
    let unbuffered = [&SMALL[..], &["--set", "buffering=false"]].concat();
    let alone = complete(&bed, &unbuffered);
    let record_with = |keep_open: &str, more: &[&str]| {
        let set = format!("keep_open={keep_open}");
        complete(&bed, &[&unbuffered, &["--set", &set][..], more].concat())
    };
    let opens = |record: &Value| operations(record, "transactions", "open");
    for more in [&[][..], &["--verify"], &["--set", "fsync=per-transaction"]] {
        let record = record_with("1000", more);
        assert_eq!(counts(&record), counts(&alone), "{more:?}");
        assert!((1..=150).contains(&opens(&record)), "{more:?}");
        let closes = operations(&record, "transactions", "close");
        assert!(closes <= counts(&record)["deleted_mixed"], "{more:?}");
        assert!(
            record["cells"].to_string().contains("stay open"),
            "{more:?}"
        );
    }
    let few = record_with("20", &[]);
    assert_eq!(counts(&few), counts(&alone));
    assert!((151..opens(&alone)).contains(&opens(&few)));
}

#[test]
fn files_that_cannot_stay_open_are_refused() {
    let bed = need!(ScratchTarget::in_memory());
    for (more, wanted) in [
        (&["keep_open=9"][..], "`buffering = true`"),
        (
            &["keep_open=9", "buffering=false", "engine=io_uring"],
            "`engine = \"io_uring\"`",
        ),
        (&["keep_open=1000001", "buffering=false"], "1000000"),
    ] {
        let set = more.iter().flat_map(|it| ["--set", it]);
        let line: Vec<&str> = ["run"].into_iter().chain(SMALL).chain(set).collect();
        let output = bed.run(&line);
        output.assert_refused(2, &["keep_open", wanted, "help: "]);
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn transactions_end_at_the_run_time_and_the_pool_is_deleted() {
    let bed = need!(ScratchTarget::in_memory());
    for (engine, depth) in [("psync", "1"), ("io_uring", "8")] {
        let more = [
            "--engine",
            engine,
            "--iodepth",
            depth,
            "--set",
            "run_time=2s",
        ];
        let line = ["postmark", "--set", "number=5000"];
        let record = complete(&bed, &[&line, &more[..]].concat());
        let counts = counts(&record);
        assert_eq!(counts["created"], counts["deleted"], "{engine}");
        let took_ns = phase(&record, "transactions")["run_time_ns"]
            .as_u64()
            .unwrap();
        assert!(took_ns >= 2_000_000_000, "{took_ns}");
        let transactions = transaction_count(&record);
        assert!(transactions > 0);
    }
}

#[test]
fn reads_are_verified_on_request() {
    let bed = need!(ScratchTarget::in_memory());
    for more in [
        &["--verify"][..],
        &["--verify", "--engine", "io_uring", "--iodepth", "8"],
        &[
            "--set",
            "verify=true",
            "--workers",
            "2",
            "--set",
            "pool=shared",
        ],
        &["--verify", "--set", "buffering=false"],
    ] {
        let record = complete(&bed, &[&SMALL, more].concat());
        assert!(
            !warnings(&record).contains("verify"),
            "{}",
            warnings(&record)
        );
        assert!(operations(&record, "transactions", "read") > 0);
    }
}

#[test]
fn fs_mark_reports_like_the_original() {
    let bed = need!(ScratchTarget::in_memory());
    let options = ["files=20", "size=1KiB", "loops=3", "sync_method=sync-post"];
    let options = options.iter().flat_map(|option| ["--set", option]);
    let line: Vec<&str> = ["fs-mark", "--set", "threads=2"]
        .into_iter()
        .chain(options)
        .collect();
    let (output, record) = measured(&bed, &line);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let rounds = |name: &str| phase(&record, name)["phase_figures"]["rounds"].clone();
    let (made, synced) = (rounds("create"), rounds("sync"));
    let text = bed.run(&["report", "last", "--format", "classic"]).stdout;
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("FSUse%"))
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 3, "{text}");
    for (row, (index, files)) in rows.iter().zip(["40", "80", "120"].iter().enumerate()) {
        assert_eq!((row[1], row[2], row.len()), (*files, "1024", 5 + 6 * 3));
        let slowest = |rounds: &Value, kind: &str| {
            let workers = rounds[index]["workers"].as_array().unwrap();
            assert_eq!(workers.len(), 2);
            let times = workers.iter().map(|it| &it["calls"][kind]["max_ns"]);
            let longest = times.map(|it| it.as_u64().unwrap() / 1000).max();
            longest.unwrap().to_string()
        };
        let wanted = (slowest(&made, "create"), slowest(&synced, "fsync"));
        assert_eq!((row[7], row[13]), (&*wanted.0, &*wanted.1));
    }
}

#[test]
fn programs_create_and_remove_files_in_exec_mode() {
    let bed = need!(ScratchTarget::in_memory());
    let options = ["mode=exec", "count=30", "sizes=[0, 4096]", "directories=2"];
    let options = options.iter().flat_map(|option| ["--set", option]);
    let line: Vec<&str> = ["create-remove"].into_iter().chain(options).collect();
    let record = complete(&bed, &line);
    for cell in record["cells"].as_array().unwrap() {
        assert_eq!(cell["total"]["count"], 30, "{}", cell["phase"]);
        let steps = cell["phase_figures"]["steps"].as_array().unwrap();
        let label = cell["phase"].as_str().unwrap().split(' ').next().unwrap();
        for (step, label) in steps.iter().zip([label, "baseline"]) {
            assert_eq!(step["label"], label, "{step}");
            assert_eq!(step["count"], 30, "{step}");
            assert!(step["time_ns"].as_u64().unwrap() > 0, "{step}");
        }
        assert_eq!(steps.len(), 2);
    }
}
