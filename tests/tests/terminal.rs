//! Output on terminals: no line is too wide, finished parts stay visible, and keys work.

use std::process::Command;

use end_to_end::{ScratchTarget, Shell, need, run_on_terminal, shown_lines, too_wide, wait_for};
use serde_json::Value;

/// The widths at which everything is to fit.
const WIDTHS: [usize; 3] = [40, 80, 200];

/// Two cells in the page cache.
const TWO_DEPTHS: [&str; 14] = [
    "run",
    "--rw",
    "randread",
    "--bs",
    "4k",
    "--iodepth",
    "1,4",
    "--size",
    "4m",
    "--cache",
    "buffered",
    "--ramp-time",
    "0",
    "--no-html",
];

/// A run of two cells, each for `run_time`.
fn two_depths(bed: &ScratchTarget, run_time: &str, more: &[&str]) -> Command {
    let target = bed.target().to_string_lossy().into_owned();
    let own = ["--target", &target, "--run-time", run_time];
    bed.command(&[&TWO_DEPTHS[..], &own, more].concat())
}

/// A lab and a published experiment on a directory, with next to nothing to do.
fn small_labs(bed: &ScratchTarget) -> [Vec<String>; 2] {
    let target = bed.target().to_string_lossy().into_owned();
    let choice = format!("path:{target}");
    let lab = ["lab", "run", "create-remove", "--fs", &choice, "--no-html"];
    let lab = [&lab[..], &["--repetitions", "2", "--set", "count=50"]].concat();
    let paper = ["paper", "run", "lfs-postmark", "--target", &target];
    let paper = [&paper[..], &["--scale", "0.0001"]].concat();
    [lab, paper].map(|words| words.into_iter().map(str::to_owned).collect())
}

/// Every command that prints something for people and is done soon.
const PRINTING_COMMANDS: &[&str] = &[
    "--help",
    "--version",
    "run --help",
    "check --help",
    "compare --help",
    "lab run --help",
    "lab recover --help",
    "paper run --help",
    "runs --help",
    "selftest --help",
    "list",
    "keys",
    "keys iodepth",
    "show last",
    "show last --all",
    "report last",
    "runs",
    "runs show last",
    "check quick -t target",
    "check --rw randread -t target",
    "check postmark -t target",
    "compare @-2 last",
    "compare last --published lfs-postmark",
    "paper list",
    "lab list",
    "doctor target",
    "clean target",
    // Refusals must also fit.
    "run nosuch",
    "run --nosuch",
    "run quick -t /nosuch/directory/with/a/name/that/is/longer/than/forty/columns",
    "show nosuch",
    "keys nosuchkeyatall",
    "compare last last",
];

#[test]
fn everything_that_is_printed_fits_the_terminal() {
    let bed = ScratchTarget::new().unwrap();
    let repeated = ["--repetitions", "2", "--quiet"];
    let first = end_to_end::finish(&mut two_depths(&bed, "200ms", &repeated));
    assert_eq!(first.code, 0, "{}", first.text());
    let mut wide = Vec::new();
    for columns in WIDTHS {
        let mut check = |command: &Command| -> bool {
            let Ok(output) = run_on_terminal(command, columns) else {
                return false;
            };
            assert!(!output.stdout.contains("panicked"), "{}", output.text());
            assert!(
                !output.stdout.trim().is_empty(),
                "{command:?} prints nothing"
            );
            let lines = too_wide(&output.stdout, columns);
            wide.extend(lines.iter().take(5).map(|line| {
                let words: Vec<_> = command.get_args().collect();
                format!("{columns}: {words:?}: {line}")
            }));
            true
        };
        if !check(&two_depths(&bed, "300ms", &["--repetitions", "2"])) {
            end_to_end::skip!("`script` is not installed");
        }
        for words in small_labs(&bed) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            check(&bed.command(&words));
        }
        let target = bed.target().to_string_lossy().into_owned();
        let both = [
            "compare",
            "--target",
            &target,
            "--target",
            &target,
            "--repetitions",
            "2",
        ];
        let short = ["--run-time", "100ms", "--ramp-time", "0", "--size", "1m"];
        let workload = ["--cache", "buffered", "randread-4k"];
        check(&bed.command(&[&both[..], &short, &workload].concat()));
        for line in PRINTING_COMMANDS {
            let words: Vec<&str> = line.split(' ').collect();
            check(&bed.command(&words));
        }
    }
    assert_eq!(wide, [""; 0], "{}", wide.join("\n"));
}

/// The lines of finished cells, without their figures.
fn places(lines: &[String]) -> Vec<String> {
    let cell_lines = lines.iter().filter(|line| line.contains("p99"));
    let finished = cell_lines.filter(|line| !line.contains(" left"));
    let mut labels: Vec<String> = finished
        .map(|line| line.split("  ").take(2).collect::<Vec<_>>().join(" "))
        .collect();
    labels.dedup();
    labels
}

#[test]
fn a_line_stays_for_each_finished_cell() {
    let bed = ScratchTarget::new().unwrap();
    let run = two_depths(&bed, "1s", &[]);
    let output = need!(run_on_terminal(&run, 80));
    let lines = shown_lines(&output.stdout);
    for wanted in ["[1/2] randread 4k  QD1", "[2/2] randread 4k  QD4"] {
        let matching = lines.iter().filter(|line| line.starts_with(wanted));
        assert!(
            matching.count() >= 1,
            "no `{wanted}` in\n{}",
            lines.join("\n")
        );
    }
    // However wide the figures are, the depth and the time left are never what goes.
    let live = |line: &&String| line.starts_with("[1/2] rand") && line.contains(" left");
    let live: Vec<&String> = lines.iter().filter(live).collect();
    let shows_depth = |line: &&String| {
        [" QD1  ", ", iodepth 1  "]
            .iter()
            .any(|it| line.contains(it))
    };
    assert!(
        !live.is_empty() && live.iter().all(shows_depth),
        "{lines:?}"
    );
}

#[test]
fn a_pipe_gets_a_line_for_each_finished_cell_and_no_escapes() {
    let bed = ScratchTarget::new().unwrap();
    let mut run = two_depths(&bed, "300ms", &[]);
    run.env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let output = end_to_end::finish(&mut run);
    assert!(!output.text().contains('\x1b'), "{}", output.text());
    let lines: Vec<String> = output.stderr.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4, "{}", output.text());
    assert!(lines[0].ends_with(": 2 cells"), "{}", lines[0]);
    let wanted = ["[1/2] randread 4k QD1", "[2/2] randread 4k QD4"];
    assert_eq!(places(&lines), wanted);
    assert_eq!(lines[3], "run complete");
    let quiet = end_to_end::finish(&mut two_depths(&bed, "300ms", &["--quiet"]));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_dumb_terminal_gets_no_escapes_and_no_full_screen() {
    let bed = ScratchTarget::new().unwrap();
    for (term, display) in [("dumb", "full"), ("dumb", "line"), ("", "full")] {
        let mut run = two_depths(&bed, "300ms", &["--display", display]);
        run.env_remove("NO_COLOR").env("TERM", term);
        // `script` gets the terminal's name from here.
        let output = need!(run_on_dumb_terminal(&run, term));
        assert!(!output.contains('\x1b'), "{term}: {output:?}");
        assert!(output.contains("[2/2] randread 4k  QD4"), "{output}");
        assert_eq!(
            output.contains("note: this terminal (TERM) has no full screen"),
            display == "full"
        );
    }
}

/// Output of a command on a terminal with this name.
fn run_on_dumb_terminal(command: &Command, term: &str) -> Result<String, end_to_end::FixtureError> {
    let mut words = vec![format!("TERM={term}")];
    words.push(command.get_program().to_string_lossy().into_owned());
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    let mut named = Command::new("env");
    named.args(words);
    if let Some(directory) = command.get_current_dir() {
        named.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => named.env(name, value),
            None => named.env_remove(name),
        };
    }
    Ok(run_on_terminal(&named, 80)?.stdout)
}

#[test]
fn keys_of_the_full_screen_work_as_labeled() {
    let bed = ScratchTarget::new().unwrap();
    let run = two_depths(&bed, "5m", &["--display", "full"]);
    let words = std::iter::once(run.get_program()).chain(run.get_args());
    let words: Vec<String> = words.map(|it| it.to_string_lossy().into_owned()).collect();
    let store = bed.path().join(end_to_end::STORE);
    let line = format!(
        "PGMETER_DB={} {}; echo ended: $?",
        store.display(),
        words.join(" ")
    );
    let shell = need!(Shell::new(bed.path(), (100, 30)));
    shell.press(&[&line, "Enter"]);
    wait_for("the first cell", || {
        shell.is_full_screen() && shell.shows("latency distribution") && shell.shows("[1/2]")
    });
    shell.press(&["?"]);
    wait_for("the help", || shell.shows("leave; the run continues"));
    shell.press(&["?"]);
    wait_for("no help", || !shell.shows("leave; the run continues"));
    shell.tmux(&["resize-window", "-x", "40", "-y", "10"]);
    wait_for("a small screen", || shell.shows("? help  s stop  n next"));
    shell.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    wait_for("a large screen", || {
        shell.shows("s stop and keep results so far")
    });
    bed.wait_for_intervals(1);
    shell.press(&["n"]);
    wait_for("the second cell", || shell.shows("[2/2]"));
    shell.press(&["Up"]);
    wait_for("the figures of the first", || {
        shell.shows("cut short after")
    });
    shell.press(&["Escape"]);
    wait_for("the second again", || shell.shows("latency distribution"));
    shell.press(&["q"]);
    wait_for("the line", || {
        !shell.is_full_screen() && shell.shows("the run continues") && shell.shows("iodepth 4")
    });
    shell.press(&["C-c"]);
    wait_for("the end", || shell.shows("ended: 130"));
    let exported = bed.run(&["runs", "export", "last"]);
    let record: Value = serde_json::from_str(&exported.stdout).unwrap();
    assert_eq!(record["status"], "interrupted");
    let cells = record["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        assert_eq!(cell["status"], "interrupted");
        assert!(cell["total"]["count"].as_u64().unwrap() > 0);
    }
}

#[test]
fn labs_print_only_finished_parts_without_a_terminal() {
    let bed = ScratchTarget::new().unwrap();
    for (words, name) in small_labs(&bed)
        .iter()
        .zip(["create-remove", "lfs-postmark"])
    {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = bed.run(&words);
        let parts: Vec<&str> = output
            .stderr
            .lines()
            .filter(|it| it.starts_with('['))
            .collect();
        assert!(!parts.is_empty(), "{}", output.text());
        for (number, part) in (1..).zip(&parts) {
            assert!(
                part.starts_with(&format!("[{number}/{}] ", parts.len())),
                "{part}"
            );
            assert!(part.contains(name) && part.ends_with(" s"), "{part}");
        }
        let quiet = bed.run(&[&words[..], &["--quiet"]].concat());
        assert_eq!(quiet.stderr, "", "{}", quiet.text());
    }
}
