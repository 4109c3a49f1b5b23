use std::fs;

use workload::classics::create_remove::{Act, Between, Step};

use super::*;
use crate::tests::scratch::Directory;

fn exec(act: Act, size_bytes: u64) -> Exec {
    Exec::of(&Step {
        act,
        size_bytes,
        then: Between::Nothing,
    })
}

fn names(count: u32) -> impl Iterator<Item = PathBuf> {
    (0..count).map(|index| index.to_string().into())
}

fn going() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn programs_make_files_of_each_size_and_remove_them() {
    let directory = Directory::new("exec");
    for size_bytes in [0, 4096] {
        let made = step(
            &exec(Act::Create, size_bytes),
            names(5),
            directory.path(),
            &going(),
        );
        let made = made.unwrap();
        assert_eq!((made.done_count, made.failed_count), (5, 0), "{made:?}");
        assert!(made.real_ns > 0 && !made.is_stopped);
        assert!(made.user_ns + made.system_ns > 0);
        assert_eq!(directory.names(), ["0", "1", "2", "3", "4"]);
        let length = fs::metadata(directory.path().join("3")).unwrap().len();
        assert_eq!(length, size_bytes);
        let removed = step(
            &exec(Act::Remove, size_bytes),
            names(5),
            directory.path(),
            &going(),
        );
        assert_eq!(removed.unwrap().done_count, 5);
        assert!(directory.names().is_empty());
    }
}

#[test]
fn files_that_fail_are_counted_and_the_first_is_named() {
    let directory = Directory::new("exec-failing");
    fs::write(directory.path().join("1"), "").unwrap();
    let removed = step(&exec(Act::Remove, 0), names(3), directory.path(), &going()).unwrap();
    assert_eq!((removed.done_count, removed.failed_count), (1, 2));
    assert_eq!(
        removed.first_failure.as_deref(),
        Some("`rm` for `0`: exit status: 1")
    );
}

#[test]
fn names_like_options_are_files() {
    let directory = Directory::new("exec-dash");
    let name = || std::iter::once(PathBuf::from("--help"));
    step(&exec(Act::Create, 0), name(), directory.path(), &going()).unwrap();
    assert_eq!(directory.names(), ["--help"]);
    let removed = step(&exec(Act::Remove, 0), name(), directory.path(), &going()).unwrap();
    assert_eq!(removed.failed_count, 0, "{removed:?}");
    assert!(directory.names().is_empty());
}

#[test]
fn a_step_that_is_stopped_starts_nothing_more() {
    let directory = Directory::new("exec-stopped");
    let stop = going();
    let names = names(10).inspect(|name| {
        if name == Path::new("2") {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let made = step(&exec(Act::Create, 0), names, directory.path(), &stop).unwrap();
    assert!(made.is_stopped);
    assert_eq!(directory.names(), ["0", "1"]);
}

#[test]
fn the_baseline_starts_as_often_and_touches_nothing() {
    let directory = Directory::new("exec-baseline");
    let done = baseline(&exec(Act::Create, 4096), 7, directory.path(), &going()).unwrap();
    assert_eq!((done.done_count, done.failed_count), (7, 0));
    assert!(directory.names().is_empty());
}

#[test]
fn a_program_that_is_not_there_is_an_error_before_anything_starts() {
    let nowhere = find("dd", std::iter::once(PathBuf::from("/nonexistent")));
    assert_eq!(nowhere.unwrap_err().kind(), io::ErrorKind::NotFound);
    let directory = Directory::new("exec-missing");
    let command = Command {
        program: "no-such-program-anywhere",
        words: Vec::new(),
    };
    let exec = Exec {
        each: command.clone(),
        baseline: command,
    };
    let error = step(&exec, names(1), directory.path(), &going()).unwrap_err();
    assert!(
        error.to_string().starts_with("cannot find the program `no"),
        "{error}"
    );
}
