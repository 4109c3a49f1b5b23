use std::fs;

use super::*;
use crate::tests::scratch::Directory;

fn names(count: u32) -> impl Iterator<Item = PathBuf> {
    (0..count).map(|index| index.to_string().into())
}

fn going() -> AtomicBool {
    AtomicBool::new(false)
}

#[test]
fn programs_make_files_of_each_size_and_remove_them() {
    let directory = Directory::new("exec");
    let fill = FileCommand::Fill { bytes: 4096 };
    for (command, size_bytes) in [(FileCommand::Touch, 0), (fill, 4096)] {
        let made = start_each(command, names(5), directory.path(), &going());
        let made = made.unwrap();
        assert_eq!((made.done_count, made.failed_count), (5, 0), "{made:?}");
        assert!(made.real_ns > 0 && !made.is_stopped);
        assert!(made.user_ns + made.system_ns > 0);
        assert_eq!(directory.names(), ["0", "1", "2", "3", "4"]);
        let length = fs::metadata(directory.path().join("3")).unwrap().len();
        assert_eq!(length, size_bytes);
        let removed = start_each(FileCommand::Remove, names(5), directory.path(), &going());
        assert_eq!(removed.unwrap().done_count, 5);
        assert!(directory.names().is_empty());
    }
}

#[test]
fn files_that_fail_are_counted_and_the_first_is_named() {
    let directory = Directory::new("exec-failing");
    fs::write(directory.path().join("1"), "").unwrap();
    let removed = start_each(FileCommand::Remove, names(3), directory.path(), &going()).unwrap();
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
    start_each(FileCommand::Touch, name(), directory.path(), &going()).unwrap();
    assert_eq!(directory.names(), ["--help"]);
    let removed = start_each(FileCommand::Remove, name(), directory.path(), &going()).unwrap();
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
    let made = start_each(FileCommand::Touch, names, directory.path(), &stop).unwrap();
    assert!(made.is_stopped);
    assert_eq!(directory.names(), ["0", "1"]);
}

#[test]
fn what_does_nothing_starts_as_often_and_touches_nothing() {
    let directory = Directory::new("exec-baseline");
    let done = start_each(FileCommand::Nothing, names(7), directory.path(), &going()).unwrap();
    assert_eq!((done.done_count, done.failed_count), (7, 0));
    assert!(directory.names().is_empty());
}

#[test]
fn a_program_that_is_not_there_is_an_error_before_anything_starts() {
    let nowhere = find("dd", std::iter::once(PathBuf::from("/nonexistent")));
    assert_eq!(nowhere.unwrap_err().kind(), io::ErrorKind::NotFound);
    let error = located("no-such-program-anywhere").unwrap_err();
    assert!(
        error.to_string().starts_with("cannot find the program `no"),
        "{error}"
    );
}
