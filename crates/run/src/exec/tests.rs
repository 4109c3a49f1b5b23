use std::fs;

use super::*;
use crate::tests::scratch::Directory;

fn names(count: u32) -> impl Iterator<Item = PathBuf> {
    (0..count).map(|index| index.to_string().into())
}

fn stop_flag() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn external_programs_create_files_of_each_size_and_remove_them() {
    let directory = Directory::new("exec");
    let fill = FileCommand::Fill { bytes: 4096 };
    for (command, size_bytes) in [(FileCommand::Touch, 0), (fill, 4096)] {
        let outcome = run_for_each(command, names(5), directory.path(), &stop_flag());
        let outcome = outcome.unwrap();
        assert_eq!(
            (outcome.done_count, outcome.failed_count),
            (5, 0),
            "{outcome:?}"
        );
        assert!(outcome.real_ns > 0 && !outcome.is_stopped);
        assert!(outcome.user_ns + outcome.system_ns > 0);
        assert_eq!(directory.names(), ["0", "1", "2", "3", "4"]);
        let length = fs::metadata(directory.path().join("3")).unwrap().len();
        assert_eq!(length, size_bytes);
        let removed = run_for_each(
            FileCommand::Remove,
            names(5),
            directory.path(),
            &stop_flag(),
        );
        assert_eq!(removed.unwrap().done_count, 5);
        assert!(directory.names().is_empty());
    }
}

#[test]
fn files_that_fail_are_counted_and_the_first_is_named() {
    let directory = Directory::new("exec-failing");
    fs::write(directory.path().join("1"), "").unwrap();
    let removed = run_for_each(
        FileCommand::Remove,
        names(3),
        directory.path(),
        &stop_flag(),
    )
    .unwrap();
    assert_eq!((removed.done_count, removed.failed_count), (1, 2));
    assert_eq!(
        removed.first_failure.as_deref(),
        Some("`rm` for `0`: exit status: 1")
    );
}

#[test]
fn file_names_that_look_like_options_are_still_files() {
    let directory = Directory::new("exec-dash");
    let name = || std::iter::once(PathBuf::from("--help"));
    run_for_each(FileCommand::Touch, name(), directory.path(), &stop_flag()).unwrap();
    assert_eq!(directory.names(), ["--help"]);
    let removed =
        run_for_each(FileCommand::Remove, name(), directory.path(), &stop_flag()).unwrap();
    assert_eq!(removed.failed_count, 0, "{removed:?}");
    assert!(directory.names().is_empty());
}

#[test]
fn a_stopped_step_starts_no_more_programs() {
    let directory = Directory::new("exec-stopped");
    let stop = stop_flag();
    let names = names(10).inspect(|name| {
        if name == Path::new("2") {
            stop.store(true, Ordering::Relaxed);
        }
    });
    let outcome = run_for_each(FileCommand::Touch, names, directory.path(), &stop).unwrap();
    assert!(outcome.is_stopped);
    assert_eq!(directory.names(), ["0", "1"]);
}

#[test]
fn the_baseline_program_runs_as_often_and_touches_no_file() {
    let directory = Directory::new("exec-baseline");
    let done = run_for_each(
        FileCommand::Nothing,
        names(7),
        directory.path(),
        &stop_flag(),
    )
    .unwrap();
    assert_eq!((done.done_count, done.failed_count), (7, 0));
    assert!(directory.names().is_empty());
}

#[test]
fn a_missing_program_is_an_error_before_anything_starts() {
    let missing = find("dd", std::iter::once(PathBuf::from("/nonexistent")));
    assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    let error = find_program("no-such-program-anywhere").unwrap_err();
    assert!(
        error.to_string().starts_with("cannot find the program `no"),
        "{error}"
    );
}
