use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::AtomicBool;

use plan::{ContentPlan, TargetKind, TargetPlan};

use super::*;
use crate::prepare::{FillPlan, Prepared, prepare};
use crate::{FillWatch, Permission, admit};

const BYTES: usize = 256 << 10;

/// Somebody's file, and all of it that must stay.
struct UserFile {
    directory: tempfile::TempDir,
    path: PathBuf,
    content: Vec<u8>,
    state: (u64, i64, i64, i64, i64, u64),
}

impl UserFile {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("mail.db");
        let content: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8).collect();
        fs::write(&path, &content).expect("a file");
        let state = state(&path);
        Self {
            directory,
            path,
            content,
            state,
        }
    }

    /// Asserts that the file is unchanged and that its directory has no other file.
    fn assert_untouched(&self) {
        assert_eq!(state(&self.path), self.state);
        assert!(fs::read(&self.path).expect("its content") == self.content);
        let listed = fs::read_dir(self.directory.path()).expect("a listing");
        assert_eq!(listed.count(), 1);
    }
}

/// Size, time stamps and inode number. A file renamed over it would have another inode number.
fn state(path: &Path) -> (u64, i64, i64, i64, i64, u64) {
    let found = fs::metadata(path).expect("a file");
    (
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
        found.ino(),
    )
}

fn read_only_permission() -> Permission {
    Permission {
        read_only: true,
        ..Permission::default()
    }
}

fn ready(path: &Path, size_bytes: u64, stamp: Option<u32>) -> Result<Prepared, TargetError> {
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let plan = TargetPlan {
        path: path.to_owned(),
        kind: TargetKind::File,
        size_bytes,
        block_bytes: 512,
    };
    let fill = FillPlan {
        content: ContentPlan::Incompressible,
        verify_block_bytes: stamp,
        seed: 7,
        prepare_device: false,
    };
    let admitted = admit(path, &read_only_permission())?;
    prepare(admitted, &plan, Some(&fill), &mut watch)
}

#[test]
fn a_foreign_file_is_read_and_unchanged_however_the_run_ends() {
    for keep in [Some(true), Some(false), None] {
        let precious = UserFile::new();
        let prepared = ready(&precious.path, BYTES as u64, None).expect("prepared");
        assert!(prepared.was_reused());
        assert_eq!(prepared.path(), precious.path);
        let opened = prepared
            .open(CacheMode::Buffered, true, false)
            .expect("open");
        let mut buffer = vec![0; BYTES];
        let read = rustix::io::pread(&opened.file, &mut buffer, 0).expect("read");
        assert!(buffer[..read] == precious.content[..read] && read > 0);
        prepared.warm(&AtomicBool::new(false)).expect("warm");
        prepared
            .reopen(CacheMode::Buffered, true, false)
            .expect("a recipe");
        assert_eq!(prepared.loss(), None);
        match keep {
            Some(keep) => drop(prepared.release(keep).expect("released")),
            None => drop(prepared),
        }
        precious.assert_untouched();
    }
}

#[test]
fn a_foreign_file_is_never_opened_for_writing() {
    let precious = UserFile::new();
    let prepared = ready(&precious.path, BYTES as u64, None).expect("prepared");
    for read in [true, false] {
        let error = prepared
            .open(CacheMode::Buffered, read, true)
            .expect_err("refused");
        assert!(matches!(error, TargetError::FileExists { .. }), "{error}");
        assert!(prepared.reopen(CacheMode::Buffered, read, true).is_err());
    }
    let opened = prepared
        .open(CacheMode::Buffered, true, false)
        .expect("open");
    assert!(rustix::io::pwrite(&opened.file, b"x", 0).is_err());
    drop(prepared);
    precious.assert_untouched();
}

#[test]
fn workloads_that_would_write_to_a_foreign_file_are_refused() {
    let precious = UserFile::new();
    let error = admit(&precious.path, &Permission::default()).expect_err("a refusal");
    assert!(matches!(error, TargetError::FileExists { .. }), "{error}");
    assert!(
        error.help().contains("a workload that only reads"),
        "{}",
        error.help()
    );
    // Stamps would have to be written first.
    let error = ready(&precious.path, BYTES as u64, Some(4096)).expect_err("a refusal");
    assert!(matches!(error, TargetError::FileExists { .. }), "{error}");
    precious.assert_untouched();
}

#[test]
fn a_foreign_file_that_is_too_short_is_refused_with_its_size() {
    let precious = UserFile::new();
    let error = ready(&precious.path, 1 << 20, None).expect_err("a refusal");
    assert!(
        error
            .to_string()
            .contains("has 256 KiB, not the 1 MiB requested"),
        "{error}"
    );
    assert_eq!(error.help(), "choose `--size 256k` or less");
    precious.assert_untouched();
    let short = precious.directory.path().join("short");
    fs::write(&short, "hello").expect("a file");
    let error = ready(&short, 1 << 20, None).expect_err("a refusal");
    assert_eq!(error.help(), "nothing was written; name a larger target");
    let empty = precious.directory.path().join("empty");
    fs::write(&empty, "").expect("a file");
    let error = ready(&empty, 1 << 20, None).expect_err("a refusal");
    assert!(error.help().contains("not empty"), "{}", error.help());
}

#[test]
fn a_file_in_a_directory_that_may_not_be_written_is_read() {
    let precious = UserFile::new();
    let locked = fs::Permissions::from_mode(0o555);
    fs::set_permissions(precious.directory.path(), locked).expect("permissions");
    let prepared = ready(&precious.path, BYTES as u64, None);
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(precious.directory.path(), open).expect("permissions");
    prepared.expect("prepared");
    precious.assert_untouched();
}

#[test]
fn holes_are_blank_and_written_blocks_are_not() {
    let precious = UserFile::new();
    let opened = ready(&precious.path, BYTES as u64, None).expect("prepared");
    let Some(blank) = opened.blank(0..BYTES as u64) else {
        println!("skipped: the file system does not report it");
        return;
    };
    assert_eq!(blank.unwritten_bytes, 0);
    let holes = precious.directory.path().join("holes");
    let file = fs::File::create(&holes).expect("a file");
    file.set_len(1 << 20).expect("its size");
    let prepared = ready(&holes, 1 << 20, None).expect("prepared");
    assert_eq!(
        prepared.blank(0..1 << 20).map(|it| it.unwritten_bytes),
        Some(1 << 20)
    );
}

#[test]
fn links_are_refused_and_replaced_files_are_not_read() {
    let precious = UserFile::new();
    let link = precious.directory.path().join("link");
    symlink(&precious.path, &link).expect("a link");
    let error = admit(&link, &read_only_permission()).expect_err("a refusal");
    assert!(matches!(error, TargetError::Symlink { .. }), "{error}");
    fs::remove_file(&link).expect("removed");
    let prepared = ready(&precious.path, BYTES as u64, None).expect("prepared");
    let aside = precious.directory.path().join("aside");
    fs::rename(&precious.path, &aside).expect("renamed");
    assert_eq!(prepared.loss().map(|it| it.is_replaced), Some(false));
    fs::write(&precious.path, vec![0; BYTES]).expect("another file");
    assert_eq!(prepared.loss().map(|it| it.is_replaced), Some(true));
    let error = prepared
        .open(CacheMode::Buffered, true, false)
        .expect_err("refused");
    assert!(matches!(error, TargetError::Replaced { .. }), "{error}");
}

#[test]
fn reading_only_uses_a_test_file_of_pgmeter_as_usual() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("t.dat");
    let create = Permission {
        create: true,
        ..Permission::default()
    };
    drop(admit(&path, &create).expect("admitted"));
    let stop = AtomicBool::new(false);
    let mut watch = FillWatch {
        progress: &mut |_, _| {},
        stop: &stop,
    };
    let plan = TargetPlan {
        path: path.clone(),
        kind: TargetKind::File,
        size_bytes: 1 << 20,
        block_bytes: 512,
    };
    let fill = FillPlan {
        content: ContentPlan::Incompressible,
        verify_block_bytes: None,
        seed: 7,
        prepare_device: false,
    };
    let admitted = admit(&path, &create).expect("admitted");
    let prepared = prepare(admitted, &plan, Some(&fill), &mut watch).expect("prepared");
    prepared.release(true).expect("kept");
    // It grows, as it would for a run that writes.
    let prepared = ready(&path, 2 << 20, None).expect("prepared");
    assert_eq!(fs::metadata(&path).expect("the file").len(), 2 << 20);
    prepared.release(false).expect("removed");
    assert_eq!(
        fs::read_dir(directory.path()).expect("a listing").count(),
        0
    );
}
