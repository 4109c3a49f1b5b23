//! Bonnie++ and Bonnie replaced by pgmeter, on real files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use end_to_end::{ScratchTarget, installed, need, run_tool, skip, traced};

/// What one run may take; more is a hang.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Runs the program on the scratch target, with these further options.
fn run(bed: &ScratchTarget, name: &str, options: &[&str]) -> String {
    let target = bed.target().to_str().unwrap().to_owned();
    let line = [&["as", name, "-d", &target], options].concat();
    let finished = bed.run(&line);
    finished.assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    finished.stdout
}

const SMALL: [&str; 10] = [
    "-r",
    "0",
    "-s",
    "1m:4k:100:2",
    "-f",
    "-n",
    "1:4096:1024:2",
    "-z7",
    "-m",
    "host",
];

#[test]
fn a_run_prints_tables_and_a_machine_readable_line() {
    let bed = need!(ScratchTarget::in_memory());
    let text = run(&bed, "bonnie++", &SMALL);
    let line = text.lines().last().unwrap();
    let fields: Vec<&str> = line.split(',').collect();
    assert_eq!(fields.len(), 50, "{line}");
    assert_eq!(
        fields[..9],
        ["1.98", "2.00a", "host", "1", "7", "1M", "", "100", "2"]
    );
    assert_eq!(fields[21..26], ["1", "4096", "1024", "", "2"]);
    // Nothing was done byte by byte.
    assert_eq!((fields[9], fields[38], fields[11]), ("", "", "+++++"));
    assert_eq!(text.lines().count(), 11, "{text}");
    let page = Command::new("bon_csv2html")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut page) = page else {
        skip!("there is no bon_csv2html");
    };
    let input = page.stdin.take();
    input.unwrap().write_all(line.as_bytes()).unwrap();
    let page = page.wait_with_output().unwrap();
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("host") && page.contains("1M"), "{page}");
}

#[test]
fn repeated_runs_print_one_line_each() {
    let bed = need!(ScratchTarget::in_memory());
    let text = run(
        &bed,
        "bonnie++",
        &["-r", "0", "-s", "0", "-n", "1:-1", "-x", "2"],
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("format_version,"));
    assert!(lines[1..].iter().all(|line| line.contains(",1,link,")));
}

const QUICK: [&str; 10] = [
    "-r",
    "0",
    "-s",
    "1:64k:10:1",
    "-f",
    "-n",
    "1",
    "-m",
    "host",
    "-q",
];

/// Starts the program on the scratch target, with these further options.
fn started(bed: &ScratchTarget, options: &[&str]) -> std::process::Child {
    let target = bed.target().to_str().unwrap().to_owned();
    let line = [&["as", "bonnie++", "-d", &target], &QUICK[..], options].concat();
    let mut command = bed.command(&line);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn processes_wait_for_each_other_at_semaphores() {
    let bed = need!(ScratchTarget::in_memory());
    let created = bed.run(&["as", "bonnie++", "-p", "2"]);
    created.assert_says(0, &[]);
    assert_eq!(created.stdout, "Creating semaphore for 2 procs.\n");
    let mut first = started(&bed, &["-y", "s"]);
    std::thread::sleep(Duration::from_secs(2));
    // Without the other process it would be done.
    assert_eq!(first.try_wait().unwrap(), None);
    let second = started(&bed, &["-ys"]);
    for mut child in [second, first] {
        if !child.wait().unwrap().success() {
            // The other process would wait forever.
            bed.run(&["as", "bonnie++", "-p", "-1"]);
        }
        let finished = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        assert!(
            finished.status.success() && text.starts_with("1.98,"),
            "{text}"
        );
    }
    let target = bed.target().to_str().unwrap().to_owned();
    let line = [&["as", "bonnie++", "-d", &target, "-y", "s"], &QUICK[..]].concat();
    bed.run(&line)
        .assert_says(1, &["cannot wait at the semaphores"]);
    let removed = bed.run(&["as", "bonnie++", "-p", "-1"]);
    assert_eq!(removed.stdout, "Semaphore removed.\n");
    let again = bed.run(&["as", "bonnie++", "-p", "-1"]);
    again.assert_says(1, &["cannot remove the semaphores with the key 4711"]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
}

#[test]
fn each_phase_waits_for_a_line() {
    let bed = need!(ScratchTarget::in_memory());
    let mut prompted = started(&bed, &["-y", "p"]);
    let mut input = prompted.stdin.take().unwrap();
    input.write_all(&b"go\n".repeat(10)).unwrap();
    let finished = prompted.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    // The phases of single bytes, 0 and 3, are skipped.
    let wanted: String = [1, 2, 4, 5, 6, 7, 8, 9, 10, 11]
        .map(|number| format!("\n{number}:\n"))
        .concat();
    assert!(text.starts_with(&(wanted + "1.98,")), "{text}");
}

#[test]
fn random_numbers_come_from_a_file() {
    let bed = need!(ScratchTarget::in_memory());
    let numbers: Vec<u8> = (0..4000_u32)
        .flat_map(|it| (it * 7919).to_be_bytes())
        .collect();
    let name = bed.target().with_file_name("numbers");
    std::fs::write(&name, numbers).unwrap();
    let name = name.to_str().unwrap();
    let text = run(&bed, "bonnie++", &[&QUICK[..], &["-Z", name]].concat());
    assert_eq!(text.split(',').nth(4), Some(name), "{text}");
}

#[test]
fn the_original_bonnie_prints_one_row() {
    let bed = need!(ScratchTarget::in_memory());
    let text = run(&bed, "bonnie", &["-s", "2", "-m", "me"]);
    let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((row.len(), row[0], row[1]), (14, "me", "2"));
}

#[test]
fn unknown_bonnie_options_are_refused() {
    let bed = need!(ScratchTarget::in_memory());
    let refused = bed.run(&["as", "bonnie++", "-k"]);
    refused.assert_refused(1, &["there is no option `-k`"]);
}

/// Calls per thread, in their order: operation, file name, number of bytes. Calls on files of the
/// system are left out.
fn calls(log: &[String]) -> Vec<Vec<String>> {
    let mut numbers = BTreeMap::new();
    let mut threads: Vec<(bool, Vec<String>)> = Vec::new();
    for line in log {
        let Some((id, call)) = line.split_once(' ') else {
            continue;
        };
        let thread = *numbers.entry(id).or_insert_with(|| {
            threads.push((false, Vec::new()));
            threads.len() - 1
        });
        let (is_elsewhere, own) = &mut threads[thread];
        if ["\"/proc/", "\"/sys/", "\"/etc/"]
            .iter()
            .any(|it| call.contains(it))
        {
            *is_elsewhere |= call.starts_with("open") && !call.contains(" = -1 ");
        } else if std::mem::take(is_elsewhere) {
            *is_elsewhere = !call.starts_with("close(");
        } else if let Some(call) = normal(call) {
            let is_opened = own.last().is_some_and(|it| it.starts_with("open "));
            // A file that was just opened starts at 0 anyway.
            if !(is_opened && call == "seek 0") {
                own.push(call);
            }
        }
    }
    threads.into_iter().map(|(_, calls)| calls).collect()
}

/// A call in the same words for both programs; none where it is no part of the work.
fn normal(call: &str) -> Option<String> {
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let result = result.split(' ').next()?;
    let file = arguments.split('"').nth(1).unwrap_or("");
    let file = file.rsplit('/').next().unwrap_or("");
    let file = match file.starts_with("Bonnie.") {
        true => "file",
        false => file,
    };
    let is_of_directory = arguments.contains("O_DIRECTORY") || arguments.contains("AT_REMOVEDIR");
    match name {
        _ if result == "-1" => None,
        "openat" | "openat2" if is_of_directory => Some("list".to_owned()),
        "openat" | "openat2" if arguments.contains("O_CREAT") => Some(format!("create {file}")),
        "openat" | "openat2" => Some(format!("open {file}")),
        "newfstatat" if !file.is_empty() => Some(format!("stat {file}")),
        "unlinkat" if is_of_directory => Some(format!("rmdir {file}")),
        "unlink" | "unlinkat" => Some(format!("unlink {file}")),
        "rmdir" if file != "file" => Some(format!("rmdir {file}")),
        "getdents64" => Some(format!("names {result}")),
        // Progress goes to standard error; pipes pass positions to the seekers.
        "write" if arguments.starts_with("2,") => None,
        "read" | "write" => Some(format!("{name} {result}")),
        "lseek" => Some(format!("seek {result}")),
        "fsync" | "close" | "sync" => Some(name.to_owned()),
        _ => None,
    }
}

/// Calls of the original, first of its own thread and then of its seekers, and calls of pgmeter, by
/// phase.
fn both(options: &[&str]) -> [Vec<Vec<String>>; 2] {
    let theirs = ScratchTarget::in_memory().unwrap();
    let directory = theirs.target().to_str().unwrap();
    let arguments = [&["-d", directory, "-u", "root", "-q"], options].concat();
    let log = traced(Path::new("bonnie++"), theirs.path(), &arguments, TIMEOUT);
    let theirs = calls(&log.unwrap());
    let ours = ScratchTarget::in_memory().unwrap();
    let command = ours.command(&[]);
    let directory = ours.target().to_str().unwrap();
    let arguments = [&["as", "bonnie++", "--no-db", "-d", directory], options].concat();
    let program = Path::new(command.get_program());
    let log = traced(program, ours.path(), &arguments, TIMEOUT);
    // The first thread prepares and waits.
    let ours = calls(&log.unwrap()).split_off(1);
    let works = |calls: &Vec<String>| calls.iter().any(|it| it.contains(' ') && is_file_call(it));
    [theirs, ours.into_iter().filter(works).collect()]
}

/// `true` if the call names a file of the test.
fn is_file_call(call: &str) -> bool {
    let (verb, name) = call.split_once(' ').unwrap_or((call, ""));
    let is_hexadecimal = |it: char| it.is_ascii_hexdigit();
    let is_numbered = name.len() >= 10
        && (name[..10].chars().all(is_hexadecimal)
            || name[name.len() - 10..].chars().all(is_hexadecimal));
    matches!(verb, "create" | "open" | "stat" | "unlink") && (name == "file" || is_numbered)
}

/// Calls from the first on a file of the test to the last that ends work on it.
fn test_calls(mut calls: Vec<String>) -> Vec<String> {
    let first = calls.iter().position(|it| is_file_call(it) || it == "list");
    calls.drain(..first.unwrap_or(0));
    let ends = |it: &String| matches!(it.as_str(), "close" | "sync") || is_file_call(it);
    let last = calls.iter().rposition(ends);
    calls.truncate(last.map_or(0, |last| last + 1));
    calls
}

fn assert_same(actual: &[String], wanted: &[String]) {
    for (index, (call, wanted)) in actual.iter().zip(wanted).enumerate() {
        assert_eq!(call, wanted, "call {index}");
    }
    assert_eq!(
        actual.len(),
        wanted.len(),
        "{:?}",
        &wanted[wanted.len() - 3..]
    );
    assert!(wanted.len() > 100);
}

#[test]
fn small_files_get_the_system_calls_of_the_original_in_order() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    need!(installed("bonnie++"));
    drop(need!(ScratchTarget::in_memory()));
    for (seed, sizes) in [("7", "1:4096:1024:2"), ("123456789", "1")] {
        let options = ["-r", "0", "-s", "0", "-n", sizes, "-z", seed, "-m", "host"];
        let [theirs, ours] = both(&options);
        let ours: Vec<String> = ours.into_iter().flat_map(test_calls).collect();
        assert_same(&ours, &test_calls(theirs[0].clone()));
    }
}

#[test]
fn a_single_file_gets_the_system_calls_of_the_original_in_order() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    need!(installed("bonnie++"));
    drop(need!(ScratchTarget::in_memory()));
    let options = |size| {
        [
            "-r", "0", "-s", size, "-n", "0", "-f", "-z", "7", "-m", "host",
        ]
    };
    let [theirs, ours] = both(&options("2m:4k:500:1"));
    let [main, seeker] = [0, 1].map(|thread| test_calls(theirs[thread].clone()));
    let before = main.iter().rposition(|it| it == "open file").unwrap();
    let mut ours: Vec<Vec<String>> = ours.into_iter().map(test_calls).collect();
    assert_eq!(ours.pop().unwrap(), ["unlink file"]);
    let seeks = ours.pop().unwrap();
    assert_same(&ours.concat(), &main[..before]);
    // The file is removed once, by the first thread or by a seeker, whichever comes first.
    let is_removal = |it: &&String| *it == "unlink file";
    let last = main[before..].iter().chain(&seeker);
    assert_eq!(last.filter(is_removal).count(), 1);
    // The original sends positions to its seekers, four bytes at a time.
    let is_work = |it: &&String| *it != "read 4" && !is_removal(it);
    let wanted: Vec<String> = seeker.iter().filter(is_work).cloned().collect();
    assert_same(&seeks, &test_calls(wanted));
    // Each of several seekers takes the next position, so only their sum is determined.
    let [theirs, ours] = both(&options("2m:4k:500:3"));
    let count = |threads: &[Vec<String>]| {
        let mut counts = BTreeMap::new();
        let is_work = |it: &&String| it.starts_with("seek ") || it.ends_with(" 4096");
        for call in threads.iter().flatten().filter(is_work) {
            *counts.entry(call.clone()).or_insert(0) += 1;
        }
        counts
    };
    let ours = &ours[ours.len() - 4..ours.len() - 1];
    assert_eq!(count(ours), count(&theirs[1..]));
}
