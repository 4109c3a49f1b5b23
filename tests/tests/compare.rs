//! `compare`: its statements about runs, its formats and its exit codes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::{Finished, ScratchTarget};
use serde_json::{Value, json};

const READS: &str = "size = \"4m\"\nengine = \"null\"\n[[access_spec]]\nname = \"Reads\"\n\
    line = [{ size = \"4k\", random = 100 }]\n";
/// Rates of five repetitions, 1 % apart.
const RATES: [f64; 5] = [1000.0, 1010.0, 990.0, 1005.0, 995.0];

/// A bed with `a.json`, a real record of 5 repetitions whose figures are made exact.
fn bed() -> (ScratchTarget, Value) {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    let (output, record) = bed.record(&[
        "reads.toml",
        "--repetitions",
        "5",
        "--run-time",
        "50ms",
        "--ramp-time",
        "0s",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    let record = at_speed(&record, 1.0);
    bed.file("a.json", record.to_string());
    (bed, record)
}

/// The record with the rates above times `speed`, and latencies to match.
fn at_speed(record: &Value, speed: f64) -> Value {
    let mut record = record.clone();
    for (cell, rate) in record["cells"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .zip(RATES)
    {
        let rate = rate * speed;
        for place in ["/total", "/operations/read"] {
            let figures = cell.pointer_mut(place).unwrap();
            figures["per_second"] = json!(rate);
            figures["bytes_per_second"] = json!(rate * 4096.0);
            figures["latency"]["mean_ns"] = json!(1e9 / rate);
            figures["latency"]["percentiles_ns"]["99"] = json!((2e9 / rate) as u64);
        }
    }
    record
}

/// A scratch target with `b.json` next to `a.json`, which ran at `speed` times its rates.
fn two(speed: f64) -> ScratchTarget {
    let (bed, record) = bed();
    bed.file("b.json", at_speed(&record, speed).to_string());
    bed
}

fn compare(bed: &ScratchTarget, more: &[&str]) -> Finished {
    bed.run(&[&["compare", "a.json", "b.json"], more].concat())
}

/// The rows of verdicts, by the first words of their lines.
fn row<'a>(text: &'a str, figure: &str) -> &'a str {
    text.lines()
        .find(|line| line.starts_with(figure))
        .unwrap_or_else(|| panic!("no row `{figure}` in\n{text}"))
}

#[test]
fn all_runs_with_a_tag_form_one_side() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    for run in 0..3 {
        let times = ["--run-time", "50ms", "--ramp-time", "0s", "--quiet"];
        let tag: &[&str] = match run {
            0 => &["--tag", "before-1.2", "--tag", "old"],
            1 => &["--tag", "before-1.2"],
            _ => &[],
        };
        let output = bed.measure(&[&["reads.toml"], &times[..], tag].concat());
        assert_eq!(output.code, 0, "{}", output.text());
    }
    bed.measure(&["reads.toml", "--tag", "two words"])
        .assert_refused(2, &["has a space"]);
    let output = bed.run(&["compare", "tag:before-1.2", "last", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let comparison = &document["comparisons"][0];
    let runs = |side: &str| comparison[side]["runs"].as_array().unwrap().len();
    assert_eq!((runs("a"), runs("b")), (2, 1), "{comparison}");
    bed.run(&["compare", "before-1.2", "last"])
        .assert_refused(2, &["`before-1.2` is a tag", "write `tag:before-1.2`"]);
    bed.run(&["compare", "tag:after", "last"])
        .assert_refused(2, &["no run `tag:after`"]);
}

#[test]
fn a_record_compared_with_itself_shows_no_difference() {
    let (bed, _) = bed();
    let output = bed.run(&["compare", "a.json", "a.json", "--fail-on-regression", "0%"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let row = row(&output.stdout, "IOPS");
    assert!(row.contains("1.000"), "{}", output.text());
    assert!(row.contains("no difference"), "{}", output.text());
    assert!(!output.stdout.contains("better\n"), "{}", output.text());
    assert!(!output.stdout.contains("worse\n"), "{}", output.text());
    assert!(output.stdout.contains("Holm"), "{}", output.text());
    assert!(output.stdout.contains("detects"), "{}", output.text());
}

#[test]
fn ten_percent_slower_is_worse_and_fails_on_regression() {
    let bed = two(0.9);
    let output = compare(&bed, &["--fail-on-regression", "3%"]);
    assert_eq!(output.code, 4, "{}", output.text());
    for figure in ["IOPS", "MiB/s", "mean"] {
        assert!(
            row(&output.stdout, figure).ends_with("worse"),
            "{}",
            output.text()
        );
    }
    assert!(row(&output.stdout, "IOPS").contains("0.900"));
    output.assert_says(
        4,
        &["regression: reads, Reads: null", "IOPS is 10.0 % worse"],
    );
    let output = compare(&bed, &["--fail-on-regression", "15%"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let output = compare(&bed, &[]);
    assert_eq!(output.code, 0, "{}", output.text());
}

#[test]
fn ten_percent_faster_is_better_and_no_regression() {
    let output = compare(&two(1.1), &["--fail-on-regression", "0"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let row = row(&output.stdout, "IOPS");
    assert!(row.ends_with("better"), "{}", output.text());
}

#[test]
fn pairing_finds_a_difference_hidden_by_common_scatter() {
    let bed = two(0.995);
    let verdict = |more: &[&str]| {
        let output = compare(&bed, &[&["--format", "json"], more].concat());
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let figure = &document["comparisons"][0]["cells"][0]["figures"][0];
        (figure["basis"].clone(), figure["verdict"].clone())
    };
    assert_eq!(
        verdict(&[]),
        (json!("repetitions"), json!("no-difference-shown"))
    );
    assert_eq!(verdict(&["--paired"]), (json!("pairs"), json!("worse")));
}

#[test]
fn json_is_one_document_for_any_number_of_comparisons() {
    let bed = two(0.9);
    let output = compare(&bed, &["--format", "json"]);
    assert_eq!(compare(&bed, &["--json"]).stdout, output.stdout);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let figure = &document["comparisons"][0]["cells"][0]["figures"][0];
    assert_eq!(figure["figure"], "per_second");
    assert!((figure["ratio"].as_f64().unwrap() - 0.9).abs() < 1e-9);
    let output = bed.run(&["compare", "a.json", "b.json", "a.json", "--format", "json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(2));
}

#[test]
fn several_runs_are_listed_below_the_baseline() {
    let (bed, record) = bed();
    bed.file("b.json", at_speed(&record, 0.9).to_string());
    bed.file("c.json", at_speed(&record, 1.1).to_string());
    let output = bed.run(&["compare", "a.json", "b.json", "c.json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let lines: Vec<&str> = output.stdout.lines().collect();
    let first = lines.iter().position(|it| it.starts_with("IOPS")).unwrap();
    let words =
        |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    assert_eq!(words(lines[first])[1..3], ["A", "1.000k"]);
    assert_eq!(words(lines[first + 1])[..2], ["B", "900.0"]);
    assert!(lines[first + 1].ends_with("worse"), "{}", output.text());
    assert_eq!(words(lines[first + 2])[..2], ["C", "1.100k"]);
    assert!(lines[first + 2].ends_with("better"), "{}", output.text());
    let output = bed.run(&[
        "compare",
        "a.json",
        "c.json",
        "b.json",
        "--fail-on-regression",
        "3%",
    ]);
    assert_eq!(output.code, 4, "{}", output.text());
}

#[test]
fn markdown_goes_into_a_file() {
    let bed = two(0.9);
    let output = compare(&bed, &["--format", "markdown", "-o", "c.md"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.is_empty());
    let text = std::fs::read_to_string(bed.path().join("c.md")).unwrap();
    assert!(text.starts_with("# "), "{text}");
    assert!(text.contains("| figure | A |"), "{text}");
    assert!(text.contains("| worse |"), "{text}");
}

#[test]
fn differing_settings_are_printed_first() {
    let (bed, record) = bed();
    let mut other = at_speed(&record, 1.0);
    other["environment"]["kernel"] = json!("9.99.0-made-up");
    bed.file("b.json", other.to_string());
    let output = compare(&bed, &[]);
    let at = |phrase: &str| {
        output
            .stdout
            .find(phrase)
            .unwrap_or_else(|| panic!("no `{phrase}` in\n{}", output.text()))
    };
    assert!(at("9.99.0-made-up") < at("IOPS"), "{}", output.text());
    let same = bed.run(&["compare", "a.json", "a.json"]);
    assert!(
        same.stdout.contains("no difference of plan"),
        "{}",
        same.text()
    );
}

#[test]
fn records_of_different_workloads_are_refused_unless_forced() {
    let (bed, _) = bed();
    let more = [
        "--repetitions",
        "5",
        "--run-time",
        "50ms",
        "--ramp-time",
        "0s",
    ];
    let (_, other) = bed.record(&[&["reads.toml", "--iodepth", "4"][..], &more].concat());
    bed.file("b.json", other.to_string());
    let output = compare(&bed, &[]);
    output.assert_refused(
        2,
        &["measure different things", "iodepth", "help: ", "--force"],
    );
    let output = compare(&bed, &["--force"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.contains("--force"), "{}", output.text());
    let (_, other) =
        bed.record(&[&["oltp", "--engine", "null", "--size", "4m"][..], &more].concat());
    bed.file("b.json", other.to_string());
    compare(&bed, &["--force"]).assert_refused(2, &["no workload in common", "help: "]);
}

#[test]
fn bytes_that_are_not_a_record_are_refused() {
    let (bed, record) = bed();
    let refused = |name: &str, phrases: &[&str]| {
        for pair in [["a.json", name], [name, "a.json"]] {
            let output = bed.run(&[&["compare"], &pair[..]].concat());
            output.assert_refused(2, &[phrases, &[name, "help: "]].concat());
            assert!(output.stdout.is_empty(), "{}", output.text());
        }
    };
    refused("missing.json", &["neither a stored run nor a file"]);
    refused(".", &["not a regular file"]);
    bed.file("empty.json", "");
    refused("empty.json", &["cannot read the record"]);
    let text = record.to_string();
    bed.file("damaged.json", &text[..text.len() / 2]);
    refused("damaged.json", &["cannot read the record"]);
    bed.file("other.json", "{\"format\": \"another/1\"}");
    refused("other.json", &["another/1"]);
    bed.file("bytes.json", [0xff, 0xfe, 0x00]);
    refused("bytes.json", &["cannot read the record"]);
}

#[test]
fn one_run_is_too_few() {
    let (bed, _) = bed();
    bed.run(&["compare", "a.json"])
        .assert_refused(2, &["at least two runs, not 1", "help: "]);
    assert_eq!(bed.run(&["compare"]).code, 2);
}

#[test]
fn a_record_without_a_complete_cell_is_refused() {
    let (bed, mut record) = bed();
    record["cells"] = json!([]);
    bed.file("b.json", record.to_string());
    compare(&bed, &[]).assert_refused(2, &["no cell that was measured to the end"]);
}

#[test]
fn comparing_single_runs_warns_that_the_difference_may_be_chance() {
    let (bed, record) = bed();
    let mut single = record.clone();
    single["cells"].as_array_mut().unwrap().truncate(1);
    single["estimates"] = json!([]);
    bed.file("a.json", single.to_string());
    bed.file("b.json", at_speed(&single, 0.9).to_string());
    let output = compare(&bed, &["--fail-on-regression", "3%"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("--repetitions 5"),
        "{}",
        output.text()
    );
    assert!(
        output
            .stdout
            .starts_with("cannot tell (one repetition): B (b) is 10 % slower than A (a), but"),
        "{}",
        output.text()
    );
    assert!(
        row(&output.stdout, "IOPS").ends_with("cannot tell: one repetition"),
        "{}",
        output.text()
    );
    for wrong in ["no difference shown", "0 tests"] {
        assert!(!output.stdout.contains(wrong), "{}", output.text());
    }
}

#[test]
fn the_first_line_states_the_difference_and_the_smallest_detectable_one() {
    let first = |speed: f64| {
        let output = compare(&two(speed), &[]);
        assert_eq!(output.code, 0, "{}", output.text());
        output.stdout.lines().next().unwrap().to_owned()
    };
    let line = first(0.9);
    let wanted = "B (b) is 10 % slower than A (a), 95 % interval -1";
    assert!(line.starts_with(wanted), "{line}");
    let text = compare(&two(1.002), &[]).stdout.replace('\n', " ");
    let wanted = "no significant difference: B (b) +0.2 %, 95 % interval -";
    assert!(text.starts_with(wanted), "{text}");
    for part in [
        "a difference under ",
        " % may go unnoticed; ",
        " repetitions ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn pages_of_several_runs_show_ratios_intervals_verdicts_and_differences() {
    let (bed, record) = bed();
    let mut other = at_speed(&record, 0.9);
    other["environment"]["settings"] = json!(["pressure.io=some avg10=99"]);
    let lines = "/plan/cells/0/workers/0/lines/0/size_bytes";
    for cell in other["plan"]["cells"].as_array_mut().unwrap() {
        cell["workers"][0]["lines"][0]["size_bytes"] = json!(8192);
    }
    assert_eq!(other.pointer(lines), Some(&json!(8192)));
    for setting in other["plan"]["settings"].as_array_mut().unwrap() {
        if setting["key"] == "size" {
            setting["value"] = json!("8MiB");
        }
    }
    bed.file("b.json", other.to_string());
    let output = compare(&bed, &["--force", "--format", "html", "-o", "c.html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let output = bed.run(&[
        "report", "a.json", "b.json", "--format", "html", "-o", "r.html",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    for name in ["c.html", "r.html"] {
        let page = std::fs::read_to_string(bed.path().join(name)).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>"), "{name}");
        for text in [
            " is 10 % slower than A",
            ">0.900<",
            ">B/A<",
            ">95 %<",
            ">worse<",
            "8MiB",
            "size bytes of access line 1",
            "measure different things",
        ] {
            assert!(page.contains(text), "no `{text}` in {name}");
        }
    }
    let page = std::fs::read_to_string(bed.path().join("c.html")).unwrap();
    assert!(!page.contains("pressure"), "a gauge is no difference");
}

/// Measures two targets alternately, briefly unless `more` sets the time.
fn in_turn(bed: &ScratchTarget, targets: &[&str], more: &[&str]) -> Finished {
    bed.file("reads.toml", READS);
    let mut all = vec!["compare", "reads.toml", "--ramp-time", "0s", "--quiet"];
    if !more.contains(&"--run-time") {
        all.extend(["--run-time", "30ms"]);
    }
    for target in targets {
        all.extend(["--target", target]);
    }
    bed.run(&[&all, more].concat())
}

/// The stored runs' records, oldest first.
fn stored(bed: &ScratchTarget) -> Vec<Value> {
    let runs = bed.listed(&[]);
    let ids = runs.iter().rev();
    ids.map(|run| {
        let id = run["id"].as_str().unwrap();
        let exported = bed.run(&["report", id, "--format", "json"]);
        serde_json::from_str(&exported.stdout).unwrap()
    })
    .collect()
}

fn started(cell: &Value) -> String {
    cell["started_at"].as_str().unwrap().to_owned()
}

#[test]
fn two_targets_are_measured_in_turn_and_both_runs_are_kept() {
    let bed = ScratchTarget::in_memory().unwrap();
    let (a, b) = (bed.path().join("a"), bed.path().join("b"));
    std::fs::create_dir_all(&a).unwrap();
    std::fs::create_dir_all(&b).unwrap();
    let [a, b] = [&a, &b].map(|path| path.to_string_lossy().into_owned());
    let more = [
        "--engine",
        "psync",
        "--cache",
        "buffered",
        "--iodepth",
        "1",
        "--format",
        "json",
    ];
    let output = in_turn(&bed, &[&a, &b], &more);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let cell = &document["comparisons"][0]["cells"][0];
    assert_eq!(
        (cell["target_a"].clone(), cell["target_b"].clone()),
        (json!(a), json!(b))
    );
    assert_eq!(cell["figures"][0]["basis"], "pairs");
    assert_eq!(cell["figures"][0]["a"]["n"], 5);
    assert!(output.stderr.contains("A is run"), "{}", output.text());
    let [first, second] = stored(&bed).try_into().unwrap();
    assert_eq!(first["alternation"]["side"], "a");
    assert_eq!(first["alternation"]["other"], second["id"]);
    assert_eq!(second["alternation"]["other"], first["id"]);
    assert_eq!(first["plan"]["seed"], second["plan"]["seed"]);
    // Each can be run again alone, on its own target.
    for (run, target) in [(&first, &a), (&second, &b)] {
        let text = run["workload_file"].as_str().unwrap();
        assert!(text.contains(&format!("targets = \"{target}\"")), "{text}");
    }
    let cells = |run: &Value| run["cells"].as_array().unwrap().clone();
    assert_eq!((cells(&first).len(), cells(&second).len()), (5, 5));
    for (repetition, (a, b)) in cells(&first).iter().zip(&cells(&second)).enumerate() {
        assert_eq!(started(a) < started(b), repetition % 2 == 0, "{repetition}");
    }
    // The same comparison again, from the store.
    let ids = [&first, &second].map(|run| run["id"].as_str().unwrap().to_owned());
    let again = bed.run(&["compare", &ids[0], &ids[1], "--paired", "--format", "json"]);
    assert_eq!(again.stdout, output.stdout);
    for target in [a, b] {
        assert_eq!(std::fs::read_dir(target).unwrap().count(), 0);
    }
}

#[test]
fn a_target_is_measured_against_itself() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_string_lossy().into_owned();
    let more = [
        "--engine",
        "psync",
        "--cache",
        "buffered",
        "--repetitions",
        "3",
    ];
    let output = in_turn(&bed, &[&target, &target], &more);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("compared in pairs"),
        "{}",
        output.text()
    );
    assert!(bed.left_in_target().is_empty());
    let counts: Vec<usize> = stored(&bed)
        .iter()
        .map(|run| run["cells"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [3, 3]);
}

#[test]
fn both_sides_are_repeated_until_they_are_precise_or_the_budget_is_spent() {
    let bed = ScratchTarget::new().unwrap();
    let more = [
        "--repetitions",
        "auto",
        "--precision",
        "0.0001%",
        "--budget",
        "400ms",
    ];
    let output = in_turn(&bed, &["/null/a", "/null/b"], &more);
    assert_eq!(output.code, 0, "{}", output.text());
    let records = stored(&bed);
    assert_eq!(records.len(), 2);
    for record in &records {
        let count = record["cells"].as_array().unwrap().len();
        assert!(count >= 3, "{count}");
        assert_eq!(record["plan"]["cells"].as_array().unwrap().len(), count);
        let estimates = record["estimates"].as_array().unwrap();
        let verdicts: Vec<&Value> = estimates
            .iter()
            .filter_map(|it| it.get("verdict"))
            .collect();
        assert_eq!(verdicts, [&json!("budget-spent")]);
    }
}

#[test]
fn targets_that_cannot_be_measured_in_turn_are_refused() {
    let bed = ScratchTarget::new().unwrap();
    in_turn(&bed, &["/null/a"], &[]).assert_refused(2, &["two targets, not 1", "help: "]);
    in_turn(&bed, &["a", "b", "c"], &[]).assert_refused(2, &["two targets, not 3"]);
    bed.run(&["compare", "reads.toml", "--run-time", "1s"])
        .assert_refused(2, &["no targets to measure", "--target A --target B"]);
    let auto = |option, value| {
        in_turn(
            &bed,
            &["/a", "/b"],
            &["--repetitions", "auto", option, value],
        )
    };
    auto("--precision", "0%").assert_refused(2, &["`precision` is 0%", "at most 50 %"]);
    auto("--precision", "51%").assert_refused(2, &["`precision` is 51%"]);
    auto("--budget", "0").assert_refused(2, &["`budget` is 0"]);
    assert_eq!(auto("--precision", "often").code, 2);
    assert_eq!(auto("--budget", "-1s").code, 2);
    in_turn(&bed, &["/a", "/b"], &["--precision", "2%"])
        .assert_refused(2, &["`precision` needs", "--repetitions auto"]);
    in_turn(&bed, &["/a", "/b"], &["--repetitions", "often"])
        .assert_refused(2, &["a number from 1 to 1000, or `auto`"]);
    assert!(stored(&bed).is_empty());
}

#[test]
fn repetitions_go_on_until_the_rate_is_precise_or_the_budget_is_spent() {
    let (bed, _) = bed();
    let auto = |more: &[&str]| {
        let run = ["reads.toml", "--repetitions", "auto", "--ramp-time", "0s"];
        bed.record(&[&run, more].concat())
    };
    let verdict = |record: &Value| {
        let estimates = record["estimates"].as_array().unwrap();
        let outcome = estimates.iter().find_map(|it| it.get("verdict")).cloned();
        (record["cells"].as_array().unwrap().len(), outcome.unwrap())
    };
    let (output, record) = auto(&["--precision", "50%", "--run-time", "50ms"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let (count, outcome) = verdict(&record);
    assert!(
        count >= 3 && outcome == "precision-reached",
        "{count} {outcome}"
    );
    // A budget shorter than one cell still allows three repetitions.
    let (output, record) = auto(&[
        "--precision",
        "0.0001%",
        "--budget",
        "10ms",
        "--run-time",
        "50ms",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(verdict(&record), (3, json!("budget-spent")));
    let codes = record["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].clone());
    assert!(
        codes
            .into_iter()
            .any(|code| code == "precision-not-reached")
    );
    bed.file("auto.json", record.to_string());
    let text = bed.run(&["report", "auto.json"]).stdout;
    assert!(
        text.contains("budget spent") && text.contains("the budget of 10ms is spent"),
        "{text}"
    );
    let output = bed.run(&[
        "check",
        "reads.toml",
        "--repetitions",
        "auto",
        "--budget",
        "10s",
    ]);
    for phrase in [
        "known to ±2% with 95 % confidence",
        "budget of 10s",
        "longer than the budget",
    ] {
        assert!(output.text().contains(phrase), "{}", output.text());
    }
}

#[test]
fn published_figures_are_shown_next_to_runs() {
    let bed = ScratchTarget::new().unwrap();
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run",
        "postmark",
        "--target",
        &target,
        "--quiet",
        "--no-html",
    ];
    bed.run(&line).assert_says(0, &[]);
    bed.run(&["compare", "last", "--published", "lfs-postmark:LFS"])
        .assert_says(0, &[]);
    bed.file("b.json", &bed.run(&["runs", "export", "last"]).stdout);
    let line = [
        "compare",
        "last",
        "b.json",
        "--published",
        "lfs-postmark:lfs",
    ];
    let output = bed.run(&line);
    output.assert_says(0, &[]);
    for said in [
        "\nB: run ",
        "4970",
        "hardware of their time",
        "not measured",
    ] {
        assert_eq!(
            output.stdout.contains(said),
            said != "not measured",
            "{}",
            output.text()
        );
    }
    let more = ["--published", "netapp-postmark-2", "--format", "json"];
    let output = bed.run(&[&line[..], &more].concat());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["published"][1]["experiment"], "netapp-postmark-2");
    assert_eq!(document["published"][1]["sides"][1]["name"], "B");
}

#[test]
fn published_figures_that_match_nothing_are_refused() {
    let (bed, _) = bed();
    for (column, said) in [
        ("no-such", ["`no-such`", "lfs-postmark"]),
        ("lfs-postmark:zfs", ["`zfs`", "LFS, ext3"]),
        ("bfs-lat-fs", ["`bfs-lat-fs`", "bfs-iozone"]),
        ("lfs-postmark", ["no figure of", "paper run lfs-postmark"]),
    ] {
        bed.run(&["compare", "a.json", "--published", column])
            .assert_refused(2, &said);
    }
    let line = ["compare", "a.json", "--published", "lfs-postmark"];
    bed.run(&[&line[..], &["--fail-on-regression", "3%"]].concat())
        .assert_refused(2, &["no verdict"]);
    bed.run(&[&line[..], &["--target", "x"]].concat())
        .assert_refused(2, &["--target"]);
}
