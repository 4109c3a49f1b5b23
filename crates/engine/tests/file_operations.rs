//! Files by name on a real directory, by system calls and through a ring.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{
    Completion, Engine, EngineError, FileEngineOptions, Fileset, NameRule, Numbering, OpenAccess,
    OpenFlags, OpenMode, Operation, OperationSet, PsyncFiles, Request, RequestObject, Spread,
    SubdirectoryRule, UringFiles, Wait,
};
use tempfile::TempDir;

const WAIT: Wait = Wait::One { timeout_ns: 0 };

/// Size in bytes of the entries that readdir(3) returns for a directory with these names.
fn bytes_of_entries(names: &[&str]) -> i32 {
    let lengths = [".", ".."].iter().chain(names).map(|name| name.len());
    lengths.map(|length| length as i32 + 279).sum()
}

fn location(dir: &Path) -> OwnedFd {
    OwnedFd::from(File::open(dir).unwrap())
}

/// A directory on a real file system (that of the build) with `f0`, `f1`, ... to come.
struct FilesetDir {
    dir: TempDir,
    set: Arc<Fileset>,
}

impl FilesetDir {
    fn new(subdirectory_count: u32, open: bool) -> Self {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let rule = NameRule {
            prefix: "f".to_owned(),
            numbering: Numbering::PerDirectory,
            subdirectories: (subdirectory_count > 0).then(|| SubdirectoryRule {
                count: subdirectory_count,
                prefix: "s".to_owned(),
                digit_count: 0,
                ..SubdirectoryRule::default()
            }),
            ..NameRule::default()
        };
        let mut set = Fileset::generated(vec![location(dir.path())], rule).unwrap();
        if open {
            set.make_subdirectories(0o700).unwrap();
            set.open_subdirectories().unwrap();
        }
        let set = Arc::new(set);
        Self { dir, set }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn entry_count(&self, name: &str) -> usize {
        std::fs::read_dir(self.path(name)).unwrap().count()
    }
}

/// A ring, or `None` with the reason printed where this system has none for us.
fn ring(set: &Arc<Fileset>, slots: u32, options: FileEngineOptions) -> Option<UringFiles> {
    match UringFiles::new(Arc::clone(set), slots, 4096, options) {
        Ok(engine) => Some(engine),
        Err(
            error @ (EngineError::UringMissing
            | EngineError::UringForbidden { .. }
            | EngineError::UringDisabled { .. }
            | EngineError::LockedMemory { .. }),
        ) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn engines(set: &Arc<Fileset>, slots: u32, options: &FileEngineOptions) -> Vec<Box<dyn Engine>> {
    let psync = PsyncFiles::new(Arc::clone(set), slots, 4096, options.clone()).unwrap();
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(psync)];
    if let Some(engine) = ring(set, slots, options.clone()) {
        engines.push(Box::new(engine));
    }
    engines
}

/// Runs `check` with both engines, each on a place of its own with files in one directory.
fn with_each(slots: u32, check: impl Fn(&mut dyn Engine, &FilesetDir)) {
    for index in 0..2 {
        let fileset_dir = FilesetDir::new(0, true);
        if let Some(engine) =
            engines(&fileset_dir.set, slots, &FileEngineOptions::default()).get_mut(index)
        {
            check(engine.as_mut(), &fileset_dir);
        }
    }
}

fn request(operation: Operation, file_index: u32, offset_bytes: u64) -> Request {
    Request {
        operation,
        file_index,
        offset_bytes,
        ..Request::EMPTY
    }
}

/// Executes one request alone and hands over its result.
fn execute(engine: &mut dyn Engine, request: Request) -> i32 {
    let mut done = Vec::with_capacity(engine.slot_count() as usize);
    engine.push(request);
    while done.is_empty() {
        engine.reap(WAIT, &mut done).unwrap();
    }
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].slot, request.slot);
    done[0].result
}

/// Executes one request in slot 0.
fn one(engine: &mut dyn Engine, operation: Operation, file_index: u32, offset_bytes: u64) -> i32 {
    execute(engine, request(operation, file_index, offset_bytes))
}

fn sized(engine: &mut dyn Engine, operation: Operation, offset: u64, length_bytes: u32) -> i32 {
    let plain = request(operation, 0, offset);
    execute(
        engine,
        Request {
            length_bytes,
            ..plain
        },
    )
}

fn open(engine: &mut dyn Engine, file_index: u32, access: OpenAccess) -> i32 {
    one(engine, Operation::Open, file_index, access.code())
}

/// One file's life, step by step: operation, number, length and the answer.
const LIFE: [(Operation, u64, u32, i32); 13] = [
    (Operation::Create, 0, 0, 0),
    (Operation::Write, 0, 4096, 4096),
    (Operation::Write, 4096, 100, 100),
    (Operation::Close, 0, 0, 0),
    (Operation::Stat, RequestObject::Name as u64, 0, 0),
    (Operation::Open, OpenAccess::Read as u64, 0, 0),
    (Operation::Read, 0, 4096, 4096),
    (Operation::Read, 4096, 4096, 100),
    (Operation::Close, 0, 0, 0),
    (Operation::Open, OpenAccess::Append as u64, 0, 0),
    (Operation::Write, 0, 7, 7),
    (Operation::Close, 0, 0, 0),
    (Operation::Unlink, 0, 0, 0),
];

/// Lets `count` files live their lives, one in each slot at a time.
fn live(engine: &mut dyn Engine, count: u32) {
    let depth = engine.slot_count();
    let mut lives = vec![(0_u32, LIFE.len()); depth as usize];
    let mut free: Vec<u32> = (0..depth).collect();
    let mut done: Vec<Completion> = Vec::with_capacity(depth as usize);
    let (mut begun, mut ended) = (0, 0);
    while ended < count {
        while let Some(slot) = free.pop() {
            let (file_index, step) = &mut lives[slot as usize];
            if *step == LIFE.len() {
                if begun == count {
                    continue;
                }
                (*file_index, *step) = (begun, 0);
                begun += 1;
            }
            let (operation, offset_bytes, length_bytes, _) = LIFE[*step];
            if operation == Operation::Write {
                engine.buffer(slot)[..length_bytes as usize].fill(*file_index as u8);
            }
            let file_index = *file_index;
            engine.push(Request {
                operation,
                fileset: 0,
                handle: 0,
                slot,
                file_index,
                length_bytes,
                offset_bytes,
            });
        }
        engine.reap(WAIT, &mut done).unwrap();
        for Completion { slot, result } in done.drain(..) {
            let (file_index, step) = &mut lives[slot as usize];
            let (operation, _, _, wanted) = LIFE[*step];
            assert_eq!(result, wanted, "{operation:?} of file {file_index}");
            if operation == Operation::Read {
                let content = &engine.buffer(slot)[..result as usize];
                assert!(content.iter().all(|byte| *byte == *file_index as u8));
            }
            *step += 1;
            ended += u32::from(*step == LIFE.len());
            free.push(slot);
        }
    }
}

#[test]
fn ten_thousand_files_are_created_and_removed_one_at_a_time() {
    with_each(1, |engine, place| {
        live(engine, 10_000);
        assert_eq!(place.entry_count("."), 0);
    });
}

#[test]
fn ten_thousand_files_are_created_and_removed_32_at_a_time() {
    with_each(32, |engine, place| {
        live(engine, 10_000);
        assert_eq!(place.entry_count("."), 0);
    });
}

#[test]
fn files_work_in_open_and_unopened_subdirectories() {
    for is_open in [false, true] {
        let fileset_dir = FilesetDir::new(7, is_open);
        for engine in &mut engines(&fileset_dir.set, 8, &FileEngineOptions::default()) {
            for subdirectory in 0..7 {
                let result = one(
                    engine.as_mut(),
                    Operation::Mkdir,
                    subdirectory,
                    RequestObject::Directory.code(),
                );
                assert_eq!(result, if is_open { -libc::EEXIST } else { 0 });
            }
            live(engine.as_mut(), 500);
            assert_eq!(one(engine.as_mut(), Operation::Create, 7 * 12 + 3, 0), 0);
            assert!(fileset_dir.path("s3/f12").is_file());
            let listed = one(
                engine.as_mut(),
                Operation::Readdir,
                3,
                RequestObject::Directory.code(),
            );
            assert_eq!(listed, bytes_of_entries(&["f12"]));
            let full = one(
                engine.as_mut(),
                Operation::Rmdir,
                3,
                RequestObject::Directory.code(),
            );
            assert_eq!(full, -libc::ENOTEMPTY);
            assert_eq!(one(engine.as_mut(), Operation::Unlink, 7 * 12 + 3, 0), 0);
            for subdirectory in (0..7).filter(|_| !is_open) {
                let result = one(
                    engine.as_mut(),
                    Operation::Rmdir,
                    subdirectory,
                    RequestObject::Directory.code(),
                );
                assert_eq!(result, 0);
            }
        }
    }
}

#[test]
fn missing_and_existing_names_return_the_errors_of_the_kernel() {
    with_each(1, |engine, _| {
        for operation in [Operation::Unlink, Operation::Stat, Operation::Rmdir] {
            assert_eq!(one(engine, operation, 5, 0), -libc::ENOENT, "{operation:?}");
        }
        assert_eq!(open(engine, 5, OpenAccess::Read), -libc::ENOENT);
        assert_eq!(one(engine, Operation::Rename, 5, 6), -libc::ENOENT);
        assert_eq!(one(engine, Operation::Readdir, 5, 0), -libc::ENOENT);
        assert_eq!(one(engine, Operation::Create, 5, 0), 0);
        assert_eq!(one(engine, Operation::Close, 5, 0), 0);
        assert_eq!(one(engine, Operation::Create, 5, 0), -libc::EEXIST);
        assert_eq!(one(engine, Operation::Mkdir, 5, 0), -libc::EEXIST);
        assert_eq!(one(engine, Operation::Rmdir, 5, 0), -libc::ENOTDIR);
        assert_eq!(one(engine, Operation::Symlink, 4, 5), -libc::EEXIST);
    });
}

#[test]
fn a_slot_holds_one_open_file_and_reports_when_it_has_none() {
    with_each(2, |engine, _| {
        for operation in [
            Operation::Read,
            Operation::Write,
            Operation::Fsync,
            Operation::Truncate,
            Operation::Getxattr,
            Operation::Close,
        ] {
            assert_eq!(one(engine, operation, 0, 0), -libc::EBADF, "{operation:?}");
        }
        assert_eq!(
            one(engine, Operation::Stat, 0, RequestObject::Handle.code()),
            -libc::EBADF
        );
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        assert_eq!(one(engine, Operation::Create, 1, 0), -libc::EBUSY);
        assert_eq!(open(engine, 0, OpenAccess::Read), -libc::EBUSY);
        assert_eq!(
            one(engine, Operation::Stat, 0, RequestObject::Handle.code()),
            0
        );
        let in_slot_1 = Request {
            slot: 1,
            ..request(Operation::Fsync, 0, 0)
        };
        assert_eq!(execute(engine, in_slot_1), -libc::EBADF);
        assert_eq!(one(engine, Operation::Close, 0, 0), 0);
        assert_eq!(one(engine, Operation::Close, 0, 0), -libc::EBADF);
    });
}

#[test]
fn invalid_codes_are_refused() {
    with_each(1, |engine, _| {
        assert_eq!(one(engine, Operation::Open, 0, 4), -libc::EINVAL);
        assert_eq!(one(engine, Operation::Open, 0, u64::MAX), -libc::EINVAL);
        assert_eq!(one(engine, Operation::Stat, 0, 3), -libc::EINVAL);
        assert_eq!(
            one(engine, Operation::Mkdir, 0, RequestObject::Handle.code()),
            -libc::EINVAL
        );
        assert_eq!(one(engine, Operation::Rename, 0, u64::MAX), -libc::EBADF);
    });
}

#[test]
fn open_files_can_be_synced_truncated_and_allocated() {
    with_each(1, |engine, place| {
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        assert_eq!(sized(engine, Operation::Write, 0, 4096), 4096);
        for operation in [
            Operation::Fsync,
            Operation::Fdatasync,
            Operation::SyncFileRange,
        ] {
            assert_eq!(one(engine, operation, 0, 0), 0, "{operation:?}");
        }
        assert_eq!(one(engine, Operation::Truncate, 0, 1_000_000), 0);
        assert_eq!(place.path("f0").metadata().unwrap().len(), 1_000_000);
        let filled = sized(engine, Operation::Fallocate, 1_000_000, 100_000);
        assert!([0, -libc::EOPNOTSUPP].contains(&filled), "{filled}");
    });
}

#[test]
fn attributes_are_set_and_read_by_the_index_of_their_name() {
    let options = FileEngineOptions {
        xattrs: vec![c"user.first".to_owned(), c"user.second".to_owned()],
        ..FileEngineOptions::default()
    };
    for index in 0..2 {
        let place = FilesetDir::new(0, true);
        let Some(engine) = &mut engines(&place.set, 1, &options).into_iter().nth(index) else {
            continue;
        };
        let engine = engine.as_mut();
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        engine.buffer(0)[..5].copy_from_slice(b"label");
        let labeled = sized(engine, Operation::Setxattr, 1, 5);
        if labeled == -libc::EOPNOTSUPP {
            return println!("skipped: no extended attributes here");
        }
        assert_eq!(labeled, 0);
        engine.buffer(0).fill(0);
        assert_eq!(sized(engine, Operation::Getxattr, 1, 4096), 5);
        assert_eq!(&engine.buffer(0)[..6], b"label\0");
        assert_eq!(sized(engine, Operation::Getxattr, 0, 4096), -libc::ENODATA);
        assert!(
            sized(engine, Operation::Getxattr, 2, 4096) < 0,
            "no such index"
        );
    }
}

#[test]
fn chmod_changes_the_named_file_and_never_the_target_of_a_link() {
    with_each(1, |engine, place| {
        assert_eq!(one(engine, Operation::Chmod, 0, 0o640), -libc::ENOENT);
        std::fs::write(place.path("f0"), "").unwrap();
        assert_eq!(one(engine, Operation::Chmod, 0, 0o640), 0);
        symlink("f0", place.path("f1")).unwrap();
        let linked = one(engine, Operation::Chmod, 1, 0o777);
        assert!(linked <= 0, "{linked}");
        let mode = place.path("f0").metadata().unwrap().mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert_eq!(one(engine, Operation::Sync, 0, 0), 0);
    });
}

#[test]
fn reads_and_writes_can_use_the_position_of_the_open_file() {
    with_each(1, |engine, place| {
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        for byte in b'a'..=b'c' {
            engine.buffer(0)[..3].fill(byte);
            assert_eq!(sized(engine, Operation::Write, Request::AT_POSITION, 3), 3);
        }
        assert_eq!(one(engine, Operation::Close, 0, 0), 0);
        assert_eq!(std::fs::read(place.path("f0")).unwrap(), b"aaabbbccc");
        assert_eq!(open(engine, 0, OpenAccess::Append), 0);
        engine.buffer(0)[..1].fill(b'd');
        assert_eq!(sized(engine, Operation::Write, Request::AT_POSITION, 1), 1);
        assert_eq!(one(engine, Operation::Close, 0, 0), 0);
        assert_eq!(open(engine, 0, OpenAccess::Read), 0);
        for (count, wanted) in [(6, &b"aaabbb"[..]), (6, b"cccd"), (6, b"")] {
            let moved = sized(engine, Operation::Read, Request::AT_POSITION, count);
            assert_eq!(&engine.buffer(0)[..moved as usize], wanted);
        }
    });
}

#[test]
fn every_request_can_use_the_position_of_the_open_file() {
    let options = FileEngineOptions {
        at_position: true,
        ..FileEngineOptions::default()
    };
    for index in 0..2 {
        let fileset_dir = FilesetDir::new(0, true);
        let Some(engine) = &mut engines(&fileset_dir.set, 1, &options)
            .into_iter()
            .nth(index)
        else {
            continue;
        };
        let engine = engine.as_mut();
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        for (byte, offset) in [(b'a', 0), (b'b', 77), (b'c', 0)] {
            engine.buffer(0)[..3].fill(byte);
            assert_eq!(sized(engine, Operation::Write, offset, 3), 3);
        }
        assert_eq!(one(engine, Operation::Truncate, 0, 8), 0);
        assert_eq!(one(engine, Operation::Close, 0, 0), 0);
        assert_eq!(std::fs::read(fileset_dir.path("f0")).unwrap(), b"aaabbbcc");
        assert_eq!(open(engine, 0, OpenAccess::Read), 0);
        assert_eq!(sized(engine, Operation::Read, 5, 6), 6);
        assert_eq!(sized(engine, Operation::Read, 5, 6), 2);
        assert_eq!(&engine.buffer(0)[..2], b"cc");
    }
}

#[test]
fn a_directory_is_synced_by_the_name_of_a_file_in_it() {
    with_each(2, |engine, _| {
        let sync = request(Operation::Fsync, 7, RequestObject::Directory.code());
        for _ in 0..3 {
            assert_eq!(execute(engine, sync), 0);
            assert_eq!(one(engine, Operation::Close, 0, 0), -libc::EBADF);
        }
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        assert_eq!(execute(engine, sync), -libc::EBUSY);
        let parallel = Request { slot: 1, ..sync };
        assert_eq!(execute(engine, parallel), 0);
        assert_eq!(one(engine, Operation::Fsync, 0, 0), 0);
        assert_eq!(one(engine, Operation::Close, 0, 0), 0);
    });
}

#[test]
fn syncing_a_missing_directory_fails() {
    let fileset_dir = FilesetDir::new(2, false);
    for mut engine in engines(&fileset_dir.set, 2, &FileEngineOptions::default()) {
        let engine = engine.as_mut();
        let mut done = Vec::with_capacity(2);
        for slot in 0..2 {
            engine.push(Request {
                slot,
                ..request(Operation::Fsync, slot, RequestObject::Directory.code())
            });
        }
        while done.len() < 2 {
            engine.reap(WAIT, &mut done).unwrap();
        }
        assert!(done.iter().all(|it| it.result == -libc::ENOENT), "{done:?}");
        assert_eq!(
            one(engine, Operation::Mkdir, 0, RequestObject::Directory.code()),
            0
        );
        assert_eq!(
            one(engine, Operation::Fsync, 0, RequestObject::Directory.code()),
            0
        );
        assert_eq!(
            one(engine, Operation::Rmdir, 0, RequestObject::Directory.code()),
            0
        );
    }
}

#[test]
fn names_are_renamed_linked_and_listed() {
    with_each(1, |engine, place| {
        assert_eq!(one(engine, Operation::Create, 0, 0), 0);
        assert_eq!(one(engine, Operation::Link, 0, 1), 0);
        assert_eq!(place.path("f1").metadata().unwrap().nlink(), 2);
        assert_eq!(one(engine, Operation::Rename, 1, 2), 0);
        assert!(!place.path("f1").exists());
        assert_eq!(one(engine, Operation::Symlink, 2, 3), 0);
        assert_eq!(
            std::fs::read_link(place.path("f3")).unwrap(),
            Path::new("f2")
        );
        assert_eq!(one(engine, Operation::Stat, 3, 0), 0);
        assert_eq!(one(engine, Operation::Mkdir, 4, 0), 0);
        assert_eq!(one(engine, Operation::Readdir, 4, 0), bytes_of_entries(&[]));
        let listed = one(
            engine,
            Operation::Readdir,
            0,
            RequestObject::Directory.code(),
        );
        assert_eq!(listed, bytes_of_entries(&["f0", "f2", "f3", "f4"]));
        assert_eq!(one(engine, Operation::Unlink, 4, 0), -libc::EISDIR);
        assert_eq!(one(engine, Operation::Rmdir, 4, 0), 0);
    });
}

#[test]
fn more_entries_than_one_call_returns_are_all_listed() {
    let fileset_dir = FilesetDir::new(0, true);
    (0..3000).for_each(|index| drop(File::create(fileset_dir.path(&format!("f{index}"))).unwrap()));
    for engine in &mut engines(&fileset_dir.set, 1, &FileEngineOptions::default()) {
        let listed = one(
            engine.as_mut(),
            Operation::Readdir,
            0,
            RequestObject::Directory.code(),
        );
        let names: Vec<String> = (0..3000).map(|index| format!("f{index}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(listed, bytes_of_entries(&names));
    }
}

#[test]
fn links_inside_the_tree_are_not_followed() {
    let outside = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let victim = outside.path().join("f0");
    std::fs::write(&victim, "precious").unwrap();
    for plain in [false, true] {
        let options = FileEngineOptions {
            open: OpenFlags {
                create: OpenMode::new(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, 0o666),
                plain,
                ..OpenFlags::default()
            },
            ..FileEngineOptions::default()
        };
        let fileset_dir = FilesetDir::new(0, true);
        symlink(&victim, fileset_dir.path("f0")).unwrap();
        symlink("f9", fileset_dir.path("f1")).unwrap();
        for engine in &mut engines(&fileset_dir.set, 1, &options) {
            let engine = engine.as_mut();
            assert_eq!(one(engine, Operation::Create, 0, 0), -libc::ELOOP);
            assert_eq!(open(engine, 0, OpenAccess::Write), -libc::ELOOP);
            assert_eq!(one(engine, Operation::Create, 1, 0), -libc::ELOOP);
            assert_eq!(one(engine, Operation::Readdir, 0, 0), -libc::ELOOP);
        }
        // A link is removed itself.
        assert_eq!(
            one(
                engines(&fileset_dir.set, 1, &options)[0].as_mut(),
                Operation::Unlink,
                0,
                0
            ),
            0
        );
    }
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_subdirectory_replaced_by_a_link_is_not_entered() {
    let outside = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let victim = outside.path().join("f0");
    std::fs::write(&victim, "precious").unwrap();
    for is_open in [false, true] {
        let fileset_dir = FilesetDir::new(1, is_open);
        if is_open {
            std::fs::rename(fileset_dir.path("s0"), fileset_dir.path("away")).unwrap();
        }
        symlink(outside.path(), fileset_dir.path("s0")).unwrap();
        for engine in &mut engines(&fileset_dir.set, 1, &FileEngineOptions::default()) {
            let engine = engine.as_mut();
            let wanted = if is_open { -libc::ENOENT } else { -libc::ELOOP };
            assert_eq!(open(engine, 0, OpenAccess::Write), wanted);
            let created = one(engine, Operation::Create, 0, 0);
            assert_eq!(created, if is_open { 0 } else { -libc::ELOOP });
            if is_open {
                assert!(fileset_dir.path("away/f0").exists());
                assert_eq!(one(engine, Operation::Close, 0, 0), 0);
                assert_eq!(one(engine, Operation::Unlink, 0, 0), 0);
            }
        }
    }
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn names_past_the_end_of_a_list_are_refused() {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::create_dir(dir.path().join("a")).unwrap();
    let names = ["x", "a/y"].map(PathBuf::from);
    let set = Arc::new(Fileset::listed(location(dir.path()), &names).unwrap());
    for engine in &mut engines(&set, 2, &FileEngineOptions::default()) {
        let engine = engine.as_mut();
        live(engine, 2);
        for operation in [Operation::Create, Operation::Unlink, Operation::Stat] {
            assert_eq!(one(engine, operation, 2, 0), -libc::EBADF);
        }
        assert_eq!(one(engine, Operation::Rename, 0, 2), -libc::EBADF);
    }
}

#[test]
fn the_requested_flags_and_permissions_are_used() {
    let options = FileEngineOptions {
        open: OpenFlags {
            create: OpenMode::new(libc::O_RDWR | libc::O_CREAT, 0o640),
            plain: true,
            ..OpenFlags::default()
        },
        directory_mode: 0o750,
        stdio: true,
        ..FileEngineOptions::default()
    };
    for index in 0..2 {
        let fileset_dir = FilesetDir::new(0, true);
        let mut engines = engines(&fileset_dir.set, 1, &options);
        let Some(engine) = engines.get_mut(index) else {
            return;
        };
        for _ in 0..2 {
            assert_eq!(one(engine.as_mut(), Operation::Create, 0, 0), 0);
            assert_eq!(one(engine.as_mut(), Operation::Close, 0, 0), 0);
        }
        assert_eq!(open(engine.as_mut(), 0, OpenAccess::Append), 0);
        assert_eq!(one(engine.as_mut(), Operation::Mkdir, 1, 0), 0);
        let mode = |name: &str| fileset_dir.path(name).metadata().unwrap().mode() & 0o777;
        // Whatever the process masks is masked here too.
        assert_eq!(mode("f0") & !0o640, 0);
        assert_eq!(mode("f1") & !0o750, 0);
        assert_eq!(mode("f0") & 0o600, 0o600);
    }
}

/// Asks both engines for a small file as a whole.
#[test]
fn a_whole_file_is_read_by_one_request_and_nothing_stays_open() {
    let fileset_dir = FilesetDir::new(0, true);
    std::fs::write(fileset_dir.path("f0"), "content").unwrap();
    std::fs::create_dir(fileset_dir.path("f1")).unwrap();
    symlink("f0", fileset_dir.path("f2")).unwrap();
    let options = FileEngineOptions::default();
    let psync = PsyncFiles::new(Arc::clone(&fileset_dir.set), 4, 4096, options.clone()).unwrap();
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(psync)];
    if let Some(ring) = ring(&fileset_dir.set, 4, options) {
        engines.push(Box::new(ring));
    }
    for engine in &mut engines {
        let engine = engine.as_mut();
        // As often as it takes for a place in a table that stays taken to be noticed.
        for _ in 0..3 {
            for (file_index, length_bytes, wanted) in [
                (0, 7, 7),
                (0, 4096, 7),
                (0, 3, 3),
                (1, 7, -libc::EISDIR),
                (2, 7, -libc::ELOOP),
                (9, 7, -libc::ENOENT),
            ] {
                let read_whole =
                    |slot| small_request(Operation::ReadWhole, slot, file_index, length_bytes);
                let mut left = 4;
                (0..4).for_each(|slot| engine.push(read_whole(slot)));
                let mut done: Vec<Completion> = Vec::with_capacity(4);
                while left > 0 {
                    engine.reap(WAIT, &mut done).unwrap();
                    left -= done.len();
                    assert!(
                        done.iter().all(|it| it.result == wanted),
                        "{done:?}, {wanted}"
                    );
                    done.clear();
                }
                if wanted > 0 {
                    assert_eq!(&engine.buffer(3)[..3], b"con");
                }
            }
        }
        let mut ask = |operation| {
            let mut done = Vec::with_capacity(1);
            engine.push(small_request(operation, 2, 0, 7));
            while done.is_empty() {
                engine.reap(WAIT, &mut done).unwrap();
            }
            done[0].result
        };
        assert_eq!(ask(Operation::Open), 0);
        assert_eq!(ask(Operation::ReadWhole), -libc::EBUSY);
        assert_eq!(ask(Operation::Close), 0);
        assert_eq!(ask(Operation::ReadWhole), 7);
    }
}

const fn small_request(
    operation: Operation,
    slot: u32,
    file_index: u32,
    length_bytes: u32,
) -> Request {
    Request {
        operation,
        fileset: 0,
        handle: 0,
        slot,
        file_index,
        length_bytes,
        offset_bytes: 0,
    }
}

#[test]
fn a_ring_reports_which_operations_use_system_calls() {
    let fileset_dir = FilesetDir::new(0, true);
    let Some(engine) = ring(&fileset_dir.set, 1, FileEngineOptions::default()) else {
        return;
    };
    let listed = OperationSet::EMPTY.with(Operation::Readdir);
    let notes = engine.notes(listed);
    println!("{notes:#?}");
    assert!(notes.iter().any(|note| note.contains("no readdir")));
    let opened = OperationSet::EMPTY.with(Operation::Open);
    let notes = engine.notes(opened);
    assert!(!notes.iter().any(|note| note.contains("readdir")));
}

#[test]
fn a_ring_can_be_dropped_with_requests_in_flight() {
    for _ in 0..20 {
        let fileset_dir = FilesetDir::new(0, true);
        let Some(mut engine) = ring(&fileset_dir.set, 32, FileEngineOptions::default()) else {
            return;
        };
        for slot in 0..32 {
            engine.push(Request {
                slot,
                ..request(Operation::Create, slot, 0)
            });
        }
        engine
            .reap(Wait::Poll, &mut Vec::with_capacity(32))
            .unwrap();
    }
}

/// An engine on ways beneath a directory.
fn with_paths(names: &[&str], check: impl Fn(&mut dyn Engine, &Path)) {
    for index in 0..2 {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let set = Arc::new(Fileset::paths(location(dir.path()), &names).unwrap());
        if let Some(engine) = engines(&set, 1, &FileEngineOptions::default()).get_mut(index) {
            check(engine.as_mut(), dir.path());
        }
    }
}

#[test]
fn paths_are_resolved_again_for_each_request() {
    let names = ["a", "a/b", "a/b/file", "a/b/other", "c/file"];
    with_paths(&names, |engine, dir| {
        let on = |engine: &mut dyn Engine, operation, index| one(engine, operation, index, 0);
        assert_eq!(on(engine, Operation::Create, 2), -libc::ENOENT);
        assert_eq!(on(engine, Operation::Mkdir, 0), 0);
        assert_eq!(on(engine, Operation::Mkdir, 1), 0);
        assert_eq!(on(engine, Operation::Create, 2), 0);
        assert_eq!(sized(engine, Operation::Lock, 2_147_483_538, 1), 0);
        assert_eq!(sized(engine, Operation::Unlock, 2_147_483_538, 1), 0);
        assert_eq!(on(engine, Operation::Close, 2), 0);
        assert_eq!(one(engine, Operation::Utime, 2, 1_000), 0);
        assert_eq!(dir.join("a/b/file").metadata().unwrap().mtime(), 1_000);
        assert_eq!(one(engine, Operation::Rename, 2, 3), 0);
        assert_eq!(on(engine, Operation::Stat, 2), -libc::ENOENT);
        assert_eq!(on(engine, Operation::Statfs, 0), 0);
        assert_eq!(on(engine, Operation::Search, 4), -libc::ENOENT);
        assert_eq!(one(engine, Operation::Search, 3, 1), 1);
        assert_eq!(one(engine, Operation::Search, 2, 100), 3);
        symlink("a", dir.join("c")).unwrap();
        assert!(on(engine, Operation::Open, 4) < 0);
    });
}

#[test]
fn a_search_ignores_case_and_ends_at_the_name() {
    with_paths(&["NAME", "missing"], |engine, dir| {
        std::fs::write(dir.join("Name"), "").unwrap();
        let all = one(engine, Operation::Search, 1, 0);
        assert_eq!(all, 3);
        assert!((1..=3).contains(&one(engine, Operation::Search, 0, 0)));
        assert_eq!(one(engine, Operation::Search, 0, 2), 2);
    });
}

#[test]
fn a_directory_is_read_name_by_name_and_only_files_are_reported() {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let rule = NameRule {
        prefix: "f".to_owned(),
        digit_count: 2,
        spread: Spread::Blocks { each_count: 3 },
        subdirectories: Some(SubdirectoryRule {
            count: 2,
            ..SubdirectoryRule::default()
        }),
        ..NameRule::default()
    };
    let names = ["b", "f01", "x", "y", "z"].map(Box::from);
    let sets = [
        Fileset::generated(vec![location(dir.path())], rule.clone()),
        Fileset::placed(location(dir.path()), rule, &names),
    ];
    let sets = sets.map(|set| Arc::new(set.unwrap()));
    sets[0].make_subdirectories(0o700).unwrap();
    let other_files = [
        "0/f2", "0/f+2", "0/f002", "0/f04", "0/z", "0/g01", "0/f", "1/f03",
    ];
    for file in [&["0/f00", "0/f01", "0/f02", "0/b", "0/x"][..], &other_files].concat() {
        std::fs::write(dir.path().join(file), "").unwrap();
    }
    for (set, wanted) in sets.iter().zip([[1, 2, 3], [1, 2, 3]]) {
        for mut engine in engines(set, 1, &FileEngineOptions::default()) {
            let engine = engine.as_mut();
            let next = |engine: &mut dyn Engine, opens| one(engine, Operation::NextEntry, 1, opens);
            assert_eq!(next(engine, 0), -libc::EBADF);
            assert!(next(engine, 1) > 0);
            // Opening the directory again restarts the listing.
            let mut results = vec![next(engine, 1)];
            while *results.last().unwrap() > 0 {
                results.push(next(engine, 0));
            }
            assert_eq!(results.pop(), Some(0));
            results.sort_unstable();
            assert_eq!(results, wanted);
            assert_eq!(next(engine, 0), -libc::EBADF);
        }
    }
}

#[test]
fn emptying_a_tree_touches_nothing_outside_it() {
    with_paths(&["tree", "absent"], |engine, dir| {
        std::fs::create_dir_all(dir.join("tree/one/two")).unwrap();
        std::fs::create_dir(dir.join("beside")).unwrap();
        for file in ["tree/a", "tree/one/b", "tree/one/two/c", "beside/d"] {
            std::fs::write(dir.join(file), "x").unwrap();
        }
        symlink("../../beside", dir.join("tree/one/link")).unwrap();
        assert_eq!(one(engine, Operation::EmptyTree, 0, 0), 0);
        assert_eq!(
            std::fs::read_dir(dir.join("tree/one/two")).unwrap().count(),
            0
        );
        assert_eq!(std::fs::read_dir(dir.join("tree/one")).unwrap().count(), 1);
        assert!(dir.join("beside/d").exists());
        assert_eq!(one(engine, Operation::EmptyTree, 1, 0), -libc::ENOENT);
    });
}

#[test]
fn paths_that_leave_the_directory_are_refused() {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let refused = |name: String| Fileset::paths(location(dir.path()), &[name]).is_err();
    for name in ["..", "a/../b", "/etc/passwd", "a/b\0c", "", "a/../../b"] {
        assert!(refused(name.to_owned()), "{name:?}");
    }
    assert!(refused("x".repeat(256)) && refused("a/".repeat(2500)));
    assert!(!refused("a/".repeat(2000)));
}
