//! Work on many files on real file systems: mounted again and with emptied caches between the
//! steps, links planted in the middle, and a million files in steady memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use end_to_end::{FileSystem, MountedImage, ScratchTarget, names_in, need, run_tool, wait_for};
use serde_json::Value;

/// Runs a workload on the target and returns its record and the most memory that it took, in
/// bytes.
fn measured(bed: &ScratchTarget, arguments: &[&str]) -> (Value, u64) {
    let target = bed.target().to_string_lossy().into_owned();
    let line = ["run", "--target", &target, "--json", "saved.json"];
    let mut child = bed.start(&[&line, arguments].concat());
    let mut peak_bytes = 0;
    let code = watch(&mut child, |process| {
        peak_bytes = peak_bytes.max(resident_bytes(process));
    });
    assert_eq!(code, Some(0), "{arguments:?}");
    let text = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["status"], "complete");
    assert_eq!(bed.left_in_target(), [""; 0]);
    (record, peak_bytes)
}

/// Looks at a process until it ends; the exit code, none when a signal ended it.
fn watch(child: &mut Child, mut look: impl FnMut(&Path)) -> Option<i32> {
    let process = Path::new("/proc").join(child.id().to_string());
    let start = Instant::now();
    loop {
        look(&process);
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("did not end within 120 s");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The most memory that a process has had resident so far; 0 when it has ended.
fn resident_bytes(process: &Path) -> u64 {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.map_or(0, |kib| kib.trim().parse::<u64>().unwrap() << 10)
}

fn cells(record: &Value) -> &[Value] {
    record["cells"].as_array().unwrap()
}

/// Whether the program under test is an optimized one, which does much in little time.
fn is_optimized_build() -> bool {
    std::env::var_os("PGMETER_BIN").is_some()
}

/// Creates, stats and removes so many empty files in memory; the record and the most memory taken.
fn create_stat_and_remove(bed: &ScratchTarget, count: u32) -> (Value, u64) {
    let settings = ["sizes=0", "stat=true", &format!("count={count}")];
    let settings = settings.iter().flat_map(|setting| ["--set", setting]);
    measured(
        bed,
        &["create-remove"]
            .into_iter()
            .chain(settings)
            .collect::<Vec<_>>(),
    )
}

#[test]
fn a_million_files_are_created_statted_and_removed_in_steady_memory() {
    // A debug build takes three times as long.
    let many = if is_optimized_build() {
        1_000_000
    } else {
        300_000
    };
    let bed = need!(ScratchTarget::in_memory());
    let (_, few_bytes) = create_stat_and_remove(&bed, 100_000);
    let (record, mut many_bytes) = create_stat_and_remove(&bed, many);
    // A single run on a busy machine has taken 8 MiB more than the same run before and after it.
    // Memory that grows with the files grows in every run.
    for _ in 0..2 {
        if many_bytes >= few_bytes + (8 << 20) {
            many_bytes = many_bytes.min(create_stat_and_remove(&bed, many).1);
        }
    }
    println!("{few_bytes} bytes for 100000 files, {many_bytes} bytes for {many}");
    assert!(few_bytes > 1 << 20, "{few_bytes}");
    assert!(many_bytes < 100_000_000, "{many_bytes}");
    assert!(
        many_bytes < few_bytes + (8 << 20),
        "{few_bytes}, {many_bytes}"
    );
    let steps = [&["create", "close"][..], &["stat"], &["unlink"]];
    assert_eq!(cells(&record).len(), steps.len());
    for (cell, operations) in cells(&record).iter().zip(steps) {
        assert_eq!(cell["total"]["count"], many);
        assert_eq!(cell["total"]["errors"], 0);
        for operation in operations {
            let figures = &cell["operations"][operation];
            assert_eq!(figures["count"], many, "{operation}");
            let percentiles = &figures["latency"]["percentiles_ns"];
            let of = |name: &str| {
                let value = percentiles[name].as_u64();
                value.unwrap_or_else(|| panic!("no {name} of {operation}: {percentiles}"))
            };
            let values = ["50", "90", "95", "99", "99.9", "99.99"].map(of);
            assert!(
                values[0] > 0 && values.is_sorted(),
                "{operation}: {values:?}"
            );
        }
    }
}

#[test]
fn a_pool_of_ten_million_files_takes_less_than_a_gibibyte() {
    // A debug build takes too long for so many.
    let count: u64 = if is_optimized_build() {
        10_000_000
    } else {
        1_000_000
    };
    let bed = need!(ScratchTarget::in_memory());
    let number = format!("number={count}");
    let arguments = ["postmark", "--engine", "null", "--set", &number];
    let (record, peak_bytes) = measured(
        &bed,
        &[&arguments[..], &["--set", "transactions=1000"]].concat(),
    );
    println!("{peak_bytes} bytes for {count} files");
    assert!(peak_bytes < (1 << 30) / 10_000_000 * count, "{peak_bytes}");
    assert_eq!(cells(&record)[0]["operations"]["create"]["count"], count);
}

#[test]
fn file_systems_are_remounted_between_the_steps() {
    for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
        let mounted = need!(MountedImage::new(file_system, 512 << 20));
        let bed = ScratchTarget::with_target(mounted.path()).unwrap();
        let arguments = [
            "create-remove",
            "--set",
            "count=500",
            "--set",
            "between=remount",
        ];
        let sizes = ["--set", "sizes=[0, 4096]", "--set", "directories=3"];
        let (record, _) = measured(&bed, &[&arguments[..], &sizes].concat());
        assert_eq!(cells(&record).len(), 4);
        for cell in cells(&record) {
            assert_eq!(cell["total"]["count"], 500, "{}", cell["phase"]);
            assert_eq!(cell["total"]["errors"], 0, "{}", cell["phase"]);
        }
        let phases = &record["plan"]["cells"][0]["files"]["parts"];
        assert!(phases.to_string().contains("\"remount\""), "{phases}");
        // It is mounted where it was, and writable.
        fs::write(mounted.path().join("a"), "b").unwrap();
    }
}

/// Whether a process is about to unmount a file system, or has.
fn is_about_to_unmount(child: &Child) -> bool {
    let prefix = format!("remount-{}-", child.id());
    let notes = names_in(Path::new("/run/pgmeter"));
    notes
        .iter()
        .any(|name| name.starts_with(&prefix) && name.ends_with(".json"))
}

#[test]
fn the_next_command_mounts_what_a_killed_run_left_unmounted() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let bed = ScratchTarget::with_target(mounted.path()).unwrap();
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    let wanted = device(mounted.path());
    let target = bed.target().to_string_lossy().into_owned();
    let workload = ["create-remove", "--set", "between=remount"];
    let few = ["--set", "count=20", "--set", "sizes=[0, 1024, 4096]"];
    let arguments = [&workload[..], &few, &["--target", &target]].concat();
    let mut unmounted_count = 0;
    for attempt in 0..10 {
        let mut child = bed.start(&[&["run"], &arguments[..]].concat());
        while !is_about_to_unmount(&child) && child.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_micros(attempt * 400));
        child.kill().unwrap();
        child.wait().unwrap();
        unmounted_count += u32::from(device(mounted.path()) != wanted);
        let next: &[&str] = match attempt % 2 {
            0 => &["clean", &target],
            _ => &[&["run"], &arguments[..]].concat(),
        };
        let output = bed.run(next);
        assert_eq!(output.code, 0, "{attempt}: {}", output.text());
        assert_eq!(
            device(mounted.path()),
            wanted,
            "{attempt}: {}",
            output.text()
        );
        assert_eq!(bed.left_in_target(), [""; 0], "{attempt}");
    }
    println!("{unmounted_count} of 10 were killed while it was unmounted");
}

#[test]
fn caches_are_emptied_between_the_steps() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 << 20));
    let bed = ScratchTarget::with_target(mounted.path()).unwrap();
    let arguments = [
        "create-remove",
        "--set",
        "count=2000",
        "--set",
        "between=drop-caches",
    ];
    let (record, _) = measured(&bed, &[&arguments[..], &["--set", "sizes=4096"]].concat());
    let [create, remove] = cells(&record) else {
        panic!("one size has two steps");
    };
    let parts = &record["plan"]["cells"][0]["files"]["parts"];
    let before = [0, 1].map(|phase| parts[phase]["phase"]["before"].to_string());
    assert_eq!(before, ["[]", "[\"drop-caches\"]"]);
    for cell in [create, remove] {
        assert_eq!(
            (&cell["total"]["count"], &cell["total"]["errors"]),
            (&2000.into(), &0.into())
        );
    }
    let read_bytes = remove["device"]["read_bytes"].as_u64();
    assert!(
        read_bytes.is_some_and(|bytes| bytes > 0),
        "what is removed has to be read first: {remove}"
    );
}

#[test]
fn a_file_system_that_cannot_be_remounted_is_reported_and_left_unchanged() {
    let bed = need!(ScratchTarget::in_memory());
    let target = bed.target().to_string_lossy().into_owned();
    // So many files that it would be noticed if any were made before.
    let settings = [
        "--set",
        "between=remount",
        "--set",
        "count=100000000",
        "--set",
        "sizes=0",
    ];
    for command in [&["run", "--json", "saved.json"][..], &["check"]] {
        let arguments = ["create-remove", "--target", &target];
        let output = bed.run(&[command, &arguments, &settings].concat());
        let words = ["cannot be unmounted and mounted again", "help: "];
        if command == ["check"] {
            assert!(
                words.iter().all(|it| output.text().contains(it)),
                "{}",
                output.text()
            );
            continue;
        }
        output.assert_refused(3, &words);
        let saved = fs::read_to_string(bed.path().join("saved.json")).unwrap();
        let record: Value = serde_json::from_str(&saved).unwrap();
        assert!(cells(&record).is_empty());
        assert!(bed.left_in_target().is_empty());
    }
}

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

/// Files in the place that a link leads to, with names that the workload uses itself.
fn victim(bed: &ScratchTarget) -> std::path::PathBuf {
    let victim = bed.path().join("victim");
    fs::create_dir(&victim).unwrap();
    for name in 0..6000 {
        fs::write(victim.join(name.to_string()), "precious").unwrap();
    }
    victim
}

#[track_caller]
fn assert_untouched(victim: &Path) {
    assert_eq!(names_in(victim).len(), 6000);
    for name in 0..6000 {
        let content = fs::read(victim.join(name.to_string())).unwrap();
        assert_eq!(content, b"precious", "{name}");
    }
}

/// Waits until a process has worked for a tenth of a second more, or has ended.
fn wait_for_work(child: &mut Child) {
    let stat = format!("/proc/{}/stat", child.id());
    let worked_ticks = || {
        let text = fs::read_to_string(&stat).unwrap_or_default();
        let fields = text.rsplit(')').next().unwrap_or_default();
        let times = fields.split_whitespace().skip(11).take(2);
        times
            .map(|ticks| ticks.parse::<u64>().unwrap())
            .sum::<u64>()
    };
    let before_ticks = worked_ticks();
    wait_for("work", || {
        worked_ticks() >= before_ticks + 10 || child.try_wait().unwrap().is_some()
    });
}

/// Replaces a directory of the workload by a link while the workload is stopped.
fn plant(bed: &ScratchTarget, workload: &str, directory: &str, is_begun: impl Fn(&Path) -> bool) {
    bed.file("mine.toml", workload);
    let victim = victim(bed);
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        "mine.toml",
        "--target",
        &target,
        "--json",
        "saved.json",
    ];
    let mut child = bed.start(&line);
    let tree = bed.target().join("pgmeter.work/files-0");
    wait_for("the workload", || is_begun(&tree));
    signal(&child, "STOP");
    let path = tree.join(directory);
    fs::rename(&path, tree.join("aside")).unwrap();
    symlink(&victim, &path).unwrap();
    signal(&child, "CONT");
    // It continues for a while, in directories that it already knows.
    wait_for_work(&mut child);
    signal(&child, "INT");
    assert_eq!(watch(&mut child, |_| {}), Some(130), "{workload}");
    assert_untouched(&victim);
    assert_eq!(bed.left_in_target(), [""; 0], "{workload}");
}

fn has_names(directory: &Path, count: usize) -> bool {
    names_in(directory).len() > count
}

#[test]
fn a_link_planted_in_place_of_a_location_is_not_followed() {
    let bed = need!(ScratchTarget::in_memory());
    let workload = "[postmark]\nnumber = 2000\ntransactions = 1000000000\nlocations = [\"a\"]\n";
    plant(&bed, workload, "a", |tree| has_names(&tree.join("a"), 1900));
}

#[test]
fn a_link_planted_in_place_of_a_subdirectory_is_not_followed() {
    for engine in ["psync", "io_uring"] {
        for pool in ["own", "shared"] {
            let bed = need!(ScratchTarget::in_memory());
            // All files are read, appended to, removed and created again, in all three directories.
            let workload = format!(
                "engine = \"{engine}\"\nworkers = 2\n[postmark]\nnumber = 1000\n\
                 transactions = 1000000000\nsubdirectories = 3\npool = \"{pool}\"\n"
            );
            let directory = if pool == "own" { "w1/s1" } else { "s1" };
            plant(&bed, &workload, directory, |tree| {
                has_names(&tree.join(directory), 300)
            });
        }
    }
}

#[test]
fn a_link_planted_in_place_of_a_directory_is_not_followed() {
    let bed = need!(ScratchTarget::in_memory());
    // The files are created in all directories in turn, then removed.
    let workload = "[create_remove]\ncount = 100000000\nsizes = [0]\ndirectories = 3\n";
    plant(&bed, workload, "d1", |tree| {
        has_names(&tree.join("d1"), 100)
    });
}

#[test]
fn a_link_planted_in_place_of_the_tree_is_not_followed() {
    let bed = need!(ScratchTarget::in_memory());
    let workload = "[postmark]\nnumber = 2000\ntransactions = 1000000000\n";
    bed.file("mine.toml", workload);
    let victim = victim(&bed);
    let target = bed.target().to_string_lossy().into_owned();
    let mut child = bed.start(&[
        "run",
        "mine.toml",
        "--target",
        &target,
        "--json",
        "saved.json",
    ]);
    let tree = bed.target().join("pgmeter.work/files-0");
    wait_for("the pool", || has_names(&tree, 1900));
    signal(&child, "STOP");
    fs::rename(&tree, bed.target().join("pgmeter.work/aside")).unwrap();
    symlink(&victim, &tree).unwrap();
    signal(&child, "CONT");
    wait_for_work(&mut child);
    signal(&child, "INT");
    let code = watch(&mut child, |_| {});
    assert!(code.is_some(), "it ends by itself");
    assert_untouched(&victim);
}
