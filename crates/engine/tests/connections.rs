//! Closing and opening an engine's files between requests, as a test of the connection rate does.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use common::{ContentDir, NAME, WAIT, execute, random_reads_agree, request, ring};
use engine::{
    Engine, EngineError, IoUring, Mmap, MmapOptions, Null, OpenPlan, Operation, Psync,
    PsyncOptions, Reopen, UringOptions,
};
use plan::CacheMode;

const SIZE: usize = 1 << 18;
const PLAN: OpenPlan = OpenPlan {
    cache: CacheMode::Buffered,
    read: true,
    write: true,
    create: false,
};

/// An engine whose reopen recipes can be set.
trait Reopens: Engine {
    fn recipes(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError>;
}

impl Reopens for Psync {
    fn recipes(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.set_reopen(recipes)
    }
}

impl Reopens for Mmap {
    fn recipes(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.set_reopen(recipes)
    }
}

impl Reopens for IoUring {
    fn recipes(&mut self, recipes: Vec<Reopen>) -> Result<(), EngineError> {
        self.set_reopen(recipes)
    }
}

fn with_each(slots: u32, check: impl Fn(&mut dyn Reopens, &ContentDir)) {
    type Make = fn(Vec<OwnedFd>, u32) -> Option<Box<dyn Reopens>>;
    let engines: [Make; 3] = [
        |files, slots| {
            let engine = Psync::new(files, slots, 4096, PsyncOptions::default());
            Some(Box::new(engine.unwrap()))
        },
        |files, slots| {
            let engine = Mmap::new(files, slots, 4096, MmapOptions { write: true });
            Some(Box::new(engine.unwrap()))
        },
        |files, slots| Some(Box::new(ring(files, slots, 4096, UringOptions::default())?)),
    ];
    for make in engines {
        let content_dir = ContentDir::new(SIZE);
        if let Some(mut engine) = make(content_dir.buffered(), slots) {
            check(engine.as_mut(), &content_dir);
        }
    }
}

fn recipe(content_dir: &ContentDir, name: &str) -> Reopen {
    let directory = OwnedFd::from(File::open(content_dir.dir.path()).unwrap());
    Reopen::file(directory, Path::new(name), PLAN).unwrap()
}

fn execute_in_slot_0(engine: &mut dyn Reopens, operation: Operation) -> i32 {
    let length = if operation.moves_bytes() { 4096 } else { 0 };
    execute(engine, request(operation, 0, 0, length))
}

/// Number of descriptors of this process for the directory's file; tests of other directories run
/// at the same time.
fn open_count(content_dir: &ContentDir) -> usize {
    let path = content_dir.dir.path().join(NAME);
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter(|entry| {
            let link = entry.as_ref().unwrap().path();
            std::fs::read_link(link).is_ok_and(|target| target == path)
        })
        .count()
}

#[test]
fn files_with_recipes_start_closed_and_open_and_close_on_request() {
    with_each(4, |engine, place| {
        engine.recipes(vec![recipe(place, NAME)]).unwrap();
        assert_eq!(open_count(place), 0);
        assert_eq!(execute_in_slot_0(engine, Operation::Read), -libc::EBADF);
        assert_eq!(execute_in_slot_0(engine, Operation::Close), -libc::EBADF);
        for _ in 0..50 {
            assert_eq!(execute_in_slot_0(engine, Operation::Open), 0);
            assert_eq!(execute_in_slot_0(engine, Operation::Open), -libc::EBUSY);
            assert_eq!(open_count(place), 1);
            assert_eq!(execute_in_slot_0(engine, Operation::Read), 4096);
            assert_eq!(engine.buffer(0)[..4096], place.content[..4096]);
            assert_eq!(execute_in_slot_0(engine, Operation::Close), 0);
            assert_eq!(open_count(place), 0);
            assert_eq!(execute_in_slot_0(engine, Operation::Read), -libc::EBADF);
        }
        assert_eq!(execute_in_slot_0(engine, Operation::Open), 0);
        random_reads_agree(engine, &place.content, 4096, 500);
    });
}

#[test]
fn without_recipes_files_stay_open_and_opening_is_not_supported() {
    with_each(1, |engine, place| {
        for operation in [Operation::Open, Operation::Close] {
            assert_eq!(execute_in_slot_0(engine, operation), -libc::EOPNOTSUPP);
        }
        assert_eq!(open_count(place), 1);
        assert_eq!(execute_in_slot_0(engine, Operation::Read), 4096);
    });
}

#[test]
fn each_file_needs_exactly_one_recipe() {
    with_each(1, |engine, place| {
        let error = engine.recipes(Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "0 ways to reopen files were given for 1 files"
        );
        assert_eq!(execute_in_slot_0(engine, Operation::Read), 4096);
        let beyond = common::request(Operation::Open, 0, 0, 0);
        engine.recipes(vec![recipe(place, NAME)]).unwrap();
        let file_index = 1;
        let result = execute(
            engine,
            engine::Request {
                file_index,
                ..beyond
            },
        );
        assert_eq!(result, -libc::EOPNOTSUPP);
    });
}

#[test]
fn a_file_that_is_gone_or_became_a_link_fails_to_open_until_it_is_back() {
    with_each(1, |engine, place| {
        engine.recipes(vec![recipe(place, NAME)]).unwrap();
        let (path, away) = (place.dir.path().join(NAME), place.dir.path().join("away"));
        std::fs::rename(&path, &away).unwrap();
        assert_eq!(execute_in_slot_0(engine, Operation::Open), -libc::ENOENT);
        std::os::unix::fs::symlink(&away, &path).unwrap();
        assert_eq!(execute_in_slot_0(engine, Operation::Open), -libc::ELOOP);
        std::fs::rename(&away, &path).unwrap();
        assert_eq!(execute_in_slot_0(engine, Operation::Open), 0);
        assert_eq!(execute_in_slot_0(engine, Operation::Read), 4096);
    });
}

#[test]
fn a_file_that_lost_its_content_cannot_be_mapped_and_is_closed_again() {
    let content_dir = ContentDir::new(SIZE);
    let mut engine = Mmap::new(content_dir.buffered(), 1, 4096, MmapOptions::default()).unwrap();
    engine.set_reopen(vec![recipe(&content_dir, NAME)]).unwrap();
    File::create(content_dir.dir.path().join(NAME)).unwrap();
    assert_eq!(
        execute_in_slot_0(&mut engine, Operation::Open),
        -libc::EINVAL
    );
    assert_eq!(open_count(&content_dir), 0);
}

#[test]
fn direct_files_are_reopened_for_direct_io() {
    let content_dir = ContentDir::new(SIZE);
    let file = match content_dir.open(CacheMode::Direct) {
        Ok(file) => file,
        Err(error) => return println!("skipped: {error}"),
    };
    let Some(mut engine) = ring(vec![file], 2, 4096, UringOptions::default()) else {
        return;
    };
    let directory = OwnedFd::from(File::open(content_dir.dir.path()).unwrap());
    let plan = OpenPlan {
        cache: CacheMode::Direct,
        ..PLAN
    };
    let recipe = Reopen::file(directory, Path::new(NAME), plan).unwrap();
    engine.set_reopen(vec![recipe]).unwrap();
    assert_eq!(execute_in_slot_0(&mut engine, Operation::Open), 0);
    random_reads_agree(&mut engine, &content_dir.content, 4096, 100);
    let unaligned = execute(&mut engine, request(Operation::Read, 0, 1, 100));
    assert_eq!(unaligned, -libc::EINVAL);
}

#[test]
fn one_file_is_closed_while_requests_for_another_are_in_flight() {
    let content_dir = ContentDir::new(SIZE);
    let files = vec![
        content_dir.open(CacheMode::Buffered).unwrap(),
        content_dir.open(CacheMode::Buffered).unwrap(),
    ];
    let Some(mut engine) = ring(files, 8, 4096, UringOptions::default()) else {
        return;
    };
    let recipes = vec![recipe(&content_dir, NAME), recipe(&content_dir, NAME)];
    engine.set_reopen(recipes).unwrap();
    let mut done = Vec::with_capacity(8);
    let mut push = |operation, slot, file_index, length| {
        engine.push(engine::Request {
            file_index,
            ..request(operation, slot, 0, length)
        });
        if slot == 7 {
            let mut count = 0;
            while count < 8 {
                done.clear();
                engine.reap(WAIT, &mut done).unwrap();
                let good = done.iter().all(|it| [0, 4096].contains(&it.result));
                assert!(good, "{done:?}");
                count += done.len();
            }
        }
    };
    (0..8).for_each(|slot| match slot {
        0 => push(Operation::Open, 0, 0, 0),
        1 => push(Operation::Open, 1, 1, 0),
        slot => push(Operation::Read, slot, slot % 2, 4096),
    });
    for _ in 0..100 {
        (0..7).for_each(|slot| push(Operation::Read, slot, 1, 4096));
        push(Operation::Close, 7, 0, 0);
        (0..7).for_each(|slot| push(Operation::Read, slot, 1, 4096));
        push(Operation::Open, 7, 0, 0);
    }
}

#[test]
fn the_null_engine_accepts_any_open_and_close() {
    let mut engine = Null::new(1, 512).unwrap();
    for operation in [Operation::Open, Operation::Close, Operation::Close] {
        assert_eq!(execute(&mut engine, request(operation, 0, 0, 0)), 0);
    }
}
