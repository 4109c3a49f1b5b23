//! Keys and fields as fio's own: from a list that always is there, and from fio where it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Keys of `fio --output-format=json+`, version 3.33, with the types of their values.
const KEYS: &str = include_str!("keys.txt");
/// Keys that only later versions have.
const LATER_KEYS: [&str; 3] = [
    "jobs/job_start integer",
    "jobs/latency_target_ns integer",
    "jobs/latency_window_us integer",
];
/// Keys beneath these are not fio's own.
const FOREIGN_PREFIXES: [&str; 4] = [
    "/job options/",
    "/global options/",
    "/bins/",
    "global options/",
];

/// The paths of all keys with the types of their values, each once and in order. Both texts have a
/// key in each line, as deep as it is indented.
fn keys(document: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in document.lines() {
        let depth = line.len() - line.trim_start().len();
        let Some((key, value)) = line.trim().split_once(" : ") else {
            continue;
        };
        path.retain(|(of_parent, _)| *of_parent < depth);
        path.push((depth, key.trim_matches('"').to_owned()));
        let names: Vec<&str> = path.iter().map(|(_, name)| name.as_str()).collect();
        let names = names.join("/");
        if FOREIGN_PREFIXES.iter().any(|it| names.contains(it)) {
            continue;
        }
        let kind = match value.chars().next() {
            Some('"') => "text",
            Some('{') => "map",
            Some('[') => "list",
            _ if value.contains('.') => "real",
            _ => "integer",
        };
        let entry = format!("{names} {kind}");
        if !found.contains(&entry) {
            found.push(entry);
        }
    }
    found
}

/// The jobs that fio was run with for the list.
const ARGUMENTS: &str = "--name=a --rw=randrw --size=1m --bs=4k --fsync=8 --numjobs=2 \
                         --lat_percentiles=1 --description=x";

fn own_document(arguments: &str) -> String {
    let (set, _) = jobs_and_options(arguments);
    let job = || {
        worker(&[
            ("read", operation(&[1000; 20])),
            ("write", operation(&[2000; 20])),
            ("fsync", operation(&[9000; 2])),
        ])
    };
    json(&set, &record(vec![vec![job(), job()]]), true)
}

fn assert_same_keys(theirs: &[String], arguments: &str) {
    let own = keys(&own_document(arguments));
    let own: Vec<&String> = own
        .iter()
        .filter(|it| theirs.contains(it) || !LATER_KEYS.contains(&it.as_str()))
        .collect();
    let theirs: Vec<&String> = theirs.iter().collect();
    let missing: Vec<_> = theirs.iter().filter(|it| !own.contains(it)).collect();
    let further: Vec<_> = own.iter().filter(|it| !theirs.contains(it)).collect();
    assert!(
        missing.is_empty() && further.is_empty(),
        "{missing:?} {further:?}"
    );
    assert_eq!(own, theirs, "the order");
}

/// A directory of its own that is removed.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let memory = Path::new("/dev/shm");
        let parent = match memory.is_dir() {
            true => memory.to_owned(),
            false => std::env::temp_dir(),
        };
        let path = parent.join(format!("pgmeter-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What fio prints; none, with the reason, where it is not installed.
pub(super) fn fio(scratch: &str, arguments: &str) -> Option<String> {
    let directory = Scratch::new(scratch);
    let words = arguments.split_ascii_whitespace();
    let output = Command::new("fio")
        .args(words)
        .current_dir(&directory.0)
        .output();
    let Ok(output) = output else {
        println!("skipped: fio is not installed");
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn keys_types_and_order_are_as_listed() {
    let listed: Vec<String> = KEYS.lines().map(str::to_owned).collect();
    assert!(listed.len() > 300);
    assert_same_keys(&listed, ARGUMENTS);
}

#[test]
fn keys_types_and_order_match_fio() {
    for (name, further) in [
        ("keys", ""),
        (
            "both",
            "--unified_rw_reporting=both --continue_on_error=all",
        ),
        (
            "mixed",
            "--unified_rw_reporting=mixed --clat_percentiles=0 --group_reporting",
        ),
        (
            "few",
            "--percentile_list=99.9:50 --disable_lat=1 --slat_percentiles=0",
        ),
    ] {
        let arguments = format!("{ARGUMENTS} {further}");
        let with_json = format!("{arguments} --output-format=json+");
        if let Some(printed) = fio(name, &with_json) {
            // Notes may come first.
            let begin = printed.find("{\n").unwrap();
            assert_same_keys(&keys(&printed[begin..]), &arguments);
        }
    }
}
