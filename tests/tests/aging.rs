//! File systems brought to an age before they are measured.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::atomic::AtomicBool;

use end_to_end::{
    FileSystem, FixtureError, LabSite, MountedImage, names_in, need, run_tool, wait_for,
};
use lab::{AgedState, AgingOptions};

/// A new file system, brought to that age.
fn aged(kind: FileSystem, age: &str, seed: u64) -> Result<AgedState, FixtureError> {
    let image = MountedImage::in_memory(kind, 512 << 20)?;
    let aging: AgingOptions = age.parse().unwrap();
    let stop = AtomicBool::new(false);
    let aged = lab::age(image.path(), &aging.seeded(seed), &stop, &mut |_| {}).unwrap();
    Ok(aged)
}

#[test]
fn aged_file_systems_have_the_requested_fill_and_fragmented_files() {
    for kind in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let new = need!(aged(kind, "70%,churn=0", 1));
        let used = need!(aged(kind, "70%,churn=1", 1));
        for aged in [new, used] {
            assert!((aged.full_percent - 70.0).abs() < 1.5, "{kind:?}: {aged}");
            assert_eq!(aged.counts.refusals, 0);
        }
        assert_eq!(new.counts.deletes, 0, "{new}");
        let counts = used.counts;
        let shares = [
            counts.creates,
            counts.appends,
            counts.rewrites,
            counts.deletes,
        ];
        assert!(shares.iter().all(|count| *count > 100), "{counts:?}");
        let churned = (counts.written_bytes - counts.filled_bytes) as f64;
        let times = churned / counts.filled_bytes as f64;
        assert!((0.95..1.25).contains(&times), "{times}");
        let [before, after] = [new, used].map(|it| it.layout.unwrap().extents_per_file());
        assert!(
            after > 1.02 && after > before,
            "{kind:?}: {before} then {after}"
        );
    }
}

#[test]
fn the_same_seed_ages_identically() {
    for kind in [FileSystem::Ext4, FileSystem::Xfs] {
        let age = |seed| aged(kind, "40%,churn=0.5", seed);
        let (once, again, other) = (need!(age(1)), need!(age(1)), need!(age(2)));
        assert_eq!(once.counts, again.counts, "{kind:?}");
        assert_eq!(once.file_bytes, again.file_bytes);
        assert_ne!(once.counts, other.counts);
    }
}

#[test]
fn tables_and_runs_show_the_age_and_separate_workload_figures() {
    let site = need!(LabSite::new());
    let line = [
        "--fs",
        "ext4,tmpfs,overlay",
        "--repetitions",
        "1",
        "--seed",
        "5",
    ];
    let done = site.run(&[&line[..], &["--age", "0.5,churn=0.25"]].concat());
    done.assert_says(0, &["aged in", "% full"]);
    let row = |label: &str| -> Vec<f64> {
        let values = done.row(label).into_iter();
        values.map(|value| value.unwrap_or(-1.0)).collect()
    };
    let full = row("aged: full, %");
    assert!(
        full.iter().all(|percent| (percent - 50.0).abs() < 1.5),
        "{}",
        done.text()
    );
    let extents = row("aged: extents per file");
    assert!(
        extents[0] >= 1.0 && extents[1] < 0.0 && extents[2] >= 1.0,
        "{}",
        done.text()
    );
    // What filled it is not what the workload wrote.
    assert!(row("device writes, MiB")[0] < 20.0, "{}", done.text());
    let phrase = "(`--age 50%,churn=0.25 --seed 5`)";
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(phrase), "{}", done.text());
    let runs = site
        .bed
        .run(&["runs", "--all", "--tag", "lab", "--columns", "run,note"]);
    assert_eq!(
        runs.stdout.matches("aged (`--age 50%").count(),
        3,
        "{}",
        runs.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn published_experiments_run_on_aged_file_systems() {
    let site = need!(LabSite::new());
    let aged = ["--age", "30%,churn=0.1,extents=900"];
    let more = ["--fs", "ext4", "--scale", "0.001"];
    let done = site.run_paper("lfs-postmark", &[&more[..], &aged[..]].concat());
    done.assert_says(0, &[]);
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in ["aged: full, %", "900 extents per file could not be reached"] {
        assert!(words.contains(wanted), "no `{wanted}` in\n{}", done.text());
    }
}

#[test]
fn invalid_ages_are_refused_before_anything_is_created() {
    let site = need!(LabSite::new());
    let plain = site.bed.target().to_string_lossy().into_owned();
    let path = format!("path:{plain}");
    for (fs, age, phrases) in [
        ("ext4", "full", ["`full` is not an age", "`--age 70%`"]),
        ("ext4", "97%", ["at most 95 %", "help:"]),
        ("ext4", "70%,often", ["`often`", "`churn=`"]),
        (&path, "70%", ["already exists", "leave out `--age`"]),
    ] {
        site.run(&["--fs", fs, "--age", age])
            .assert_refused(2, &phrases);
    }
    let large = ["--set", "count=20000"];
    let full = ["--fs", "ext4", "--age", "90%"];
    site.run(&[&full[..], &large[..]].concat()).assert_refused(
        2,
        &["aged to 90%, it has too little space", "a lower `--age`"],
    );
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn interrupted_aging_leaves_nothing() {
    let site = need!(LabSite::new());
    for name in ["ext4", "btrfs"] {
        let line = ["--fs", name, "--repetitions", "9", "--age", "90%,churn=90"];
        let mut child = site.bed.start(&site.arguments(&line));
        let is_aging = || {
            let labs = names_in(&site.labs).into_iter();
            let mut points = labs.map(|lab| site.labs.join(lab).join("mnt/pgmeter-aged/d00"));
            points.any(|point| names_in(&point).len() > 3)
        };
        wait_for("aging to begin", is_aging);
        run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(site.traces(), [""; 0]);
    }
}
