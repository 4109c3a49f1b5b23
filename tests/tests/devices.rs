//! What devices, memory and others on the same devices make of the figures, on a real kernel.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;
use std::process::Command;

use end_to_end::{
    FileSystem, LoopDevice, MountedImage, Neighbor, Scratch, ScratchTarget, Zram, installed, need,
    skip,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Random 4 KiB requests, `read_percent` of them reads.
fn bed(target: &Path, read_percent: u32) -> ScratchTarget {
    let bed = ScratchTarget::with_target(target).unwrap();
    let line = format!("line = [{{ size = \"4k\", read = {read_percent}, random = 100 }}]");
    let workload = format!("size = \"32m\"\n[[access_spec]]\n{line}\n");
    bed.file("mine.toml", workload);
    bed
}

/// Warning codes of a run, and its record.
fn measured(bed: &ScratchTarget, more: &[&str]) -> (Vec<String>, Value) {
    let (output, record) = bed.record(&[&["mine.toml"][..], more].concat());
    assert_eq!(output.code, 0, "{more:?}: {}", output.text());
    let warnings = record["warnings"].as_array().unwrap().iter();
    let codes = warnings.map(|it| it["code"].as_str().unwrap().to_owned());
    (codes.collect(), record)
}

fn has(codes: &[String], code: &str) -> bool {
    codes.iter().any(|it| it == code)
}

const ABOUT_DEVICES: [&str; 3] = [
    "cache-served-reads",
    "cache-absorbed-writes",
    "other-io-on-device",
];

#[test]
fn cache_served_reads_is_reported_although_a_neighbor_reads_the_device() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 * MIB));
    let bed = bed(mounted.path(), 100);
    let neighbor = Neighbor::reading(mounted.path()).unwrap();
    let slowly = ["--cache", "buffered", "--set", "warm=true", "--rate", "200"];
    // On a busy machine, the neighbor may not get its turn.
    let (codes, device, moved) = (0..10)
        .find_map(|_| {
            let (codes, record) = measured(&bed, &slowly);
            let cell = &record["cells"][0];
            let moved = cell["operations"]["read"]["bytes"].as_u64().unwrap();
            let read = cell["device"]["read_bytes"].as_u64().unwrap();
            (read > moved).then(|| (codes, cell["device"].clone(), moved))
        })
        .expect("the neighbor reads more than the run in one of 10 tries");
    drop(neighbor);
    assert!(
        device["own_read_bytes"].as_u64().unwrap() < moved / 2,
        "{device}"
    );
    assert!(has(&codes, "cache-served-reads"), "{codes:?}");
}

#[test]
fn cache_absorbed_writes_is_reported_when_memory_absorbs_them() {
    for file_system in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let mounted = need!(MountedImage::new(file_system, 512 * MIB));
        let bed = bed(mounted.path(), 0);
        bed.file(
            "mine.toml",
            "size = \"32m\"\n[[access_spec]]\nline = [{ size = \"128k\", read = 0 }]\n",
        );
        let options = ["--cache", "buffered", "--run-time", "1s"];
        // On a busy machine, the device's counters may be read too late to say anything.
        let found = (0..5).find_map(|_| {
            let (codes, record) = measured(&bed, &options);
            has(&codes, "cache-absorbed-writes").then_some(record)
        });
        let record = found.unwrap_or_else(|| panic!("no warning on {file_system:?}"));
        let text = bed.run(&["show", "last"]);
        assert!(text.stdout.contains("written"), "{}", text.text());
        assert!(record["cells"][0]["device"]["own_write_bytes"].is_u64());
    }
}

/// Warning codes and device figures of a run during which other processes moved at least 2 MiB.
fn disturbed(bed: &ScratchTarget, cache: &str) -> (Vec<String>, Value) {
    for _ in 0..10 {
        let slowly = ["--cache", cache, "--rate", "200", "--run-time", "2s"];
        let (codes, record) = measured(bed, &slowly);
        let device = record["cells"][0]["device"].clone();
        let bytes = |name: &str| device[name].as_u64().unwrap();
        let all = bytes("read_bytes") + bytes("write_bytes");
        if all > bytes("own_read_bytes") + bytes("own_write_bytes") + 2 * MIB {
            return (codes, device);
        }
    }
    panic!("the neighbor moved nothing in 20 s");
}

#[test]
fn other_io_on_device_is_reported_in_every_cache_mode() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 * MIB));
    let bed = bed(mounted.path(), 50);
    for neighbor in [Neighbor::reading, Neighbor::writing] {
        let neighbor = neighbor(mounted.path()).unwrap();
        for cache in ["direct", "buffered"] {
            let (codes, device) = disturbed(&bed, cache);
            assert!(
                has(&codes, "other-io-on-device"),
                "{cache}: {codes:?} {device}"
            );
        }
        drop(neighbor);
    }
}

#[test]
fn a_clean_run_has_no_warning_about_memory_or_other_io() {
    for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
        let mounted = need!(MountedImage::new(file_system, 512 * MIB));
        let bed = bed(mounted.path(), 70);
        let (codes, record) = measured(&bed, &["--cache", "direct", "--iodepth", "4"]);
        let cell = &record["cells"][0];
        for code in ABOUT_DEVICES {
            assert!(!has(&codes, code), "{file_system:?} {codes:?} {cell}");
        }
        let own = cell["device"]["own_read_bytes"].as_f64().unwrap();
        let moved = cell["operations"]["read"]["bytes"].as_f64().unwrap();
        assert!(
            (0.9..1.2).contains(&(own / moved)),
            "{own} of {moved} bytes"
        );
    }
}

#[test]
fn writes_of_btrfs_itself_do_not_count_as_other_io() {
    let mounted = need!(MountedImage::new(FileSystem::Btrfs, 512 * MIB));
    let bed = bed(mounted.path(), 0);
    let (codes, record) = measured(&bed, &["--cache", "direct", "--run-time", "2s"]);
    let device = &record["cells"][0]["device"];
    assert!(!has(&codes, "other-io-on-device"), "{codes:?} {device}");
}

/// Output of `check` for the workload.
fn checked(bed: &ScratchTarget) -> String {
    let target = bed.target().to_string_lossy().into_owned();
    let output = bed.run(&["check", "--target", &target, "mine.toml"]);
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

fn layers(record: &Value) -> &str {
    let layers = record["environment"]["stacks"][0]["layers"].as_str();
    layers.unwrap_or_default()
}

#[test]
fn blank_storage_is_reported_for_a_sparse_loop_device_until_written() {
    let device = need!(LoopDevice::new(64 * MIB));
    let bed = bed(device.path(), 100);
    let (codes, record) = measured(&bed, &[]);
    assert!(has(&codes, "blank-storage"), "{codes:?}");
    let name = device.path().to_string_lossy().into_owned();
    let image = device.image().to_string_lossy().into_owned();
    let wanted = format!("{name} on {image} on ");
    assert!(layers(&record).starts_with(&wanted), "{}", layers(&record));
    let text = checked(&bed);
    assert!(text.contains("was never written"), "{text}");
    assert!(text.contains(&wanted), "{text}");
    // Writes half of the blocks that the run reads.
    let data = vec![7; 16 << 20];
    let write = |at: u64| {
        use std::os::unix::fs::FileExt;
        let file = std::fs::File::options().write(true).open(device.path());
        let file = file.unwrap();
        file.write_all_at(&data, at).unwrap();
        file.sync_all().unwrap();
    };
    write(0);
    let text = checked(&bed);
    assert!(text.contains("50 % of the data read"), "{text}");
    write(16 * MIB);
    let (codes, _) = measured(&bed, &[]);
    assert!(!has(&codes, "blank-storage"), "{codes:?}");
    assert!(!checked(&bed).contains("was never written"));
}

#[test]
fn blank_storage_is_not_reported_for_preconditioned_or_test_files() {
    let device = need!(LoopDevice::new(64 * MIB));
    let on_device = bed(device.path(), 100);
    let name = device.path().to_string_lossy().into_owned();
    let arguments = ["--precondition", "1x", "--overwrite-device", &name];
    let (codes, _) = measured(&on_device, &arguments);
    assert!(!has(&codes, "blank-storage"), "{codes:?}");
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 * MIB));
    let (codes, _) = measured(&bed(mounted.path(), 100), &[]);
    assert!(!has(&codes, "blank-storage"), "{codes:?}");
}

#[test]
fn memory_backed_is_reported_for_a_file_system_on_a_loop_device_in_memory() {
    let mounted = need!(MountedImage::in_memory(FileSystem::Ext4, 256 * MIB));
    let bed = bed(mounted.path(), 100);
    let (codes, record) = measured(&bed, &[]);
    assert!(has(&codes, "memory-backed"), "{codes:?}");
    let wanted = "ext4 on /dev/loop";
    assert!(layers(&record).starts_with(wanted), "{}", layers(&record));
    assert!(layers(&record).ends_with("(memory)"), "{}", layers(&record));
    assert_eq!(record["environment"]["stacks"][0]["in_memory"], true);
    let output = checked(&bed);
    assert!(output.contains("no device is measured"), "{output}");
    let text = bed.run(&["show", "last"]);
    assert!(text.stdout.contains(wanted), "{}", text.text());
}

#[test]
fn memory_backed_is_not_reported_for_a_loop_device_on_a_disk() {
    let device = need!(LoopDevice::new(64 * MIB));
    let bed = bed(device.path(), 100);
    let (codes, record) = measured(&bed, &[]);
    if record["environment"]["stacks"][0]["in_memory"] == true {
        skip!("temporary files are in memory");
    }
    assert!(!has(&codes, "memory-backed"), "{codes:?}");
}

#[test]
fn memory_backed_and_blank_storage_are_reported_for_a_new_zram_device() {
    let device = need!(Zram::new(32 * MIB));
    let bed = bed(device.path(), 100);
    let (codes, record) = measured(&bed, &[]);
    assert!(has(&codes, "memory-backed"), "{codes:?}");
    assert!(has(&codes, "blank-storage"), "{codes:?}");
    assert!(layers(&record).contains("(memory, "), "{}", layers(&record));
}

#[test]
fn a_file_system_in_memory_is_reported_once() {
    let scratch = need!(Scratch::in_memory());
    let bed = bed(scratch.path(), 100);
    let about = [
        "memory-backed",
        "file-smaller-than-memory",
        "direct-not-honored",
    ];
    for (cache, wanted) in [
        ("buffered", "memory-backed"),
        ("direct", "direct-not-honored"),
    ] {
        let (output, record) = bed.record(&["mine.toml", "--cache", cache]);
        if cache == "direct" && output.code == 3 {
            skip!("this file system in memory takes no direct I/O");
        }
        let codes = record["warnings"].as_array().unwrap().iter();
        let codes: Vec<&str> = codes.map(|it| it["code"].as_str().unwrap()).collect();
        let reported: Vec<_> = codes.iter().filter(|it| about.contains(it)).collect();
        assert_eq!(reported, [&wanted], "{cache}: {codes:?}");
    }
}

#[test]
fn a_warning_states_the_share_of_memory_that_the_files_take() {
    let kib = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kib = kib.split_ascii_whitespace().nth(1).unwrap();
    let memory_bytes = kib.parse::<u64>().unwrap() * 1024;
    let bed = ScratchTarget::new().unwrap();
    // About a tenth of a hundredth, however much there is.
    let bytes = (memory_bytes / 1000 / 10).next_multiple_of(4096);
    let sizes = format!("sizes=[{bytes}]");
    let target = bed.target().to_string_lossy().into_owned();
    let output = bed.run(&[
        "run",
        "create-remove",
        "--set",
        "count=10",
        "--set",
        &sizes,
        "--cache",
        "buffered",
        "--target",
        &target,
        "--json",
        "-",
    ]);
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    let warnings = record["warnings"].as_array().unwrap().iter();
    let mut warnings = warnings.filter(|it| it["code"] == "file-smaller-than-memory");
    let Some(warning) = warnings.next() else {
        skip!("nothing is cached here, or memory is limited");
    };
    let message = warning["message"].as_str().unwrap();
    assert!(
        message.contains("the files fit into 0.1 % of the memory"),
        "{message}"
    );
}

/// Shares of a device that is no multiple of a block, and the requests of 4 KiB in each.
const SHARES: [(&[&str], u64); 6] = [
    (&["--size=30%"], 73),
    (&["--size=30%", "--offset=50%"], 73),
    (&["--size=60%", "--offset=50%"], 121),
    (&["--offset=33%"], 163),
    (&["--size=50%", "--io_size=50%"], 61),
    (&["--offset=10%", "--offset_align=64k", "--size=50%"], 122),
];

#[test]
fn sizes_in_percent_of_a_device_match_fio() {
    let device = need!(LoopDevice::new(1_000_448));
    let name = format!("--filename={}", device.path().display());
    let bed = ScratchTarget::new().unwrap();
    let has_fio = installed("fio").is_ok();
    for (option, requests) in SHARES {
        let job = [
            "--name=a",
            "--rw=read",
            "--bs=4k",
            "--ioengine=psync",
            &name,
        ];
        let arguments = [&job[..], option, &["--output-format=json"]].concat();
        let finished = bed.run(&[&["as", "fio"], &arguments[..]].concat());
        assert_eq!(finished.code, 0, "{option:?}: {}", finished.text());
        assert_eq!(reads(&finished.stdout), requests, "{option:?}");
        if has_fio {
            let output = Command::new("fio").args(&arguments).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(reads(&text), requests, "fio {option:?}");
        }
    }
}

fn reads(text: &str) -> u64 {
    let begin = text.find("{\n").unwrap_or_else(|| panic!("{text}"));
    let document: Value = serde_json::from_str(&text[begin..]).unwrap();
    document["jobs"][0]["read"]["total_ios"].as_u64().unwrap()
}
