//! dbench: recorded calls of file servers, as the original carries them out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use end_to_end::{
    Finished, ScratchTarget, installed, need, run_tool, run_within, samples, traced, wait_for,
};

/// What one run may take; more is a hang.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A client that makes a directory, works on two files and removes them.
const SMALL: &str = "\
Deltree \"\\clients\\client1\" NT_STATUS_OK
Mkdir \"\\clients\" NT_STATUS_OK
NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX \"\\clients\\client1\\one\" 0x40 0x1 2 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX \"\\clients\\client1\\one\" 0x40 0x2 2 NT_STATUS_OK
WriteX 2 0 10000 10000 NT_STATUS_OK
ReadX 2 4000 5000 5000 NT_STATUS_OK
QUERY_PATH_INFORMATION \"\\clients\\client1\\ONE\" 1004 NT_STATUS_OK
FIND_FIRST \"\\clients\\client1\\*\" 260 1366 1 NT_STATUS_OK
Close 2 NT_STATUS_OK
Rename \"\\clients\\client1\\one\" \"\\clients\\client1\\two\" NT_STATUS_OK
Unlink \"\\clients\\client1\\two\" 0x6 NT_STATUS_OK
Rmdir \"\\clients\\client1\\none\" NT_STATUS_OBJECT_NAME_NOT_FOUND
";

fn dbench(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let target = bed.target().to_str().unwrap();
    let all = [&["as", "dbench", "-D", target][..], arguments].concat();
    run_within(&mut bed.command(&all), TIMEOUT).unwrap()
}

/// The counts of a table of operations.
fn counts(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        let count = words.next()?.parse().ok()?;
        (words.count() == 2 && line.starts_with(' ')).then(|| (name.to_owned(), count))
    });
    lines
        .filter(|(name, _)| !name.starts_with(char::is_numeric))
        .collect()
}

#[test]
fn each_client_runs_the_load_file_once_and_leaves_nothing() {
    let bed = ScratchTarget::in_memory();
    let bed = need!(bed);
    bed.file("small.txt", SMALL);
    let output = dbench(&bed, &["--run-once", "-c", "small.txt", "3"]);
    assert_eq!(output.code, 0, "{output:?}");
    let counted = counts(&output.stdout);
    let expected = [
        ("NTCreateX", 3),
        ("Close", 2),
        ("Rename", 1),
        ("Unlink", 1),
        ("Deltree", 1),
        ("Rmdir", 1),
        ("Mkdir", 1),
        ("Qpathinfo", 1),
        ("Find", 1),
        ("WriteX", 1),
        ("ReadX", 1),
    ];
    for (name, count) in expected {
        assert_eq!(
            counted.get(name),
            Some(&(3 * count)),
            "{name}: {}",
            output.stdout
        );
    }
    assert_eq!(counted.len(), expected.len());
    assert!(
        output.stdout.contains("3 clients  3 procs"),
        "{}",
        output.stdout
    );
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_load_file_is_recognized_by_its_content_and_described_in_words() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.txt", SMALL);
    let target = bed.target().to_str().unwrap();
    let output = bed.run(&["check", "small.txt", "--target", target]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(
        output.stdout.contains("the 14 calls of small.txt"),
        "{}",
        output.stdout
    );
    bed.file("wrong.txt", format!("{SMALL}Mkdir \"/../out\" *\n"));
    let output = bed.run(&["check", "wrong.txt", "--target", target]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("wrong.txt:15"), "{}", output.stderr);
}

#[test]
fn names_never_lead_out_of_the_target() {
    let bed = ScratchTarget::new().unwrap();
    let victim = bed.file("victim", "untouched");
    for name in [
        format!("/..{}", victim.display()),
        "\\..\\victim".to_owned(),
        format!("/{}", "x".repeat(5000)),
        "/a\0b".to_owned(),
    ] {
        bed.file("bad.txt", format!("Unlink \"{name}\" 0x6 *\n"));
        let output = dbench(&bed, &["--run-once", "-c", "bad.txt", "1"]);
        assert_eq!(output.code, 2, "{name:?}: {output:?}");
        assert!(output.stderr.contains("bad.txt:1"), "{}", output.stderr);
        // A mistake in a file is no matter of the arguments.
        assert!(!output.stderr.contains("NPROCS"), "{}", output.stderr);
    }
    // Absolute paths are below the target.
    bed.file(
        "bad.txt",
        format!("Unlink \"{}\" 0x6 *\n", victim.display()),
    );
    let output = dbench(&bed, &["--run-once", "-c", "bad.txt", "1"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched");
}

#[test]
fn a_call_with_an_unrecorded_result_ends_the_run_with_its_line() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "bad.txt",
        "Mkdir \"/a\" *\nUnlink \"/a/b\" 0x6 NT_STATUS_OK\n",
    );
    let output = dbench(&bed, &["-t", "60", "-c", "bad.txt", "2"]);
    assert_eq!(output.code, 1, "{output:?}");
    let expected = "failed at line 2 of bad.txt";
    assert!(output.stdout.contains(expected), "{}", output.stdout);
    let record = bed.run(&["report", "last", "--format", "json"]);
    assert!(record.stdout.contains("\"trace-broken\""), "{record:?}");
}

#[test]
fn ctrl_c_removes_the_files_of_a_load_file() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("small.txt", SMALL);
    let target = bed.target().to_str().unwrap();
    let mut child = bed.start(&[
        "as",
        "dbench",
        "-D",
        target,
        "-t",
        "60",
        "-c",
        "small.txt",
        "2",
    ]);
    bed.wait_for_intervals(1);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    let mut code = None;
    wait_for("the end", || {
        code = child.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.unwrap().code(), Some(130));
    assert!(bed.left_in_target().is_empty());
}

/// Calls of the thread or process that works on clients' files: operation, file name, number of
/// bytes and result. Calls that only one of the programs makes are left out.
fn calls(log: &[String]) -> Vec<String> {
    let is_first = |line: &&String| line.contains("clients");
    let Some(first) = log
        .iter()
        .filter(|line| !line.contains("execve"))
        .find(is_first)
    else {
        return Vec::new();
    };
    let own = format!("{} ", first.split(' ').next().unwrap());
    let from = log.iter().position(|line| line == first).unwrap();
    let own = log[from..].iter().filter(|line| line.starts_with(&own));
    own.filter_map(|line| normal(line)).collect()
}

/// A call in the same words for both programs; none where it is no part of the load.
fn normal(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(' ')?;
    let (name, rest) = rest.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().trim_end_matches(')');
    let result = result.split(' ').take(2).collect::<Vec<_>>();
    let failed = if result[0] == "-1" { result[1] } else { "" };
    let mut texts = arguments.split('"').skip(1).step_by(2);
    let mut file = || {
        let text = texts.next().unwrap_or("");
        let from = text.find("clients").unwrap_or(text.len());
        text[from..].to_owned()
    };
    let numbers = |count: usize| {
        let all = arguments.rsplit(", ").take(count);
        all.collect::<Vec<_>>().join(" ")
    };
    Some(match name {
        "openat" | "openat2" => format!("open {} {failed}", file()),
        "newfstatat" if !arguments.contains("AT_EMPTY_PATH") => format!("stat {} {failed}", file()),
        "newfstatat" | "fstat" => "fstat".to_owned(),
        "unlink" | "unlinkat" => format!("unlink {} {failed}", file()),
        "mkdir" | "mkdirat" => format!("mkdir {} {failed}", file()),
        "rename" | "renameat" => format!("rename {} {} {failed}", file(), file()),
        "utimensat" => format!("utime {}", file()),
        "getdents64" => format!("list {}", result[0]),
        "statfs" | "fstatfs" => "statfs".to_owned(),
        "fsync" | "close" => name.to_owned(),
        "pread64" | "pwrite64" => format!("{name} {} = {}", numbers(2), result[0]),
        "fcntl" if arguments.contains("F_SETLKW") => {
            let kind = arguments.split("l_type=").nth(1)?;
            format!("lock {kind}")
        }
        _ => return None,
    })
}

/// The calls of one pass of the original.
fn of_original(load: &Path, time: &str) -> Vec<String> {
    let bed = ScratchTarget::in_memory().unwrap();
    let arguments = [
        "-c",
        load.to_str().unwrap(),
        "-D",
        "target",
        "-t",
        time,
        "1",
    ];
    let log = traced(Path::new("dbench"), bed.path(), &arguments, TIMEOUT).unwrap();
    // It reads the load file again for each pass.
    let is_again = |line: &String| line.contains("lseek(") && line.contains(", 0, SEEK_SET");
    let end = log.iter().position(is_again).unwrap_or(log.len());
    calls(&log[..end])
}

fn of_ours(load: &Path) -> Vec<String> {
    let bed = ScratchTarget::in_memory().unwrap();
    let command = bed.command(&[]);
    let target = bed.target().to_str().unwrap();
    let load = load.to_str().unwrap();
    let arguments = [
        "as",
        "dbench",
        "--no-db",
        "--run-once",
        "-D",
        target,
        "-c",
        load,
        "1",
    ];
    let program = Path::new(command.get_program());
    calls(&traced(program, bed.path(), &arguments, TIMEOUT).unwrap())
}

/// The calls without those at the end of a thread or process, which inspect the system and close
/// files.
fn without_exit_calls(mut calls: Vec<String>) -> Vec<String> {
    let last = calls.iter().rposition(|it| it.contains("clients"));
    let last = last.unwrap();
    let is_of_system = |it: &String| it.starts_with("open  ");
    if let Some(end) = calls[last..].iter().position(is_of_system) {
        calls.truncate(last + end);
    }
    while calls.last().is_some_and(|it| it == "close") {
        calls.pop();
    }
    calls
}

#[test]
fn one_client_makes_the_calls_of_the_original_in_order() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    need!(installed("dbench"));
    drop(need!(ScratchTarget::in_memory()));
    for (name, time) in [("mini.txt", "1"), ("client_first2000.txt", "3")] {
        let load = need!(samples("dbench")).join(name);
        let wanted = without_exit_calls(of_original(&load, time));
        let actual = without_exit_calls(of_ours(&load));
        assert!(wanted.len() > 50, "{name}: {}", wanted.len());
        for (index, (call, wanted)) in actual.iter().zip(&wanted).enumerate() {
            assert_eq!(call, wanted, "{name}: call {index}");
        }
        let rest = [&actual, &wanted].map(|all| &all[actual.len().min(wanted.len())..]);
        assert!(rest.iter().all(|rest| rest.is_empty()), "{name}: {rest:?}");
    }
}
