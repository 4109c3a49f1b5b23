use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use workload::classics::lat_fs::LatFs;

use super::*;
use crate::tests::scratch::Directory;

const SECOND_NS: u64 = 1_000_000_000;

/// Each reading is so much later than the one before.
struct Ticking {
    now_ns: AtomicU64,
    tick_ns: u64,
}

impl Ticking {
    fn by(tick_ns: u64) -> Self {
        Self {
            now_ns: AtomicU64::new(0),
            tick_ns,
        }
    }
}

impl Clock for Ticking {
    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(self.tick_ns, Ordering::Relaxed)
    }
}

/// Keeps the rows; at a row of that number it asks for an end.
struct Witness<'a> {
    rows: Vec<Row>,
    stop_after: usize,
    stop: &'a AtomicBool,
}

impl Spectator for Witness<'_> {
    fn row(&mut self, row: &Row) {
        self.rows.push(*row);
        if self.rows.len() >= self.stop_after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn resolved(text: &str) -> LatFsPlan {
    toml::from_str::<LatFs>(text).unwrap().resolve().unwrap()
}

fn played(
    directory: &Directory,
    plan: &LatFsPlan,
    worker_count: u32,
    clock: &(impl Clock + Sync),
) -> Result<Vec<Row>, RunError> {
    let settings = Settings {
        plan,
        directory: directory.path(),
        worker_count,
        warm_up_ns: 0,
        seed: 7,
    };
    let stop = AtomicBool::new(false);
    let mut witness = Witness {
        rows: Vec::new(),
        stop_after: usize::MAX,
        stop: &stop,
    };
    play(&settings, clock, &stop, &mut witness)?;
    Ok(witness.rows)
}

#[test]
fn passes_go_on_until_the_budget_is_exceeded() {
    let directory = Directory::new("lat-best");
    let plan = resolved("files = 30\nbudget = 5");
    let clock = Ticking::by(SECOND_NS);
    let rows = played(&directory, &plan, 1, &clock).unwrap();
    let best = Best {
        file_count: 30,
        create_ns: SECOND_NS,
        remove_ns: SECOND_NS,
    };
    let row = |size_bytes| Row::Best { size_bytes, best };
    assert_eq!(rows, [0, 1024, 4096, 10_240].map(row));
    // Three passes of 2 s, of four readings each, for each size.
    assert_eq!(clock.now_ns(), 4 * 3 * 4 * SECOND_NS);
    assert!(directory.names().is_empty());
}

#[test]
fn samples_are_as_long_as_they_should_be_and_their_median_counts() {
    let directory = Directory::new("lat-median");
    let text = "compat = \"3\"\nsizes = 1024\nrepetitions = 3\nsample_time = \"50ms\"";
    let clock = Ticking::by(50_000_000);
    let rows = played(&directory, &resolved(text), 1, &clock).unwrap();
    let sample = Some(Sample {
        file_count: 1,
        time_ns: 50_000_000,
    });
    let row = Row::Median {
        size_bytes: 1024,
        create: sample,
        remove: sample,
    };
    assert_eq!(rows, [row]);
    assert!(directory.names().is_empty());
}

#[test]
fn workers_have_their_own_directories_and_samples() {
    let directory = Directory::new("lat-workers");
    let text = "compat = \"3\"\nsizes = 1024\nrepetitions = 2\nsample_time = \"1ms\"\n\
        files_per_directory = 5";
    let clock = engine::TscClock::new();
    let rows = played(&directory, &resolved(text), 3, &clock).unwrap();
    let [Row::Median { create, remove, .. }] = rows[..] else {
        panic!("{rows:?}");
    };
    for sample in [create, remove] {
        assert!(sample.unwrap().time_ns >= 950_000, "{sample:?}");
    }
    assert!(directory.names().is_empty());
}

#[test]
fn version_3_warms_up_before_each_test() {
    let directory = Directory::new("lat-warm");
    let text = "compat = \"3\"\nsizes = 0\nrepetitions = 1\nsample_time = \"1us\"";
    let plan = resolved(text);
    let settings = Settings {
        plan: &plan,
        directory: directory.path(),
        worker_count: 1,
        warm_up_ns: 100_000,
        seed: 7,
    };
    let stop = AtomicBool::new(false);
    let clock = Ticking::by(10_000);
    let mut witness = Witness {
        rows: Vec::new(),
        stop_after: 1,
        stop: &stop,
    };
    play(&settings, &clock, &stop, &mut witness).unwrap();
    assert_eq!(witness.rows.len(), 1);
    // Without warming up a test takes six readings.
    assert!(clock.now_ns() >= 2 * (100_000 + 40_000));
}

#[test]
fn a_file_that_was_there_is_left_and_ends_the_run() {
    let directory = Directory::new("lat-foreign");
    fs::write(directory.path().join("c"), "mine").unwrap();
    let error = played(&directory, &resolved("files = 9"), 1, &Ticking::by(1)).unwrap_err();
    assert!(error.to_string().contains("/c`: File exists"), "{error}");
    assert_eq!(directory.names(), ["c"]);
    assert_eq!(fs::read(directory.path().join("c")).unwrap(), b"mine");
}

#[test]
fn a_directory_that_is_not_there_is_an_error() {
    let directory = Directory::new("lat-nowhere");
    fs::remove_dir(directory.path()).unwrap();
    for text in ["files = 3", "compat = \"3\""] {
        let error = played(&directory, &resolved(text), 2, &Ticking::by(1)).unwrap_err();
        assert!(error.to_string().contains("No such file"), "{error}");
    }
}

#[test]
fn a_run_that_is_stopped_has_no_further_rows_and_leaves_nothing() {
    for text in ["files = 50\nbudget = \"1ms\"", "compat = \"3\""] {
        let directory = Directory::new("lat-stopped");
        let plan = resolved(text);
        let settings = Settings {
            plan: &plan,
            directory: directory.path(),
            worker_count: 2,
            warm_up_ns: 0,
            seed: 7,
        };
        let stop = AtomicBool::new(false);
        let mut witness = Witness {
            rows: Vec::new(),
            stop_after: 2,
            stop: &stop,
        };
        let clock = Ticking::by(60_000_000);
        play(&settings, &clock, &stop, &mut witness).unwrap();
        assert_eq!(witness.rows.len(), 2);
        assert!(directory.names().is_empty());
    }
}
