use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use results::CallTimes;
use workload::classics::fs_mark::parse;

use super::*;
use crate::tests::scratch::Directory;

const TICK_NS: u64 = 1000;

/// Each reading is a microsecond later than the one before.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now_ns(&self) -> u64 {
        self.0.fetch_add(TICK_NS, Ordering::Relaxed)
    }
}

/// Keeps what it is told; after so many iterations it asks for an end.
struct Witness<'a> {
    iterations: Vec<Vec<WorkerTimes>>,
    stop_after: usize,
    stop: &'a AtomicBool,
}

impl Spectator for Witness<'_> {
    fn time_seconds(&mut self) -> u64 {
        1_000_000_000 + self.iterations.len() as u64
    }

    fn iteration(&mut self, threads: Vec<WorkerTimes>) {
        self.iterations.push(threads);
        if self.iterations.len() >= self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

struct Played {
    ended: Result<Ended, RunError>,
    iterations: Vec<Vec<WorkerTimes>>,
}

/// Plays a command line in some directories below one.
fn played(place: &Directory, directories: &[&str], options: &str, stop_after: usize) -> Played {
    let paths: Vec<PathBuf> = directories.iter().map(|it| place.path().join(it)).collect();
    let mut words: Vec<_> = options.split_whitespace().map(Into::into).collect();
    for path in &paths {
        words.extend(["-d".into(), path.into()]);
    }
    let invocation = parse(&words).unwrap();
    let plan = invocation.settings.resolve(paths.len() as u32).unwrap();
    let settings = Settings {
        plan: &plan,
        directories: &paths,
        seed: 3,
    };
    let stop = AtomicBool::new(false);
    let mut witness = Witness {
        iterations: Vec::new(),
        stop_after,
        stop: &stop,
    };
    Played {
        ended: play(&settings, &Ticking::default(), &stop, &mut witness),
        iterations: witness.iterations,
    }
}

fn all(place: &Directory, directories: &[&str], options: &str) -> Vec<Vec<WorkerTimes>> {
    let played = played(place, directories, options, usize::MAX);
    assert_eq!(played.ended.unwrap(), Ended::Done);
    played.iterations
}

/// Everything below a directory with its length, sorted.
fn files_in(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_in(&path));
        } else {
            let length = fs::metadata(&path).unwrap().len();
            found.push((path, length));
        }
    }
    found.sort();
    found
}

/// Calls that took a tick each; a kind that was not called is not there.
fn calls(counts: [(&str, u64); 6]) -> BTreeMap<String, CallTimes> {
    let called = counts.into_iter().filter(|(_, count)| *count > 0);
    let times = |(kind, count): (&str, u64)| {
        let times = CallTimes {
            count,
            sum_ns: count * TICK_NS,
            min_ns: TICK_NS,
            max_ns: TICK_NS,
        };
        (kind.to_owned(), times)
    };
    called.map(times).collect()
}

#[test]
fn each_method_makes_and_times_its_calls() {
    let place = Directory::new("mark-methods");
    // Readings: one at the start and the end of each stage that counts, two for `sync`.
    for (method, fsync_count, has_sync, readings) in [
        (0, 0, false, 1 + 5 * 5),
        (1, 5, false, 1 + 5 * 6),
        (2, 1, true, 1 + 5 * 5 + 2 + 1 + 2 + 1),
        (3, 5, false, 1 + 5 * 5 + 1 + 5 * 2),
        (4, 5, true, 1 + 5 * 5 + 2 + 1 + 5 * 2 + 1),
        (5, 5, false, 1 + 5 * 5 + 1 + 5 * 2),
        (6, 5, true, 1 + 5 * 5 + 2 + 1 + 5 * 2 + 1),
    ] {
        let options = format!("-n 5 -s 20000 -S {method}");
        let iterations = all(&place, &["a"], &options);
        let [threads] = &iterations[..] else {
            panic!("{iterations:?}");
        };
        let times = WorkerTimes {
            time_ns: readings * TICK_NS,
            calls: calls([
                ("create", 5),
                ("write", 10),
                ("fsync", fsync_count),
                ("sync", has_sync.into()),
                ("close", 5),
                ("unlink", 5),
            ]),
            window: None,
        };
        if method == 3 || method == 5 {
            // All calls on a file are one `fsync`.
            assert_eq!(threads[0].of("fsync").sum_ns, 5 * TICK_NS);
        }
        assert_eq!(threads[..], [times], "method {method}");
        assert_eq!(place.names(), ["a"]);
        assert!(files_in(place.path()).is_empty());
    }
}

#[test]
fn kept_files_are_there_with_their_names_and_sizes() {
    let place = Directory::new("mark-kept");
    let iterations = all(&place, &["a", "b"], "-n 6 -s 100 -S 0 -L 2 -t 4 -D 4 -N 2");
    assert_eq!(iterations.len(), 2);
    assert!(iterations.iter().all(|threads| threads.len() == 4));
    let found = files_in(place.path());
    assert_eq!(found.len(), 2 * 4 * 6);
    assert!(found.iter().all(|(_, length)| *length == 100));
    // 1000000000 is 0x3b9aca00, and the remainder of 4 is the first subdirectory's number.
    let names = found.iter().filter(|(path, _)| {
        let name = path.strip_prefix(place.path()).unwrap().to_str().unwrap();
        name.starts_with("a/00/3b9aca00~~~~~~~~")
    });
    assert_eq!(names.count(), 2 * 2);
}

#[test]
fn a_run_that_is_stopped_leaves_nothing_that_it_made() {
    let place = Directory::new("mark-stopped");
    fs::create_dir(place.path().join("a")).unwrap();
    fs::write(place.path().join("a/mine"), "mine").unwrap();
    let played = played(&place, &["a", "b"], "-n 70 -s 1 -L 9 -D 3 -N 5", 2);
    assert_eq!(played.ended.unwrap(), Ended::Stopped);
    assert_eq!(played.iterations.len(), 2);
    assert_eq!(place.names(), ["a"]);
    let left = files_in(place.path());
    assert_eq!(left, [(place.path().join("a/mine"), 4)]);
    assert_eq!(fs::read_dir(place.path().join("a")).unwrap().count(), 1);
}

#[test]
fn files_that_would_not_fit_end_the_run() {
    let place = Directory::new("mark-full");
    // More than any file system of a test machine has.
    let played = played(&place, &["a"], "-n 1000000 -s 2147483647 -L 3", usize::MAX);
    let ended = played.ended.unwrap();
    assert_eq!(ended, Ended::Full(vec![place.path().join("a")]));
    assert!(played.iterations.is_empty());
    assert!(files_in(place.path()).is_empty());
}

#[test]
fn names_that_are_the_same_are_a_failure_and_nothing_is_left() {
    let place = Directory::new("mark-same");
    let played = played(&place, &["a"], "-n 3 -s 1 -k -p 8 -r 0", usize::MAX);
    let error = played.ended.unwrap_err().to_string();
    assert!(error.contains("a/3b9aca00`: File exists"), "{error}");
    assert!(place.names().is_empty());
}

#[test]
fn a_file_that_was_there_stays_and_so_do_files_that_were_kept_before() {
    let place = Directory::new("mark-foreign");
    fs::create_dir(place.path().join("a")).unwrap();
    let foreign = place.path().join("a/3b9aca01");
    fs::write(&foreign, "mine").unwrap();
    let played = played(&place, &["a"], "-n 1 -s 1 -L 3 -p 8 -r 0", usize::MAX);
    let error = played.ended.unwrap_err().to_string();
    assert!(error.contains("a/3b9aca01`: File exists"), "{error}");
    assert_eq!(played.iterations.len(), 1);
    let left = [(place.path().join("a/3b9aca00"), 1), (foreign, 4)];
    assert_eq!(files_in(place.path()), left);
}

#[test]
fn a_directory_whose_parent_is_not_there_cannot_be_made() {
    let place = Directory::new("mark-nowhere");
    let played = played(&place, &["a", "x/y"], "-n 1", usize::MAX);
    let error = played.ended.unwrap_err().to_string();
    assert!(error.starts_with("cannot make `"), "{error}");
    assert!(place.names().is_empty());
}
