//! The program instead of the originals: their recorded sessions and system calls.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use end_to_end::{
    Finished, ScratchTarget, available, pgmeter, run_tool, run_within, samples, skip, wait_for,
};

/// What one session may take; more is a hang.
const TIMEOUT: Duration = Duration::from_secs(1200);
/// The sessions of five million transactions.
const LONG: &str = "99_";
/// The session in which the original divides by zero.
const CRASH: &str = "20_under10_crash";
/// Files that the test adds to the session's own.
const TEST_FILES: [&str; 3] = ["./cfg.pm", "./extra.pm", "./stdin"];
/// Fields of a line of the terse report.
const TERSE_FIELDS: usize = 13;
/// Indexes of the fields that are rates over the total time, and of those over the time of the
/// transactions. The rates of creation and deletion alone refer to times that the line does not
/// contain.
const TOTAL_RATES: [usize; 4] = [3, 8, 11, 12];
const TRANSACTION_RATES: [usize; 5] = [2, 5, 6, 7, 10];
/// The directory's name in the recorded sessions.
const RECORDED_DIRECTORY: &str = "/tmp/pm";

/// A command with its standard input from a file.
fn with_input(command: &Command, directory: &Path, input: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" < \"$0\"", input]);
    shell
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(directory);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// A directory as the recorded sessions had it, with files by name.
fn bed(files: &[(&str, &[u8])]) -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    fs::remove_dir(bed.target()).unwrap();
    for name in ["w", "w2"] {
        fs::create_dir(bed.path().join(name)).unwrap();
    }
    for (name, content) in files {
        bed.file(name, content);
    }
    bed
}

fn run(bed: &ScratchTarget, arguments: &[&str], input: &str) -> Finished {
    let mut command = pgmeter(bed.path());
    command.args(["as", "postmark", "--no-db"]).args(arguments);
    run_within(&mut with_input(&command, bed.path(), input), TIMEOUT).unwrap()
}

fn played(bed: &ScratchTarget, script: &str) -> Finished {
    bed.file("cfg.pm", script);
    run(bed, &["cfg.pm"], "/dev/null")
}

/// Output of a session without everything that depends on the clock: seconds, rates, and the lines
/// of the terse report. The counts of these lines are returned separately.
fn without_times(text: &str) -> (String, Vec<f64>) {
    let (mut kept, mut counted) = (String::new(), Vec::new());
    for line in text.split_inclusive('\n') {
        let fields: Vec<f64> = line
            .split_whitespace()
            .map_while(|it| it.parse().ok())
            .collect();
        if fields.len() == TERSE_FIELDS {
            kept.push_str("terse\n");
            counted.extend(TOTAL_RATES.map(|index| fields[index] * fields[0]));
            counted.extend(TRANSACTION_RATES.map(|index| fields[index] * fields[1]));
            continue;
        }
        let line = match line.split_once(" seconds ") {
            Some((_, rest)) => format!("\tT seconds {rest}"),
            None => line.to_owned(),
        };
        match line.split_once(" (") {
            Some((start, rest)) if rest.ends_with(" per second)\n") => {
                kept.push_str(&format!("{start} (R)\n"));
            }
            _ => kept.push_str(&line),
        }
    }
    (kept, counted)
}

/// Checks that sessions printed the same, whatever their clocks read.
fn assert_same(ours: &str, recorded: &str, label: &str) {
    let ((ours, counted), (recorded, wanted)) = (without_times(ours), without_times(recorded));
    assert_eq!(ours, recorded, "{label}");
    assert_eq!(counted.len(), wanted.len(), "{label}");
    for (ours, wanted) in counted.iter().zip(wanted) {
        // Printed rates have two decimals.
        assert!(
            (ours - wanted).abs() <= 0.1 + 1e-6 * wanted,
            "{label}: {ours}, {wanted}"
        );
    }
}

/// All files below a directory, as `find` names them, sorted.
fn files_in(directory: &Path) -> Vec<String> {
    fn visit(root: &Path, directory: &Path, files: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(root, &path, files);
            } else {
                let name = path.strip_prefix(root).unwrap();
                files.push(format!("./{}", name.display()));
            }
        }
    }
    let mut files = Vec::new();
    visit(directory, directory, &mut files);
    files.retain(|name| !TEST_FILES.contains(&name.as_str()));
    files.sort();
    files
}

/// Where the sessions are; `POSTMARK_GOLDENS` names another place with such files.
fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("POSTMARK_GOLDENS") {
        return Some(folder.into());
    }
    match available(samples("postmark/golden")) {
        Ok(folder) => Some(folder),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

fn part(folder: &Path, session: &str, ending: &str) -> Option<Vec<u8>> {
    fs::read(folder.join(format!("{session}.{ending}"))).ok()
}

fn text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

fn sessions(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name()?.to_str()?.strip_suffix(".pm")?;
        wanted(name).then(|| name.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Plays a recorded session on real files; masks where that was.
fn replay(folder: &Path, session: &str) -> (ScratchTarget, Finished) {
    let bed = bed(&[]);
    for (name, ending) in [("cfg.pm", "pm"), ("extra.pm", "extra"), ("stdin", "stdin")] {
        if let Some(content) = part(folder, session, ending) {
            bed.file(name, content);
        }
    }
    let has_input = bed.path().join("stdin").exists();
    let input = if has_input { "stdin" } else { "/dev/null" };
    let mut finished = run(&bed, &["cfg.pm"], input);
    let directory = fs::canonicalize(bed.path()).unwrap();
    for output in [&mut finished.stdout, &mut finished.stderr] {
        *output = output.replace(directory.to_str().unwrap(), RECORDED_DIRECTORY);
    }
    (bed, finished)
}

fn compare(folder: &Path, session: &str) {
    let recorded = |ending: &str| text(part(folder, session, ending));
    let (bed, output) = replay(folder, session);
    assert_same(&output.stdout, &recorded("out"), session);
    assert_eq!(output.stderr, recorded("err"), "{session}: errors");
    let code = recorded("rc");
    assert_eq!(output.code.to_string(), code.trim(), "{session}: exit code");
    let left = files_in(bed.path());
    let recorded_left = recorded("ls");
    let recorded_left: Vec<&str> = recorded_left.lines().collect();
    assert_eq!(left, recorded_left, "{session}: files left");
    for file in left {
        let ending = file.trim_start_matches("./");
        let content = text(fs::read(bed.path().join(ending)).ok());
        assert_same(&content, &recorded(ending), &format!("{session}: {file}"));
    }
    println!("{session}: equal");
}

#[test]
fn recorded_postmark_sessions_match_except_for_times_on_real_files() {
    let Some(folder) = folder() else { return };
    let sessions = sessions(&folder, |name| !name.starts_with(LONG) && name != CRASH);
    assert!(!sessions.is_empty());
    for session in sessions {
        compare(&folder, &session);
    }
}

#[test]
#[ignore = "takes minutes: ten million transactions"]
fn published_postmark_sessions_match_except_for_times_on_real_files() {
    let Some(folder) = folder() else { return };
    for session in sessions(&folder, |name| name.starts_with(LONG)) {
        compare(&folder, &session);
    }
}

#[test]
fn fewer_than_ten_transactions_run_where_postmark_crashes() {
    let Some(folder) = folder() else { return };
    let Some(recorded) = part(&folder, CRASH, "out") else {
        skip!("the session `{CRASH}` is not here");
    };
    let (bed, output) = replay(&folder, CRASH);
    let rest = output.stdout.strip_prefix(&text(Some(recorded))).unwrap();
    let expected = ".........Done\nDeleting files...Done\nTime:\n";
    assert!(rest.starts_with(expected), "{rest}");
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(files_in(bed.path()).is_empty());
}

/// A traced call as `name path result`, in words of our own; none for calls that are not on a
/// file below `root`.
fn call(line: &str, root: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result = result.split(['<', ' ']).next()?;
    let below = |path: &str| {
        path.strip_prefix(root)?
            .strip_prefix('/')
            .map(str::to_owned)
    };
    let quoted = || arguments.split('"').nth(1).map(str::to_owned);
    // With `-y`, strace prints the path of a descriptor in `<>`.
    let descriptor_path = || arguments.split(['<', '>']).nth(1).map(str::to_owned);
    let at = || {
        let start = descriptor_path()?;
        let path = format!("{start}/{}", quoted()?);
        below(&path)
    };
    // The location itself is opened by us, and a manifest written there for `clean`, before the
    // first call and after the last one that the original makes.
    let is_own = |path: &str| path == "w/" || path.starts_with("w/pgmeter.as-");
    let is_pool = |path: &String| path.starts_with("w/") && !is_own(path);
    // Subdirectories are held open by us.
    let is_file =
        |path: &String| is_pool(path) && !path.rsplit('/').next().is_some_and(is_subdirectory);
    match name {
        "openat" => Some(format!("open {}", at().filter(is_pool)?)),
        "unlink" | "mkdir" | "rmdir" => Some(format!("{name} {} {result}", quoted()?)),
        "mkdirat" => Some(format!("mkdir {} {result}", at().filter(is_pool)?)),
        "unlinkat" => {
            let is_directory = arguments.contains("AT_REMOVEDIR");
            let verb = if is_directory { "rmdir" } else { "unlink" };
            Some(format!("{verb} {} {result}", at().filter(is_pool)?))
        }
        "read" | "write" | "lseek" | "close" | "fstat" | "newfstatat" => {
            let verb = if name == "newfstatat" { "fstat" } else { name };
            let path = below(&descriptor_path()?).filter(is_file)?;
            let requested = match name {
                "read" | "write" => arguments.trim_end_matches(')').rsplit(", ").next()?,
                _ => "",
            };
            let requested = requested.trim_end().trim_end_matches(')');
            Some(format!("{verb} {path} {requested} {result}"))
        }
        _ => None,
    }
}

fn is_subdirectory(name: &str) -> bool {
    let number = name.strip_prefix('s');
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

fn calls(trace: &str, root: &str) -> Vec<String> {
    let lines = whole_lines(trace);
    lines.iter().filter_map(|line| call(line, root)).collect()
}

/// The lines of a trace without the numbers of threads, with what another thread's calls cut in
/// two put together.
fn whole_lines(trace: &str) -> Vec<String> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut lines = Vec::new();
    for line in trace.lines() {
        let numbered = line
            .split_once(' ')
            .filter(|it| it.0.parse::<u32>().is_ok());
        let (thread, rest) =
            numbered.map_or(("", line), |(thread, rest)| (thread, rest.trim_start()));
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start);
        } else if let Some((_, end)) = rest.split_once(" resumed>") {
            let start = begun.remove(thread).unwrap_or_default();
            lines.push(format!("{start}{end}"));
        } else {
            lines.push(rest.to_owned());
        }
    }
    lines
}

/// The calls of a script, traced; none, with the reason printed, if nothing can be traced here.
fn traced(script: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let bed = bed(&[("c.pm", script.as_bytes())]);
    if let Err(error) = run_tool("strace", &["-o", "/dev/null", "true"]) {
        println!("skipped: {error}");
        return None;
    }
    let program = pgmeter(bed.path());
    let mut command = Command::new("strace");
    command
        .args(["-f", "-y", "-o", "trace"])
        .arg(program.get_program());
    command.args(arguments).current_dir(bed.path());
    run_within(&mut command, TIMEOUT).unwrap().assert_traced();
    let trace = fs::read_to_string(bed.path().join("trace")).unwrap();
    let directory = fs::canonicalize(bed.path()).unwrap();
    Some(calls(&trace, directory.to_str().unwrap()))
}

const TRACED: [(&str, &str); 2] = [
    (
        "strace_buffered.txt",
        "set location w\nset number 20\nset transactions 60\nrun\nquit\n",
    ),
    (
        "strace_unbuffered_subdirs.txt",
        "set location w\nset number 20\nset transactions 60\nset subdirectories 3\n\
         set buffering false\nrun\nquit\n",
    ),
];

#[test]
fn postmark_system_calls_match_the_recorded_ones_in_order_and_number() {
    let Some(folder) = folder() else { return };
    for (name, script) in TRACED {
        let Ok(recorded) = fs::read_to_string(folder.join(name)) else {
            skip!("the trace `{name}` is not here");
        };
        let recorded = calls(&recorded, "/tmp/st");
        let arguments = ["as", "postmark", "--no-db", "c.pm"];
        let Some(ours) = traced(script, &arguments) else {
            return;
        };
        assert!(recorded.len() > 400, "{name}: {}", recorded.len());
        for (index, (ours, recorded)) in ours.iter().zip(&recorded).enumerate() {
            assert_eq!(ours, recorded, "{name}: call {index}");
        }
        assert_eq!(ours.len(), recorded.len(), "{name}");
        println!("{name}: {} calls equal", ours.len());
    }
}

/// The original's system calls for a recorded list of operations.
fn calls_of(operations: &str, is_buffered: bool) -> Vec<String> {
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    let mut calls = Vec::new();
    for line in operations.lines() {
        let mut words = line.split(' ');
        let (verb, name) = (words.next().unwrap(), words.next().unwrap());
        let bytes = words.next().map_or(0, |bytes| bytes.parse().unwrap());
        if verb == "delete" {
            calls.push(format!("unlink w/{name} 0"));
            continue;
        }
        calls.push(format!("open w/{name}"));
        let size = sizes.entry(name).or_default();
        if verb == "append" && is_buffered {
            calls.push(format!("lseek w/{name}  {size}"));
        }
        if is_buffered {
            calls.push(format!("fstat w/{name}  0"));
        }
        let block = if is_buffered { 4096 } else { 512 };
        let (mut rest, move_verb) = match verb {
            "read" => (bytes, "read"),
            _ => (bytes, "write"),
        };
        while rest >= block {
            calls.push(format!("{move_verb} w/{name} {block} {block}"));
            rest -= block;
        }
        if rest > 0 || !is_buffered {
            let requested = if verb == "read" && is_buffered {
                block
            } else {
                rest
            };
            calls.push(format!("{move_verb} w/{name} {requested} {rest}"));
        }
        if verb != "read" {
            *size += bytes;
        }
        calls.push(format!("close w/{name}  0"));
    }
    calls
}

#[test]
fn five_hundred_files_and_transactions_make_the_calls_of_the_original() {
    let Some(folder) = folder() else { return };
    let Ok(operations) = fs::read_to_string(folder.join("trace_500_500_default.ops")) else {
        skip!("the operations of 500 files and 500 transactions are not here");
    };
    for (is_buffered, line) in [(true, ""), (false, "set buffering false\n")] {
        let script = format!("set location w\n{line}run\nquit\n");
        let arguments = ["as", "postmark", "--no-db", "c.pm"];
        let Some(ours) = traced(&script, &arguments) else {
            return;
        };
        let expected = calls_of(&operations, is_buffered);
        for (index, (ours, expected)) in ours.iter().zip(&expected).enumerate() {
            assert_eq!(ours, expected, "buffered {is_buffered}: call {index}");
        }
        assert_eq!(ours.len(), expected.len());
    }
}

#[test]
fn a_link_named_postmark_runs_postmark() {
    let bed = bed(&[(".pmrc", b"set number 7\nshow\nquit\n")]);
    let program = PathBuf::from(pgmeter(bed.path()).get_program());
    let program = fs::canonicalize(program).unwrap();
    symlink(program, bed.path().join("postmark")).unwrap();
    let mut link = Command::new(bed.path().join("postmark"));
    let output = run_within(link.current_dir(bed.path()), TIMEOUT).unwrap();
    let start = "PostMark v1.51 : 8/14/01\nReading configuration from file '.pmrc'\n\
        Current configuration is:\nThe base number of files is 7\n";
    assert!(output.stdout.starts_with(start), "{}", output.text());
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
}

#[test]
fn help_lists_only_the_options_of_postmark() {
    let output = run(&bed(&[]), &["--help"], "/dev/null");
    output.assert_says(0, &[]);
    assert!(output.stdout.contains("--allow-shell"), "{}", output.text());
    assert!(!output.stdout.contains("--times"), "{}", output.text());
}

#[test]
fn a_shell_needs_to_be_allowed() {
    let bed = bed(&[("cfg.pm", b"!echo hello\nquit\n")]);
    let refused = run(&bed, &["cfg.pm"], "/dev/null");
    assert!(!refused.stdout.contains("hello"), "{}", refused.text());
    assert!(
        refused.stderr.contains("--allow-shell"),
        "{}",
        refused.text()
    );
    let allowed = run(&bed, &["--allow-shell", "cfg.pm"], "/dev/null");
    assert!(
        allowed.stdout.ends_with("'cfg.pm'\nhello\n"),
        "{}",
        allowed.text()
    );
}

#[test]
fn versions_differ_in_banner_and_clock() {
    let bed = bed(&[("cfg.pm", b"set location w\nrun\nquit\n")]);
    for (version, banner, decimals) in [
        ("1.14", "PostMark v1.14\n", None),
        ("1.5", "PostMark v1.5 : 3/27/01\n", None),
        ("1.54", "PostMark v1.54 : 9/27/2025\n", Some(4)),
    ] {
        let output = run(&bed, &["--compat", version, "cfg.pm"], "/dev/null");
        assert!(output.stdout.starts_with(banner), "{}", output.text());
        let total = output.stdout.split_once("Time:\n\t").unwrap().1;
        let (total, _) = total.split_once(" seconds total\n").unwrap();
        let seconds: f64 = total.parse().unwrap();
        assert!(seconds > 0.0 && seconds < 60.0, "{total}");
        let actual = total.split_once('.').map(|(_, decimals)| decimals.len());
        assert_eq!(actual, decimals, "{version}: {total}");
    }
    let output = run(&bed, &["--compat", "3", "cfg.pm"], "/dev/null");
    output.assert_says(2, &["1.14, 1.5, 1.53, 1.54"]);
}

#[test]
fn existing_files_are_left_unchanged() {
    let bed = bed(&[("w/17", b"mine")]);
    let output = played(&bed, "set location w\nrun\nquit\n");
    assert_eq!(files_in(bed.path()), ["./w/17"]);
    assert_eq!(fs::read(bed.path().join("w/17")).unwrap(), b"mine");
    output.assert_says(
        0,
        &["Error: cannot open 'w/17' for writing\n", "warning: 1 "],
    );
}

#[test]
fn a_pool_too_large_for_memory_is_refused_and_the_prompt_continues() {
    let bed = bed(&[]);
    let output = played(
        &bed,
        "set number 2000000000\nrun\nset number 3\nshow\nquit\n",
    );
    output.assert_says(3, &["Error: Failed to allocate table", "help: "]);
    assert!(
        output.stdout.contains("base number of files is 3\n"),
        "{}",
        output.text()
    );
}

/// Sends a signal with the system's own tool.
fn interrupt(process_id: u32) {
    run_tool("kill", &["-INT", &process_id.to_string()]).unwrap();
}

#[test]
fn ctrl_c_removes_the_pool() {
    let bed = bed(&[(
        "cfg.pm",
        b"set location w\nset number 2000\nset transactions 2000000000\nrun\n",
    )]);
    let mut command = bed.command(&["as", "postmark", "--no-db", "cfg.pm"]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for("the pool", || count_entries(&bed.path().join("w")) > 1000);
    interrupt(child.id());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(files_in(bed.path()).is_empty());
}

fn count_entries(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, Iterator::count)
}

/// The same program with SIGINT as it is by default: a shell in the background has it ignored, and
/// programs inherit that.
fn with_default_interrupt(command: &Command) -> Command {
    let mut wrapped = Command::new("env");
    wrapped.arg("--default-signal=INT");
    wrapped.arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        wrapped.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    wrapped
}

#[test]
fn ctrl_c_ends_the_prompt() {
    let bed = bed(&[]);
    let mut command = with_default_interrupt(&bed.command(&["as", "postmark"]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut start = [0; 28];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut start).unwrap();
    assert!(start.ends_with(b"pm>"));
    // `wait` would close it, and the program may notice that before the signal.
    let stdin = child.stdin.take();
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
}

#[test]
fn a_closed_pipe_ends_the_run_and_leaves_nothing() {
    let bed = bed(&[(
        "cfg.pm",
        b"set location w\nset transactions 2000000000\nrun\n",
    )]);
    let mut command = bed.command(&["as", "postmark", "--no-db", "cfg.pm"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(files_in(bed.path()).is_empty());
}
