//! Pages: where they go that nobody named, what happens where they cannot go, and who shows them;
//! and outputs whose format their name tells.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use end_to_end::{Finished, REPORTS, ScratchTarget, finish, names_in};
use serde_json::Value;

const SMALL: &str = "size = \"4m\"\ncache = \"buffered\"\n[[access_spec]]\nname = \"Mixed\"\n\
    line = [{ size = \"4k\", read = 70, random = 100 }]\n";
/// Touches nothing.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"100ms\"\nramp_time = \"0s\"\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\" }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.toml", SMALL);
    bed.file("null.toml", NULL);
    bed
}

fn reports(bed: &ScratchTarget) -> PathBuf {
    bed.path().join(REPORTS)
}

/// The only page in a directory.
fn only_page(directory: &Path) -> PathBuf {
    let names = names_in(directory);
    assert_eq!(names.len(), 1, "{names:?} in {}", directory.display());
    directory.join(&names[0])
}

/// Runs the program in an empty directory, which it is to leave empty.
fn run_in_empty(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let empty = bed.path().join("empty");
    fs::create_dir_all(&empty).unwrap();
    let output = finish(bed.command(arguments).current_dir(&empty));
    assert_eq!(names_in(&empty), [""; 0], "{}", output.text());
    output
}

fn run_null(bed: &ScratchTarget, more: &[&str]) -> Finished {
    let output = bed.run(&[&["run", "null.toml"], more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    output
}

/// A program that keeps what it was started with in the file `seen`.
fn browser(bed: &ScratchTarget, code: i32) -> String {
    let log = bed.path().join("seen").display().to_string();
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{log}'\nexit {code}\n");
    bed.script("browser", script)
}

fn run_with_browser(bed: &ScratchTarget, browser: &str, arguments: &[&str]) -> Finished {
    finish(bed.command(arguments).env("BROWSER", browser))
}

#[test]
fn a_run_without_arguments_leaves_nothing_in_the_current_directory() {
    let bed = bed();
    let short = ["--run-time", "30ms", "--ramp-time", "0s", "--size", "4m"];
    let output = run_in_empty(&bed, &[&["run"][..], &short].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let page = only_page(&reports(&bed));
    let last = output.stdout.lines().last().unwrap();
    assert_eq!(last, format!("report: {}", page.display()));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>"));
}

#[test]
fn reports_are_stored_next_to_the_store() {
    let bed = bed();
    run_null(&bed, &["--db", "other/mine.db", "--quiet"]);
    only_page(&bed.path().join("other/reports"));
    // In the user's own data directory only the user finds them.
    let mut command = bed.command(&["run", "null.toml"]);
    let output = finish(command.env_remove("PGMETER_DB"));
    assert_eq!(output.code, 0, "{}", output.text());
    let own = bed.path().join(".local/share/pgmeter/reports");
    only_page(&own);
    let mode = fs::metadata(&own).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    // A run that is not stored has its page all the same.
    run_null(&bed, &["--no-db", "--quiet"]);
    only_page(&reports(&bed));
}

#[test]
fn the_report_directory_is_set_by_option_or_environment() {
    let bed = bed();
    run_null(&bed, &["--report-dir", "deep/er"]);
    let content = fs::read_to_string(only_page(&bed.path().join("deep/er"))).unwrap();
    assert!(content.contains("Nothing"));
    for (value, directory) in [("by-name", bed.path().join("by-name")), ("", reports(&bed))] {
        let mut command = bed.command(&["run", "null.toml"]);
        let output = finish(command.env("PGMETER_REPORTS", value));
        assert_eq!(output.code, 0, "{}", output.text());
        let page = only_page(&directory);
        assert!(
            output
                .stdout
                .contains(&format!("report: {}", page.display())),
            "{}",
            output.text()
        );
    }
}

#[test]
fn a_page_can_be_turned_off_or_renamed() {
    let bed = bed();
    for option in ["--no-html", "--no-report"] {
        let output = bed.measure(&["small.toml", option]);
        assert!(!reports(&bed).exists(), "{}", output.text());
        assert!(!output.text().contains("report:"), "{}", output.text());
    }
    let output = bed.measure(&["small.toml", "--html", "mine.html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(!reports(&bed).exists());
    let page = bed.path().join("mine.html");
    assert!(page.is_file());
    let last = output.stdout.lines().last().unwrap();
    assert_eq!(last, format!("report: {}", page.display()));
}

#[test]
fn a_document_on_standard_output_is_not_mixed_with_the_page_path() {
    let bed = bed();
    let output = bed.measure(&["small.toml", "--json", "-"]);
    serde_json::from_str::<Value>(&output.stdout).unwrap();
    let page = only_page(&reports(&bed));
    assert!(
        output
            .stderr
            .contains(&format!("report: {}", page.display())),
        "{}",
        output.text()
    );
    let output = bed.measure(&["small.toml", "--json", "-", "--html", "-"]);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output
            .stderr
            .contains("`--json -` and `--html -` cannot both use"),
        "{}",
        output.text()
    );
}

#[test]
fn a_page_that_cannot_be_written_is_a_warning_unless_it_was_named() {
    let bed = bed();
    // Nobody makes directories there, not even root.
    let output = run_null(&bed, &["--report-dir", "/proc/reports"]);
    for said in ["warning: there is no page", "/proc/reports", "help: "] {
        assert!(output.stderr.contains(said), "{}", output.text());
    }
    assert!(!output.stdout.contains("report:"), "{}", output.text());
    let homeless = finish(
        bed.command(&["run", "null.toml", "--no-db"])
            .env_remove("PGMETER_DB")
            .env_remove("HOME"),
    );
    homeless.assert_says(0, &["warning: there is no page", "HOME"]);
    bed.run(&["run", "null.toml", "--html", "/proc/mine.html"])
        .assert_refused(2, &["/proc/mine.html"]);
}

/// Ordinary users may measure what is mounted already, so this needs nothing.
fn lab(bed: &ScratchTarget, more: &[&str]) -> Finished {
    let fs = format!("path:{}", bed.target().display());
    let labs = bed.path().join("labs").display().to_string();
    let small = ["--set", "count=20", "--set", "sizes=4096"];
    let run = ["lab", "run", "create-remove", "--fs", &fs, "--dir", &labs];
    let often = ["--repetitions", "2"];
    let output = bed.run(&[&run[..], &small, &often, more].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    output
}

#[test]
fn pages_of_labs_and_experiments_are_stored_with_the_reports() {
    let bed = bed();
    let before = names_in(bed.path());
    let output = lab(&bed, &[]);
    let page = only_page(&reports(&bed));
    let name = page.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("pgmeter-lab-2"), "{name}");
    assert!(
        output
            .stderr
            .contains(&format!("report: {}", page.display())),
        "{}",
        output.text()
    );
    fs::remove_file(&page).unwrap();
    let target = bed.target().display().to_string();
    let line = ["paper", "run", "lfs-create-remove", "--target", &target];
    let output = bed.run(&[&line[..], &["--scale", "0.001"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let page = only_page(&reports(&bed));
    let name = page.file_name().unwrap().to_string_lossy().into_owned();
    assert!(name.starts_with("pgmeter-lfs-create-remove-2"), "{name}");
    let mut after = names_in(bed.path());
    after.retain(|name| !before.contains(name) && name != "labs");
    assert_eq!(after, [".store"]);

    lab(&bed, &["--html", "lab.html", "--quiet"]);
    assert!(bed.path().join("lab.html").is_file());
    fs::remove_file(&page).unwrap();
    lab(&bed, &["--no-html", "--quiet"]);
    lab(&bed, &["--format", "html", "-o", "table.html", "--quiet"]);
    assert_eq!(names_in(&reports(&bed)), [""; 0]);
    let fs = format!("path:{target}");
    bed.run(&["lab", "run", "oltp", "--fs", &fs, "--html", "-"])
        .assert_refused(2, &["standard output is for the table"]);
}

#[test]
fn a_report_is_shown_in_the_browser_and_its_path_is_printed() {
    let bed = bed();
    run_null(&bed, &["--no-html"]);
    let own = browser(&bed, 0);
    let output = run_with_browser(&bed, &own, &["report", "--open"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let page = only_page(&reports(&bed));
    assert_eq!(output.stdout, format!("{}\n", page.display()));
    let shown = || fs::read_to_string(bed.path().join("seen")).unwrap();
    assert_eq!(shown(), format!("{}\n", page.display()));
    // Again it is the same page; the first of several browsers is none.
    let several = format!("/no/such:{own} --new-tab %s --x");
    let output = run_with_browser(&bed, &several, &["report", "last", "--open"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(only_page(&reports(&bed)), page);
    assert_eq!(shown(), format!("--new-tab\n{}\n--x\n", page.display()));
    let mine = bed.path().join("mine.html");
    let output = run_with_browser(&bed, &own, &["report", "--open", "-o", "mine.html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(shown(), format!("{}\n", mine.display()));
}

#[test]
fn labs_and_several_runs_are_shown_too() {
    let bed = bed();
    let own = browser(&bed, 0);
    run_null(&bed, &["--no-html"]);
    run_null(&bed, &["--no-html"]);
    let output = run_with_browser(&bed, &own, &["report", "@-2", "last", "--open"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let page = fs::read_to_string(output.stdout.trim()).unwrap();
    assert!(page.contains("2 runs compared"));
    lab(&bed, &["--no-html", "--json", "lab.json"]);
    let record: Value =
        serde_json::from_slice(&fs::read(bed.path().join("lab.json")).unwrap()).unwrap();
    for name in [record["id"].as_str().unwrap(), "lab.json"] {
        let output = run_with_browser(&bed, &own, &["report", name, "--open"]);
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(output.stdout.contains("pgmeter-lab-2"), "{}", output.text());
    }
    let output = run_with_browser(&bed, &own, &["run", "null.toml", "--open"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let shown = fs::read_to_string(bed.path().join("seen")).unwrap();
    assert!(
        output.stdout.contains(&format!("report: {shown}")),
        "{}",
        output.text()
    );
}

#[test]
fn without_a_browser_the_path_and_the_reason_are_printed() {
    let bed = bed();
    run_null(&bed, &["--no-html"]);
    let output = bed.run(&["report", "--open"]);
    output.assert_refused(3, &["there is no display for a browser", "`BROWSER`"]);
    let page = only_page(&reports(&bed));
    assert_eq!(output.stdout, format!("{}\n", page.display()));
    let broken = browser(&bed, 7);
    let output = run_with_browser(&bed, &broken, &["report", "--open"]);
    output.assert_refused(3, &["could not show the page", "exit status: 7"]);
    // A run is none the worse for it.
    let output = bed.run(&["run", "null.toml", "--open"]);
    output.assert_says(0, &["warning: there is no display", "help: "]);
    let mut command = bed.command(&["report", "--open"]);
    command.env("DISPLAY", ":7").env("PATH", "/no/such");
    finish(&mut command).assert_refused(3, &["`xdg-open` (package `xdg-utils`) is not installed"]);
    bed.run(&["report", "--open", "--format", "csv"])
        .assert_refused(2, &["`--open` shows an HTML page"]);
    bed.run(&["report", "--open", "-o", "a.md"])
        .assert_refused(2, &["`--open` shows an HTML page"]);
}

/// Names of outputs, with what each begins with.
type OutputPrefixes<'a> = &'a [(&'a str, &'a str)];

#[test]
fn the_name_of_an_output_determines_its_format() {
    let bed = bed();
    lab(&bed, &["--no-html", "-o", "run.json"]);
    run_null(&bed, &["--no-html"]);
    run_null(&bed, &["--no-html"]);
    let beginning = |name: &str| {
        let text = fs::read_to_string(bed.path().join(name)).unwrap();
        text.chars().take(40).collect::<String>()
    };
    let cases: [(&[&str], OutputPrefixes); 4] = [
        (
            &["report"],
            &[
                ("r.html", "<!DOCTYPE html>"),
                ("r.md", "# "),
                ("r.csv", "run,"),
                ("r.json", "{\n  \"format\": \"pgmeter-record/2\""),
                ("r.txt", "pgmeter "),
                ("r", "pgmeter "),
            ],
        ),
        (
            &["compare", "@-2", "last"],
            &[
                ("c.html", "<!DOCTYPE html>"),
                ("c.md", "# "),
                ("c.json", "{"),
            ],
        ),
        (
            &["lab", "report"],
            &[
                ("l.html", "<!DOCTYPE html>"),
                ("l.csv", "section,"),
                ("l.json", "{\n  \"format\": \"pgmeter-lab/2\""),
            ],
        ),
        (
            &["paper", "show", "lfs-postmark"],
            &[("p.html", "<!DOCTYPE html>"), ("p.md", "# "), ("p.txt", "")],
        ),
    ];
    for (command, outputs) in cases {
        for (name, begins) in outputs {
            let output = bed.run(&[command, &["-o", name]].concat());
            assert_eq!(output.code, 0, "{command:?} {name}: {}", output.text());
            assert!(
                beginning(name).starts_with(begins),
                "{name}: {}",
                beginning(name)
            );
        }
    }
    assert!(beginning("run.json").starts_with("{\n  \"format\": \"pgmeter-lab/2\""));
    bed.run(&["report", "-o", "i.csv", "--format", "iometer-csv"])
        .assert_says(0, &[]);
    bed.run(&["report", "-o", "x.page", "--format", "html"])
        .assert_says(0, &[]);
    assert!(beginning("x.page").starts_with("<!DOCTYPE html>"));
}

#[test]
fn an_output_name_with_another_format_or_none_is_refused_early() {
    let bed = bed();
    run_null(&bed, &["--no-html"]);
    for (arguments, phrases) in [
        (
            &["report", "-o", "a.html", "--format", "csv"][..],
            &[
                "`--format csv` contradicts the file name `a.html`",
                "`.csv`",
            ][..],
        ),
        (
            &["report", "-o", "a.pdf"],
            &["writes no `.pdf`", "`.txt`, `.md`, `.html`", "`--format`"],
        ),
        (
            &["compare", "last", "last", "-o", "a.csv"],
            &["writes no `.csv`", "`.html`, `.json`"],
        ),
        (
            &["lab", "run", "oltp", "--fs", "tmpfs", "-o", "a.pdf"],
            &["writes no `.pdf`"],
        ),
        (
            &["paper", "show", "lfs-postmark", "-o", "a.pdf"],
            &["writes no `.pdf`"],
        ),
    ] {
        bed.run(arguments).assert_refused(2, phrases);
    }
    for name in ["a.html", "a.pdf", "a.csv"] {
        assert!(!bed.path().join(name).exists(), "{name}");
    }
}
