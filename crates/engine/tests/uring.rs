//! Behavior that only a ring has: its setup, refused requests, threads and time limits.

mod common;

use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use common::{ContentDir, WAIT, execute, random_reads_agree, request, ring};
use engine::{Completion, Engine, EngineError, IoUring, Operation, UringOptions, Wait};
use plan::CacheMode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn the_record_says_what_the_kernel_granted() {
    let content_dir = ContentDir::new(4096);
    let Some(engine) = ring(content_dir.buffered(), 100, 4096, UringOptions::default()) else {
        return;
    };
    let setup = engine.setup();
    assert_eq!(setup.granted.len() + setup.refused.len(), 5, "{setup:?}");
    assert_eq!(setup.submission_entries, 128);
    assert_eq!(setup.completion_entries, 128);
    assert_eq!(
        setup.notes().is_empty(),
        setup.refused.is_empty() && setup.registered_ring
    );
}

#[test]
fn reads_through_a_kernel_submission_thread_agree_with_the_file() {
    let content_dir = ContentDir::new(1 << 20);
    let options = UringOptions {
        sqpoll: true,
        ..UringOptions::default()
    };
    let Some(mut engine) = ring(content_dir.buffered(), 16, 4096, options) else {
        return;
    };
    assert!(
        engine.setup().granted.contains(&"sqpoll"),
        "{:?}",
        engine.setup()
    );
    random_reads_agree(&mut engine, &content_dir.content, 4096, 2_000);
}

#[test]
fn depth_0_and_depth_100000_are_refused_with_the_limit() {
    for asked in [0, 100_000] {
        let error = IoUring::new(Vec::new(), asked, 512, UringOptions::default()).unwrap_err();
        assert!(
            matches!(
                error,
                EngineError::SlotCount {
                    most_count: 32_768,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(
            error.help().as_deref(),
            Some("choose a queue depth of at most 32768")
        );
    }
}

#[test]
fn the_largest_depth_works() {
    let content_dir = ContentDir::new(1 << 20);
    let Some(mut engine) = ring(content_dir.buffered(), 32_768, 512, UringOptions::default())
    else {
        return;
    };
    random_reads_agree(&mut engine, &content_dir.content, 512, 70_000);
}

#[test]
fn polled_completions_need_direct_io_and_a_device_that_polls() {
    let content_dir = ContentDir::new(4096);
    let options = UringOptions {
        iopoll: true,
        ..UringOptions::default()
    };
    let error = IoUring::new(content_dir.buffered(), 1, 4096, options).unwrap_err();
    assert!(
        matches!(error, EngineError::PollingBuffered { file_index: 0 }),
        "{error}"
    );
    let Ok(file) = content_dir.open(CacheMode::Direct) else {
        return println!("skipped: no direct I/O here");
    };
    match IoUring::new(vec![file], 1, 4096, options) {
        Err(EngineError::PollingUnsupported { .. }) => {}
        Ok(mut engine) => random_reads_agree(&mut engine, &content_dir.content, 4096, 100),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_wait_with_a_request_in_flight_times_out() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let files = vec![OwnedFd::from(reader)];
    let Some(mut engine) = ring(files, 2, 512, UringOptions::default()) else {
        return;
    };
    let mut done: Vec<Completion> = Vec::with_capacity(2);
    engine.push(request(Operation::Read, 1, 0, 512));
    let start = Instant::now();
    engine
        .reap(
            Wait::One {
                timeout_ns: 20_000_000,
            },
            &mut done,
        )
        .unwrap();
    assert!(done.is_empty());
    assert!(start.elapsed() >= Duration::from_millis(20));
    writer.write_all(b"seven b").unwrap();
    while done.is_empty() {
        engine.reap(WAIT, &mut done).unwrap();
    }
    assert_eq!(done, [Completion { slot: 1, result: 7 }]);
    assert_eq!(&engine.buffer(1)[..7], b"seven b");
}

#[test]
fn files_in_memory_are_read_on_the_submitting_thread() {
    let Ok(dir) = tempfile::tempdir_in("/dev/shm") else {
        return println!("skipped: no /dev/shm");
    };
    let content = vec![3_u8; 1 << 16];
    std::fs::write(dir.path().join("f"), &content).unwrap();
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(dir.path().join("f"))
        .unwrap();
    let Some(mut engine) = ring(vec![file.into()], 32, 4096, UringOptions::default()) else {
        return;
    };
    let setup = engine.setup();
    assert!(!setup.kernel_threads);
    // If the kernel's tmpfs guarantees not to block, no kernel threads are needed and there is no
    // note.
    assert_eq!(
        setup.notes().iter().any(|it| it.contains("in memory")),
        setup.memory_inline
    );
    random_reads_agree(&mut engine, &content, 4096, 2_000);
    assert_eq!(
        execute(&mut engine, request(Operation::Write, 0, 0, 4096)),
        4096
    );
}

#[test]
#[should_panic(expected = "a slot has one request in flight at most")]
fn a_second_request_for_a_slot_in_flight_is_a_broken_invariant() {
    let content_dir = ContentDir::new(4096);
    let Some(mut engine) = ring(content_dir.buffered(), 2, 512, UringOptions::default()) else {
        panic!("a slot has one request in flight at most");
    };
    engine.push(request(Operation::Read, 1, 0, 512));
    engine.push(request(Operation::Read, 1, 0, 512));
}

#[test]
fn dropping_the_engine_releases_the_ring() {
    let content_dir = ContentDir::new(4096);
    // A thread has room for 16 registered rings: more than that only fit one after the other.
    for _ in 0..40 {
        let Some(engine) = ring(content_dir.buffered(), 2, 512, UringOptions::default()) else {
            return;
        };
        assert!(engine.setup().registered_ring);
    }
}

#[test]
fn buffers_beyond_one_registered_region_are_found_at_their_own_addresses() {
    let content_dir = ContentDir::new(1 << 20);
    // 3 x 400 MiB are two regions of two and one; the test must not need that much real memory.
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = meminfo
        .lines()
        .find(|line| line.starts_with("MemAvailable"))
        .unwrap();
    let available_kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    if available_kib < 4 << 20 {
        return println!("skipped: less than 4 GiB of memory is available");
    }
    let Some(mut engine) = ring(
        content_dir.buffered(),
        3,
        400 << 20,
        UringOptions::default(),
    ) else {
        return;
    };
    random_reads_agree(&mut engine, &content_dir.content, 4096, 100);
}

/// Lowers the limit of this process, so it runs alone in one of its own.
#[test]
fn too_little_lockable_memory_is_a_typed_error() {
    const CHILD_VARIABLE: &str = "ENGINE_TEST_WITHOUT_MEMLOCK";
    if std::env::var_os(CHILD_VARIABLE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "too_little_lockable_memory_is_a_typed_error",
                "--exact",
                "--nocapture",
            ])
            .env(CHILD_VARIABLE, "1")
            .output()
            .unwrap();
        print!("{}", String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let limit = Rlimit {
        current: Some(65_536),
        maximum: Some(65_536),
    };
    setrlimit(Resource::Memlock, limit).unwrap();
    assert_eq!(getrlimit(Resource::Memlock).current, Some(65_536));
    // Another user: root may lock as much as it likes. The change is this process's own.
    if rustix::process::geteuid().is_root() {
        let nobody = 65_534;
        // SAFETY: changes the user of this process, which runs only this test.
        if unsafe { libc::setresuid(nobody, nobody, nobody) } != 0 {
            return println!("skipped: cannot become another user");
        }
    }
    match IoUring::new(Vec::new(), 64, 65_536, UringOptions::default()) {
        Err(EngineError::LockedMemory {
            need_bytes,
            limit_bytes,
        }) => {
            assert_eq!((need_bytes, limit_bytes), (64 * 65_536, 65_536));
        }
        Err(error) => println!("skipped: {error}"),
        Ok(_) => panic!("4 MiB were locked with a limit of 64 KiB"),
    }
}
