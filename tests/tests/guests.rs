//! Labs in guests: log-structured file systems in User-mode Linux.

use std::path::Path;
use std::time::Duration;

use end_to_end::{
    Finished, LAB_IMAGE, LONG_REGISTERS, LONG_REGISTERS_NOT_COMPLETED, LabSite, finish, names_in,
    need, run_tool, skip, wait_for,
};

/// The values of a row, as numbers.
fn row(done: &Finished, label: &str) -> Vec<f64> {
    let values = done.row(label).into_iter();
    values.map(|value| value.unwrap_or(f64::NAN)).collect()
}

#[test]
fn device_bytes_per_user_byte_are_the_same_in_two_runs() {
    let site = need!(LabSite::of_guests());
    let semaphores = || {
        let mut names = names_in(Path::new("/dev/shm"));
        names.retain(|name| name.starts_with("sem."));
        names
    };
    let semaphores_before = semaphores();
    let labs = site.labs.to_str().unwrap();
    for name in ["nilfs2", "f2fs", "ext4", "xfs", "btrfs"] {
        // Equal file systems are columns next to each other.
        let list = format!("{name},{name}");
        let line = ["lab", "run", "postmark", "--vm", "uml", "--fs", &list];
        let more = [
            "--dir",
            labs,
            "--image-size",
            LAB_IMAGE,
            "--repetitions",
            "1",
        ];
        // What is written is decided by the workload, not by a clock. Threads of xfs and btrfs work
        // on what was removed when they get to run, so that nothing is removed between syncs there.
        let removes = !matches!(name, "xfs" | "btrfs");
        let bias = if removes {
            "create_bias=5"
        } else {
            "create_bias=10"
        };
        let work = [
            "fsync=per-transaction",
            "number=100",
            "transactions=500",
            bias,
        ];
        let work = work.map(|it| ["--set", it]).concat();
        let done = site
            .bed
            .run(&[&line[..], &more[..], &work[..], &["--no-html"]].concat());
        done.assert_says(0, &["guest: up"]);
        let bytes = row(&done, "device per user byte");
        let ratio = bytes[0] / bytes[1];
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}\n{}", done.text());
        assert!(bytes[0] >= 1.0, "{}", done.text());
        if name == "nilfs2" {
            // However little time there was between the workload and the cleaning.
            let cleaned = row(&done, "segments cleaned");
            assert!(cleaned[0] > 0.0, "{}", done.text());
            assert_eq!(cleaned[0], cleaned[1], "{}", done.text());
        }
        // Times are marked, and none is the best.
        assert!(done.stdout.contains("\n~ create, per s"), "{}", done.text());
        assert_eq!(site.traces(), [""; 0]);
    }
    // Cleaners in a guest use semaphores of their own: others could not use them on the host.
    assert_eq!(semaphores(), semaphores_before);
    let runs = site
        .bed
        .run(&["runs", "--all", "--tag", "lab", "--columns", "run,note"]);
    assert_eq!(
        runs.stdout.matches("User-mode Linux").count(),
        10,
        "{}",
        runs.text()
    );
}

/// Runs the program where the kernel of guests finds another processor than there is.
fn run_on_processor(site: &LabSite, library: &str, line: &[&str]) -> Finished {
    let mut command = site.bed.command(line);
    finish(command.env("LD_PRELOAD", library))
}

#[test]
fn guests_run_on_cpus_with_longer_registers_than_their_kernel_knows() {
    let site = need!(LabSite::of_guests());
    let Some(library) = LONG_REGISTERS else {
        skip!("processors of this kind have other registers");
    };
    let more = ["--vm", "uml", "--fs", "nilfs2", "--repetitions", "1"];
    let done = run_on_processor(&site, library, &site.arguments(&more));
    done.assert_says(0, &["guest: up"]);
    assert!(done.stdout.contains("mounted as nilfs2"), "{}", done.text());
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn a_system_where_guests_die_is_refused_before_creating_anything() {
    let site = need!(LabSite::of_guests());
    let Some(library) = LONG_REGISTERS_NOT_COMPLETED else {
        skip!("processors of this kind have other registers");
    };
    let reasons = ["ptrace set fp regs failed", "Kernel panic - not syncing"];
    let labs = site.labs.to_str().unwrap();
    let run = site.arguments(&["--vm", "uml", "--fs", "nilfs2", "--repetitions", "1"]);
    for line in [
        run,
        vec![
            "lab", "recover", "--fs", "ext4", "--trials", "1", "--dir", labs,
        ],
    ] {
        let done = run_on_processor(&site, library, &line);
        done.assert_refused(3, &["guests do not run here", "help:"]);
        done.assert_refused(3, &reasons);
        for odd in ["[<", "Stack:", "CPU:", "SELinux", "--vm-memory", "[1/1]"] {
            assert!(!done.stderr.contains(odd), "`{odd}` in\n{}", done.text());
        }
        assert_eq!(site.traces(), [""; 0]);
    }
    for (line, wanted) in [
        (["lab", "list"], "--vm uml  no"),
        (["doctor", "/"], "missing guests"),
    ] {
        let output = run_on_processor(&site, library, &line);
        output.assert_says(0, &[]);
        let words = output
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in reasons.iter().copied().chain([&*wanted]) {
            assert!(
                words.contains(phrase),
                "no `{phrase}` in\n{}",
                output.text()
            );
        }
    }
}

#[test]
fn an_ordinary_user_can_run_guests() {
    let site = need!(LabSite::of_guests());
    need!(site.give_to_nobody());
    let line = [
        "--vm",
        "uml",
        "--cold",
        "--fs",
        "nilfs2,nilfs2,mount=nogc",
        "--repetitions",
        "1",
        "--no-db",
    ];
    let done = finish(&mut site.as_nobody(&line));
    done.assert_says(0, &[]);
    assert!(done.stdout.contains("mounted as nilfs2"), "{}", done.text());
    assert!(
        row(&done, "segments cleaned").ends_with(&[0.0]),
        "{}",
        done.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn published_experiments_run_in_guests() {
    let site = need!(LabSite::of_guests());
    let more = ["--fs", "ext3,nilfs2", "--vm", "uml", "--scale", "0.0002"];
    let done = site.run_paper("lfs-postmark", &more);
    done.assert_says(0, &["guest: up"]);
    for wanted in [
        "mounted as nilfs2",
        "In addition to the workload",
        "device per user byte",
    ] {
        assert!(
            done.stdout.contains(wanted),
            "no `{wanted}` in\n{}",
            done.text()
        );
    }
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn options_that_do_not_work_with_guests_are_refused() {
    let site = need!(LabSite::of_guests());
    for (more, phrases) in [
        (
            ["--fs", "tmpfs"],
            ["tmpfs does not work with guests", "help:"],
        ),
        (
            ["--fs", "overlay"],
            ["overlay does not work with guests", "help:"],
        ),
        (
            ["--fs", "ext4,path:/tmp"],
            ["/tmp does not work with guests", "help:"],
        ),
    ] {
        site.run(&[&["--vm", "uml"], &more[..]].concat())
            .assert_refused(2, &phrases);
    }
    let line = ["--vm", "uml", "--fs", "ext4"];
    site.run(&[&line[..], &["--on", "zram"]].concat())
        .assert_refused(2, &["`--on zram` does not work with guests"]);
    site.run(&[&line[..], &["--vm-memory", "4m"]].concat())
        .assert_refused(2, &["4MiB", "--vm-memory"]);
    let output = site.run(&[
        "--vm",
        "uml",
        "--fs",
        "ext4,mount=no_such_option",
        "--repetitions",
        "1",
    ]);
    output.assert_says(3, &["no_such_option", "failed"]);
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn a_killed_or_interrupted_guest_leaves_nothing() {
    let site = need!(LabSite::of_guests());
    let line = ["--vm", "uml", "--fs", "ext4,nilfs2", "--repetitions", "9"];
    let arguments = site.arguments(&line);
    for delay_ms in [300, 1500, 3000] {
        let mut child = site.bed.start(&arguments);
        wait_for("the lab", || !names_in(&site.labs).is_empty());
        std::thread::sleep(Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!names_in(&site.labs).is_empty());
        site.clean().assert_says(0, &[]);
        assert_eq!(site.traces(), [""; 0], "after {delay_ms} ms");
    }
    let mut child = site.bed.start(&arguments);
    wait_for("the guest", || {
        site.traces()
            .iter()
            .any(|trace| trace.contains("linux.uml"))
    });
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(site.traces(), [""; 0]);
}
