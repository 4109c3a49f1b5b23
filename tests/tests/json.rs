//! `--json` of every command: one document that its schema describes, and nothing else on standard
//! output.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use end_to_end::{Finished, LAB_IMAGE, LabSite, ScratchTarget, need, run_tool};
use serde_json::{Value, json};

mod schemas;

use schemas::complaints;

/// Touches nothing.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"200ms\"\nramp_time = 0\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\", random = 100 }]\n";

/// A command with its arguments, of which `TARGET` is the bed's target, and the schema of its JSON.
type Case = (&'static str, &'static str, &'static str);

/// Commands that take next to no time, in an order in which each finds what it needs.
const QUICK: [Case; 29] = [
    ("runs", "", "runs"),
    ("run", "null.toml --no-html", "record"),
    ("run", "null.toml --quiet --no-html", "record"),
    ("check", "null.toml", "check"),
    ("check", "postmark --target TARGET", "check"),
    ("check", "trace.spc", "check-trace"),
    ("list", "", "list"),
    ("show", "null.toml", "show"),
    ("show", "quick", "show"),
    ("show", "--template", "show"),
    ("show", "last", "record"),
    ("keys", "", "keys"),
    ("keys", "size", "keys"),
    ("report", "last", "record"),
    ("compare", "@-2 last", "compare"),
    ("compare", "@-2 last --format html -o c.html", "compare"),
    ("runs", "--limit 1", "runs"),
    ("runs show", "last", "record"),
    ("runs rm", "last", "runs-rm"),
    ("runs import", "saved.json", "runs-import"),
    ("paper list", "", "paper-list"),
    ("paper show", "lfs-postmark", "paper"),
    ("board init", "board", "board-init"),
    (
        "board add",
        "last --board board --title T --submitter S --license L --new-table mine",
        "board-add",
    ),
    ("board lint", "board", "board-lint"),
    ("board build", "board -o site", "board-build"),
    ("board rank", "last --board board", "board-rank"),
    (
        "board compare",
        "netapp-ufs netapp-tmpfs --board board",
        "board-compare",
    ),
    ("clean", "TARGET", "clean"),
];

/// Commands that look at the machine, which takes its time.
const MACHINE: [Case; 3] = [
    ("doctor", "TARGET", "doctor"),
    ("selftest", "--engine null --quiet", "selftest"),
    ("lab list", "", "lab-list"),
];

/// Commands that measure several times.
const REPEATED: [Case; 5] = [
    (
        "lab run",
        "null.toml postmark --fs path:TARGET --dir TARGET/labs --repetitions 2 --scale 0.01 \
         --no-html",
        "lab",
    ),
    ("lab report", "", "lab"),
    ("lab clean", "--dir TARGET/labs", "lab-clean"),
    (
        "paper run",
        "lfs-postmark --target TARGET --scale 0.001",
        "paper",
    ),
    (
        "compare",
        "--target TARGET --target TARGET null.toml --repetitions 2",
        "compare",
    ),
];

/// Needs guests, and has a test of its own.
const GUEST: Case = ("lab recover", "--fs ext4 --trials 1", "lab");

/// Commands without, and why.
const NOT_JSON: [(&str, &str); 14] = [
    ("schema", "prints a schema, which is JSON"),
    ("convert", "prints a workload file"),
    ("record", "writes a trace, which `check --json` counts"),
    ("fit", "prints or writes a workload file"),
    ("serve", "prints a URL, and answers in JSON behind it"),
    ("sink", "prints its address, and serves"),
    ("runs note", "says nothing"),
    ("runs tag", "says nothing"),
    ("runs untag", "says nothing"),
    ("runs export", "prints a record, which is JSON"),
    ("as", "says what another program says"),
    ("completions", "prints a script"),
    ("man", "prints a manual page"),
    ("help", "prints help"),
];

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed.file("trace.spc", "0,8,512,R,1.0\n0,16,512,W,2.0\n");
    bed
}

/// Every command that can be given, as its help lists it.
fn commands(bed: &ScratchTarget, above: &str, found: &mut BTreeSet<String>) {
    let words = above.split_whitespace().chain(["--help"]);
    let help = bed.run(&words.collect::<Vec<_>>()).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    if !above.is_empty() && (names.is_empty() || help.contains("--json")) {
        found.insert(above.to_owned());
    }
    for name in names.iter().filter(|name| **name != "help") {
        let command = format!("{above} {name}").trim().to_owned();
        match NOT_JSON.iter().any(|(known, _)| *known == command) {
            true => drop(found.insert(command)),
            false => commands(bed, &command, found),
        }
    }
}

#[test]
fn every_command_prints_json_or_has_a_reason_not_to() {
    let mut found = BTreeSet::new();
    commands(&bed(), "", &mut found);
    let known = QUICK.iter().chain(&MACHINE).chain(&REPEATED);
    let known = known.chain([&GUEST]);
    let known: BTreeSet<&str> = known.map(|(command, ..)| *command).collect();
    assert!(found.len() > 20, "{found:?}");
    for command in &found {
        let is_without = NOT_JSON.iter().any(|(without, _)| without == command);
        assert!(
            known.contains(command.as_str()) || is_without,
            "`{command}` has neither a case here nor a reason to have no `--json`"
        );
    }
    let stale = known.iter().find(|command| !found.contains(**command));
    assert_eq!(stale, None);
}

/// Documents that are runs or hold some.
const RUN_DOCUMENTS: [&str; 3] = ["record", "lab", "paper"];

#[track_caller]
fn assert_fits(bed: &ScratchTarget, schema: &str, text: &str, output: &Finished) -> Value {
    let document: Value = serde_json::from_str(text)
        .unwrap_or_else(|error| panic!("no document: {error}\n{}", output.text()));
    let format = document["format"].as_str().unwrap_or_default();
    let number = match schema {
        "paper" => 3,
        schema if RUN_DOCUMENTS.contains(&schema) => 2,
        _ => 1,
    };
    assert_eq!(
        format,
        format!("pgmeter-{schema}/{number}"),
        "{}",
        output.text()
    );
    let complaints = complaints(bed, schema, &document);
    assert!(complaints.is_empty(), "{format}: {complaints:#?}");
    document
}

/// Runs a command with its JSON on standard output, then in a file.
fn check(bed: &ScratchTarget, (command, more, schema): Case) {
    let target = bed.target().to_string_lossy().into_owned();
    let more = more.replace("TARGET", &target);
    let words = command.split_whitespace().chain(more.split_whitespace());
    let words: Vec<&str> = words.collect();
    let output = bed.run(&[&words[..], &["--json"]].concat());
    // The self-test may find the machine busy.
    let is_done = output.code == 0 || (command == "selftest" && output.code == 3);
    assert!(is_done, "{command}: {}", output.text());
    assert_fits(bed, schema, &output.stdout, &output);
    // What these change prevents the same command from succeeding again.
    if ["runs rm", "board init", "board add"].contains(&command) {
        return;
    }
    let output = bed.run(&[&words[..], &["--json=saved.json"]].concat());
    let saved = fs::read_to_string(bed.path().join("saved.json"));
    let saved = saved.unwrap_or_else(|error| panic!("{command}: {error}\n{}", output.text()));
    assert_fits(bed, schema, &saved, &output);
    assert!(!output.stdout.starts_with('{'), "{}", output.text());
}

#[test]
fn json_of_commands_that_only_read_fits_its_schema() {
    let bed = bed();
    for case in QUICK {
        if case.0 == "runs import" {
            let record = bed.run(&["runs", "export", "last"]);
            bed.file("saved.json", record.stdout);
        }
        check(&bed, case);
    }
}

#[test]
fn json_about_the_machine_fits_its_schema() {
    let bed = bed();
    MACHINE.iter().for_each(|case| check(&bed, *case));
}

#[test]
fn json_of_repeated_measurements_fits_its_schema() {
    let bed = bed();
    REPEATED.iter().for_each(|case| check(&bed, *case));
}

#[test]
fn an_interrupted_lab_still_prints_its_document() {
    let bed = bed();
    bed.file("long.toml", NULL.replace("200ms", "300s"));
    let target = format!("path:{}", bed.target().display());
    let line = ["lab", "run", "long.toml", "--fs", &target, "--json"];
    let mut command = bed.command(&line);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    // `last` is the whole lab.
    bed.wait_for_intervals_of("tag:lab", 1);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(complaints(&bed, "lab", &document), [""; 0]);
    let note = document["notes"][0].as_str().unwrap();
    assert!(note.contains("long.toml was interrupted"), "{note}");
}

#[test]
fn json_of_guests_has_figures_for_every_trial() {
    let site = need!(LabSite::of_guests());
    let labs = site.labs.to_string_lossy().into_owned();
    let (command, more, schema) = GUEST;
    let words = command.split_whitespace().chain(more.split_whitespace());
    let options = ["--dir", &labs, "--image-size", LAB_IMAGE, "--json"];
    let output = site.bed.run(&words.chain(options).collect::<Vec<_>>());
    output.assert_says(0, &["killed after"]);
    let document = assert_fits(&site.bed, schema, &output.stdout, &output);
    let trial = &document["trials"][0];
    assert!(trial["counts"]["promised"].as_u64().unwrap() > 0, "{trial}");
    assert_eq!(trial["counts"]["promised"], trial["counts"]["intact"]);
    assert!(trial["mount_ns"].as_u64().unwrap() > 0, "{trial}");
}

#[test]
fn a_schema_rejects_documents_that_do_not_fit() {
    let bed = bed();
    let output = bed.run(&["list", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(complaints(&bed, "list", &document), [""; 0]);
    let mut without = document.clone();
    without["workloads"][0]
        .as_object_mut()
        .unwrap()
        .remove("title");
    let mut with = document.clone();
    with["workloads"][0]["more"] = json!(1);
    let mut other = document;
    other["format"] = json!("pgmeter-list/2");
    for wrong in [without, with, other] {
        assert!(!complaints(&bed, "list", &wrong).is_empty(), "{wrong}");
    }
    bed.run(&["schema", "no-such"])
        .assert_refused(2, &["no-such", "paper-list"]);
}

#[test]
fn a_word_after_json_stays_an_argument_of_commands_that_only_read() {
    let bed = bed();
    for arguments in [
        &["check", "--json", "null.toml"][..],
        &["keys", "--json", "size"],
        &["show", "--json", "quick"],
        &["doctor", "--json", "target"],
        &["clean", "--json", "target"],
    ] {
        let output = bed.run(arguments);
        assert_eq!(output.code, 0, "{}", output.text());
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert!(document["format"].is_string());
    }
    let names = end_to_end::names_in(bed.path());
    for name in ["quick", "size"] {
        assert!(!names.contains(&name.to_owned()), "{names:?}");
    }
}

#[test]
fn json_does_not_take_a_workload_as_its_output_file() {
    let bed = bed();
    bed.run(&["run", "--no-html", "--json", "quick"])
        .assert_refused(2, &["`--json quick`", "`quick --json`", "--json=./quick"]);
    bed.run(&["run", "--no-html", "--json", "null.toml"])
        .assert_refused(2, &["is not JSON", "`null.toml --json`"]);
    bed.run(&["lab", "report", "--json", "last"])
        .assert_refused(2, &["`last --json`"]);
    assert_eq!(
        fs::read_to_string(bed.path().join("null.toml")).unwrap(),
        NULL
    );
    for arguments in [
        &["null.toml", "--json"][..],
        &["--json", "-", "null.toml"],
        &["null.toml", "--json=-"],
        &["--json", "/dev/stdout", "null.toml"],
    ] {
        let all = [&["run", "--quiet", "--no-html"], arguments].concat();
        let output = bed.run(&all);
        assert_eq!(output.code, 0, "{}", output.text());
        assert_fits(&bed, "record", &output.stdout, &output);
    }
    for arguments in [["--json", "a.json"], ["--json=a.json", "--quiet"]] {
        let output = bed.run(&[&["run", "null.toml", "--no-html"], &arguments[..]].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        let saved = fs::read_to_string(bed.path().join("a.json")).unwrap();
        assert_fits(&bed, "record", &saved, &output);
        assert!(output.stdout.contains("Nothing"), "{}", output.text());
    }
}

#[test]
fn a_failed_command_prints_no_partial_document() {
    let bed = bed();
    bed.file("broken.toml", "iodepth = 0\n");
    for arguments in [
        &["check", "--json", "broken.toml"][..],
        &["check", "--json", "no-such"],
        &["compare", "--json", "a.json", "b.json"],
        &["show", "--json", "no-such"],
        &["keys", "--json", "no-such-word"],
        &["report", "--json", "last"],
        &["runs", "rm", "--json", "last"],
        &["runs", "show", "--json", "last"],
        &["paper", "show", "--json", "no-such"],
        &["lab", "report", "--json"],
        &["lab", "run", "null.toml", "--fs", "no-such", "--json"],
        &["run", "broken.toml", "--json"],
        &["doctor", "--json", "no-such"],
        &["list", "--names", "--json"],
    ] {
        let output = bed.run(arguments);
        output.assert_refused(2, &[]);
        assert_eq!(output.stdout, "", "{}", output.text());
    }
    for arguments in [
        &["report", "--json", "a", "-o", "-"][..],
        &["compare", "a", "b", "--json", "-o", "/dev/stdout"],
        &["lab", "report", "-o", "-", "--json"],
    ] {
        bed.run(arguments)
            .assert_refused(2, &["cannot both use standard output"]);
    }
}

#[test]
fn runs_imported_before_an_error_are_in_the_document() {
    let bed = bed();
    let output = bed.run(&["run", "null.toml", "--no-html", "--quiet", "--json=a.json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    bed.file("b.json", "{}");
    let output = bed.run(&["runs", "import", "--json", "a.json", "b.json"]);
    output.assert_refused(2, &["b.json"]);
    let document = assert_fits(&bed, "runs-import", &output.stdout, &output);
    assert_eq!(document["imported"][0]["file"], "a.json");
    assert_eq!(document["imported"][0]["is_new"], false);
}

#[test]
fn a_regression_prints_a_document_and_sets_the_exit_code() {
    let bed = bed();
    let line = [
        "run",
        "null.toml",
        "--no-html",
        "--quiet",
        "--repetitions",
        "3",
    ];
    for _ in 0..2 {
        assert_eq!(bed.run(&line).code, 0);
    }
    let output = bed.run(&[
        "compare",
        "--json",
        "@-2",
        "last",
        "--fail-on-regression",
        "0",
    ]);
    assert!([0, 4].contains(&output.code), "{}", output.text());
    assert_fits(&bed, "compare", &output.stdout, &output);
}

#[test]
fn each_line_of_the_event_file_is_an_event() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    let run = ["run", "null.toml", "--quiet", "--events", "events.jsonl"];
    // Long enough for an interval.
    let output = bed.run(&[&run[..], &["--run-time", "1200ms"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let text = fs::read_to_string(bed.path().join("events.jsonl")).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut kinds = BTreeSet::new();
    for line in &lines {
        let kind = line["event"].as_str().unwrap();
        if kinds.insert(kind) {
            assert_eq!(complaints(&bed, "events", line), [""; 0], "{line:#}");
        }
    }
    let of = |line: Option<&Value>| line.unwrap()["event"].as_str().unwrap().to_owned();
    assert_eq!(of(lines.first()), "started");
    assert_eq!(of(lines.last()), "finished");
    assert!(kinds.is_superset(&["cell-started", "interval", "cell-done"].into()));
    // A file that exists is not replaced, because it is written while the run goes on.
    bed.run(&run).assert_refused(2, &["already exists"]);
}
