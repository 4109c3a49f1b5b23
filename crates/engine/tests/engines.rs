//! Every engine on a real file: each request completes once, with the content of the file.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod common;

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use common::{ContentDir, WAIT, execute, random_reads_agree, request, ring};
use engine::{
    Completion, Engine, EngineError, ForcedAsync, Mmap, MmapOptions, Null, Operation, Psync,
    PsyncOptions, UringOptions, Wait,
};
use plan::CacheMode;
use proptest::prelude::*;

const SIZE: usize = 1 << 20;

fn psync(files: Vec<OwnedFd>, slots: u32, bytes: u32) -> Psync {
    Psync::new(files, slots, bytes, PsyncOptions::default()).unwrap()
}

fn mmap(files: Vec<OwnedFd>, slots: u32, bytes: u32) -> Mmap {
    Mmap::new(files, slots, bytes, MmapOptions { write: true }).unwrap()
}

/// Creates an engine with this number of slots, or returns the reason why it cannot.
type Make = fn(Vec<OwnedFd>, u32) -> Option<Box<dyn Engine>>;

/// Runs `check` with every engine that keeps files, `slots` slots and buffers of 4096 bytes.
fn with_each(slots: u32, check: impl Fn(&mut dyn Engine, &ContentDir)) {
    let engines: [Make; 3] = [
        |files, slots| Some(Box::new(psync(files, slots, 4096))),
        |files, slots| Some(Box::new(mmap(files, slots, 4096))),
        |files, slots| {
            let engine = ring(files, slots, 4096, UringOptions::default())?;
            Some(Box::new(engine))
        },
    ];
    for make in engines {
        let content_dir = ContentDir::new(SIZE);
        if let Some(mut engine) = make(content_dir.buffered(), slots) {
            check(engine.as_mut(), &content_dir);
        }
    }
}

fn one(engine: &mut dyn Engine, operation: Operation, offset: u64, length: u32) -> i32 {
    execute(engine, request(operation, 0, offset, length))
}

#[test]
fn ten_thousand_random_reads_agree_with_the_file_at_depth_128() {
    with_each(128, |engine, place| {
        random_reads_agree(engine, &place.content, 4096, 10_000);
    });
}

#[test]
fn random_reads_agree_with_the_file_at_depth_1_and_below_a_sector() {
    with_each(1, |engine, place| {
        random_reads_agree(engine, &place.content, 100, 2_000);
    });
}

#[test]
fn direct_reads_agree_with_the_file() {
    let content_dir = ContentDir::new(SIZE);
    for slots in [1, 128] {
        let file = match content_dir.open(CacheMode::Direct) {
            Ok(file) => file,
            Err(error) => return println!("skipped: {error}"),
        };
        let again = vec![content_dir.open(CacheMode::Direct).unwrap()];
        random_reads_agree(
            &mut psync(again, slots, 4096),
            &content_dir.content,
            4096,
            500,
        );
        if let Some(mut engine) = ring(vec![file], slots, 4096, UringOptions::default()) {
            random_reads_agree(&mut engine, &content_dir.content, 4096, 2_000);
        }
    }
}

#[test]
fn written_data_is_read_back_and_synced() {
    with_each(2, |engine, _| {
        engine.buffer(0).fill(0xa5);
        assert_eq!(one(engine, Operation::Write, 8192, 4096), 4096);
        assert_eq!(one(engine, Operation::Fdatasync, 0, 0), 0);
        assert_eq!(one(engine, Operation::Fsync, 0, 0), 0);
        engine.buffer(0).fill(0);
        assert_eq!(one(engine, Operation::Read, 8192, 4096), 4096);
        assert!(engine.buffer(0).iter().all(|byte| *byte == 0xa5));
    });
}

#[test]
fn a_read_past_the_end_is_reported_as_short() {
    with_each(1, |engine, place| {
        let end = SIZE as u64;
        assert_eq!(one(engine, Operation::Read, end - 100, 4096), 100);
        assert_eq!(engine.buffer(0)[..100], place.content[SIZE - 100..]);
        assert_eq!(one(engine, Operation::Read, end, 4096), 0);
        assert_eq!(one(engine, Operation::Read, end * 2, 4096), 0);
    });
}

#[test]
fn missing_files_and_unsupported_operations_return_negative_errno() {
    with_each(1, |engine, _| {
        let mut invalid = request(Operation::Read, 0, 0, 512);
        invalid.file_index = 9;
        assert_eq!(execute(engine, invalid), -libc::EBADF);
        assert_eq!(one(engine, Operation::Mkdir, 0, 0), -libc::EOPNOTSUPP);
    });
}

#[test]
fn a_full_device_is_reported_as_enospc() {
    let full = || {
        vec![
            std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .unwrap()
                .into(),
        ]
    };
    let write = request(Operation::Write, 0, 0, 512);
    assert_eq!(execute(&mut psync(full(), 1, 512), write), -libc::ENOSPC);
    if let Some(mut engine) = ring(full(), 1, 512, UringOptions::default()) {
        assert_eq!(execute(&mut engine, write), -libc::ENOSPC);
    }
}

#[test]
fn writing_to_a_file_open_for_reading_is_reported_as_ebadf() {
    let content_dir = ContentDir::new(4096);
    let path = content_dir.dir.path().join(common::NAME);
    let read_only = || vec![OwnedFd::from(std::fs::File::open(&path).unwrap())];
    let write = request(Operation::Write, 0, 0, 512);
    assert_eq!(
        execute(&mut psync(read_only(), 1, 512), write),
        -libc::EBADF
    );
    let mut mapped = Mmap::new(read_only(), 1, 512, MmapOptions::default()).unwrap();
    assert_eq!(execute(&mut mapped, write), -libc::EBADF);
    if let Some(mut engine) = ring(read_only(), 1, 512, UringOptions::default()) {
        assert_eq!(execute(&mut engine, write), -libc::EBADF);
    }
}

#[test]
fn a_mapping_does_not_grow_and_an_empty_file_is_refused() {
    let content_dir = ContentDir::new(4096);
    let mut engine = mmap(content_dir.buffered(), 1, 4096);
    assert_eq!(one(&mut engine, Operation::Write, 4000, 4096), 96);
    assert_eq!(one(&mut engine, Operation::Write, 4096, 1), -libc::EFBIG);
    assert_eq!(
        one(&mut engine, Operation::Write, u64::MAX, 1),
        -libc::EFBIG
    );
    let empty = ContentDir::new(0);
    let error = Mmap::new(empty.buffered(), 1, 4096, MmapOptions::default()).unwrap_err();
    assert!(
        matches!(error, EngineError::EmptyMapping { file_index: 0 }),
        "{error}"
    );
}

#[test]
fn with_nothing_in_flight_a_wait_times_out_without_completions() {
    with_each(4, |engine, _| {
        let mut done: Vec<Completion> = Vec::with_capacity(4);
        let start = Instant::now();
        engine
            .reap(
                Wait::One {
                    timeout_ns: 20_000_000,
                },
                &mut done,
            )
            .unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20));
        engine.reap(WAIT, &mut done).unwrap();
        engine.reap(Wait::Poll, &mut done).unwrap();
        assert!(done.is_empty());
    });
}

#[test]
fn reopening_replaces_the_file() {
    let (first, second) = (ContentDir::new(8192), ContentDir::new(4096));
    let read = request(Operation::Read, 0, 0, 4096);
    let file = || second.open(CacheMode::Buffered).unwrap();
    let mut plain = psync(first.buffered(), 1, 4096);
    plain.reopen(0, file()).unwrap();
    assert_eq!(execute(&mut plain, read), 4096);
    assert_eq!(plain.buffer(0), second.content);
    let mut mapped = mmap(first.buffered(), 1, 4096);
    mapped.reopen(0, file()).unwrap();
    assert_eq!(execute(&mut mapped, read), 4096);
    assert_eq!(mapped.buffer(0), second.content);
    let error = mapped.reopen(1, file()).unwrap_err();
    assert!(
        matches!(
            error,
            EngineError::FileIndex {
                file_index: 1,
                file_count: 1
            }
        ),
        "{error}"
    );
    if let Some(mut engine) = ring(first.buffered(), 1, 4096, UringOptions::default()) {
        engine.reopen(0, file()).unwrap();
        assert_eq!(execute(&mut engine, read), 4096);
        assert_eq!(engine.buffer(0), second.content);
        engine.reopen(1, file()).unwrap_err();
    }
}

#[test]
fn dontcache_reads_agree_with_the_file_or_are_refused_by_name() {
    let content_dir = ContentDir::new(SIZE);
    match Psync::new(
        content_dir.buffered(),
        4,
        4096,
        PsyncOptions {
            dontcache: true,
            ..PsyncOptions::default()
        },
    ) {
        Ok(mut engine) => random_reads_agree(&mut engine, &content_dir.content, 4096, 500),
        Err(EngineError::DontcacheRefused { file_index: 0 }) => {
            return println!("skipped: the file system has no RWF_DONTCACHE");
        }
        Err(error) => panic!("{error}"),
    }
    let options = UringOptions {
        dontcache: true,
        ..UringOptions::default()
    };
    if let Some(mut engine) = ring(content_dir.buffered(), 32, 4096, options) {
        random_reads_agree(&mut engine, &content_dir.content, 4096, 2_000);
    }
}

#[test]
fn dontcache_is_refused_if_unsupported() {
    let pipe_like = || vec![std::fs::File::open("/dev/zero").unwrap().into()];
    let options = PsyncOptions {
        dontcache: true,
        ..PsyncOptions::default()
    };
    let error = Psync::new(pipe_like(), 1, 512, options).unwrap_err();
    assert!(
        matches!(error, EngineError::DontcacheRefused { file_index: 0 }),
        "{error}"
    );
    assert!(error.help().is_some());
}

/// An engine that is prepared for trims.
type MakeForTrims = fn(Vec<OwnedFd>) -> Option<Box<dyn Engine>>;

#[test]
fn a_trim_punches_a_hole_and_keeps_the_size() {
    let engines: [MakeForTrims; 3] = [
        |files| {
            let mut engine = psync(files, 1, 4096);
            engine.prepare_trims().unwrap();
            Some(Box::new(engine))
        },
        |files| {
            let mut engine = mmap(files, 1, 4096);
            engine.prepare_trims().unwrap();
            Some(Box::new(engine))
        },
        |files| {
            let mut engine = ring(files, 1, 4096, UringOptions::default())?;
            engine.prepare_trims().unwrap();
            Some(Box::new(engine))
        },
    ];
    for make in engines {
        let content_dir = ContentDir::new(SIZE);
        let Some(mut engine) = make(content_dir.buffered()) else {
            continue;
        };
        let engine = engine.as_mut();
        // Larger than the buffer, which a trim does not use.
        let result = one(engine, Operation::Trim, 65_536, 131_072);
        if result == -libc::EOPNOTSUPP {
            println!("skipped: the file system has no holes");
            continue;
        }
        assert_eq!(result, 0);
        for (offset, is_zero) in [
            (61_440, false),
            (65_536, true),
            (192_512, true),
            (196_608, false),
        ] {
            assert_eq!(one(engine, Operation::Read, offset, 4096), 4096);
            let bytes = &engine.buffer(0)[..4096];
            assert_eq!(bytes.iter().all(|byte| *byte == 0), is_zero, "{offset}");
        }
        let file = std::fs::metadata(content_dir.dir.path().join(common::NAME)).unwrap();
        assert_eq!(file.len(), SIZE as u64);
    }
}

#[test]
fn trims_are_refused_unless_the_engine_was_prepared() {
    with_each(1, |engine, place| {
        let result = one(engine, Operation::Trim, 0, 4096);
        assert_eq!(result, -libc::EOPNOTSUPP);
        assert_eq!(one(engine, Operation::Read, 0, 4096), 4096);
        assert_eq!(engine.buffer(0)[..4096], place.content[..4096]);
    });
}

#[test]
fn requests_on_kernel_threads_agree_with_the_file() {
    let content_dir = ContentDir::new(SIZE);
    for each in [1, 4] {
        let files = content_dir.buffered();
        if let Some(engine) = ring(files, 32, 4096, UringOptions::default()) {
            let mut engine = ForcedAsync::new(engine, each);
            random_reads_agree(&mut engine, &content_dir.content, 4096, 2_000);
        }
    }
}

#[test]
fn reads_without_waiting_agree_with_the_file_or_are_refused_by_name() {
    let content_dir = ContentDir::new(SIZE);
    let options = PsyncOptions {
        nowait: true,
        ..PsyncOptions::default()
    };
    match Psync::new(content_dir.buffered(), 4, 4096, options) {
        // The content was just written, so it is in the page cache.
        Ok(mut engine) => random_reads_agree(&mut engine, &content_dir.content, 4096, 500),
        Err(error @ EngineError::NowaitRefused { file_index: 0 }) => {
            assert!(error.help().is_some());
            return println!("skipped: the file system has no RWF_NOWAIT");
        }
        Err(error) => panic!("{error}"),
    }
    let options = UringOptions {
        nowait: true,
        ..UringOptions::default()
    };
    if let Some(mut engine) = ring(content_dir.buffered(), 32, 4096, options) {
        random_reads_agree(&mut engine, &content_dir.content, 4096, 2_000);
    }
}

#[test]
fn null_completes_everything_in_full_at_the_next_reap() {
    let mut engine = Null::new(4, 4096).unwrap();
    let mut done = Vec::with_capacity(4);
    engine.push(request(Operation::Read, 2, 1 << 40, 4096));
    engine.push(request(Operation::Fsync, 0, 0, 4096));
    engine.reap(Wait::Poll, &mut done).unwrap();
    let wanted = [
        Completion {
            slot: 2,
            result: 4096,
        },
        Completion { slot: 0, result: 0 },
    ];
    assert_eq!(done, wanted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_pushed_slot_completes_exactly_once(
        rounds in prop::collection::vec((1_u32..40, any::<bool>()), 1..40),
    ) {
        with_each(64, |engine, _| {
            let mut in_flight = [false; 64];
            let mut done: Vec<Completion> = Vec::with_capacity(64);
            let capacity = done.capacity();
            let settle = |done: &mut Vec<Completion>, in_flight: &mut [bool; 64]| {
                for completion in done.drain(..) {
                    let slot = completion.slot as usize;
                    assert!(std::mem::take(&mut in_flight[slot]), "completes once");
                    assert_eq!(completion.result, 512);
                }
            };
            for (push_count, polls) in &rounds {
                let free: Vec<u32> = (0..64).filter(|slot| !in_flight[*slot as usize]).collect();
                for slot in free.into_iter().take(*push_count as usize) {
                    in_flight[slot as usize] = true;
                    engine.push(request(Operation::Read, slot, u64::from(slot) * 512, 512));
                }
                engine.reap(if *polls { Wait::Poll } else { WAIT }, &mut done).unwrap();
                settle(&mut done, &mut in_flight);
            }
            while in_flight.contains(&true) {
                engine.reap(WAIT, &mut done).unwrap();
                settle(&mut done, &mut in_flight);
            }
            assert_eq!(done.capacity(), capacity);
        });
    }
}
