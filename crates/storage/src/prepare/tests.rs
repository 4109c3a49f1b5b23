use std::fs;
use std::io::Read;
use std::sync::atomic::AtomicBool;

use generate::ContentSource;
use plan::TargetKind;
use rustix::io::Errno;

use super::write::target_error;
use super::*;
use crate::fill::FillError;
use crate::lab::LoopMount;
use crate::{Permission, admit, clean};

const MIB: u64 = 1 << 20;

fn plan(path: &Path, size_bytes: u64) -> TargetPlan {
    TargetPlan {
        path: path.to_owned(),
        kind: TargetKind::Directory,
        size_bytes,
        block_bytes: 512,
    }
}

fn plain() -> FillPlan {
    FillPlan {
        content: ContentPlan::Incompressible,
        verify_block_bytes: None,
        seed: 7,
        prepare_device: false,
    }
}

fn stamped() -> FillPlan {
    FillPlan {
        verify_block_bytes: Some(4096),
        ..plain()
    }
}

fn ready(path: &Path, size_bytes: u64, fill: &FillPlan) -> Result<Prepared, TargetError> {
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    ready_with(path, size_bytes, fill, &create)
}

fn ready_with(
    path: &Path,
    size_bytes: u64,
    fill: &FillPlan,
    permission: &Permission,
) -> Result<Prepared, TargetError> {
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    prepare(
        admit(path, permission)?,
        &plan(path, size_bytes),
        Some(fill),
        &mut watch,
    )
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a listing").count()
}

/// The bytes that a plan puts into a file.
fn expected(fill: &FillPlan, size_bytes: u64) -> Vec<u8> {
    let source = ContentSource::new(&fill.content).expect("a content");
    let mut bytes = vec![0; size_bytes as usize];
    source.prefill(fill.seed, fill.verify_block_bytes, 0, &mut bytes);
    bytes
}

fn content(prepared: &Prepared) -> Vec<u8> {
    let opened = prepared
        .open(CacheMode::Buffered, true, false)
        .expect("open");
    let mut bytes = Vec::new();
    File::from(opened.file)
        .read_to_end(&mut bytes)
        .expect("readable");
    bytes
}

#[test]
fn a_test_file_holds_the_planned_bytes_and_no_holes() {
    let directory = tempfile::tempdir().expect("a directory");
    // Neither a multiple of the chunk nor of the block.
    let size_bytes = 9 * MIB + 4096 + 17;
    let stop = AtomicBool::new(false);
    let mut last = (0, 0);
    let mut progress = |done, total| {
        assert!(done >= last.0);
        last = (done, total);
    };
    let mut watch = FillWatch {
        progress: &mut progress,
        stop: &stop,
    };
    let admitted = admit(directory.path(), &Permission::default()).expect("admitted");
    let plan = plan(directory.path(), size_bytes);
    let prepared = prepare(admitted, &plan, Some(&stamped()), &mut watch).expect("prepared");
    assert_eq!(last, (size_bytes, size_bytes));
    assert!(content(&prepared) == expected(&stamped(), size_bytes));
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(prepared.path()).expect("the file");
    assert!(found.blocks() * 512 >= size_bytes);
    assert_eq!(found.mode() & 0o777, 0o600);
    let report = prepared.release(false).expect("released");
    assert_eq!(report.removed.len(), 2);
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn a_kept_file_is_used_again_when_it_fits_and_rewritten_when_not() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let run = |size_bytes, fill: &FillPlan| {
        let prepared = ready(path, size_bytes, fill).expect("prepared");
        let (reused, right) = (prepared.was_reused(), content(&prepared));
        prepared.release(true).expect("released");
        (reused, right.len() as u64)
    };
    assert_eq!(run(2 * MIB, &stamped()), (false, 2 * MIB));
    assert_eq!(run(2 * MIB, &stamped()), (true, 2 * MIB));
    assert_eq!(run(MIB, &stamped()), (true, 2 * MIB), "a smaller size fits");
    assert_eq!(
        run(
            MIB,
            &FillPlan {
                seed: 8,
                ..stamped()
            }
        ),
        (false, MIB),
        "other stamps"
    );
    assert_eq!(
        run(MIB, &plain()),
        (true, MIB),
        "any seed does without stamps"
    );
    assert_eq!(
        run(MIB, &stamped()),
        (false, MIB),
        "stamps may have been overwritten"
    );
    assert_eq!(run(MIB + 1, &plain()), (false, MIB + 1), "too small");
    let zero = FillPlan {
        content: ContentPlan::Zero,
        ..plain()
    };
    assert_eq!(run(MIB, &zero), (false, MIB), "another content");
    assert_eq!(clean(path, None).expect("a report").removed.len(), 2);
    assert_eq!(entries(path), 0);
}

#[test]
fn stamps_of_a_killed_run_are_not_trusted() {
    let directory = tempfile::tempdir().expect("a directory");
    let prepared = ready(directory.path(), MIB, &stamped()).expect("prepared");
    let manifest = directory.path().join("pgmeter.work/manifest.json");
    let text = fs::read_to_string(&manifest).expect("the manifest");
    prepared.release(true).expect("released");
    let owner = results::ProcessIdentity::current();
    let started = format!("\"started_ticks\": {}", owner.started_ticks);
    fs::write(&manifest, text.replace(&started, "\"started_ticks\": 1")).expect("written");
    let again = ready(directory.path(), MIB, &stamped()).expect("prepared");
    assert!(!again.was_reused());
    // The next cell of the same run relies on its own.
    let mut again = again;
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    again
        .refill(&plan(directory.path(), MIB), &stamped(), &mut watch)
        .expect("refilled");
    assert!(again.was_reused());
}

#[test]
fn dropping_prepared_targets_removes_their_files() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(ready(directory.path(), MIB, &plain()).expect("prepared"));
    drop(ready(&directory.path().join("new.dat"), MIB, &plain()).expect("prepared"));
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn a_file_target_is_made_and_kept_with_its_manifest() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("new.dat");
    let prepared = ready(&path, MIB, &plain()).expect("prepared");
    assert_eq!(prepared.path(), path);
    assert!(matches!(
        ready(&path, MIB, &plain()),
        Err(TargetError::InUse { .. })
    ));
    prepared.release(true).expect("released");
    let again = ready(&path, MIB, &plain()).expect("prepared");
    assert!(again.was_reused());
    again.release(false).expect("released");
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn an_interrupted_preparation_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    for stop_after in [0, MIB, 5 * MIB] {
        let stop = AtomicBool::new(stop_after == 0);
        let mut progress = |done, _| {
            if done >= stop_after {
                stop.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let mut watch = FillWatch {
            progress: &mut progress,
            stop: &stop,
        };
        let admitted = admit(directory.path(), &Permission::default()).expect("admitted");
        let plan = plan(directory.path(), 64 * MIB);
        let error = prepare(admitted, &plan, Some(&plain()), &mut watch).expect_err("interrupted");
        let file = directory.path().join("pgmeter.work/test-0.dat");
        assert_eq!(
            error.to_string(),
            format!("preparation of `{}` was interrupted", file.display())
        );
        assert_eq!(entries(directory.path()), 0);
    }
}

#[test]
fn a_size_that_leaves_too_little_free_space_creates_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = ready(directory.path(), 1 << 60, &plain()).expect_err("too large");
    assert!(matches!(error, TargetError::NoSpace { .. }), "{error}");
    assert_eq!(entries(directory.path()), 0);
}

#[test]
fn a_file_system_without_space_is_an_error_with_the_numbers() {
    let Some(mut mount) = LoopMount::new(64) else {
        return;
    };
    if !mount.make(&["mkfs.ext4", "-q", "-m", "0"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let error = ready(&point, 60 * MIB, &plain()).expect_err("too large");
    let TargetError::NoSpace {
        free_bytes,
        total_bytes,
        largest_bytes,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` has {} free of {}; a test file of 60 MiB would leave less than {} free",
            point.display(),
            crate::sizes::size(free_bytes),
            crate::sizes::size(total_bytes),
            crate::sizes::size(plan::facts::min_free_bytes(total_bytes))
        )
    );
    assert_eq!(
        error.help(),
        format!(
            "nothing was written; choose `--size {}` or less",
            crate::sizes::argument(largest_bytes)
        )
    );
    let prepared = ready(&point, largest_bytes / MIB * MIB - 2 * MIB, &plain()).expect("prepared");
    prepared.release(false).expect("released");
    assert!(!point.join("pgmeter.work").exists());
}

#[test]
fn running_out_of_space_removes_the_partial_file() {
    let file = std::path::PathBuf::from("/t/pgmeter.work/test-0.dat");
    let full = FillError::Io {
        offset_bytes: 3 * MIB,
        source: Errno::NOSPC.into(),
    };
    let error = target_error(full, file.clone(), 8 * MIB, true);
    assert_eq!(
        error.to_string(),
        "`/t/pgmeter.work/test-0.dat` ran out of space after 3 MiB of 8 MiB \
         (No space left on device (os error 28))"
    );
    assert_eq!(
        error.help(),
        "the partial file was removed; choose a smaller `--size`"
    );
    let failed = FillError::Io {
        offset_bytes: 4096,
        source: Errno::IO.into(),
    };
    let error = target_error(failed, file, 8 * MIB, true);
    assert_eq!(
        error.to_string(),
        "writing `/t/pgmeter.work/test-0.dat` failed at byte 4096: \
         Input/output error (os error 5)"
    );
    assert_eq!(
        error.help(),
        "the partial file was removed; see the kernel log for the cause"
    );
}

#[test]
fn a_file_replaced_by_another_process_is_not_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    let prepared = ready(directory.path(), MIB, &plain()).expect("prepared");
    let path = prepared.path();
    let other = directory.path().join("other");
    fs::write(&other, "precious").expect("a file");
    fs::rename(&other, &path).expect("renamed");
    let error = prepared
        .open(CacheMode::Buffered, true, true)
        .expect_err("replaced");
    assert_eq!(
        error.to_string(),
        format!("`{}` was replaced while it was in use", path.display())
    );
    let report = prepared.release(false).expect("released");
    assert_eq!(report.left[0].path, path);
    assert_eq!(fs::read_to_string(&path).expect("the file"), "precious");
}

#[test]
fn direct_io_that_may_use_the_cache_raises_doubt() {
    for (command, expected) in [
        (&["mkfs.ext4", "-q"][..], None),
        (&["mkfs.xfs", "-q"][..], None),
        (
            &["mkfs.btrfs", "-q"][..],
            Some(crate::DirectCause::WritesBuffered),
        ),
    ] {
        let Some(mut mount) = LoopMount::new(512) else {
            return;
        };
        if !mount.make(command) {
            continue;
        }
        let Some(point) = mount.mount("rw") else {
            continue;
        };
        let prepared = ready(&point, 4 * MIB, &plain()).expect("prepared");
        let direct = prepared.open(CacheMode::Direct, true, true).expect("open");
        let flags = rustix::fs::fcntl_getfl(&direct.file).expect("flags");
        assert!(flags.contains(OFlags::DIRECT), "{command:?}");
        assert_eq!(
            direct.doubt.map(|doubt| doubt.cause),
            expected,
            "{command:?}"
        );
        let reading = prepared.open(CacheMode::Direct, true, false).expect("open");
        assert_eq!(reading.doubt, None, "{command:?}");
        let buffered = prepared
            .open(CacheMode::Buffered, true, true)
            .expect("open");
        assert_eq!(buffered.doubt, None);
        let counters = crate::DeviceCounters::open([point.as_path()]).expect("counters");
        assert_eq!(
            format!("/dev/{}", counters.source()),
            mount.path(),
            "{command:?}"
        );
        assert!(counters.sample().expect("a sample").write_bytes >= 4 * MIB);
        assert!(
            counters.sample_each().count() >= 2,
            "what holds the image is counted as well"
        );
    }
}

#[test]
fn reads_after_preparation_come_from_the_device() {
    let Some(mut mount) = LoopMount::new(64) else {
        return;
    };
    if !mount.make(&["mkfs.ext4", "-q"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let prepared = ready(&point, 16 * MIB, &plain()).expect("prepared");
    let counters = crate::DeviceCounters::open([point.as_path()]).expect("counters");
    for _ in 0..2 {
        let before = counters.sample().expect("a sample");
        assert_eq!(content(&prepared).len() as u64, 16 * MIB);
        let moved = counters.sample().expect("a sample").since(&before);
        assert!(moved.read_bytes >= 16 * MIB, "{moved:?}");
        prepared.evict_file().expect("evicted");
    }
}

#[test]
fn a_device_is_written_only_when_content_is_needed_and_never_past_its_size() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let device = &mount.device;
    let permission = Permission {
        overwrite_devices: vec![device.clone()],
        ..Permission::default()
    };
    let untouched = ready_with(device, 8 * MIB, &plain(), &permission).expect("prepared");
    assert!(content(&untouched).iter().all(|byte| *byte == 0));
    drop(untouched);
    let prepared = ready_with(device, 8 * MIB, &stamped(), &permission).expect("prepared");
    assert!(content(&prepared) == expected(&stamped(), 8 * MIB));
    assert!(prepared.open(CacheMode::Direct, true, true).is_ok());
    drop(prepared);
    let error = ready_with(device, 9 * MIB, &plain(), &permission).expect_err("too large");
    assert_eq!(
        error.to_string(),
        format!("`{}` has 8 MiB, not the 9 MiB requested", mount.path())
    );
    assert_eq!(error.help(), "choose `--size 8m` or less");
}

#[test]
fn a_device_admitted_for_reading_is_never_opened_for_writing() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let permission = Permission {
        read_only: true,
        ..Permission::default()
    };
    let prepared = ready_with(&mount.device, 8 * MIB, &plain(), &permission).expect("prepared");
    assert!(prepared.open(CacheMode::Direct, true, false).is_ok());
    let error = prepared
        .open(CacheMode::Direct, true, true)
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        format!("`{}` was opened for reading only", mount.path())
    );
    assert_eq!(
        error.help(),
        format!(
            "nothing was written; to use it, add `--overwrite-device {}`",
            mount.path()
        )
    );
    assert!(matches!(
        ready_with(&mount.device, 8 * MIB, &stamped(), &permission),
        Err(TargetError::OpenedReadOnly { .. })
    ));
}

#[test]
fn memory_is_accepted_for_direct_io_with_a_doubt() {
    let shared = Path::new("/dev/shm");
    if !crate::probe(shared).is_ok_and(|facts| facts.file_system == "tmpfs") {
        println!("skipped: /dev/shm is not a tmpfs");
        return;
    }
    let directory = tempfile::tempdir_in(shared).expect("a directory");
    let prepared = ready(directory.path(), MIB, &plain()).expect("prepared");
    match prepared.open(CacheMode::Direct, true, true) {
        Ok(opened) => {
            let cause = opened.doubt.map(|doubt| doubt.cause);
            assert_eq!(cause, Some(crate::DirectCause::InMemory));
        }
        Err(error) => assert!(matches!(error, TargetError::NoDirect { .. }), "{error}"),
    }
}

#[test]
fn space_is_freed_when_the_file_system_fills_up_during_preparation() {
    let Some(mut mount) = LoopMount::new(64) else {
        return;
    };
    // No reservation on ext2, so that another program can take the space.
    if !mount.make(&["mkfs.ext2", "-q", "-m", "0"]) {
        return;
    }
    let Some(point) = mount.mount("rw") else {
        return;
    };
    let greedy = point.join("greedy");
    let mut progress = |_, _| {
        if !greedy.exists() {
            let chunk = vec![1; MIB as usize];
            let mut file = File::create(&greedy).expect("a file");
            while std::io::Write::write_all(&mut file, &chunk).is_ok() {}
        }
    };
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut progress,
        stop: &stop,
    };
    let admitted = admit(&point, &Permission::default()).expect("admitted");
    let error = prepare(
        admitted,
        &plan(&point, 50 * MIB),
        Some(&plain()),
        &mut watch,
    )
    .expect_err("full");
    assert!(
        matches!(error, TargetError::RanOutOfSpace { .. }),
        "{error}"
    );
    assert!(!point.join("pgmeter.work").exists());
}

#[test]
fn a_stamped_device_is_written_once_for_all_verifying_cells() {
    let Some(mount) = LoopMount::new(8) else {
        return;
    };
    let permission = Permission {
        overwrite_devices: vec![mount.device.clone()],
        ..Permission::default()
    };
    let mut prepared =
        ready_with(&mount.device, 8 * MIB, &stamped(), &permission).expect("prepared");
    let mut again = |fill: &FillPlan| {
        let stop = AtomicBool::new(false);
        let mut calls = 0;
        let mut progress = |_, _| calls += 1;
        let mut watch = FillWatch {
            progress: &mut progress,
            stop: &stop,
        };
        prepared
            .refill(&plan(&mount.device, 8 * MIB), fill, &mut watch)
            .expect("refilled");
        calls > 0
    };
    assert!(!again(&stamped()), "nothing else was written since");
    assert!(!again(&plain()), "nothing need be there");
    assert!(again(&stamped()), "stamps may have been overwritten");
}

#[test]
fn a_new_file_starts_empty_and_is_reused_once_written_to_its_end() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let mut prepared = ready(path, MIB, &plain()).expect("prepared");
    prepared
        .begin_new_file(&plan(path, MIB), &plain(), MIB)
        .expect("a new file");
    assert_eq!(content(&prepared).len(), 0);
    assert!(!prepared.has_new_file(1, &plain()));
    let opened = prepared.open(CacheMode::Buffered, false, true);
    let file = File::from(opened.expect("open").file);
    let half = vec![1; MIB as usize / 2];
    file.write_all_at(&half, 0).expect("written");
    prepared.end_new_file(MIB).expect("ended");
    assert!(
        !prepared.has_new_file(MIB, &plain()),
        "half of it is missing"
    );
    prepared.end_new_file(MIB / 2).expect("ended");
    assert!(prepared.has_new_file(MIB / 2, &plain()));
    assert!(!prepared.has_new_file(MIB, &plain()));
    assert!(!prepared.has_new_file(MIB / 2, &stamped()));
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let refilled = prepared.refill(&plan(path, MIB), &plain(), &mut watch);
    refilled.expect("written anew");
    assert!(content(&prepared) == expected(&plain(), MIB));
    drop(prepared);
    assert_eq!(entries(path), 0);
}
