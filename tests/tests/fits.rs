//! Workloads that are fitted to traces.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write;

use end_to_end::ScratchTarget;
use serde_json::Value;

/// Random reads and writes of 4 KiB, each 2 ms, in MSR Cambridge's form.
fn trace(count: u64) -> String {
    let mut text = String::new();
    for index in 0..count {
        let kind = if index % 10 < 7 { "Read" } else { "Write" };
        let offset = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 << 12;
        let time = 128_166_385_295_514_663 + index * 20_000;
        writeln!(text, "{time},srv,0,{kind},{offset},4096,100").unwrap();
    }
    text
}

#[test]
fn a_fitted_workload_is_checked_and_run() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", trace(1500));
    let output = bed.run(&["fit", "a.csv", "-o", "mine.toml"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for phrase in [
        "70.0 % reads",
        "100.0 % random",
        "500.0/s",
        "uniform arrivals",
        "pgmeter run",
    ] {
        assert!(
            output.stdout.contains(phrase),
            "{phrase}\n{}",
            output.stdout
        );
    }
    assert_eq!(bed.run(&["check", "mine.toml"]).code, 0);
    let line = [
        "run",
        "mine.toml",
        "--engine",
        "null",
        "--no-html",
        "--quiet",
        "--json",
        "-",
    ];
    let run = bed.run(&line);
    assert_eq!(run.code, 0, "{}", run.text());
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let total = record["cells"][0]["total"]["count"].as_f64().unwrap();
    assert!((total / 1500.0 - 1.0).abs() < 0.05, "{total}");
    let again = bed.run(&["fit", "a.csv", "-o", "mine.toml"]);
    assert_ne!(again.code, 0);
    assert!(again.stderr.contains("mine.toml"), "{}", again.text());
}

#[test]
fn a_changed_workload_shows_the_figure_of_the_trace_as_well() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("a.csv", trace(500));
    let changes = [
        "--scale", "size=1.2", "--scale", "rate=2x", "--set", "read=80",
    ];
    let output = bed.run(&[&["fit", "a.csv", "-o", "-"][..], &changes].concat());
    output.assert_says(
        0,
        &["4915.2 B instead of 4096.0 B", "80.00 % instead of 70.00 %"],
    );
    let wanted = "mean size: 4915.2 B; in the trace: 4096.0 B";
    assert!(output.stdout.contains(wanted), "{}", output.stdout);
    bed.file("changed.toml", &output.stdout);
    assert_eq!(bed.run(&["check", "changed.toml"]).code, 0);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("few.csv", trace(99));
    bed.file("a.csv", trace(200));
    bed.file(
        "mine.toml",
        "engine = \"null\"\n[[access_spec]]\nline = [{ size = 512 }]\n",
    );
    bed.file(
        "calls.txt",
        "7 1700000000.000001 pread64(3</a>, \"\"..., 4096, 0) = 4096 <0.000010>\n",
    );
    let twice = ["a.csv", "--scale", "size=1000", "--scale", "size=1000"];
    let cases: [(&[&str], &[&str]); 7] = [
        (&["missing.csv"], &["missing.csv", "No such file"]),
        (&["few.csv"], &["99 reads and writes", "at least 100"]),
        (
            &["mine.toml"],
            &["`mine.toml` is no trace", "pgmeter record"],
        ),
        (&["calls.txt"], &["has system calls", "--target"]),
        (&["a.csv", "--device", "sdz"], &["none of the 200 requests"]),
        (&["a.csv", "--scale", "depth=2"], &["`rate=2x`"]),
        (&twice, &["no workload can have"]),
    ];
    for (arguments, phrases) in cases {
        let output = bed.run(&[&["fit"][..], arguments].concat());
        output.assert_refused(2, phrases);
    }
}
