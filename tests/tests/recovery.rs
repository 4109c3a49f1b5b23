//! Kernels that are killed while they write: what was synced is there, and what was not is missed.

use std::time::Duration;

use end_to_end::{LAB_IMAGE, LabSite, need};

/// Arguments of one trial each, whose kernel dies where little but `fdatasync` was called lately.
fn arguments<'a>(site: &'a LabSite, more: &[&'a str]) -> Vec<&'a str> {
    let labs = site.labs.to_str().unwrap_or_default();
    let line = ["lab", "recover", "--dir", labs, "--image-size", LAB_IMAGE];
    let one = ["--trials", "1", "--seed", "3"];
    [&line[..], &one[..], more].concat()
}

#[test]
fn synced_data_survives_a_kernel_crash_and_is_rolled_forward() {
    let site = need!(LabSite::of_guests());
    let done = site
        .bed
        .run(&arguments(&site, &["--fs", "nilfs2,f2fs,ext4"]));
    done.assert_says(0, &["killed after"]);
    let promised = done.row("files promised");
    assert!(
        promised
            .iter()
            .all(|count| count.is_some_and(|it| it > 30.0)),
        "{}",
        done.text()
    );
    assert_eq!(done.row("intact"), promised, "{}", done.text());
    for label in ["lost", "short", "stale", "damaged", "back again"] {
        assert_eq!(done.row(label), [Some(0.0); 3], "{}", done.text());
    }
    // The kernels themselves say that they rolled forward.
    for phrase in ["recover_data", "recovery complete"] {
        assert!(done.stdout.contains(phrase), "{}", done.text());
    }
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn data_lost_without_a_sync_is_detected() {
    let site = need!(LabSite::of_guests());
    let control = ["--fs", "ext4", "--no-fsync", "--format", "markdown"];
    let done = site.bed.run(&arguments(&site, &control));
    done.assert_says(1, &["0 of"]);
    assert!(done.stdout.contains(" is lost**"), "{}", done.text());
    assert!(done.stdout.contains("a control"), "{}", done.text());
    assert_eq!(site.traces(), [""; 0]);
}

#[test]
fn a_killed_trial_leaves_nothing() {
    let site = need!(LabSite::of_guests());
    for wait_ms in [800, 3500] {
        let line = arguments(&site, &["--fs", "ext4"]);
        let line = [&line[..], &["--quiet"]].concat();
        let mut child = site.bed.start(&line);
        std::thread::sleep(Duration::from_millis(wait_ms));
        // Too late where the machine is quick: then there is nothing to be left.
        let _ = child.kill();
        child.wait().unwrap();
        site.clean().assert_says(0, &[]);
        assert_eq!(site.traces(), [""; 0], "after {wait_ms} ms");
    }
}

#[test]
fn trials_that_cannot_run_are_refused() {
    let site = need!(LabSite::of_guests());
    let run = |more: &[&str]| site.bed.run(&arguments(&site, more));
    run(&["--fs", "ext5"]).assert_refused(2, &["`ext5`", "did you mean"]);
    run(&["--fs", "tmpfs"]).assert_refused(2, &["tmpfs does not work with guests"]);
    run(&["--vm-memory", "4m"]).assert_refused(2, &["4MiB", "--vm-memory"]);
    let output = run(&["--fs", "ext4,mount=no_such_option", "--quiet"]);
    output.assert_says(3, &[]);
    assert!(
        output.stdout.contains("no_such_option"),
        "{}",
        output.text()
    );
    assert_eq!(site.traces(), [""; 0]);
}
