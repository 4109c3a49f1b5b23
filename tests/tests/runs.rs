//! The results store from outside: the runs that `run` stores, and the output of `runs`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{Finished, Mount, STORE, ScratchTarget, finish, names_in, need, skip, wait_for};
use serde_json::Value;

/// Touches nothing, so that only the store is written.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"300ms\"\nramp_time = 0\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\", random = 100 }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed
}

fn store_path(bed: &ScratchTarget) -> PathBuf {
    bed.path().join(STORE)
}

/// Measures nothing for a moment and returns the record.
fn run(bed: &ScratchTarget) -> Value {
    let output = bed.run(&["run", "null.toml", "--json", "-", "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

fn list(bed: &ScratchTarget) -> Vec<Value> {
    let output = bed.run(&["runs", "--json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    document["runs"].as_array().unwrap().clone()
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

fn codes(record: &Value) -> String {
    record["warnings"].to_string()
}

/// The record that a run left in a file because it could not be stored.
fn left_record(bed: &ScratchTarget) -> Value {
    let names = names_in(bed.path());
    let name = names
        .iter()
        .find(|name| name.starts_with("pgmeter-") && name.ends_with(".json"));
    let name = name.unwrap_or_else(|| panic!("no record in {names:?}"));
    serde_json::from_slice(&std::fs::read(bed.path().join(name)).unwrap()).unwrap()
}

#[test]
fn a_store_next_to_its_target_is_no_warning_if_it_wrote_little() {
    let bed = bed();
    let options = ["--size", "1m", "--run-time", "300ms", "--ramp-time", "0s"];
    let target = bed.target().to_string_lossy().into_owned();
    let arguments = [
        "run", "oltp", "--target", &target, "--cache", "buffered", "--json", "-", "--quiet",
    ];
    let output = bed.run(&[&arguments[..], &options].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    let codes = codes(&record);
    assert!(!codes.contains("store-on-target"), "{codes}");
    assert!(codes.contains("\"level\":\"warning\""), "{codes}");
}

#[test]
fn a_missing_store_lists_no_runs_and_is_not_created() {
    let bed = bed();
    let output = bed.run(&["runs"]);
    output.assert_says(0, &["no runs"]);
    assert!(list(&bed).is_empty());
    bed.run(&["report", "last"])
        .assert_refused(2, &["no run `last`"]);
    bed.run(&["runs", "rm", "last"])
        .assert_refused(2, &["no run `last`"]);
    assert!(!store_path(&bed).exists());
}

#[test]
fn a_stored_run_exports_as_it_was_printed() {
    let bed = bed();
    let printed = bed.run(&["run", "null.toml", "--json", "-", "--quiet"]);
    let exported = bed.run(&["runs", "export", "last"]);
    assert_eq!(exported.stdout, printed.stdout);
    let record: Value = serde_json::from_str(&printed.stdout).unwrap();
    let rows = list(&bed);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["id"], record["id"]);
    assert_eq!(rows[0]["status"], "complete");
    let rate = &record["cells"][0]["total"]["per_second"];
    assert_eq!(&rows[0]["per_second_max"], rate);
    let headline = serde_json::json!({"of": "requests", "per_second": rate});
    assert_eq!(rows[0]["headline"], headline);
    assert_eq!(rows[0]["kernel"], record["environment"]["kernel"]);
    let short = rows[0]["short_id"].as_str().unwrap();
    let report = bed.run(&["report", short]);
    assert!(report.stdout.contains("Nothing"), "{}", report.text());
    for same in [&["show", "last"][..], &["runs", "show", "@-1"]] {
        assert_eq!(bed.run(same).stdout, report.stdout, "{same:?}");
    }
}

#[test]
fn a_file_takes_precedence_over_a_run_of_the_same_name() {
    let bed = bed();
    let record = run(&bed);
    std::fs::write(bed.path().join(id(&record)), "not a pgmeter record").unwrap();
    let output = bed.run(&["report", id(&record)]);
    output.assert_refused(2, &["cannot read the record"]);
}

#[test]
fn the_table_has_a_line_for_each_run() {
    let bed = bed();
    run(&bed);
    run(&bed);
    bed.run(&["runs", "tag", "last", "after-trim"])
        .assert_says(0, &[]);
    bed.run(&["runs", "note", "last", "with the new firmware"])
        .assert_says(0, &[]);
    let output = bed.run(&["runs"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", output.text());
    let words: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(words, ["run", "started", "workload", "rate", "tags"]);
    for word in ["null", "IOPS", "after-trim"] {
        assert!(lines[1].contains(word), "no `{word}` in\n{}", output.text());
    }
    assert!(!lines[2].contains("after-trim"), "{}", output.text());
    assert!(
        lines.iter().all(|line| line.len() <= 80),
        "{}",
        output.text()
    );
    let columns = "run,status,note,kernel,file-system,target,host,cells,iops,bandwidth,lab";
    let output = bed.run(&["runs", "--columns", columns]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    for word in ["complete", "with the new firmware"] {
        assert!(lines[1].contains(word), "no `{word}` in\n{}", output.text());
    }
    assert!(lines[0].contains("file system"), "{}", output.text());
    bed.run(&["runs", "--columns", "run,nothing"])
        .assert_says(2, &["nothing", "file-system"]);
    bed.run(&["runs", "untag", "last", "after-trim"])
        .assert_says(0, &[]);
    assert!(!bed.run(&["runs"]).stdout.contains("after-trim"));
}

/// The first column of the list, without its head.
fn listed(bed: &ScratchTarget, more: &[&str]) -> Vec<String> {
    let output = bed.run(&[&["runs"], more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let lines = output.stdout.lines().skip(1);
    let first = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    lines.map(first).collect()
}

#[test]
fn the_list_is_sorted_as_requested() {
    let bed = bed();
    bed.file("also.toml", NULL);
    let ids: Vec<String> = ["also.toml", "null.toml", "also.toml"]
        .iter()
        .map(|name| {
            let output = bed.run(&["run", name, "--json", "-", "--quiet", "--no-html"]);
            id(&serde_json::from_str(&output.stdout).unwrap()).to_owned()
        })
        .collect();
    let order = |more: &[&str]| -> Vec<usize> {
        let found = listed(&bed, more);
        let index = |short: &String| ids.iter().position(|id| id.starts_with(short)).unwrap();
        found.iter().map(index).collect()
    };
    assert_eq!(order(&[]), [2, 1, 0]);
    assert_eq!(order(&["--reverse"]), [0, 1, 2]);
    assert_eq!(order(&["--sort", "workload"]), [2, 0, 1]);
    assert_eq!(order(&["--sort", "started", "--limit", "2"]), [2, 1]);
    // The JSON document has the same runs, always newest first.
    let in_json = |more: &[&str]| -> Vec<usize> {
        let output = bed.run(&[&["runs", "--json"], more].concat());
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        let runs = document["runs"].as_array().unwrap().iter();
        let index = |run: &Value| ids.iter().position(|it| *it == id(run)).unwrap();
        runs.map(index).collect()
    };
    assert_eq!(in_json(&[]), [2, 1, 0]);
    assert_eq!(in_json(&["--reverse", "--limit", "2"]), [1, 0]);
    assert_eq!(in_json(&["--sort", "workload", "--limit", "2"]), [2, 0]);
    let rates = |more: &[&str]| {
        let output = bed.run(&[&["runs", "--columns", "run,iops", "--sort"], more].concat());
        output.stdout
    };
    let (down, up) = (rates(&["rate"]), rates(&["iops", "--reverse"]));
    assert!(
        down.lines()
            .skip(1)
            .eq(up.lines().skip(1).collect::<Vec<_>>().into_iter().rev())
    );
    bed.run(&["runs", "--sort", "beauty"])
        .assert_says(2, &["beauty", "bandwidth"]);
}

#[test]
fn times_are_listed_in_the_time_zone_of_the_reader() {
    let bed = bed();
    let record = run(&bed);
    let began: Vec<&str> = record["started_at"]
        .as_str()
        .unwrap()
        .split(['T', ':'])
        .collect();
    let (day, hour, minute) = (began[0], began[1], began[2]);
    let printed = |more: &[&str]| {
        let mut command = bed.command(&[&["runs"], more].concat());
        finish(command.env("TZ", "Etc/GMT-1")).stdout
    };
    let utc = printed(&["--utc"]);
    assert!(utc.contains(&format!("{day} {hour}:{minute}")), "{utc}");
    assert!(utc.contains("(UTC)"), "{utc}");
    let next: u32 = (hour.parse::<u32>().unwrap() + 1) % 24;
    let local = printed(&[]);
    assert!(local.contains(&format!(" {next:02}:{minute}")), "{local}");
    assert!(!local.contains("UTC"), "{local}");
}

/// A lab of two runs on a mounted directory, which needs no privileges.
fn lab(bed: &ScratchTarget) -> Finished {
    let fs = format!("path:{}", bed.target().display());
    let labs = bed.path().join("labs").display().to_string();
    let small = [
        "--set",
        "count=20",
        "--set",
        "sizes=4096",
        "--repetitions",
        "2",
    ];
    let run = ["lab", "run", "create-remove", "--fs", &fs, "--dir", &labs];
    let output = bed.run(&[&run[..], &small, &["--no-html"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    output
}

#[test]
fn a_lab_is_one_row_that_can_be_expanded() {
    let bed = bed();
    run(&bed);
    let printed = lab(&bed);
    run(&bed);
    let output = bed.run(&["runs"]);
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", output.text());
    assert!(
        lines[2].contains("lab: create-remove on "),
        "{}",
        output.text()
    );
    assert!(lines[2].contains("2 runs"), "{}", output.text());
    assert_eq!(listed(&bed, &["--all"]).len(), 4);
    assert_eq!(listed(&bed, &["--workload", "create"]).len(), 1);
    assert_eq!(listed(&bed, &["--workload", "null"]).len(), 2);
    assert_eq!(list(&bed).len(), 4, "JSON lists every run");
    let name = listed(&bed, &[])[1].clone();
    for again in [
        &["runs", "show", &name][..],
        &["show", &name],
        &["report", &name],
    ] {
        let shown = bed.run(again);
        assert_eq!(
            shown.lines_of_report(),
            printed.lines_of_report(),
            "{again:?}"
        );
    }
    let all_runs = bed.run(&["runs", "--all", "--columns", "run,lab,rate"]);
    assert_eq!(
        all_runs.stdout.matches(&name).count(),
        2,
        "{}",
        all_runs.text()
    );
    assert_eq!(
        all_runs.stdout.matches("op/s").count(),
        2,
        "{}",
        all_runs.text()
    );
}

#[test]
fn removing_a_lab_removes_its_runs_after_a_dry_run_lists_them() {
    let bed = bed();
    run(&bed);
    lab(&bed);
    let name = listed(&bed, &[])[0].clone();
    let runs = listed(&bed, &["--all", "--workload", "create"]);
    for option in ["--dry-run", "-n"] {
        let output = bed.run(&["runs", "rm", &name, "last", option]);
        assert_eq!(output.code, 0, "{}", output.text());
        let lines: Vec<&str> = output.stdout.lines().collect();
        assert_eq!(lines.len(), 3, "{}", output.text());
        assert!(lines.iter().all(|line| line.starts_with("would remove ")));
        assert!(
            lines[2].contains(&format!("lab {name}")),
            "{}",
            output.text()
        );
        for run in &runs {
            assert!(output.stdout.contains(run.as_str()), "{}", output.text());
        }
        assert_eq!(list(&bed).len(), 3, "nothing is removed");
    }
    let output = bed.run(&["runs", "rm", &name]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(
        output.stdout.matches("removed ").count(),
        3,
        "{}",
        output.text()
    );
    assert_eq!(listed(&bed, &[]).len(), 1);
    bed.run(&["lab", "report"])
        .assert_refused(2, &["no lab `last`"]);
}

#[test]
fn an_experiment_is_one_row_too_and_its_runs_are_listed_by_name() {
    let bed = bed();
    let target = bed.target().display().to_string();
    let line = [
        "paper",
        "run",
        "lfs-create-remove",
        "--target",
        &target,
        "--no-html",
    ];
    let output = bed.run(&[&line[..], &["--scale", "0.001", "--repetitions", "2"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let names = listed(&bed, &[]);
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].starts_with("lab-2"), "{names:?}");
    let output = bed.run(&["runs", "show", &names[0][..12]]);
    output.assert_says(0, &["no table of `lab-2", "its runs"]);
    assert_eq!(output.stdout.lines().count(), 3, "{}", output.text());
    bed.run(&["runs", "rm", &names[0]]).assert_says(0, &[]);
    assert!(list(&bed).is_empty());
}

#[test]
fn a_run_that_is_not_complete_says_so_in_the_list() {
    let bed = bed();
    let store = store_path(&bed);
    let mut child = start(&bed, &store, "60s");
    let output = bed.run(&["runs"]);
    assert!(
        output.stdout.contains("null (running)"),
        "{}",
        output.text()
    );
    let dry = bed.run(&["runs", "rm", "last", "--dry-run"]);
    assert!(dry.stdout.contains("would not remove"), "{}", dry.text());
    child.kill().unwrap();
    child.wait().unwrap();
    let output = bed.run(&["runs"]);
    assert!(
        output.stdout.contains("null (interrupted)"),
        "{}",
        output.text()
    );
}

/// Runs a command in a terminal of this size, and returns its output.
fn run_in_terminal(
    bed: &ScratchTarget,
    size: (u32, u32),
    line: &str,
    variables: &[(&str, &str)],
) -> Option<String> {
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let (rows, columns) = size;
    let script = format!(
        "stty rows {rows} cols {columns}; {}",
        line.replace("pgmeter", &program)
    );
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &script, "/dev/null"]);
    command.current_dir(bed.path());
    for (name, value) in bed.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.envs(variables.iter().copied());
    command
        .env("TERM", "xterm")
        .env_remove("COLUMNS")
        .env_remove("LINES");
    end_to_end::run_tool("script", &["--version"]).ok()?;
    let output = finish(&mut command);
    Some(output.stdout.replace('\r', ""))
}

#[test]
fn output_longer_than_the_screen_goes_through_the_pager() {
    let bed = bed();
    for _ in 0..4 {
        run(&bed);
    }
    let pager = [("PAGER", "sed s/^/paged:/")];
    let Some(long) = run_in_terminal(&bed, (4, 80), "pgmeter runs", &pager) else {
        skip!("`script` is not installed");
    };
    assert_eq!(long.matches("paged:").count(), 5, "{long}");
    for (rows, line, pager) in [
        (40, "pgmeter runs", "sed s/^/paged:/"),
        (4, "pgmeter runs --no-pager", "sed s/^/paged:/"),
        (4, "pgmeter runs | cat", "sed s/^/paged:/"),
        (4, "pgmeter runs", "cat"),
        (4, "pgmeter runs", ""),
        (4, "pgmeter runs", "/no/such/pager"),
    ] {
        let output = run_in_terminal(&bed, (rows, 80), line, &[("PAGER", pager)]).unwrap();
        assert!(!output.contains("paged:"), "{line}: {output}");
        assert_eq!(
            output.matches("IOPS").count(),
            4,
            "{line} {pager}: {output}"
        );
    }
    let lines = [
        "pgmeter report",
        "pgmeter show last",
        "pgmeter compare @-2 last",
    ];
    for line in lines {
        for (rows, is_paged) in [(4, true), (1000, false)] {
            let output = run_in_terminal(&bed, (rows, 80), line, &pager).unwrap();
            assert_eq!(output.starts_with("paged:"), is_paged, "{line}: {output}");
        }
    }
}

#[test]
fn the_list_fits_the_terminal() {
    let bed = bed();
    let long = "a-workload-with-quite-a-long-name-of-its-own";
    bed.file(&format!("{long}.toml"), NULL);
    let output = bed.run(&["run", &format!("{long}.toml"), "--quiet", "--no-html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for tag in ["before-the-upgrade", "with-the-old-firmware"] {
        bed.run(&["runs", "tag", "last", tag]).assert_says(0, &[]);
    }
    lab(&bed);
    for columns in [40, 80, 200] {
        let Some(output) = run_in_terminal(&bed, (50, columns), "pgmeter runs", &[]) else {
            skip!("`script` is not installed");
        };
        for line in output.lines() {
            assert!(
                line.chars().count() <= columns as usize,
                "{columns}: {line}"
            );
        }
        if columns >= 80 {
            let head = output.lines().next().unwrap();
            let words: Vec<&str> = head.split_whitespace().collect();
            assert_eq!(
                words,
                ["run", "started", "workload", "rate", "tags"],
                "{output}"
            );
        }
    }
}

#[test]
fn targets_are_listed_as_absolute_paths_and_phases_as_one_cell() {
    let bed = bed();
    std::fs::create_dir(bed.path().join("here")).unwrap();
    let arguments = ["run", "postmark", "--target", "./here", "--no-html"];
    let few = ["--set", "number=10", "--set", "transactions=10"];
    let output = bed.run(&[&arguments[..], &few].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let target = bed.path().join("here").to_string_lossy().into_owned();
    // The line is broken where the page is too narrow for the path.
    assert!(
        output.stdout.replace('\n', "").contains(&target),
        "{}",
        output.text()
    );
    let row = &list(&bed)[0];
    assert_eq!(row["targets"], serde_json::json!([target]));
    assert_eq!(row["cell_count"], 1);
}

#[test]
fn a_warning_about_several_phases_is_printed_once() {
    let bed = bed();
    let target = bed.target().to_string_lossy().into_owned();
    let arguments = [
        "run", "postmark", "--target", &target, "--json", "-", "--quiet",
    ];
    let few = ["--set", "number=10", "--set", "transactions=10"];
    let output = bed.run(&[&arguments[..], &few].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(record["cells"].as_array().unwrap().len(), 3);
    let warnings = record["warnings"].as_array().unwrap();
    for code in ["few-samples-for-percentile", "file-smaller-than-memory"] {
        let count = warnings.iter().filter(|it| it["code"] == code).count();
        assert_eq!(count, 1, "{code} in {warnings:?}");
    }
}

#[test]
fn filters_and_limits_say_which_runs_are_listed() {
    let bed = bed();
    run(&bed);
    run(&bed);
    bed.run(&["runs", "tag", "last", "b"]).assert_says(0, &[]);
    let count = |arguments: &[&str]| bed.listed(arguments).len();
    assert_eq!(count(&["--tag", "b"]), 1);
    assert_eq!(count(&["--workload", "NULL"]), 2);
    assert_eq!(count(&["--workload", "oltp"]), 0);
    assert_eq!(count(&["--status", "complete"]), 2);
    assert_eq!(count(&["--status", "failed"]), 0);
    assert_eq!(count(&["--since", "1h"]), 2);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);
    assert_eq!(count(&["--limit", "1"]), 1);
    bed.run(&["runs", "--limit", "1"])
        .assert_says(0, &["there are more"]);
    bed.run(&["runs", "--since", "2026"])
        .assert_refused(2, &["not a time", "2026-11-21"]);
    bed.run(&["runs", "--status", "good"])
        .assert_says(2, &["good"]);
}

#[test]
fn missing_and_ambiguous_runs_are_errors() {
    let bed = bed();
    let first = run(&bed);
    run(&bed);
    let prefix = &id(&first)[..4];
    for arguments in [
        &["runs", "show", "19990101"][..],
        &["runs", "rm", "19990101"],
        &["runs", "note", "@-3", "text"],
        &["runs", "tag", "nothing", "tag"],
        &["runs", "export", "19990101"],
        &["report", "19990101"],
        &["show", "19990101"],
    ] {
        bed.run(arguments)
            .assert_refused(2, &["there is no run", "help: "]);
    }
    for arguments in [
        &["runs", "rm", prefix][..],
        &["report", prefix],
        &["show", prefix],
    ] {
        bed.run(arguments).assert_refused(2, &["names 2 runs"]);
    }
    bed.run(&["runs", "tag", "last", "two words"])
        .assert_refused(2, &["has a space"]);
    assert_eq!(list(&bed).len(), 2);
}

#[test]
fn the_last_two_runs_are_removed_by_one_command() {
    let bed = bed();
    let oldest = run(&bed);
    run(&bed);
    run(&bed);
    let output = bed.run(&["runs", "rm", "last", "@-2"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let rows = list(&bed);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["id"], oldest["id"]);
}

#[test]
fn an_imported_export_is_unchanged() {
    let (from, to) = (bed(), bed());
    run(&from);
    let exported = from.run(&["runs", "export", "last", "-o", "r.json"]);
    assert_eq!(exported.code, 0, "{}", exported.text());
    let file = from.path().join("r.json").to_string_lossy().into_owned();
    let output = to.run(&["runs", "import", &file]);
    assert!(output.stdout.starts_with("imported"), "{}", output.text());
    let again = to.run(&["runs", "import", &file]);
    assert!(
        again.stdout.contains("is in the store already"),
        "{}",
        again.text()
    );
    assert_eq!(again.code, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(to.run(&["runs", "export", "last"]).stdout, text);
    from.run(&["runs", "export", "last", "-o", "r.json"])
        .assert_refused(2, &["r.json"]);
}

#[test]
fn a_damaged_record_is_not_imported() {
    let bed = bed();
    let record = run(&bed);
    let text = serde_json::to_string(&record).unwrap();
    let mut other = record.clone();
    other["cells"][0]["total"]["count"] = 7.into();
    for (name, text, reason) in [
        ("cut.json", text[..text.len() / 2].to_owned(), "EOF"),
        ("other.json", other.to_string(), "a different run"),
        ("id.json", text.replace(id(&record), "../../x"), "its id"),
        (
            "format.json",
            text.replace("pgmeter-record/2", "pgmeter-record/9"),
            "pgmeter-record/9",
        ),
        (
            "fio.json",
            "{\"fio version\": \"fio-3.42\"}".to_owned(),
            "the file ends without a result",
        ),
    ] {
        bed.file(name, text);
        bed.run(&["runs", "import", name])
            .assert_refused(2, &[reason]);
    }
    bed.run(&["runs", "import", "."])
        .assert_refused(2, &["no results that pgmeter recognizes"]);
    assert_eq!(list(&bed).len(), 1);
    let exported = bed.run(&["runs", "export", "last"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&exported).unwrap(), record);
}

#[test]
fn without_a_store_nothing_is_stored() {
    let bed = bed();
    for option in ["--no-db", "--no-store"] {
        let output = bed.run(&["run", "null.toml", "--quiet", option]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    assert!(!store_path(&bed).exists());
}

#[test]
fn another_store_can_be_named() {
    let bed = bed();
    let output = bed.run(&["run", "null.toml", "--quiet", "--db", "other/of-mine.db"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(list(&bed).is_empty());
    assert_eq!(bed.listed(&["--db", "other/of-mine.db"]).len(), 1);
}

/// Checks that a run with an unusable store still measures and says where its record is.
fn assert_measures_without_store(bed: &ScratchTarget, store: &Path, reason: &str) {
    let store = store.to_string_lossy().into_owned();
    let output = bed.run(&["run", "null.toml", "--quiet", "--db", &store]);
    output.assert_says(
        1,
        &[
            "warning: the run is not in the results store",
            reason,
            "help: ",
        ],
    );
    assert!(
        output.stderr.contains("the run's record is in `pgmeter-"),
        "{}",
        output.text()
    );
    assert!(output.stdout.contains("Nothing"), "{}", output.text());
    let record = left_record(bed);
    assert_eq!(record["status"], "complete");
    assert!(codes(&record).contains("not-stored"), "{}", codes(&record));

    let output = bed.run(&["run", "null.toml", "--quiet", "--db", &store, "--json", "-"]);
    output.assert_says(1, &["warning: the run is not in the results store", reason]);
    assert!(
        !output.stderr.contains("the run's record is in"),
        "{}",
        output.text()
    );
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert!(codes(&record).contains("not-stored"), "{}", codes(&record));
}

#[test]
fn a_corrupt_store_is_reported_and_left_alone() {
    let bed = bed();
    let garbage = "this is no store\n".repeat(1000);
    let store = bed.file("garbage.db", &garbage);
    for arguments in [
        &["runs"][..],
        &["report", "last"],
        &["runs", "import", "null.toml"],
    ] {
        let output = bed.run(&[&["--db", "garbage.db"], arguments].concat());
        output.assert_refused(3, &["is not a results store"]);
    }
    assert_measures_without_store(&bed, &store, "is not a results store");
    let found = codes(&left_record(&bed));
    assert!(found.contains("not-stored"), "{found}");
    assert_eq!(std::fs::read_to_string(&store).unwrap(), garbage);
}

#[test]
fn a_newer_store_is_reported_and_left_alone() {
    let bed = bed();
    run(&bed);
    let store = store_path(&bed);
    let mut bytes = std::fs::read(&store).unwrap();
    // The header of an SQLite file has the number of the format here.
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    std::fs::write(&store, &bytes).unwrap();
    bed.run(&["runs"])
        .assert_refused(3, &["format 999", "use the version"]);
    assert_measures_without_store(&bed, &store, "format 999");
    assert_eq!(std::fs::read(&store).unwrap(), bytes);
}

#[test]
fn a_store_on_a_full_file_system_does_not_stop_a_measurement() {
    let bed = bed();
    let small = bed.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = need!(Mount::tmpfs(&small, 64 << 10));
    assert_measures_without_store(&bed, &mount.path().join("results.db"), "is full");
}

/// Starts a run on the null engine, and waits until it is in the store.
fn start(bed: &ScratchTarget, store: &Path, run_time: &str) -> std::process::Child {
    let store = store.to_string_lossy().into_owned();
    let child = bed.start(&["run", "null.toml", "--run-time", run_time, "--db", &store]);
    wait_for("intervals in the store", || {
        let output = bed.run(&["runs", "export", "last", "--db", &store]);
        let record: Option<Value> = serde_json::from_str(&output.stdout).ok();
        record.is_some_and(|record| record["cells"][0]["intervals"].is_array())
    });
    child
}

#[test]
fn a_store_whose_file_system_fills_up_keeps_its_content() {
    let bed = bed();
    let small = bed.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = need!(Mount::tmpfs(&small, 512 << 10));
    let store = mount.path().join("results.db");
    let mut child = start(&bed, &store, "8s");
    // To the last byte.
    let filler = mount.path().join("filler");
    let filled = std::fs::write(&filler, vec![1; 1 << 20]);
    assert!(filled.is_err(), "the file system is small");
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(1));
    let record = left_record(&bed);
    assert!(codes(&record).contains("is full"), "{}", codes(&record));
    assert!(record["cells"][0]["intervals"].as_array().unwrap().len() > 2);
    std::fs::remove_file(&filler).unwrap();
    let rows = bed.listed(&["--db", &store.to_string_lossy()]);
    assert_eq!(rows[0]["status"], "interrupted");
}

#[test]
fn a_store_in_a_read_only_directory_can_be_read() {
    let bed = bed();
    let directory = bed.path().join("place");
    std::fs::create_dir(&directory).unwrap();
    let mount = need!(Mount::tmpfs(&directory, 8 << 20));
    let store = mount
        .path()
        .join("results.db")
        .to_string_lossy()
        .into_owned();
    let output = bed.run(&["run", "null.toml", "--quiet", "--db", &store]);
    assert_eq!(output.code, 0, "{}", output.text());
    mount.remount("ro").unwrap();
    let output = bed.run(&["runs", "--db", &store]);
    assert!(output.stdout.contains("IOPS"), "{}", output.text());
    assert_eq!(bed.run(&["report", "last", "--db", &store]).code, 0);
    for arguments in [&["runs", "note", "last", "x"][..], &["runs", "rm", "last"]] {
        let output = bed.run(&[arguments, &["--db", &store]].concat());
        output.assert_refused(3, &["cannot be written"]);
    }
    assert_measures_without_store(&bed, Path::new(&store), "cannot be written");
    let none = mount.path().join("new/results.db");
    assert_measures_without_store(&bed, &none, "cannot be written");
}

#[test]
fn the_record_goes_to_standard_output_if_no_file_can_be_created() {
    let bed = bed();
    let directory = bed.path().join("place");
    std::fs::create_dir(&directory).unwrap();
    let mount = need!(Mount::tmpfs(&directory, 1 << 20));
    std::fs::copy(bed.path().join("null.toml"), directory.join("null.toml")).unwrap();
    mount.remount("ro").unwrap();
    let mut command = end_to_end::pgmeter(mount.path());
    command.args(["run", "null.toml", "--quiet"]);
    // Nor where files are for a while only.
    command.env("TMPDIR", mount.path());
    let output = end_to_end::finish(&mut command);
    output.assert_says(1, &["cannot be written", "on standard output"]);
    let start = output.stdout.find("{\n").unwrap();
    let record: Value = serde_json::from_str(&output.stdout[start..]).unwrap();
    assert!(codes(&record).contains("not-stored"));
}

fn assert_reported_interrupted(bed: &ScratchTarget) -> Finished {
    let rows = list(bed);
    assert_eq!(rows[0]["status"], "interrupted");
    assert!(rows[0]["per_second_max"].as_f64().unwrap() > 0.0);
    let report = bed.run(&["report", "last"]);
    assert!(
        report.stdout.contains("the run was killed"),
        "{}",
        report.text()
    );
    report
}

#[test]
fn a_killed_run_is_interrupted_and_has_its_intervals() {
    let bed = bed();
    let mut child = start(&bed, &store_path(&bed), "60s");
    let rows = list(&bed);
    assert_eq!(rows[0]["status"], "running");
    bed.run(&["runs", "rm", "last"])
        .assert_refused(2, &["still running"]);
    bed.wait_for_intervals(2);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_reported_interrupted(&bed);
    let exported = bed.run(&["runs", "export", "last"]).stdout;
    let record: Value = serde_json::from_str(&exported).unwrap();
    let cell = &record["cells"][0];
    assert!(cell["intervals"].as_array().unwrap().len() >= 2, "{cell}");
    assert_eq!(record["finished_at"], Value::Null);
    // Its record can be imported into another store like any other.
    let other = self::bed();
    other.file("killed.json", &exported);
    other
        .run(&["runs", "import", "killed.json"])
        .assert_says(0, &[]);
    assert_eq!(other.run(&["runs", "export", "last"]).stdout, exported);
    bed.run(&["runs", "rm", "last"]).assert_says(0, &[]);
    assert!(list(&bed).is_empty());
}

#[test]
fn two_runs_at_once_share_a_store() {
    let bed = bed();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let output = bed.run(&["run", "null.toml", "--quiet", "--run-time", "2s"]);
                assert_eq!(output.code, 0, "{}", output.text());
            });
        }
    });
    let rows = list(&bed);
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().all(|row| row["status"] == "complete"),
        "{rows:?}"
    );
}

#[test]
fn an_unreachable_home_is_reported() {
    let bed = bed();
    let mut command = bed.command(&["run", "null.toml", "--quiet"]);
    command.env_remove("PGMETER_DB").env_remove("HOME");
    let output = end_to_end::finish(&mut command);
    output.assert_says(1, &["`HOME` is not set", "--db FILE"]);
    let mut command = bed.command(&["runs"]);
    command.env_remove("PGMETER_DB").env_remove("HOME");
    end_to_end::finish(&mut command).assert_refused(3, &["`HOME` is not set"]);
}

#[test]
fn the_store_of_a_user_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let bed = bed();
    let mut command = bed.command(&["run", "null.toml", "--quiet"]);
    command.env_remove("PGMETER_DB");
    assert_eq!(end_to_end::finish(&mut command).code, 0);
    let directory = bed.path().join(".local/share/pgmeter");
    assert!(directory.join("results.db").is_file());
    let mode = std::fs::metadata(directory).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_killed_run_of_repetitions_until_precise_leaves_a_store_that_can_be_read() {
    let bed = bed();
    let line = [
        "run",
        "null.toml",
        "--run-time",
        "300ms",
        "--repetitions",
        "auto",
    ];
    let more = [
        "--precision",
        "0.0001%",
        "--budget",
        "5m",
        "--quiet",
        "--no-html",
    ];
    let mut child = bed.start(&[&line[..], &more[..]].concat());
    let cell_count = || {
        list(&bed)
            .first()
            .and_then(|run| run["cell_count"].as_u64())
    };
    end_to_end::wait_for("some repetitions", || cell_count() >= Some(4));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_reported_interrupted(&bed);
    let exported = bed.run(&["runs", "export", "last"]).stdout;
    let record: Value = serde_json::from_str(&exported).unwrap();
    let cells = record["cells"].as_array().unwrap();
    let complete = cells.iter().filter(|cell| cell["status"] == "complete");
    assert!(complete.count() >= 4, "{exported}");
    bed.file("killed.json", &exported);
    bed.run(&["compare", "killed.json", "killed.json"])
        .assert_says(0, &[]);
    bed.run(&["compare", "last", "@-1"])
        .assert_refused(2, &["`last` and `@-1` are the same run"]);
    // The store takes the next run.
    run(&bed);
    assert_eq!(list(&bed).len(), 2);
}

#[test]
fn a_run_of_a_pack_is_listed_under_the_name_of_the_pack() {
    let bed = bed();
    let pack = "name = \"both\"\nengine = \"null\"\nrun_time = \"20ms\"\nramp_time = 0\n\
        [[part]]\nname = \"one\"\nuse = \"oltp\"\n[[part]]\nname = \"two\"\nuse = \"oltp\"\n";
    bed.file("both.toml", pack);
    bed.run(&["run", "both.toml", "--quiet", "--no-html"])
        .assert_says(0, &[]);
    assert_eq!(list(&bed)[0]["workloads"], serde_json::json!(["both"]));
    let output = bed.run(&["runs", "--workload", "both", "--json"]).stdout;
    assert!(output.contains("\"both\""), "{output}");
}

#[test]
fn a_run_in_another_container_counts_as_running_and_is_not_removed() {
    let bed = bed();
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
    let run = bed.command(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--run-time",
        "60s",
    ]);
    command.arg(run.get_program()).args(run.get_args());
    command.envs(
        run.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.current_dir(bed.path());
    if !rustix::process::geteuid().is_root() {
        skip!("a namespace of process numbers needs root");
    }
    let mut child = command.spawn().unwrap();
    let is = |status: &str| {
        let runs = bed.listed(&[]);
        runs.first().is_some_and(|run| run["status"] == status)
    };
    wait_for("the run", || is("running"));
    bed.run(&["runs", "rm", "last"])
        .assert_refused(2, &["is still running"]);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("its end", || is("interrupted"));
    assert_eq!(bed.run(&["runs", "rm", "last"]).code, 0);
}

#[test]
fn a_umask_of_777_does_not_lock_a_run_out_of_its_files() {
    let bed = bed();
    let mut command = Command::new("sh");
    let run = bed.command(&[
        "run",
        "null.toml",
        "--quiet",
        "--no-html",
        "--json",
        "o.json",
    ]);
    let script = "umask 0777; \"$@\" && \"$0\" runs && \"$0\" report o.json";
    command.args(["-c", script]).arg(run.get_program());
    command.arg(run.get_program()).args(run.get_args());
    command.envs(
        run.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = finish(command.current_dir(bed.path()));
    assert_eq!(output.code, 0, "{}", output.text());
    for name in ["o.json", STORE, ".store"] {
        let mode = std::fs::metadata(bed.path().join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o600, 0o600, "{name}: {mode:o}");
    }
}
