//! Verdicts of a run on its device and queue depths.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::ScratchTarget;
use serde_json::Value;

const SHORT: [&str; 6] = ["--run-time", "100ms", "--ramp-time", "0s", "--size", "4m"];

/// The queue depths that were measured, in order.
fn depths(record: &Value) -> Vec<u64> {
    let cells = record["cells"].as_array().unwrap();
    cells
        .iter()
        .map(|cell| cell["iodepth"].as_u64().unwrap())
        .collect()
}

#[test]
fn quick_ends_with_a_verdict_and_its_page_starts_with_it() {
    let bed = ScratchTarget::new().unwrap();
    let buffered = ["--cache", "buffered", "--html", "page.html"];
    let output = bed.measure(&[&["quick"][..], &SHORT, &buffered].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let (_, verdict) = output.stdout.split_once("\nverdict\n").unwrap();
    for figure in [
        "sequential read",
        "sequential write",
        "4 KiB random read",
        "4 KiB random write",
        "depth 32",
        "measured once",
        "\ndoubt: ",
        "\nnext: ",
    ] {
        assert!(verdict.contains(figure), "no `{figure}` in {verdict}");
    }
    let page = std::fs::read_to_string(bed.path().join("page.html")).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}`"));
    assert!(at("4 KiB random read, depth 32") < at("class=\"facts\""));
}

#[test]
fn a_queue_depth_search_ends_when_deeper_queues_bring_no_gain() {
    let bed = ScratchTarget::new().unwrap();
    let reads = "size = \"4m\"\n[[access_spec]]\nname = \"Reads\"\n\
                 line = [{ size = \"4k\", random = 100 }]\n";
    bed.file("reads.toml", reads);
    let null = ["reads.toml", "--engine", "null", "--find-depth"];
    let (output, record) = bed.record(&[&null[..], &SHORT].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let depths = depths(&record);
    assert!(depths.len() >= 3, "{depths:?}");
    let powers = (0..).map(|power| 1 << power).take(depths.len());
    assert_eq!(depths, powers.collect::<Vec<u64>>());
    let text = bed.run(&["show", "last"]).stdout;
    assert!(text.contains("queue depth: "), "{text}");
    assert!(text.contains(" at depth "), "{text}");
}

#[test]
fn a_search_tries_the_requested_depths_in_rising_order() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "reads.toml",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\" }]\n",
    );
    let output = bed.run(&[
        "check",
        "reads.toml",
        "--engine",
        "null",
        "--find-depth",
        "--json",
    ]);
    let plan: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(depths(&plan), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    let own = [
        "--find-depth",
        "--iodepth",
        "8,2,4",
        "--engine",
        "null",
        "--json",
    ];
    let output = bed.run(&[&["check", "reads.toml"], &own[..]].concat());
    let plan: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(depths(&plan), [2, 4, 8]);
}

#[test]
fn options_that_conflict_with_a_rate_search_are_refused() {
    let bed = ScratchTarget::new().unwrap();
    for (arguments, phrase) in [
        (&["--find-rate", "p99"][..], "as in `p99<=2ms`"),
        (&["--find-rate", "p98<=2ms"], "as in `p99<=2ms`"),
        (
            &["--find-rate", "p99<=2ms", "--rate", "5/s"],
            "help: leave `--rate` out",
        ),
        (&["--find-rate", "p99<5"], "write `p99<=5ms`"),
        (
            &["--find-rate", "p99<=2ms", "--find-depth"],
            "help: leave `--find-depth` out",
        ),
        (&["--find-depth", "--curve"], "there is a `curve`"),
    ] {
        bed.run(&[&["check", "quick"], arguments].concat())
            .assert_refused(2, &[phrase]);
    }
}
