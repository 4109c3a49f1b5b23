//! What devices, memory and others on the same devices make of the figures, on a real kernel.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::Path;

use end_to_end::{Bed, FileSystem, MountedImage, Neighbor, need};
use serde_json::Value;

const MIB: u64 = 1 << 20;

/// Random requests of 4 KiB, so many percent of them reads.
fn bed(target: &Path, read_percent: u32) -> Bed {
    let bed = Bed::with_target(target).unwrap();
    let line = format!("line = [{{ size = \"4k\", read = {read_percent}, random = 100 }}]");
    let workload = format!("size = \"32m\"\n[[access_spec]]\n{line}\n");
    bed.file("mine.toml", workload);
    bed
}

/// What the run warned of, with the record.
fn measured(bed: &Bed, more: &[&str]) -> (Vec<String>, Value) {
    let (seen, record) = bed.record(&[&["mine.toml"][..], more].concat());
    assert_eq!(seen.code, 0, "{more:?}: {}", seen.text());
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
fn cache_served_reads_is_told_though_another_reads_the_device() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 * MIB));
    let bed = bed(mounted.path(), 100);
    let neighbor = Neighbor::reading(mounted.path()).unwrap();
    let slowly = ["--cache", "buffered", "--set", "warm=true", "--rate", "200"];
    let (codes, record) = measured(&bed, &slowly);
    drop(neighbor);
    let device = &record["cells"][0]["device"];
    let moved = record["cells"][0]["operations"]["read"]["bytes"]
        .as_u64()
        .unwrap();
    assert!(device["read_bytes"].as_u64().unwrap() > moved, "{device}");
    assert!(
        device["own_read_bytes"].as_u64().unwrap() < moved / 2,
        "{device}"
    );
    assert!(has(&codes, "cache-served-reads"), "{codes:?}");
}

#[test]
fn cache_absorbed_writes_is_told_where_memory_took_them() {
    for file_system in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let mounted = need!(MountedImage::new(file_system, 512 * MIB));
        let bed = bed(mounted.path(), 0);
        bed.file(
            "mine.toml",
            "size = \"32m\"\n[[access_spec]]\nline = [{ size = \"128k\", read = 0 }]\n",
        );
        let (codes, record) = measured(&bed, &["--cache", "buffered", "--run-time", "1s"]);
        assert!(
            has(&codes, "cache-absorbed-writes"),
            "{file_system:?} {codes:?}"
        );
        let text = bed.run(&["show", "last"]);
        assert!(text.stdout.contains("written"), "{}", text.text());
        assert!(record["cells"][0]["device"]["own_write_bytes"].is_u64());
    }
}

#[test]
fn other_io_on_device_is_told_in_every_use_of_the_cache() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 256 * MIB));
    let bed = bed(mounted.path(), 50);
    for neighbor in [Neighbor::reading, Neighbor::writing] {
        let neighbor = neighbor(mounted.path()).unwrap();
        for cache in ["direct", "buffered"] {
            let (codes, record) = measured(&bed, &["--cache", cache, "--rate", "200"]);
            let device = &record["cells"][0]["device"];
            assert!(
                has(&codes, "other-io-on-device"),
                "{cache}: {codes:?} {device}"
            );
        }
        drop(neighbor);
    }
}

#[test]
fn a_clean_run_is_not_said_to_be_served_by_memory_or_disturbed() {
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
fn what_btrfs_writes_for_itself_is_not_called_others() {
    let mounted = need!(MountedImage::new(FileSystem::Btrfs, 512 * MIB));
    let bed = bed(mounted.path(), 0);
    let (codes, record) = measured(&bed, &["--cache", "direct", "--run-time", "2s"]);
    let device = &record["cells"][0]["device"];
    assert!(!has(&codes, "other-io-on-device"), "{codes:?} {device}");
}
