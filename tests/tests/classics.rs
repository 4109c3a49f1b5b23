//! The program instead of lat_fs and fs_mark: outputs, system calls, leftover files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use end_to_end::{
    Finished, ScratchTarget, finish, names_in, need, pgmeter, run_tool, skip, wait_for,
};

const METHODS: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];
/// The files of traced runs, their bytes, and the bytes of a write.
const FILES: u64 = 50;
const SIZE: u64 = 10_000;
const WRITE: u64 = 16_384;
/// What is traced; other threads make none of these calls, so that no call is cut in two.
const TRACED: &str = "trace=creat,openat,write,fsync,sync,close,unlink,unlinkat,mkdir,mkdirat";

/// As the program with that name, in the bed's directory.
fn classic(bed: &ScratchTarget, name: &str, arguments: &[&str]) -> Finished {
    bed.run(&[&["as", name], arguments].concat())
}

/// All files below a directory.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for name in names_in(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// The lines of lat_fs as numbers, the letter of the size left out.
fn lat_fs_lines(stderr: &str) -> Vec<[u64; 4]> {
    let line = |line: &str| {
        let (size, rest) = line.split_once("k\t").unwrap();
        let fields = std::iter::once(size).chain(rest.split('\t'));
        let numbers: Vec<u64> = fields.map(|it| it.parse().unwrap()).collect();
        <[u64; 4]>::try_from(numbers).unwrap()
    };
    stderr.lines().map(line).collect()
}

#[test]
fn lat_fs_1_6_prints_a_line_for_each_size_to_standard_error_and_again_later() {
    let bed = ScratchTarget::new().unwrap();
    let output = classic(&bed, "lat_fs", &["target"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    let lines = lat_fs_lines(&output.stderr);
    assert_eq!(
        lines.iter().map(|it| it[0]).collect::<Vec<_>>(),
        [0, 1, 4, 10]
    );
    for [_, count, created, removed] in lines {
        assert!(
            count == 1000 && created > 0 && removed > 0,
            "{}",
            output.text()
        );
    }
    assert!(bed.left_in_target().is_empty());
    let again = bed.run(&["report", "--format", "classic"]);
    assert_eq!((again.code, again.stdout), (0, output.stderr));
}

#[test]
fn lat_fs_3_prints_a_line_for_each_size_to_standard_error() {
    let bed = ScratchTarget::new().unwrap();
    let output = classic(&bed, "lat_fs", &["-N", "3", "target"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    let lines = lat_fs_lines(&output.stderr);
    assert_eq!(
        lines.iter().map(|it| it[0]).collect::<Vec<_>>(),
        [0, 1, 4, 10]
    );
    for [_, count, created, removed] in lines {
        // As long as 50 ms take.
        assert!(count > 0 && created > 0 && removed > 0, "{}", output.text());
        assert!(count as f64 / created as f64 > 0.047, "{}", output.text());
    }
    let arguments = ["-N", "1", "-P", "2", "-W", "1000", "-s", "64k", "target"];
    let output = classic(&bed, "lat_fs", &arguments);
    assert_eq!(lat_fs_lines(&output.stderr)[0][0], 64);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn lat_fs_1_6_uses_the_current_directory_and_3_the_temporary_one() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("aa", "mine");
    let output = classic(&bed, "lat_fs", &["--no-db"]);
    output.assert_refused(1, &["cannot create `./aa`: File exists", "empty directory"]);
    assert_eq!(fs::read(bed.path().join("aa")).unwrap(), b"mine");
    assert_eq!(names_in(bed.path()), ["aa", "target"]);
    let arguments = ["as", "lat_fs", "--compat", "3"];
    let mut command = bed.command(&arguments);
    let output = finish(command.env("TMPDIR", bed.path().join("nowhere")));
    output.assert_refused(1, &["/nowhere`: No such file or directory"]);
}

#[test]
fn lat_fs_rejects_arguments_with_the_exit_code_of_the_original() {
    let bed = ScratchTarget::new().unwrap();
    let output = classic(&bed, "lat_fs", &["-x"]);
    output.assert_refused(255, &["there is no option `-x`", "usage: lat_fs [-s"]);
    let output = classic(&bed, "lat_fs", &["--compat", "1.6", "a", "b"]);
    output.assert_refused(1, &["more than one directory"]);
    let output = classic(&bed, "lat_fs", &["--compat", "2"]);
    output.assert_says(2, &["`1.6` and `3`"]);
    let help = classic(&bed, "lat_fs", &["--help"]);
    help.assert_says(0, &[]);
    assert!(help.stdout.contains("--compat") && help.stdout.contains("to standard error"));
}

#[test]
fn fs_mark_prints_the_originals_columns() {
    let bed = ScratchTarget::new().unwrap();
    let arguments = ["-d", "target", "-n", "10", "-S", "4", "-v"];
    let output = classic(&bed, "fs_mark", &arguments);
    let lines: Vec<&str> = output.stdout.lines().collect();
    let head = "\n#  fs_mark  -d  target  -n  10  -S  4  -v \n\
        #\tVersion 3.3, 1 thread(s) starting at ";
    assert!(output.stdout.starts_with(head), "{}", output.text());
    assert!(
        output
            .stdout
            .contains("#\tSync method: SYNC POST REVERSE: ")
    );
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let row: Vec<&str> = lines[lines.len() - 1].split_whitespace().collect();
    assert_eq!(row[1..3], ["10", "51200"]);
    let numbers: Vec<f64> = row[3..].iter().map(|it| it.parse().unwrap()).collect();
    let [rate, _, calls @ ..] = &numbers[..] else {
        panic!("{row:?}");
    };
    assert!(*rate > 0.0 && calls.len() == 18, "{row:?}");
    // Of `sync` there is an average only.
    assert_eq!((calls[9], calls[11]), (0.0, 0.0), "{row:?}");
    assert!(calls[10] > 0.0, "{row:?}");
    for of_kind in calls.chunks(3).filter(|it| it[2] > 0.0) {
        assert!(of_kind.is_sorted(), "{row:?}");
    }
    // As long as numbers fit into their columns.
    assert_eq!(lines[lines.len() - 1].len(), 62 + 6 * 27);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn fs_mark_appends_its_log_and_counts_all_iterations() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("my.log", "before\n");
    let arguments = [
        "-d", "target/a", "-d", "target/b", "-n", "5", "-s", "100", "-L", "2", "-l", "my.log",
        "-D", "3", "-N", "2", "-S", "0", "-p", "20", "-r", "12",
    ];
    let second = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    let began = second();
    let output = classic(&bed, "fs_mark", &arguments);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let logged = fs::read_to_string(bed.path().join("my.log")).unwrap();
    let logged = logged.strip_prefix("before\n").unwrap();
    assert_eq!(
        logged.replacen("calls.\n#\n", "calls.\n\n", 1),
        output.stdout
    );
    let counts: Vec<&str> = output.stdout.lines().rev().take(2).collect();
    let count = |line: &str| line.split_whitespace().nth(1).unwrap().to_owned();
    assert_eq!([count(counts[1]), count(counts[0])], ["10", "20"]);
    let files = files_below(bed.target());
    assert_eq!(files.len(), 20);
    for path in files {
        assert_eq!(fs::metadata(&path).unwrap().len(), 100);
        let name = path.file_name().unwrap().to_str().unwrap();
        // The time's digits, and random ones.
        assert_eq!(name.len(), 20, "{name}");
        let seconds = u64::from_str_radix(&name[..8], 16).unwrap();
        assert!((began..=second()).contains(&seconds), "{name}");
    }
}

#[test]
fn fs_mark_ends_with_one_when_the_next_files_would_not_fit() {
    let bed = ScratchTarget::new().unwrap();
    let arguments = ["-d", "target", "-n", "100000", "-s", "2000000000", "-F"];
    let output = classic(&bed, "fs_mark", &arguments);
    assert_eq!(output.code, 1, "{}", output.text());
    let end = "\nInsufficient free space in target to create 100000 new files, exiting\n";
    assert!(output.stdout.ends_with(end), "{}", output.text());
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn fs_mark_rejects_arguments_with_the_exit_code_of_the_original() {
    let bed = ScratchTarget::new().unwrap();
    let output = classic(&bed, "fs_mark", &["-n", "5"]);
    output.assert_refused(1, &["`-d` is missing", "usage: fs_mark"]);
    let output = classic(&bed, "fs_mark", &["-h"]);
    output.assert_says(1, &["usage: fs_mark [OPTIONS] -d DIRECTORY"]);
    let output = classic(&bed, "fs_mark", &["-d", "no/where"]);
    output.assert_refused(1, &["cannot make `no/where`: No such file"]);
    let output = classic(&bed, "fs_mark", &["-d", "target", "-l", "no/where"]);
    output.assert_refused(1, &["the log file `no/where`", "-l FILE"]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn links_named_like_the_programs_run_them() {
    let bed = ScratchTarget::new().unwrap();
    let program = PathBuf::from(pgmeter(bed.path()).get_program());
    let program = fs::canonicalize(program).unwrap();
    for (name, arguments, stream) in [
        ("lat_fs", &["-N", "1", "-s", "10k", "target"][..], "10k\t"),
        ("fs_mark", &["-d", "target", "-n", "3"], "FSUse%"),
    ] {
        symlink(&program, bed.path().join(name)).unwrap();
        let mut link = Command::new(bed.path().join(name));
        let output = finish(link.args(arguments).current_dir(bed.path()));
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(output.text().contains(stream), "{}", output.text());
        if name == "fs_mark" {
            let path = bed.path().join(name);
            let line = format!("\n#  {}  -d ", path.display());
            assert!(output.stdout.starts_with(&line), "{}", output.text());
        }
    }
}

/// Starts a program that does not end by itself, interrupts it once it has made files, and
/// checks that it leaves what was there and nothing else.
fn interrupted(arguments: &[&str]) {
    let bed = ScratchTarget::new().unwrap();
    fs::write(bed.target().join("mine"), "mine").unwrap();
    let mut child = bed.start(arguments);
    wait_for("files", || files_below(bed.target()).len() > 2);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments:?}");
    assert_eq!(bed.left_in_target(), ["mine"], "{arguments:?}");
}

#[test]
fn ctrl_c_removes_the_files_of_a_classic() {
    interrupted(&["as", "lat_fs", "target"]);
    interrupted(&["as", "lat_fs", "-N", "10000", "-P", "2", "target"]);
    let endless = ["-n", "50", "-s", "100", "-L", "1000000"];
    let arguments = [
        "as", "fs_mark", "-d", "target/a", "-d", "target/b", "-D", "3",
    ];
    interrupted(&[&arguments[..], &endless].concat());
    interrupted(&["as", "fs_mark", "-d", "target", "-n", "1000000", "-s", "1"]);
}

/// Starts a program that does not end by itself, kills it once it has made files, and checks that
/// `clean` removes them after asking, and nothing else.
fn killed(arguments: &[&str]) {
    let bed = ScratchTarget::new().unwrap();
    for name in ["mine", "1"] {
        fs::write(bed.target().join(name), "mine").unwrap();
    }
    let before = bed.left_in_target();
    let target = bed.target().to_string_lossy().into_owned();
    let left = loop {
        let mut child = bed.start(arguments);
        wait_for("files", || files_below(bed.target()).len() > 9);
        let in_use = bed.run(&["clean", &target, "--yes"]);
        assert!(in_use.text().contains("still running"), "{}", in_use.text());
        child.kill().unwrap();
        child.wait().unwrap();
        let left = files_below(bed.target()).len();
        // It may have been between two passes, with only its manifest there.
        if left > before.len() + 1 {
            break left;
        }
        bed.run(&["clean", &target]).assert_says(0, &[]);
    };
    let output = bed.run(&["clean", &target]);
    output.assert_says(1, &["--yes"]);
    let expected = format!("`as {}` was killed here and left", arguments[1]);
    assert!(output.stderr.contains(&expected), "{}", output.text());
    assert_eq!(files_below(bed.target()).len(), left);
    bed.run(&["clean", &target, "--yes"]).assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), before, "{arguments:?}");
}

#[test]
fn clean_removes_what_a_killed_classic_left_and_nothing_else() {
    killed(&["as", "lat_fs", "target"]);
    killed(&["as", "lat_fs", "-N", "10000", "-P", "2", "target"]);
    killed(&["as", "fs_mark", "-d", "target", "-n", "1000000", "-s", "1"]);
    let spread = [
        "-n", "100", "-s", "1", "-S", "0", "-D", "4", "-N", "2", "-L", "1000000",
    ];
    killed(&[&["as", "fs_mark", "-d", "target"], &spread[..]].concat());
}

#[test]
fn clean_removes_what_a_killed_postmark_left_and_nothing_else() {
    let bed = ScratchTarget::new().unwrap();
    fs::write(bed.target().join("3"), "mine").unwrap();
    let lines = "set location target\nset number 100000\nset subdirectories 3\n\
                 set transactions 100000000\nrun\n";
    bed.file("long.pm", lines);
    let target = bed.target().to_string_lossy().into_owned();
    let mut child = bed.start(&["as", "postmark", "long.pm"]);
    wait_for("files", || files_below(bed.target()).len() > 100);
    child.kill().unwrap();
    child.wait().unwrap();
    bed.run(&["clean", &target]).assert_says(1, &["--yes"]);
    bed.run(&["clean", &target, "--yes"]).assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), ["3"]);
    assert_eq!(fs::read(bed.target().join("3")).unwrap(), b"mine");
}

#[test]
fn fs_mark_ends_when_its_reader_closes_the_pipe() {
    let bed = ScratchTarget::new().unwrap();
    let arguments = ["as", "fs_mark", "-d", "target", "-n", "9", "-L", "1000000"];
    let mut command = bed.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(bed.left_in_target().is_empty());
}

/// The system calls of a command on files below `target`, in order: verb, number of the file in the
/// order of creation, requested bytes and result.
fn traced(bed: &ScratchTarget, command: &Command) -> Vec<String> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-y", "-o", "trace", "-e", TRACED]);
    strace.arg(command.get_program()).args(command.get_args());
    let output = finish(strace.current_dir(bed.path()));
    output.assert_traced();
    let trace = fs::read_to_string(bed.path().join("trace")).unwrap();
    let mut numbers = HashMap::new();
    whole_lines(&trace)
        .iter()
        .filter_map(|line| call(line, &mut numbers))
        .collect()
}

/// The lines of a trace, with what another thread's calls cut in two put together.
fn whole_lines(trace: &str) -> Vec<String> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut lines = Vec::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start);
        } else if let Some((_, end)) = rest.split_once(" resumed>") {
            let start = begun.remove(thread).unwrap_or_default();
            lines.push(format!("{thread} {start}{end}"));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines
}

fn call(line: &str, numbers: &mut HashMap<String, usize>) -> Option<String> {
    // The thread's number comes before the call.
    let (name, rest) = line.split_once(' ')?.1.trim_start().split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let last = |path: &str| Some(path.trim_end_matches('/').rsplit('/').next()?.to_owned());
    // Files of the system are not below the target, but their names can be as short.
    let descriptor_name = |text: &str| {
        let path = text.split(['<', '>']).nth(1)?;
        path.contains("/target/").then(|| last(path))?
    };
    let quoted = || last(arguments.split('"').nth(1)?);
    let mut number = |name: String| {
        let next = numbers.len();
        *numbers.entry(name).or_insert(next)
    };
    let is_file = |name: &String| name.len() == 40 || name.len() <= 3;
    match name {
        "creat" | "openat" if arguments.contains("O_CREAT") && arguments.contains("O_TRUNC") => {
            Some(format!(
                "create {}",
                number(descriptor_name(result).filter(is_file)?)
            ))
        }
        "openat" => {
            let opened = descriptor_name(result)?;
            Some(format!("open {}", numbers.get(&opened)?))
        }
        "write" => {
            let number = *numbers.get(&descriptor_name(arguments)?)?;
            let requested = arguments
                .rsplit(", ")
                .next()?
                .trim_end()
                .trim_end_matches(')');
            Some(format!("write {number} {requested} {result}"))
        }
        "fsync" | "close" => {
            let number = *numbers.get(&descriptor_name(arguments)?)?;
            Some(format!("{name} {number} {result}"))
        }
        "unlink" | "unlinkat" => {
            let number = *numbers.get(&quoted()?)?;
            Some(format!("unlink {number} {result}"))
        }
        // The program's own start and end are no files.
        "mkdir" | "mkdirat" => Some(format!("mkdir {}", result.split(' ').nth(1).unwrap_or("0"))),
        "sync" => Some("sync".to_owned()),
        _ => None,
    }
}

/// The calls of fs_mark by its rules.
fn fs_mark_calls(method: &str) -> Vec<String> {
    let mut calls = vec!["mkdir EEXIST".to_owned()];
    let synced = |index: u64| {
        [
            format!("open {index}"),
            format!("fsync {index} 0"),
            format!("close {index} 0"),
        ]
    };
    for index in 0..FILES {
        calls.extend(["mkdir EEXIST".to_owned(), format!("create {index}")]);
        let mut rest = SIZE;
        while rest > 0 {
            let length = rest.min(WRITE);
            calls.push(format!("write {index} {length} {length}"));
            rest -= length;
        }
        if method == "1" {
            calls.push(format!("fsync {index} 0"));
        }
        calls.push(format!("close {index} 0"));
    }
    if ["2", "4", "6"].contains(&method) {
        calls.push("sync".to_owned());
    }
    match method {
        "2" => calls.extend(synced(0)),
        "3" | "4" => calls.extend((0..FILES).rev().flat_map(synced)),
        "5" | "6" => calls.extend((0..FILES).flat_map(synced)),
        _ => {}
    }
    calls.extend((0..FILES).map(|index| format!("unlink {index} 0")));
    calls
}

fn fs_mark_arguments(method: &str) -> [String; 8] {
    [
        "-d",
        "target/a",
        "-n",
        &FILES.to_string(),
        "-s",
        &SIZE.to_string(),
        "-S",
        method,
    ]
    .map(str::to_owned)
}

/// Where Debian's fs_mark is.
fn original() -> Option<String> {
    let output = run_tool("sh", &["-c", "command -v fs_mark || true"]).unwrap();
    let path = output.trim();
    (!path.is_empty()).then(|| path.to_owned())
}

fn assert_equal(ours: &[String], theirs: &[String], label: &str) {
    for (index, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{label}: call {index}");
    }
    assert_eq!(ours.len(), theirs.len(), "{label}");
}

#[test]
fn fs_mark_makes_the_expected_system_calls_and_those_of_the_original() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let original = original();
    for method in METHODS {
        let bed = ScratchTarget::new().unwrap();
        fs::create_dir(bed.target().join("a")).unwrap();
        let arguments = fs_mark_arguments(method);
        // A store has directories of its own.
        let mut command = bed.command(&["as", "fs_mark", "--no-db"]);
        let ours = traced(&bed, command.args(&arguments));
        assert_equal(&ours, &fs_mark_calls(method), &format!("-S {method}"));
        if let Some(original) = &original {
            let mut command = Command::new(original);
            let theirs = traced(&bed, command.args(&arguments));
            assert_equal(&ours, &theirs, &format!("-S {method} of the original"));
        }
    }
    if original.is_none() {
        skip!("Debian's fs_mark is not installed, so only the rules were compared");
    }
}

/// Everything of an output but the times: numbers are masked, and so is the date.
fn shape(output: &str) -> Vec<String> {
    let line = |line: &str| {
        if let Some((start, _)) = line.split_once("starting at") {
            return start.to_owned();
        }
        if line.starts_with('#') || line.starts_with("FSUse%") {
            return line.to_owned();
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        let count_and_size = fields.get(1..3).unwrap_or_default();
        format!(
            "{} long, {} fields, {count_and_size:?}",
            line.len(),
            fields.len()
        )
    };
    output.lines().map(line).collect()
}

#[test]
fn fs_mark_output_and_files_match_the_original() {
    if original().is_none() {
        skip!("Debian's fs_mark is not installed");
    }
    for options in [
        "-d target/a -n 50 -s 10000",
        "-d target/a -d target/b -n 20 -t 4 -D 4 -N 3 -S 0 -k -v",
        "-d target/a -n 10 -s 0 -L 3 -S 3 -D 5 -p 30 -r 20",
        "-d target/a -n 7 -s 40000 -w 1000 -S 6 -v",
    ] {
        let words: Vec<&str> = options.split(' ').collect();
        let outcome = |is_pgmeter: bool| {
            let bed = ScratchTarget::new().unwrap();
            let mut command = if is_pgmeter {
                bed.command(&["as", "fs_mark"])
            } else {
                Command::new("fs_mark")
            };
            let output = finish(command.args(&words).current_dir(bed.path()));
            assert_eq!(output.code, 0, "{}", output.text());
            let lengths = files_below(bed.target());
            let lengths: Vec<u64> = lengths
                .iter()
                .map(|path| fs::metadata(path).unwrap().len())
                .collect();
            let log = fs::read_to_string(bed.path().join("fs_log.txt")).unwrap();
            (shape(&output.stdout), lengths, shape(&log))
        };
        assert_eq!(outcome(true), outcome(false), "{options}");
    }
}

#[test]
fn lat_fs_1_6_creates_writes_once_and_removes_in_the_order_of_names() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let bed = ScratchTarget::new().unwrap();
    let log = traced(&bed, &bed.command(&["as", "lat_fs", "--no-db", "target"]));
    let mut calls = log.iter().peekable();
    for size in [0, 1024, 4096, 10_240] {
        let mut expected = Vec::new();
        for index in 0..1000 {
            expected.push(format!("create {index}"));
            expected.push(format!("write {index} {size} {size}"));
            expected.push(format!("close {index} 0"));
        }
        expected.extend((0..1000).map(|index| format!("unlink {index} 0")));
        let mut pass_count = 0;
        let write = expected[1].clone();
        while calls.clone().nth(1) == Some(&write) {
            let pass: Vec<String> = calls.by_ref().take(expected.len()).cloned().collect();
            assert_equal(&pass, &expected, "a pass of lat_fs 1.6");
            pass_count += 1;
        }
        assert!(pass_count > 0, "{size}");
    }
    assert_eq!(calls.next(), None);
}

#[test]
fn lat_fs_3_visits_the_files_of_each_sample_backwards() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let bed = ScratchTarget::new().unwrap();
    let mut strace = Command::new("strace");
    strace.args([
        "-f",
        "-qq",
        "-y",
        "-o",
        "trace",
        "-e",
        "trace=openat,unlinkat",
    ]);
    // One sample makes and removes as many, however slow the machine is.
    let command = bed.command(&[
        "as", "lat_fs", "--no-db", "-n", "60", "-N", "1", "-s", "1k", "target",
    ]);
    strace.arg(command.get_program()).args(command.get_args());
    let output = finish(strace.current_dir(bed.path()));
    output.assert_traced();
    let trace = fs::read_to_string(bed.path().join("trace")).unwrap();
    let (mut last, mut count) = (0, 0);
    for line in trace.lines() {
        let is_create = line.contains("O_CREAT");
        let is_removal = line.contains("unlinkat") && !line.contains("AT_REMOVEDIR");
        let number = line
            .split('"')
            .nth(1)
            .and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number.filter(|_| is_create || is_removal) {
            assert!(number < 60, "{line}");
            // The last file of a directory is followed by the one before it, or by another's.
            assert!(last == 0 || number == last - 1, "{last} before {line}");
            (last, count) = (number, count + 1);
        }
    }
    assert!(count > 100, "{count}");
}
