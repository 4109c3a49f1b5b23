//! Errors of the system become results of requests, and no operation allocates.
//!
//! One test alone, because it changes limits of the whole process and counts its allocations.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{
    Completion, Engine, EngineError, FileEngineOptions, Fileset, NameRule, OpenAccess, Operation,
    PsyncFiles, Request, RequestObject, SubdirectoryRule, UringFiles, Wait,
};
use rustix::process::{Resource, getrlimit, setrlimit};
use tempfile::TempDir;

/// Counts allocations of all threads.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller keeps the guarantees that the system's allocator requires.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as above.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SLOTS: u32 = 8;

fn location(dir: &Path) -> OwnedFd {
    OwnedFd::from(File::open(dir).unwrap())
}

fn engines(set: &Arc<Fileset>) -> Vec<Box<dyn Engine>> {
    let options = FileEngineOptions::default();
    let psync = PsyncFiles::new(Arc::clone(set), SLOTS, 4096, options.clone()).unwrap();
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(psync)];
    match UringFiles::new(Arc::clone(set), SLOTS, 4096, options) {
        Ok(engine) => engines.push(Box::new(engine)),
        Err(
            error @ (EngineError::UringMissing
            | EngineError::UringForbidden { .. }
            | EngineError::UringDisabled { .. }
            | EngineError::LockedMemory { .. }),
        ) => println!("skipped: {error}"),
        Err(error) => panic!("{error}"),
    }
    engines
}

/// Executes one operation in each slot, on the file of the slot's number.
fn all(engine: &mut dyn Engine, step: (Operation, u64, u32), done: &mut Vec<Completion>) {
    let (operation, offset_bytes, length_bytes) = step;
    for slot in 0..SLOTS {
        engine.push(Request {
            operation,
            fileset: 0,
            handle: 0,
            slot,
            file_index: slot,
            length_bytes,
            offset_bytes,
        });
    }
    done.clear();
    while done.len() < SLOTS as usize {
        engine.reap(Wait::One { timeout_ns: 0 }, done).unwrap();
    }
}

fn no_operation_allocates() {
    let steps = [
        (Operation::Create, 0, 0),
        (Operation::Write, 0, 4096),
        (Operation::Fsync, 0, 0),
        (Operation::Read, 0, 4096),
        (Operation::Truncate, 10_000, 0),
        (Operation::Stat, RequestObject::Handle.code(), 0),
        (Operation::Close, 0, 0),
        (Operation::Stat, RequestObject::Name.code(), 0),
        (Operation::Open, OpenAccess::ReadWrite.code(), 0),
        (Operation::Create, 0, 0),
        (Operation::Close, 0, 0),
        (Operation::Rename, 1000, 0),
        (Operation::Rename, 1000, 0),
        (Operation::Readdir, RequestObject::Directory.code(), 0),
        (Operation::Unlink, 0, 0),
    ];
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let rule = NameRule {
        subdirectories: Some(SubdirectoryRule {
            count: 3,
            prefix: "s".to_owned(),
            digit_count: 2,
            ..SubdirectoryRule::default()
        }),
        ..NameRule::default()
    };
    let set = Fileset::generated(vec![location(dir.path())], rule).unwrap();
    set.make_subdirectories(0o700).unwrap();
    let set = Arc::new(set);
    let mut done = Vec::with_capacity(SLOTS as usize);
    for engine in &mut engines(&set) {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        for _ in 0..20 {
            for step in steps {
                all(engine.as_mut(), step, &mut done);
            }
        }
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0);
        // All were renamed to one name before some were removed.
        let last = Request {
            operation: Operation::Unlink,
            file_index: 1000,
            ..Request::EMPTY
        };
        engine.push(last);
        engine.reap(Wait::One { timeout_ns: 0 }, &mut done).unwrap();
    }
}

/// `/dev/full` takes no byte; it is there for everybody.
fn a_full_file_system_fails_the_write_with_enospc() {
    let names = vec![PathBuf::from("full"); SLOTS as usize];
    let set = Arc::new(Fileset::listed(location(Path::new("/dev")), &names).unwrap());
    let mut done = Vec::with_capacity(SLOTS as usize);
    for engine in &mut engines(&set) {
        let engine = engine.as_mut();
        all(
            engine,
            (Operation::Open, OpenAccess::Write.code(), 0),
            &mut done,
        );
        if done[0].result == -libc::EACCES {
            return println!("skipped: `/dev/full` cannot be opened here");
        }
        assert!(done.iter().all(|it| it.result == 0), "{done:?}");
        all(engine, (Operation::Write, 0, 4096), &mut done);
        assert!(done.iter().all(|it| it.result == -libc::ENOSPC), "{done:?}");
        all(engine, (Operation::Close, 0, 0), &mut done);
        assert!(done.iter().all(|it| it.result == 0), "{done:?}");
    }
}

fn too_many_open_files_fail_some_requests_and_the_engine_continues() {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let locations = vec![location(dir.path())];
    let set = Arc::new(Fileset::generated(locations, NameRule::default()).unwrap());
    let options = FileEngineOptions::default();
    let mut engine = PsyncFiles::new(set, SLOTS, 4096, options).unwrap();
    let mut done = Vec::with_capacity(SLOTS as usize);
    let limits = getrlimit(Resource::Nofile);
    let next = std::os::fd::AsRawFd::as_raw_fd(&File::open(dir.path()).unwrap());
    let mut lower = limits;
    lower.current = Some(next as u64 + 3);
    setrlimit(Resource::Nofile, lower).unwrap();
    all(&mut engine, (Operation::Create, 0, 0), &mut done);
    setrlimit(Resource::Nofile, limits).unwrap();
    let results: Vec<i32> = done.iter().map(|it| it.result).collect();
    let refused = -libc::EMFILE;
    assert_eq!(
        results,
        [0, 0, 0, refused, refused, refused, refused, refused]
    );
    all(&mut engine, (Operation::Write, 0, 100), &mut done);
    assert_eq!(done.iter().filter(|it| it.result == 100).count(), 3);
    assert_eq!(
        done.iter().filter(|it| it.result == -libc::EBADF).count(),
        5
    );
}

#[test]
fn faults_are_results_and_no_operation_allocates() {
    no_operation_allocates();
    a_full_file_system_fails_the_write_with_enospc();
    too_many_open_files_fail_some_requests_and_the_engine_continues();
}
