//! `runs import`: results of other programs as runs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::{ScratchTarget, Server};
use serde_json::Value;

/// A result of fio with one job, whose name is `NAME`.
const FIO: &str = r#"{
  "fio version" : "fio-3.36",
  "timestamp_ms" : 1700000010250,
  "jobs" : [
    {
      "jobname" : "NAME",
      "error" : 0,
      "job options" : { "rw" : "randread", "iodepth" : "1" },
      "read" : {
        "io_bytes" : 8192000, "bw_bytes" : 819200, "iops" : 200.0, "runtime" : 10000,
        "total_ios" : 2000,
        "lat_ns" : { "min" : 120, "max" : 9100, "mean" : 530.25, "stddev" : 3.5, "N" : 2000,
          "bins" : { "530" : 2000 } }
      }
    }
  ]
}
"#;

const POSTMARK: &str = "PostMark v1.51 : 8/14/01\nCreating files...Done\nTime:\n\
    \t12 seconds total\n\t9 seconds of transactions (100 per second)\n\nFiles:\n\
    \t645 created (53 per second)\n\nData:\n\t2.75 megabytes read (0.23 megabytes per second)\n\
    \t3.50 megabytes written (0.29 megabytes per second)\n";

/// Access specification with the work of the job above.
const READS: &str = "size = \"4m\"\nengine = \"null\"\nrun_time = \"100ms\"\nramp_time = 0\n\
    iodepth = 1\n[[access_spec]]\nname = \"Reads\"\nline = [{ size = \"4k\", random = 100 }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("fio.json", FIO.replace("NAME", "reads"));
    bed.file("postmark.txt", POSTMARK);
    bed.file("reads.toml", READS);
    bed
}

/// Imports a file, and returns the id of the run.
#[track_caller]
fn import(bed: &ScratchTarget, file: &str) -> String {
    let output = bed.run(&["runs", "import", file, "--json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    document["imported"][0]["id"].as_str().unwrap().to_owned()
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn output(bed: &ScratchTarget, arguments: &[&str]) -> String {
    let output = bed.run(arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

#[test]
fn results_of_fio_are_listed_shown_and_reported() {
    let bed = bed();
    let id = import(&bed, "fio.json");
    assert!(id.starts_with("20231114-221330-"), "{id}");
    let listed = output(&bed, &["runs", "--utc"]);
    assert!(listed.contains("fio 3.36: reads"), "{listed}");
    assert!(listed.contains("2023-11-14 22:13"), "{listed}");
    let shown = output(&bed, &["runs", "show", &id]);
    for text in [
        "fio, version 3.36",
        "host: unknown",
        "repeats: unknown",
        "200.0",
        "0.7812",
    ] {
        assert!(shown.contains(text), "no `{text}` in {shown}");
    }
    let page = output(&bed, &["report", &id, "--format", "html"]);
    assert!(
        page.contains("Original text") && page.contains("bw_bytes"),
        "{page}"
    );
    let original = output(&bed, &["report", &id, "--format", "classic"]);
    assert_eq!(original, FIO.replace("NAME", "reads"));
    let rows = output(&bed, &["report", &id, "--format", "csv"]);
    assert!(
        rows.contains("reads,0,read,bytes_per_second,B/s,819200,"),
        "{rows}"
    );
    bed.run(&["report", &id, "--format", "junit"])
        .assert_refused(2, &["cannot show", "`classic`"]);
    let record = output(&bed, &["runs", "export", &id]);
    let record: Value = serde_json::from_str(&record).unwrap();
    let figures = record.pointer("/import/results/0/figures").unwrap();
    let buckets = figures
        .as_array()
        .unwrap()
        .iter()
        .find_map(|it| it.get("buckets_ns"));
    assert_eq!(buckets.unwrap(), &serde_json::json!([[528, 535, 2000]]));
}

#[test]
fn the_same_file_is_imported_once() {
    let bed = bed();
    let id = import(&bed, "postmark.txt");
    assert!(id.starts_with("00000000-000000-"), "{id}");
    let again = output(&bed, &["runs", "import", "postmark.txt"]);
    assert!(again.contains("is in the store already"), "{again}");
    let exported = output(&bed, &["runs", "export", &id]);
    bed.file("exported.json", exported);
    assert_eq!(import(&bed, "exported.json"), id);
    let listed = output(&bed, &["runs"]);
    assert!(listed.contains("unknown  PostMark 1.51"), "{listed}");
    assert!(listed.contains("100.0 trans/s"), "{listed}");
}

#[test]
fn a_run_is_compared_with_results_of_fio() {
    let bed = bed();
    let (finished, _) = bed.record(&["reads.toml"]);
    assert_eq!(finished.code, 0, "{}", finished.text());
    let id = import(&bed, "fio.json");
    let compared = output(&bed, &["compare", "last", &id]);
    for text in [
        "imported from fio 3.36",
        "results of fio 3.36 without repetitions",
        "cannot tell: one repetition",
        "engine, cache and workers unknown",
    ] {
        let words = compared.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains(text), "no `{text}` in {compared}");
    }
    let json = output(&bed, &["compare", "last", &id, "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let cell = &json["comparisons"][0]["cells"][0];
    assert_eq!(cell["name_b"]["engine"], Value::Null, "{cell}");
    let mut figures = cell["figures"].as_array().unwrap().iter();
    let rate = figures.find(|it| it["figure"] == "per_second").unwrap();
    assert_eq!(rate["b"]["mean"], 200.0);
    assert!(
        rate["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0),
        "{rate}"
    );
    // Of another size of requests, it would be a comparison of different work.
    bed.file("other.json", FIO.replace("819200", "1638400"));
    let other = import(&bed, "other.json");
    bed.run(&["compare", "last", &other]).assert_refused(
        2,
        &["request size is `4096 bytes` and `8192 bytes`", "--force"],
    );
    output(&bed, &["compare", "last", &other, "--force"]);
}

#[test]
fn output_of_emulated_programs_is_imported() {
    let bed = bed();
    let target = bed.target().to_str().unwrap();
    let file = bed.target().join("file");
    let file = file.to_str().unwrap();
    let json = bed.path().join("smallfile.json");
    let json = json.to_str().unwrap();
    let size = ["--operation", "create", "--threads", "1", "--files", "20"];
    let cases: [(&str, &[&str]); 6] = [
        (
            "fio",
            &[
                "--name=j",
                "--rw=randread",
                "--bs=4k",
                "--size=1m",
                "--output-format=json+",
            ],
        ),
        (
            "iozone",
            &[
                "-s", "64", "-r", "4", "-i", "0", "-i", "1", "-R", "-f", file,
            ],
        ),
        ("fs_mark", &["-d", target, "-n", "20", "-s", "4096"]),
        ("mdtest", &["-d", target, "-n", "10"]),
        ("ior", &["-o", file, "-b", "64k", "-t", "4k"]),
        ("smallfile", &["--top", target, "--output-json", json]),
    ];
    for (program, arguments) in cases {
        let directory = format!("--directory={target}");
        let more: &[&str] = match program {
            "fio" => &[&directory],
            "smallfile" => &size,
            _ => &[],
        };
        let text = output(&bed, &[&["as", program], arguments, more].concat());
        let name = match program {
            "smallfile" => "smallfile.json",
            _ => "output.txt",
        };
        if program != "smallfile" {
            bed.file(name, text);
        }
        let measured = bed.listed(&[])[0]["id"].as_str().unwrap().to_owned();
        let id = import(&bed, name);
        if program == "fio" {
            let compared = output(&bed, &["compare", &measured, &id]);
            assert!(compared.contains("IOPS"), "{compared}");
        }
        let shown = output(&bed, &["report", &id]);
        assert!(shown.contains("results"), "{shown}");
    }
}

#[test]
fn hostile_names_are_made_visible() {
    let bed = bed();
    bed.file(
        "bad.json",
        FIO.replace("NAME", "\\u001b[31m\\u202e<script>"),
    );
    let id = import(&bed, "bad.json");
    for arguments in [
        &["runs"][..],
        &["runs", "show", &id],
        &["report", &id, "--format", "html"],
    ] {
        let text = output(&bed, arguments);
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        let is_page = arguments.contains(&"html");
        let name = if is_page {
            "&lt;script&gt;"
        } else {
            "<script>"
        };
        assert!(text.contains(name), "{text}");
        assert!(!is_page || !text.contains("u{202e}<script>"), "{text}");
    }
}

#[test]
fn damaged_and_foreign_files_are_refused_with_the_line() {
    let bed = bed();
    bed.file("cut.json", &FIO[..FIO.find("\"runtime\"").unwrap()]);
    bed.file("cut.txt", &POSTMARK[..POSTMARK.find("Data:").unwrap()]);
    bed.file("foreign.txt", "hello\n");
    bed.file("latin.txt", b"PostMark v1.51 : 8/14/01\n\xe9\n");
    for (file, phrases) in [
        ("cut.json", ["cut.json:10", "ends within the JSON document"]),
        ("cut.txt", ["cut.txt:9", "the amount of written data"]),
        (
            "foreign.txt",
            ["no results that pgmeter recognizes", "fio JSON"],
        ),
        ("latin.txt", ["latin.txt:2", "UTF-8"]),
    ] {
        bed.run(&["runs", "import", file])
            .assert_refused(2, &phrases);
    }
    assert!(bed.listed(&[]).is_empty());
}

#[test]
fn serve_lists_and_shows_imported_results() {
    let bed = bed();
    let id = import(&bed, "postmark.txt");
    let server = Server::start(&bed, &[]);
    let page = server.get("/api/runs").json();
    let run = &page["runs"][0];
    assert_eq!(run["origin"]["program"], "PostMark", "{page}");
    assert_eq!(run["origin"]["time"], Value::Null);
    let report = server.get(&format!("/api/runs/{id}/page"));
    assert_eq!(report.status, 200);
    assert!(report.body.contains("PostMark 1.51") && report.body.contains("unknown"));
}
