//! The program from outside: what it prints, where, and its exit codes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::ScratchTarget;
use serde_json::Value;

const SMALL: &str = "size = \"4m\"\ncache = \"buffered\"\n[[access_spec]]\nname = \"Mixed\"\n\
    line = [{ size = \"4k\", read = 70, random = 100 }]\n";

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.toml", SMALL);
    bed
}

#[test]
fn help_and_version_exit_with_0() {
    let bed = bed();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["help"],
        &["run", "--help"],
    ] {
        let output = bed.run(arguments);
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(output.stdout.contains("pgmeter"), "{}", output.text());
    }
}

#[test]
fn verbose_version_lists_build_and_system_details() {
    let bed = bed();
    let plain = bed.run(&["--version"]);
    assert_eq!(plain.stdout.lines().count(), 1, "{}", plain.text());
    for arguments in [&["--version", "-v"][..], &["-v", "--version"], &["-Vv"]] {
        let output = bed.run(arguments);
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(
            output.stdout.starts_with(&plain.stdout),
            "{}",
            output.text()
        );
        for line in ["build", "features", "kernel", "io_uring", "libmpi"] {
            let has = |text: &str| text.starts_with(&format!("{line} "));
            assert!(output.stdout.lines().any(has), "{line}: {}", output.text());
        }
    }
    bed.run(&["-v", "list"]).assert_refused(2, &["--version"]);
}

#[test]
fn list_names_the_built_in_workloads_and_packs() {
    let output = bed().run(&["list"]);
    let names = [
        "oltp",
        "workstation",
        "file-server",
        "web-server",
        "pgmeter-paper",
        "quick",
    ];
    for name in names {
        assert!(output.stdout.contains(name), "{}", output.text());
    }
    for line in [
        "pgmeter",
        "the pgmeter paper",
        "PostMark",
        "LFS project",
        "Iometer",
        "other programs, emulated by `pgmeter as NAME ARGUMENTS`",
    ] {
        assert!(
            output.stdout.lines().any(|it| it == line),
            "{line}: {}",
            output.text()
        );
    }
    assert!(
        output
            .stdout
            .contains("; `run` takes a filebench workload\n")
    );
}

#[test]
fn a_workload_file_is_parsed_as_the_requested_kind() {
    let bed = bed();
    let script = "define fileset name=box,path=/x,entries=5,prealloc\n\
                  define process name=p { thread name=t {\n\
                  flowop statfile name=look,filesetname=box } }\nrun 1\n";
    bed.file("box.txt", script);
    for kind in ["filebench", "dbench", "toml"] {
        let output = bed.run(&["check", "box.txt", "--as", kind]);
        let is_its = kind == "filebench";
        assert_eq!(
            output.code,
            if is_its { 0 } else { 2 },
            "{kind}: {}",
            output.text()
        );
    }
    bed.run(&["check", "box.txt", "--as", "wml"])
        .assert_refused(2, &["--as", "filebench", "postmark"]);
}

#[test]
fn every_listed_name_can_be_shown_and_checked() {
    let bed = bed();
    let names = bed.run(&["list", "--names"]);
    assert!(names.stdout.lines().count() >= 6, "{}", names.text());
    for name in names.stdout.lines() {
        for command in ["show", "check"] {
            let output = bed.run(&[command, name]);
            assert_eq!(output.code, 0, "{command} {name}: {}", output.text());
            assert!(!output.stdout.is_empty(), "{command} {name}");
        }
    }
}

#[test]
fn the_paper_has_78_cells() {
    let output = bed().run(&["check", "pgmeter-paper", "--json"]);
    let plan: Value = serde_json::from_str(&output.stdout).unwrap();
    let cells = plan.get("cells").or_else(|| plan.pointer("/plan/cells"));
    assert_eq!(
        cells.and_then(Value::as_array).map(Vec::len),
        Some(78),
        "{}",
        output.stderr
    );
}

#[test]
fn checking_touches_nothing() {
    let bed = bed();
    let target = bed.target().to_string_lossy().into_owned();
    let output = bed.run(&["check", "small.toml", "--target", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(bed.left_in_target().is_empty());
    assert_eq!(end_to_end::names_in(bed.path()), ["small.toml", "target"]);
}

#[test]
fn a_run_prints_a_table_and_leaves_nothing() {
    let bed = bed();
    let output = bed.measure(&["small.toml"]);
    assert_eq!(output.code, 0, "{}", output.text());
    for word in ["read", "write", "IOPS", "MiB/s", "p99"] {
        assert!(
            output.stdout.contains(word),
            "no `{word}` in\n{}",
            output.text()
        );
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_table_fits_into_80_columns() {
    let output = bed().measure(&["small.toml"]);
    // The path of the page is never broken, because users copy it.
    let is_path = |line: &&str| line.starts_with("report: ");
    for line in output.stdout.lines().filter(|line| !is_path(line)) {
        assert!(
            line.chars().count() <= 80,
            "{} columns: {line}",
            line.chars().count()
        );
    }
    assert!(!output.text().contains('\u{1b}'), "colors in a pipe");
}

#[test]
fn quiet_prints_nothing_during_the_run() {
    let output = bed().measure(&["small.toml", "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(!output.stderr.contains("IOPS"), "{}", output.text());
}

#[test]
fn the_record_is_one_json_document_with_consistent_figures() {
    let bed = bed();
    let (finished, record) = bed.record(&["small.toml"]);
    assert_eq!(finished.code, 0, "{}", finished.text());
    assert_eq!(record["format"], "pgmeter-record/2");
    assert_eq!(record["status"], "complete");
    let cell = &record["cells"][0];
    let count = |name: &str| cell["operations"][name]["count"].as_u64().unwrap();
    let total = &cell["total"];
    assert_eq!(
        count("read") + count("write"),
        total["count"].as_u64().unwrap()
    );
    assert_eq!(total["errors"], 0);
    assert_eq!(
        total["bytes"].as_u64().unwrap(),
        total["count"].as_u64().unwrap() * 4096
    );
    let seconds = cell["run_time_ns"].as_f64().unwrap() / 1e9;
    let rate = total["count"].as_f64().unwrap() / seconds;
    assert!((rate / total["per_second"].as_f64().unwrap() - 1.0).abs() < 0.01);
    let all = total["count"].as_f64().unwrap();
    let share = count("read") as f64 / all;
    // Five standard deviations of so many as there were.
    let off_max = 5.0 * (0.7 * 0.3 / all).sqrt();
    assert!(
        (share - 0.7).abs() <= off_max,
        "70 % were asked to read, {share} of {all} did"
    );
    let latency = |name: &str| total["latency"][name].as_f64().unwrap();
    assert!(latency("min_ns") <= latency("mean_ns") && latency("mean_ns") <= latency("max_ns"));
}

#[test]
fn the_same_seed_makes_the_same_operations() {
    let bed = bed();
    let run = || {
        // A ramp would use up as much of the stream as its time allows.
        let ends = [
            "--operations",
            "100000",
            "--run-time",
            "0",
            "--ramp-time",
            "0",
        ];
        let arguments = [&["small.toml", "--engine", "null"][..], &ends].concat();
        let (_, record) = bed.record(&arguments);
        record["cells"][0]["operations"]["read"]["count"]
            .as_u64()
            .unwrap()
    };
    let first = run();
    assert_eq!(first, run());
    assert!((69_000..71_000).contains(&first), "{first}");
}

#[test]
fn plan_settings_record_their_source() {
    let (_, record) = bed().record(&["small.toml", "--iodepth", "4"]);
    let settings = record["plan"]["settings"].as_array().unwrap();
    let source = |key: &str| {
        let setting = settings.iter().find(|setting| setting["key"] == key);
        setting.map(|setting| setting["source"].as_str().unwrap().to_owned())
    };
    assert_eq!(source("iodepth").as_deref(), Some("option"));
    assert_eq!(source("size").as_deref(), Some("written"));
    assert_eq!(source("seed").as_deref(), Some("default"));
}

#[test]
fn a_list_of_depths_makes_one_cell_per_depth() {
    let (_, record) = bed().record(&["small.toml", "--iodepth", "1,2,8", "--repetitions", "2"]);
    let depths: Vec<u64> = record["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cell| cell["iodepth"].as_u64().unwrap())
        .collect();
    assert_eq!(depths.len(), 6, "{depths:?}");
    assert_eq!(depths.iter().filter(|depth| **depth == 8).count(), 2);
}

#[test]
fn csv_has_the_80_columns_of_iometer() {
    let bed = bed();
    let output = bed.measure(&["small.toml", "--csv", "out.csv"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let text = std::fs::read_to_string(bed.path().join("out.csv")).unwrap();
    let header = text
        .lines()
        .find(|line| line.contains("Target Type"))
        .unwrap();
    assert_eq!(header.split(',').count(), 80, "{header}");
}

#[test]
fn a_saved_record_reports_the_same_as_its_run_printed() {
    let bed = bed();
    let output = bed.measure(&["small.toml", "--json", "saved.json", "--quiet", "--no-html"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let report = bed.run(&["report", "saved.json"]);
    assert_eq!(report.code, 0, "{}", report.text());
    // A run ends with the verdict, because a terminal shows the end; a report begins with it.
    let (tables, verdict) = output.stdout.split_once("\n\nverdict\n").unwrap();
    let (head, tables) = tables.split_once("\n\n").unwrap();
    let verdict = verdict.trim();
    // Only a stored run needs to say how it is repeated.
    let (before, after) = report.stdout.trim().split_once("\nrepeat: ").unwrap();
    let (_, after) = after.split_once("\n\n").unwrap();
    let wanted = format!("{head}\n\nverdict\n{verdict}\n\nresults\n{tables}");
    assert_eq!(format!("{before}\n\n{after}"), wanted);
}

#[test]
fn kept_files_are_reused_and_cleaned() {
    let bed = bed();
    assert_eq!(bed.measure(&["small.toml", "--keep"]).code, 0);
    let kept = bed.left_in_target();
    assert!(!kept.is_empty());
    assert_eq!(bed.measure(&["small.toml", "--keep"]).code, 0);
    assert_eq!(bed.left_in_target(), kept);
    std::fs::write(bed.target().join("mine"), "precious").unwrap();
    let output = bed.run(&["clean", &bed.target().to_string_lossy()]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(bed.left_in_target(), ["mine"]);
}

#[test]
fn cleaning_a_directory_without_leftovers_succeeds() {
    let bed = bed();
    let output = bed.run(&["clean", &bed.target().to_string_lossy()]);
    assert_eq!(output.code, 0, "{}", output.text());
}

#[test]
fn converting_to_icf_and_back_keeps_the_description() {
    let bed = bed();
    let icf = bed.run(&["convert", "file-server", "--to", "icf"]);
    assert_eq!(icf.code, 0, "{}", icf.text());
    bed.file("again.icf", &icf.stdout);
    let again = bed.run(&["convert", "again.icf", "--to", "icf"]);
    assert_eq!(icf.stdout, again.stdout, "{}", again.stderr);
}

#[test]
fn doctor_describes_this_machine() {
    let bed = bed();
    let output = bed.run(&["doctor", &bed.target().to_string_lossy()]);
    assert_eq!(output.code, 0, "{}", output.text());
    for word in ["io_uring", "clock"] {
        assert!(
            output.stdout.contains(word),
            "no `{word}` in\n{}",
            output.text()
        );
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn completions_and_the_manual_are_printed() {
    let bed = bed();
    for shell in ["bash", "zsh", "fish"] {
        let output = bed.run(&["completions", shell]);
        assert!(
            output.code == 0 && output.stdout.contains("pgmeter"),
            "{}",
            output.text()
        );
    }
    let pages = bed.run(&["man", "--list"]).stdout;
    assert!(pages.lines().count() > 15, "{pages}");
    for page in pages.lines() {
        let command = page.strip_prefix("pgmeter-");
        let words: Vec<&str> = ["man"].into_iter().chain(command).collect();
        let output = bed.run(&words);
        let head = format!(".TH {page} 1");
        assert!(
            output.code == 0 && output.stdout.contains(&head),
            "{}",
            output.text()
        );
        assert!(output.stdout.contains(".SH EXAMPLES"), "{}", output.text());
    }
    bed.run(&["man", "rnu"])
        .assert_refused(2, &["there is no command `rnu`", "help: "]);
}

#[test]
fn a_closed_pipe_does_not_panic() {
    let bed = bed();
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("'{program}' show pgmeter-paper | head -n 1")]);
    let output = end_to_end::finish(&mut command);
    assert!(!output.stderr.contains("panicked"), "{}", output.text());
}

const NEW_FILE: &str = "size = \"4m\"\nnew_file = true\ncache = \"buffered\"\n\
    [[access_spec]]\nname = \"First\"\nline = [{ size = \"64k\", read = 0, random = 0 }]\n";

#[test]
fn a_new_file_grows_while_written_and_is_kept_on_request() {
    let bed = bed();
    bed.file("new.toml", NEW_FILE);
    let target = bed.target().to_string_lossy().into_owned();
    let line = [
        "run", "new.toml", "--target", &target, "--json", "-", "--quiet",
    ];
    let output = bed.run(&[&line[..], &["--no-html", "--keep"]].concat());
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(record["cells"][0]["operations"]["write"]["count"], 64);
    let path = bed.target().join("pgmeter.work/test-0.dat");
    assert_eq!(std::fs::metadata(path).unwrap().len(), 4 << 20);
    bed.run(&["clean", &target]).assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), [""; 0]);
}

#[test]
fn options_that_conflict_with_a_new_file_are_refused() {
    let bed = bed();
    bed.file("new.toml", NEW_FILE);
    for (more, said) in [
        (&["--ramp-time", "1s"][..], "ramp"),
        (&["--engine", "mmap"], "mapping"),
        (&["--verify"], "stamps"),
        (&["--workers", "2"], "workers"),
        (&["--until", "steady"], "only once"),
        (&["--precondition", "1x"], "is not new"),
    ] {
        bed.run(&[&["check", "new.toml"], more].concat())
            .assert_refused(2, &[said, "new_file"]);
    }
    bed.file("reads.toml", NEW_FILE.replace("read = 0", "read = 50"));
    bed.run(&["check", "reads.toml"])
        .assert_refused(2, &["only written", "read = 0"]);
}
