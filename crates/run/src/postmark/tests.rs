use std::fs;
use std::path::{Path, PathBuf};

use workload::program::PoolLocation;

use super::*;

/// Counts what it is told, and stops after so many marks.
#[derive(Default)]
struct Witness {
    marks: Vec<Mark>,
    failures: Vec<String>,
    stop_at: Option<Mark>,
}

impl Spectator for Witness {
    fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    fn failed(&mut self, text: &[u8]) {
        self.failures.push(String::from_utf8_lossy(text).into());
    }

    fn wants_to_stop(&self) -> bool {
        self.stop_at.is_some_and(|mark| self.marks.contains(&mark))
    }
}

/// A directory that goes when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pgmeter-pm-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn settings(&self) -> Settings {
        Settings {
            locations: vec![PoolLocation {
                directory: self.0.as_os_str().as_encoded_bytes().to_vec(),
                weight: 1,
            }],
            number: 30,
            transactions: 100,
            ..Settings::default()
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The counts when every operation succeeds.
fn expected(settings: &Settings) -> Totals {
    let mut stream = Stream::new(&settings.pool()).unwrap();
    while stream.next(Outcome::Done).is_some() {}
    *stream.totals()
}

#[test]
fn real_files_give_the_counts_of_the_stream_and_none_is_left() {
    let directory = Directory::new("counts");
    for is_buffered in [true, false] {
        for subdirectories in [0, 3] {
            for block_bytes in [512, 700, 6000] {
                let settings = Settings {
                    is_buffered,
                    subdirectories,
                    read_block_bytes: block_bytes,
                    write_block_bytes: block_bytes,
                    ..directory.settings()
                };
                let mut witness = Witness::default();
                let played = play(&settings, &mut witness).unwrap();
                assert_eq!(played.totals, expected(&settings));
                assert_eq!(played.overlooked, Overlooked::default());
                assert!(witness.failures.is_empty(), "{:?}", witness.failures);
                assert!(directory.names().is_empty());
            }
        }
    }
}

#[test]
fn a_run_that_is_stopped_deletes_its_files() {
    let directory = Directory::new("stopped");
    for mark in [Mark::Creating, Mark::Created, Mark::Dot] {
        let mut witness = Witness {
            stop_at: Some(mark),
            ..Witness::default()
        };
        let played = play(&directory.settings(), &mut witness).unwrap();
        assert!(played.has_ended_early);
        assert!(witness.marks.contains(&Mark::Stopped));
        assert!(directory.names().is_empty());
    }
}

#[test]
fn what_was_there_before_is_neither_written_nor_removed() {
    let directory = Directory::new("foreign");
    for subdirectories in [0, 2] {
        let settings = Settings {
            subdirectories,
            ..directory.settings()
        };
        let kept = directory.path().join("3");
        fs::write(&kept, "mine").unwrap();
        fs::create_dir(directory.path().join("s1")).unwrap();
        for is_buffered in [true, false] {
            let settings = Settings {
                is_buffered,
                ..settings.clone()
            };
            let mut witness = Witness::default();
            let played = play(&settings, &mut witness).unwrap();
            assert_eq!(played.overlooked.foreign_count, 1);
            assert_eq!(fs::read(&kept).unwrap(), b"mine");
            assert_eq!(directory.names(), ["3", "s1"]);
            if subdirectories == 0 {
                let first = &witness.failures[0];
                assert!(first.ends_with("/3' for writing\n"), "{first}");
            }
        }
        fs::remove_file(kept).unwrap();
        fs::remove_dir(directory.path().join("s1")).unwrap();
    }
}

#[test]
fn a_link_in_a_files_place_is_not_followed() {
    let directory = Directory::new("link");
    let aim = directory.path().join("aim");
    fs::write(&aim, "mine").unwrap();
    std::os::unix::fs::symlink(&aim, directory.path().join("1")).unwrap();
    play(&directory.settings(), &mut Witness::default()).unwrap();
    assert_eq!(fs::read(&aim).unwrap(), b"mine");
    assert_eq!(directory.names(), ["1", "aim"]);
}

#[test]
fn without_its_location_every_operation_fails_and_the_run_ends() {
    let directory = Directory::new("missing");
    let mut settings = directory.settings();
    settings.locations[0].directory.extend(b"/nodir");
    let mut witness = Witness::default();
    let played = play(&settings, &mut witness).unwrap();
    assert!(!played.has_ended_early);
    assert_eq!(played.totals.transactions_count, 100);
    assert_eq!(played.totals.read_count + played.totals.deleted_count, 0);
    assert!(witness.failures[0].ends_with("/nodir/1' for writing\n"));
}

#[test]
fn reads_that_come_short_are_counted_though_the_original_overlooks_them() {
    struct Cutter<'a>(&'a Path);
    impl Spectator for Cutter<'_> {
        fn mark(&mut self, mark: Mark) {
            if mark == Mark::Created {
                for entry in fs::read_dir(self.0).unwrap() {
                    fs::write(entry.unwrap().path(), "").unwrap();
                }
            }
        }
        fn failed(&mut self, _: &[u8]) {}
        fn wants_to_stop(&self) -> bool {
            false
        }
    }
    let directory = Directory::new("cut");
    let played = play(&directory.settings(), &mut Cutter(directory.path())).unwrap();
    assert!(played.overlooked.read_count > 0);
    assert_eq!(played.overlooked.first_error, None);
    assert_eq!(played.totals, expected(&directory.settings()));
    assert!(directory.names().is_empty());
}
