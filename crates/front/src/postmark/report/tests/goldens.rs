//! Recorded sessions of PostMark 1.53 against ours, byte for byte.

use std::path::{Path, PathBuf};

use crate::postmark::language::{PostmarkSession, play};

use super::memory::Memory;

/// What the clock read in the recorded sessions that say nothing of it.
const READINGS: [i64; 8] = [1000, 1002, 1010, 1013, 1013, 1015, 1023, 1026];
/// The sessions of five million transactions, which take long without optimization.
const LONG: &str = "99_";
/// The session in which the original divides by zero.
const CRASH: &str = "20_under10_crash";

/// Where the recorded sessions are; `POSTMARK_GOLDENS` names another place with such files.
fn folder() -> Option<PathBuf> {
    let samples =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/postmark/golden");
    let folder = std::env::var_os("POSTMARK_GOLDENS").map_or(samples, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: the recorded sessions of PostMark are not here");
    None
}

/// The names of the sessions that `wanted` picks, in their order.
fn sessions(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name()?.to_str()?;
            name.strip_suffix(".pm").map(str::to_owned)
        })
        .filter(|name| wanted(name))
        .collect();
    names.sort();
    names
}

/// A file of a session, none if it has no such file.
fn part(folder: &Path, session: &str, ending: &str) -> Option<Vec<u8>> {
    std::fs::read(folder.join(format!("{session}.{ending}"))).ok()
}

fn played(folder: &Path, session: &str) -> Memory {
    let mut memory = Memory::default();
    for (name, ending) in [("cfg.pm", "pm"), ("extra.pm", "extra")] {
        if let Some(text) = part(folder, session, ending) {
            memory.scripts.insert(name.into(), text);
        }
    }
    memory.input = std::io::Cursor::new(part(folder, session, "stdin").unwrap_or_default());
    memory.directories = ["w", "w2"].map(|name| name.as_bytes().to_vec()).into();
    memory.readings = part(folder, session, "times").map_or(READINGS.to_vec(), |text| {
        let text = String::from_utf8(text).unwrap();
        let readings = text
            .trim()
            .split(',')
            .map(|reading| reading.parse().unwrap());
        readings.collect()
    });
    play(&mut PostmarkSession::default(), &mut memory, b"cfg.pm");
    memory
}

fn compare(folder: &Path, session: &str) {
    let memory = played(folder, session);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let recorded = |ending| part(folder, session, ending).unwrap_or_default();
    assert_eq!(
        text(&memory.output),
        text(&recorded("out")),
        "{session}: output"
    );
    assert_eq!(
        text(&memory.errors),
        text(&recorded("err")),
        "{session}: errors"
    );
    assert_eq!(recorded("rc").trim_ascii(), b"0", "{session}: exit code");
    let report = memory.written.get(&b"out.txt"[..]);
    let report = text(report.map_or(b"", |report| report));
    assert_eq!(report, text(&recorded("out.txt")), "{session}: out.txt");
    let left: Vec<String> = memory.pool.keys().map(|name| text(name)).collect();
    assert!(left.is_empty(), "{session}: left {left:?}");
    println!("{session}: equal");
}

#[test]
fn recorded_sessions_are_reproduced_byte_for_byte() {
    let Some(folder) = folder() else { return };
    let sessions = sessions(&folder, |name| !name.starts_with(LONG) && name != CRASH);
    assert!(!sessions.is_empty());
    for session in sessions {
        compare(&folder, &session);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow without optimization")]
fn published_sessions_are_reproduced_byte_for_byte() {
    let Some(folder) = folder() else { return };
    for session in sessions(&folder, |name| name.starts_with(LONG)) {
        compare(&folder, &session);
    }
}

#[test]
fn fewer_than_ten_transactions_work_where_the_original_crashes() {
    let Some(folder) = folder() else { return };
    let Some(recorded) = part(&folder, CRASH, "out") else {
        return;
    };
    let memory = played(&folder, CRASH);
    assert!(memory.output.starts_with(&recorded));
    let rest = String::from_utf8_lossy(&memory.output[recorded.len()..]);
    assert!(
        rest.starts_with(".........Done\nDeleting files...Done\nTime:\n"),
        "{rest}"
    );
    assert!(memory.pool.is_empty());
}
