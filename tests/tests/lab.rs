//! The lab: file systems made, measured side by side, and taken down whatever happens.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use end_to_end::{
    LabSite, LoopDevice, ScratchTarget, finish, names_in, need, run_tool, skip, wait_for,
};
use serde_json::Value;

fn zrams() -> Vec<String> {
    let mut names = names_in(Path::new("/sys/block"));
    names.retain(|name| name.starts_with("zram"));
    names
}

#[test]
fn every_file_system_is_listed_with_what_is_missing() {
    let bed = ScratchTarget::new().unwrap();
    let listed = bed.run(&["lab", "list"]);
    listed.assert_says(0, &[]);
    for name in [
        "ext2", "xfs", "btrfs", "nilfs2", "zfs", "overlay", "path:DIR",
    ] {
        let is_listed = listed.stdout.lines().any(|line| line.starts_with(name));
        assert!(is_listed, "{}", listed.text());
    }
}

/// The records of all stored runs.
fn runs_of_lab(bed: &ScratchTarget) -> Vec<Value> {
    let ids = bed.listed(&["--all"]).into_iter();
    ids.map(|run| {
        let id = run["id"].as_str().unwrap();
        serde_json::from_str(&bed.run(&["runs", "export", id]).stdout).unwrap()
    })
    .collect()
}

/// The workload that a run kept.
fn kept_file(run: &Value) -> String {
    run["workload_file"].as_str().unwrap().to_owned()
}

#[test]
fn file_systems_are_shown_side_by_side_and_nothing_is_left() {
    let site = need!(LabSite::new());
    let plain = site.bed.target().to_string_lossy().into_owned();
    let list = format!("ext4,ext4:-O ^has_journal,tmpfs,overlay,path:{plain}");
    let done = site.run(&["--fs", &list, "--repetitions", "2", "--scale", "0.5"]);
    done.assert_says(0, &["[ 1/10] ext4: create-remove, repetition 1"]);
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in [
        "scale 0.5:",
        "ext4 -O ^has_journal: loop device, 320MiB; made by `mkfs.ext4",
        "mounted as tmpfs with `rw",
        "mounted as overlay with `rw",
        "create 4KiB, per s",
        "ratio 1",
        "95 %",
        "† was measured for less than 1 s, which is too short for rates: use a larger `count`.",
        "pairs of columns in all rows",
        "sync afterwards, s",
        "device writes, MiB",
    ] {
        assert!(words.contains(wanted), "no `{wanted}` in\n{}", done.text());
    }
    assert_eq!(site.traces(), [""; 0]);
    assert!(!site.labs.exists(), "the directory that the lab had made");
    assert_eq!(site.bed.left_in_target(), [""; 0]);
    let all = ["runs", "--all", "--tag", "lab", "--columns", "run,note"];
    let runs = site.bed.run(&all);
    assert_eq!(
        runs.stdout.matches("scale 0.5").count(),
        10,
        "{}",
        runs.text()
    );
    // The list has one row for the lab, which is what `last` names.
    let lab = site.bed.run(&["runs", "show", "last"]);
    lab.assert_says(0, &[]);
    assert!(lab.stdout.contains("create 4KiB"), "{}", lab.text());
    let single = site.bed.run(&["runs", "export", "last"]);
    single.assert_refused(2, &["`last` is the lab `", "`pgmeter runs --all` lists"]);
    let lab_runs = runs_of_lab(&site.bed);
    let codes = lab_runs
        .iter()
        .flat_map(|run| run["warnings"].as_array().unwrap());
    assert!(codes.into_iter().any(|it| it["code"] == "lab"));
    let kept: Vec<String> = lab_runs.iter().map(kept_file).collect();
    let named = |path: &str| kept.iter().filter(|text| text.contains(path)).count();
    // What was mounted is gone; what was there can be measured again.
    assert_eq!((kept.len(), named(&plain), named("targets")), (10, 2, 2));
}

#[test]
fn a_table_can_be_markdown_or_a_page() {
    let site = need!(LabSite::new());
    let saved = site.bed.path().join("table.html");
    let saved = saved.to_str().unwrap();
    let line = [
        "--fs",
        "ext2,tmpfs",
        "--repetitions",
        "1",
        "--no-db",
        "--quiet",
    ];
    let markdown = site.run(&[&line[..], &["--format", "markdown"]].concat());
    assert!(
        markdown.stdout.contains("| ext2 | tmpfs |"),
        "{}",
        markdown.text()
    );
    let page = site.run(&[&line[..], &["--format", "html", "-o", saved]].concat());
    page.assert_says(0, &[]);
    let text = fs::read_to_string(saved).unwrap();
    assert!(text.contains(">File systems<") && !text.contains("http://"));
    site.run(&[&line[..], &["-o", saved]].concat())
        .assert_refused(2, &["already exists"]);
}

#[test]
fn cold_caches_and_other_orders_work() {
    let site = need!(LabSite::new());
    for jobs in ["blocks", "random"] {
        let line = ["--fs", "ext3,tmpfs", "--repetitions", "2", "--jobs", jobs];
        site.run(&line).assert_says(0, &[]);
    }
    // The whole machine's dirty pages are written first, so once.
    site.run(&["--fs", "ext3", "--repetitions", "1", "--cold"])
        .assert_says(0, &[]);
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn labs_that_cannot_work_are_refused_early() {
    let site = need!(LabSite::new());
    for (list, on, code, phrases) in [
        (
            "ext5",
            "loop",
            2,
            [
                "the lab does not know the file system `ext5`",
                "did you mean",
            ],
        ),
        ("zfs", "loop", 2, ["zfs", "path:DIR"]),
        (
            "ext4,noatime",
            "loop",
            2,
            ["`noatime`", "ext4,mount=noatime"],
        ),
        ("ext4", "floppy", 2, ["`floppy`", "--on zram"]),
        ("ext4", "/dev/null", 2, ["/dev/null", "block device"]),
        (
            "path:/no/such/place",
            "loop",
            3,
            ["/no/such/place", "help:"],
        ),
    ] {
        site.run(&["--fs", list, "--on", on])
            .assert_refused(code, &phrases);
    }
    let refused = site.run(&["--fs", "ext4", "--image-size", "900t"]);
    refused.assert_refused(2, &["--image-size"]);
    let labs = site.labs.to_str().unwrap();
    let line = ["lab", "run", "postmark", "--dir", labs, "--fs"];
    let run = |more: &[&str]| site.bed.run(&[&line[..], more].concat());
    run(&["ext4", "--image-size", "900t"]).assert_refused(3, &["does not fit", "are free in"]);
    run(&["xfs", "--image-size", "64m"]).assert_refused(2, &["xfs needs at least 300MiB"]);
    run(&["ext4", "--scale", "3"]).assert_refused(2, &["`3` is not a scale"]);
    let has_mkfs = Path::new("/usr/sbin/mkfs.bcachefs").exists();
    if !has_mkfs {
        run(&["bcachefs"]).assert_refused(3, &["`mkfs.bcachefs`", "`bcachefs-tools`"]);
    }
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn a_failing_tool_is_quoted_and_the_other_file_systems_continue() {
    let site = need!(LabSite::new());
    let bad = [
        "--fs",
        "ext4:--no-such-option",
        "--fs",
        "ext4,mount=no_such_option,tmpfs",
    ];
    let done = site.run(&[&bad[..], &["--repetitions", "2"]].concat());
    done.assert_says(
        3,
        &[
            "`mkfs.ext4 ",
            "--no-such-option",
            "`mount -t ext4",
            "failed",
        ],
    );
    assert!(
        done.stdout.contains("create 4KiB, per s"),
        "{}",
        done.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn a_device_is_used_only_when_it_is_named_and_free() {
    let site = need!(LabSite::new());
    let device = need!(LoopDevice::new(64 << 20));
    let path = device.path().to_string_lossy().into_owned();
    let line = ["--fs", "ext4", "--on", &path, "--repetitions", "1"];
    site.run(&line)
        .assert_refused(3, &[&path, "--overwrite-device"]);
    device.format(end_to_end::FileSystem::Ext4).unwrap();
    site.run(&line)
        .assert_refused(3, &["ext4", "nothing was written"]);
    let named = [&line[..], &["--overwrite-device", &path]].concat();
    site.run(&named).assert_says(0, &[]);
    let point = site.bed.path().join("elsewhere");
    fs::create_dir(&point).unwrap();
    let mounted = end_to_end::Mount::new(device.path(), &point, "noatime").unwrap();
    site.run(&named).assert_refused(3, &["is mounted on"]);
    drop(mounted);
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn an_ordinary_user_can_measure_tmpfs_and_learns_what_needs_root() {
    let site = need!(LabSite::new());
    need!(site.give_to_nobody());
    finish(&mut site.as_nobody(&["--fs", "ext4", "--no-db"])).assert_refused(
        3,
        &["making and mounting ext4 on a block device needs root"],
    );
    let line = ["--fs", "tmpfs", "--no-db", "--repetitions", "1"];
    let done = finish(&mut site.as_nobody(&line));
    if done.stderr.contains("there are no user namespaces") {
        skip!("there are no user namespaces");
    }
    done.assert_says(0, &[]);
    assert!(done.stdout.contains("mounted as tmpfs"), "{}", done.text());
    assert_eq!(site.traces(), [""; 0]);
}

/// Number of kills; a release needs more.
fn kill_count() -> u64 {
    let variable = std::env::var("PGMETER_LAB_KILLS").ok();
    variable.and_then(|count| count.parse().ok()).unwrap_or(10)
}

#[test]
fn cleaning_removes_all_leftovers_of_a_killed_lab() {
    let site = need!(LabSite::new());
    let before = zrams();
    let media: &[&str] = match Path::new("/sys/class/zram-control").exists() {
        true => &["loop", "zram"],
        false => &["loop"],
    };
    let (mut left_count, mut state) = (0, 1_u64);
    for kill in 0..kill_count() {
        let on = media[kill as usize % media.len()];
        let list = "ext4,xfs,tmpfs,overlay";
        let arguments = site.arguments(&["--fs", list, "--on", on, "--repetitions", "9"]);
        let mut child = site.bed.start(&arguments);
        // Any moment of the first cycles, each as likely as any other.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if kill == 0 {
            wait_for("a lab", || !names_in(&site.labs).is_empty());
        }
        std::thread::sleep(Duration::from_millis((state >> 33) % 2500));
        child.kill().unwrap();
        child.wait().unwrap();
        left_count += usize::from(!names_in(&site.labs).is_empty());
        let cleaned = site.clean();
        cleaned.assert_says(0, &[]);
        assert_eq!(
            site.traces(),
            [""; 0],
            "kill {kill} on {on}\n{}",
            cleaned.text()
        );
        assert_eq!(zrams(), before, "kill {kill} on {on}\n{}", cleaned.text());
        assert!(!site.labs.exists(), "{}", cleaned.text());
    }
    assert!(left_count > 0, "no kill met a lab at work");
    let again = site.clean();
    assert!(
        again.stdout.starts_with("no lab has left anything"),
        "{}",
        again.text()
    );
}

#[test]
fn an_interrupted_lab_cleans_up_after_itself() {
    let site = need!(LabSite::new());
    let mut child = site
        .bed
        .start(&site.arguments(&["--fs", "ext4", "--repetitions", "99"]));
    end_to_end::wait_for("the lab to mount", || {
        site.traces().iter().any(|trace| trace.starts_with("mount"))
    });
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn every_published_experiment_runs_scaled_down_next_to_its_figures() {
    let bed = need!(ScratchTarget::in_memory());
    let target = bed.target().to_string_lossy().into_owned();
    let listed = bed.run(&["paper", "list"]);
    let names: Vec<&str> = listed
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names.len(), 9, "{}", listed.text());
    for name in names {
        bed.run(&["paper", "show", name]).assert_says(0, &[]);
        let mut line = vec![
            "paper", "run", name, "--target", &target, "--scale", "0.001",
        ];
        if name == "pgmeter-windows-linux" {
            line.extend(["--run-time", "20ms", "--ramp-time", "0s"]);
        }
        let done = bed.run(&line);
        done.assert_says(0, &[]);
        assert!(done.stdout.contains("scale 0.001:"), "{}", done.text());
        let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        // What was measured small or in memory is not ranked without a word of it.
        let doubt = "is not comparable with the published results: it ran at scale 0.001; it is \
                     in this machine's memory";
        let is_ranked = words.contains("1st of") || words.contains("nd of");
        assert_eq!(is_ranked, words.contains(doubt), "{}", done.text());
        let has_figures = !["bfs-lat-fs", "pgmeter-windows-linux"].contains(&name);
        assert_eq!(is_ranked, has_figures, "{}", done.text());
        for bad in ["NaN", "out of files"] {
            assert!(!done.stdout.contains(bad), "{}", done.text());
        }
        assert_eq!(bed.left_in_target(), [""; 0]);
    }
    bed.run(&["paper", "run", "no-such"])
        .assert_refused(2, &["`no-such`", "paper list"]);
}

#[test]
fn a_mail_server_is_measured_on_file_systems_made_for_it() {
    let site = need!(LabSite::new());
    let labs = site.labs.display().to_string();
    let line = [
        "lab",
        "run",
        "mail-server",
        "--fs",
        "ext4,xfs",
        "--dir",
        &labs,
        "--image-size",
        "2g",
        "--scale",
        "0.02",
        "--set",
        "times_memory=0.0005x",
        "--repetitions",
        "1",
        "--no-html",
    ];
    let done = site.bed.run(&line);
    done.assert_says(0, &[]);
    assert!(done.stdout.contains("mail-server"), "{}", done.text());
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn running_out_of_pool_files_is_an_alarm() {
    let bed = need!(ScratchTarget::in_memory());
    let choice = format!("path:{}", bed.target().display());
    let done = bed.run(&[
        "lab",
        "run",
        "postmark",
        "--fs",
        &choice,
        "--repetitions",
        "1",
        "--set",
        "number=3",
        "--set",
        "transactions=20000",
        "--no-html",
    ]);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let alarm = format!(
        "{}: postmark, repetition 1: out of files: ",
        bed.target().display()
    );
    // A long path is broken where a line ends.
    let text = text.replace(' ', "");
    assert!(text.contains(&alarm.replace(' ', "")), "{}", done.text());
    assert_eq!(bed.left_in_target(), [""; 0]);
}

#[test]
fn a_published_experiment_runs_on_file_systems_made_for_it() {
    let site = need!(LabSite::new());
    let more = [
        "--fs",
        "ext4,tmpfs",
        "--scale",
        "0.001",
        "--format",
        "markdown",
    ];
    let done = site.run_paper("lfs-postmark", &more);
    done.assert_says(0, &[]);
    let head = "|  | LFS | ext3 (hash b-tree directories) | ext4 | tmpfs |";
    assert!(done.stdout.contains(head), "{}", done.text());
    assert!(
        done.stdout.contains("hardware of their time"),
        "{}",
        done.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn bandwidths_are_shares_of_the_bare_device_bandwidth() {
    let site = need!(LabSite::new());
    let more = ["--scale", "0.001", "--fs", "ext2,tmpfs"];
    let done = site.run_paper("bfs-iozone", &more);
    done.assert_says(0, &[]);
    let rows = |name: &str| -> Vec<Vec<String>> {
        let lines = done.stdout.lines().filter(|line| line.starts_with(name));
        lines
            .map(|line| {
                line.split("  ")
                    .map(|it| it.trim().to_owned())
                    .filter(|it| !it.is_empty())
                    .collect()
            })
            .collect()
    };
    let bare = rows("bare device (here)");
    assert_eq!(bare.len(), 3, "{}", done.text());
    assert!(bare.iter().all(|row| row[2] == "100" && row[4] == "100"));
    assert!(
        rows("ext2 (here)")
            .iter()
            .all(|row| row[2].parse::<u32>().is_ok())
    );
    assert!(rows("tmpfs (here)").iter().all(|row| row[2] == "-"));
    assert_eq!(site.traces(), [""; 0]);
    let target = site.bed.target().to_string_lossy().into_owned();
    let done = site.bed.run(&[
        "paper",
        "run",
        "bfs-iozone",
        "--scale",
        "0.001",
        "--target",
        &target,
    ]);
    done.assert_says(0, &[]);
    let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // Not every file system takes direct I/O.
    let is_reported =
        text.contains("is its own: direct I/O") || text.contains("no peak was measured");
    assert!(is_reported, "{}", done.text());
}

#[test]
fn a_fuse_file_system_is_created_measured_and_removed() {
    let site = need!(LabSite::new());
    let listed = site.bed.run(&["lab", "list"]).stdout;
    if !listed
        .lines()
        .any(|it| it.starts_with("ntfs") && it.contains(" yes "))
    {
        skip!("ntfs cannot be made here (package `ntfs-3g`)");
    }
    let done = site.run(&["--fs", "ntfs", "--repetitions", "1", "--cold"]);
    done.assert_says(0, &[]);
    assert!(
        done.stdout.contains("create 4KiB, per s"),
        "{}",
        done.text()
    );
    assert!(!done.stdout.contains("leftover-files"), "{}", done.text());
    assert_eq!(site.traces(), [""; 0]);
    let many = ["--fs", "ntfs", "--set", "count=3000", "--quiet"];
    let mut child = site.bed.start(&site.arguments(&many));
    let is_mounted = || site.traces().iter().any(|trace| trace.contains("fuseblk"));
    end_to_end::wait_for("the file system", is_mounted);
    child.kill().unwrap();
    child.wait().unwrap();
    let cleaned = site.clean();
    cleaned.assert_says(0, &[]);
    assert!(
        cleaned.stdout.contains("removed 1 process"),
        "{}",
        cleaned.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}

/// Ordinary users may measure what is mounted already, so this needs nothing.
#[test]
fn lab_results_can_be_printed_again_in_any_format() {
    let bed = ScratchTarget::new().unwrap();
    let fs = format!("path:{}", bed.target().display());
    let small = [
        "--set",
        "count=20",
        "--set",
        "sizes=4096",
        "--repetitions",
        "2",
    ];
    let labs = bed.path().join("labs").display().to_string();
    let run = [
        "lab",
        "run",
        "create-remove",
        "--fs",
        &fs,
        "--dir",
        &labs,
        "--json",
        "lab.json",
        "--no-html",
    ];
    let output = bed.run(&[&run[..], &small].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    for again in [
        &["lab", "report"][..],
        &["lab", "report", "lab.json"],
        &["report", "lab.json"],
    ] {
        let printed = bed.run(again);
        assert_eq!(printed.code, 0, "{}", printed.text());
        assert_eq!(
            printed.lines_of_report(),
            output.lines_of_report(),
            "{again:?}"
        );
    }
    let page = bed.run(&["lab", "report", "--format", "html"]);
    for wanted in [
        "higher is better",
        "page cache",
        "<h2>Runs</h2>",
        "<details class=\"cell\" id=\"runs-0-0\">",
        "<a href=\"#runs-0-0\">",
        "<h2>Repeat</h2>",
    ] {
        assert!(page.stdout.contains(wanted), "{wanted}: {}", page.text());
    }
    let rows = bed.run(&["report", "lab.json", "--format", "csv"]);
    for wanted in ["section,figure,column", "per_second"] {
        assert!(rows.stdout.contains(wanted), "{wanted}: {}", rows.text());
    }
    bed.run(&["lab", "report", "99"])
        .assert_refused(2, &["there is no lab `99`", "`last` is the newest"]);
}
