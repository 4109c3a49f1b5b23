//! Text from outside is shown and never obeyed: neither a terminal nor a reader is deceived.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use end_to_end::{Finished, STORE, ScratchTarget, finish};
use serde_json::Value;

/// Sets a terminal's title, reorders, is a control sequence without ESC, and forges a message.
const HOSTILE: &str = "x\u{1b}]0;t\u{7}\u{202e}\u{9b}2J\u{200b}\nerror: forged\nhelp: forged";
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"50ms\"\nramp_time = \"0s\"\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\" }]\n";

#[track_caller]
fn assert_harmless(output: &Finished) {
    let text = output.text();
    let is_left = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{202e}' | '\u{200b}')
    };
    for said in [&output.stdout, &output.stderr] {
        assert!(!said.contains(is_left), "{:?}", said);
        let is_forged =
            |line: &str| line.starts_with("error: forged") || line.starts_with("help: forged");
        assert!(!said.lines().any(is_forged), "{text}");
    }
    assert!(!text.contains("panicked"), "{text}");
}

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed
}

/// Runs with arguments, shows nothing hostile, and shows that there was something.
#[track_caller]
fn harmless(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let output = bed.run(arguments);
    assert_harmless(&output);
    output
}

#[track_caller]
fn assert_escaped_and_shown(bed: &ScratchTarget, arguments: &[&str]) {
    let output = harmless(bed, arguments);
    assert!(
        output.text().contains("u{202e}"),
        "{arguments:?}: {}",
        output.text()
    );
}

#[test]
fn control_characters_in_arguments_are_escaped() {
    let bed = bed();
    for arguments in [
        &["run", HOSTILE][..],
        &["run", &format!("--{HOSTILE}")],
        &["run", "--engine", HOSTILE],
        &["run", "--size", HOSTILE],
        &["run", "--set", HOSTILE],
        &["run", "--target", HOSTILE, "null.toml"],
        &["run", "null.toml", "--json", &format!("no/{HOSTILE}")],
        &["check", HOSTILE],
        &["show", HOSTILE],
        &["show", &format!("@-{HOSTILE}")],
        &["convert", "--to", "icf", HOSTILE],
        &["report", HOSTILE],
        &["report", &format!("2{HOSTILE}")],
        &["report", HOSTILE, "--format", HOSTILE],
        &["compare", HOSTILE, HOSTILE],
        &["compare", "--published", HOSTILE, "last"],
        &["runs", "rm", HOSTILE],
        &["runs", "note", HOSTILE, HOSTILE],
        &["runs", "--since", HOSTILE],
        &["runs", "import", HOSTILE],
        &["--db", HOSTILE, "runs"],
        &["clean", HOSTILE],
        &["doctor", HOSTILE],
        &["lab", "run", "--fs", HOSTILE, "null.toml"],
        &["lab", "clean", "--dir", HOSTILE],
        &["paper", "show", HOSTILE],
        &["as", "lat_fs", HOSTILE],
        &["as", "fs_mark", "-d", HOSTILE],
        &["as", "postmark", HOSTILE],
        &[HOSTILE],
    ] {
        assert_escaped_and_shown(&bed, arguments);
    }
}

#[test]
fn control_characters_in_workload_files_are_escaped() {
    let bed = bed();
    let toml = |text: &str| serde_json::to_string(text).unwrap().replace('\u{7f}', "");
    let named = NULL.replace("\"Nothing\"", &toml(HOSTILE));
    let odd_key = format!("{NULL}{} = 1\n", toml(HOSTILE));
    let odd_value = NULL.replace("\"null\"", &toml(HOSTILE));
    let icf = format!(
        "Version 1.1.0 \n'ACCESS SPECIFICATIONS ====\n\
         'Access specification name,default assignment\n\t{},NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,50,0,0,0,1,0,0\n\
         'End access specifications\n",
        HOSTILE.replace('\n', " ")
    );
    let files = [
        ("named.toml", &named),
        ("key.toml", &odd_key),
        ("value.toml", &odd_value),
        ("a.icf", &icf),
    ];
    for (name, text) in files {
        bed.file(name, text);
        for arguments in [
            &["check", name][..],
            &["check", name, "--json"],
            &["convert", name, "--to", "icf", "-o", "/dev/null"],
            &["run", name, "--no-html"],
            &["run", name, "--no-html", "--json", "-"],
        ] {
            harmless(&bed, arguments);
        }
    }
    assert_escaped_and_shown(&bed, &["check", "named.toml"]);
    assert_escaped_and_shown(&bed, &["run", "named.toml", "--no-html"]);
    fs::rename(
        bed.path().join("value.toml"),
        bed.path().join(format!("{HOSTILE}.toml")),
    )
    .unwrap();
    assert_escaped_and_shown(&bed, &["check", &format!("{HOSTILE}.toml")]);
}

#[test]
fn control_characters_in_records_and_stores_are_escaped() {
    let bed = bed();
    let output = bed.run(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "r.json",
    ]);
    assert_eq!(output.code, 0, "{}", output.text());
    let mut record: Value =
        serde_json::from_slice(&fs::read(bed.path().join("r.json")).unwrap()).unwrap();
    let honest = record.clone();
    record["cells"][0]["access_spec"] = HOSTILE.into();
    record["cells"][0]["target"] = HOSTILE.into();
    record["environment"]["kernel"] = HOSTILE.into();
    record["environment"]["host"] = HOSTILE.into();
    record["command"][0] = HOSTILE.into();
    record["warnings"] = serde_json::json!([{"code": HOSTILE, "message": HOSTILE}]);
    bed.file("h.json", record.to_string());
    for format in [
        "text",
        "markdown",
        "html",
        "json",
        "csv",
        "iometer-csv",
        "fio-json",
        "classic",
        "junit",
        "openmetrics",
        "github-summary",
        "bencher",
        "influx",
    ] {
        let output = bed.run(&["report", "h.json", "--format", format]);
        assert_eq!(output.code, 0, "{format}: {}", output.text());
        // Data for programs is exact where no terminal shows it.
        if !matches!(format, "csv" | "iometer-csv" | "classic") {
            assert_harmless(&output);
        }
    }
    let report = bed.run(&["report", "h.json", "--format", "json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&report.stdout).unwrap()["cells"][0]["target"],
        HOSTILE
    );
    harmless(&bed, &["compare", "h.json", "r.json"]);
    harmless(&bed, &["report", "h.json", "r.json", "--format", "html"]);
    for (key, value) in [("status", HOSTILE), ("format", HOSTILE), ("id", HOSTILE)] {
        let mut broken = honest.clone();
        broken[key] = value.into();
        bed.file("broken.json", broken.to_string());
        harmless(&bed, &["report", "broken.json"]);
        harmless(&bed, &["runs", "import", "broken.json"]);
    }
    let mut broken = honest;
    broken["plan"]["cells"][0]["engine"] = HOSTILE.into();
    bed.file("broken.json", broken.to_string());
    assert_escaped_and_shown(&bed, &["report", "broken.json"]);

    harmless(&bed, &["runs", "note", "last", HOSTILE]);
    assert_escaped_and_shown(&bed, &["runs", "tag", "last", HOSTILE]);
    harmless(&bed, &["runs"]);
    assert_escaped_and_shown(&bed, &["runs", "--columns", "run,note"]);
    let listed = harmless(&bed, &["runs", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["runs"][0]["note"], HOSTILE);
}

#[test]
fn control_characters_in_errors_about_damaged_stores_are_escaped() {
    let bed = bed();
    let output = bed.run(&["run", "null.toml", "--quiet", "--no-html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    // What SQLite says of a schema that it cannot read repeats the schema.
    let path = bed.path().join(STORE);
    let original = fs::read(&path).unwrap();
    let start = original
        .windows(12)
        .position(|it| it == b"CREATE TABLE")
        .unwrap();
    let mut damaged = original.clone();
    let text = "CREATE \u{1b}]0;\u{202e}\u{9b}2J (";
    damaged[start..start + text.len()].copy_from_slice(text.as_bytes());
    fs::write(&path, damaged).unwrap();
    for arguments in [
        &["runs"][..],
        &["show", "last"],
        &["run", "null.toml", "--quiet", "--no-html"],
    ] {
        let output = harmless(&bed, arguments);
        assert_ne!(output.code, 0, "{}", output.text());
    }
}

#[test]
fn control_characters_in_names_that_are_not_utf8_are_escaped() {
    let bed = bed();
    let name = OsStr::from_bytes(b"a\xff\x9b2J\x1b[2J");
    for arguments in [
        &["run"][..],
        &["check"],
        &["report"],
        &["clean"],
        &["as", "fs_mark", "-d"],
    ] {
        let mut command = bed.command(arguments);
        assert_harmless(&finish(command.arg(name)));
    }
    let link = bed.path().join("\u{1b}[2J\u{202e}");
    let program = bed.command(&[]).get_program().to_owned();
    std::os::unix::fs::symlink(program, &link).unwrap();
    for argument in ["--help", "--no-such"] {
        assert_harmless(&finish(
            Command::new(&link).arg(argument).env("HOME", bed.path()),
        ));
    }
}
