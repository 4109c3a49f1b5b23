//! What a run says of its figures in words: of a device, of queue depths.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::Bed;
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
fn quick_ends_with_its_figures_in_words_and_begins_its_page_with_them() {
    let bed = Bed::new().unwrap();
    let buffered = ["--cache", "buffered", "--html", "page.html"];
    let seen = bed.measure(&[&["quick"][..], &SHORT, &buffered].concat());
    assert_eq!(seen.code, 0, "{}", seen.text());
    let (_, verdict) = seen.stdout.split_once("\nverdict\n").unwrap();
    for figure in [
        "sequential read",
        "sequential write",
        "4 KiB random read",
        "4 KiB random write",
        "depth 32",
        "measured once",
        "\nbut: ",
    ] {
        assert!(verdict.contains(figure), "no `{figure}` in {verdict}");
    }
    let page = std::fs::read_to_string(bed.path().join("page.html")).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no `{text}`"));
    assert!(at("4 KiB random read, depth 32") < at("class=\"facts\""));
}

#[test]
fn a_search_for_the_queue_depth_ends_where_deeper_queues_bring_nothing() {
    let bed = Bed::new().unwrap();
    let reads = "size = \"4m\"\n[[access_spec]]\nname = \"Reads\"\n\
                 line = [{ size = \"4k\", random = 100 }]\n";
    bed.file("reads.toml", reads);
    let null = ["reads.toml", "--engine", "null", "--find-depth"];
    let (seen, record) = bed.record(&[&null[..], &SHORT].concat());
    assert_eq!(seen.code, 0, "{}", seen.text());
    let depths = depths(&record);
    assert!(depths.len() >= 3, "{depths:?}");
    let powers = (0..).map(|power| 1 << power).take(depths.len());
    assert_eq!(depths, powers.collect::<Vec<u64>>());
    let text = bed.run(&["show", "last"]).stdout;
    assert!(text.contains("queue depth: "), "{text}");
    assert!(text.contains(" at depth "), "{text}");
}

#[test]
fn a_search_goes_through_the_depths_that_are_asked_for_in_rising_order() {
    let bed = Bed::new().unwrap();
    bed.file(
        "reads.toml",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\" }]\n",
    );
    let seen = bed.run(&[
        "check",
        "reads.toml",
        "--engine",
        "null",
        "--find-depth",
        "--json",
    ]);
    let plan: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(depths(&plan), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    let own = [
        "--find-depth",
        "--iodepth",
        "8,2,4",
        "--engine",
        "null",
        "--json",
    ];
    let seen = bed.run(&[&["check", "reads.toml"], &own[..]].concat());
    let plan: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(depths(&plan), [2, 4, 8]);
}

#[test]
fn what_decides_rates_otherwise_is_refused_beside_a_search() {
    let bed = Bed::new().unwrap();
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
