//! Several filesets and registers: system calls, a ring and the null engine give the same answers.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::{
    Completion, Engine, EngineError, FileEngineOptions, Fileset, Filesets, MappedFiles,
    MappingSync, NameRule, Null, OpenAccess, OpenMode, OpenModeIndex, Operation, PsyncFiles,
    Request, RequestObject, SecondName, UringFiles, Wait,
};
use tempfile::TempDir;

const WAIT: Wait = Wait::One { timeout_ns: 0 };
const SLOTS: u32 = 2;
const REGISTERS: u8 = 3;
const BUFFER_BYTES: u32 = 4096;

/// Two directories with a fileset each: `one/a0`, `one/a1`, ... and `two/b0`, `two/b1`, ...
struct TwoFilesets {
    dir: TempDir,
    sets: Filesets,
}

impl TwoFilesets {
    fn new() -> Self {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let set = |name: &str, prefix: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            let rule = NameRule {
                prefix: prefix.to_owned(),
                ..NameRule::default()
            };
            let location = OwnedFd::from(File::open(path).unwrap());
            Arc::new(Fileset::generated(vec![location], rule).unwrap())
        };
        let sets = Filesets::new(set("one", "a"), &[set("two", "b")]);
        Self { dir, sets }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// All files with their content, in order.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let list = |name: &str| -> Vec<PathBuf> {
            let entries = fs::read_dir(self.path(name)).unwrap();
            entries.map(|it| it.unwrap().path()).collect()
        };
        let mut files: Vec<_> = [list("one"), list("two")].concat();
        files.sort();
        let relative = |path: &Path| path.strip_prefix(self.dir.path()).unwrap().to_owned();
        let read = |path: PathBuf| (relative(&path), fs::read(&path).unwrap());
        files.into_iter().map(read).collect()
    }

    fn psync(&self, options: &FileEngineOptions) -> Box<dyn Engine> {
        let (sets, options) = (self.sets.clone(), options.clone());
        let engine = PsyncFiles::with_registers(sets, SLOTS, BUFFER_BYTES, options, REGISTERS);
        Box::new(engine.unwrap())
    }

    /// A ring, or `None` with the reason printed where this system has none for us.
    fn ring(&self, options: &FileEngineOptions) -> Option<Box<dyn Engine>> {
        let (sets, options) = (self.sets.clone(), options.clone());
        match UringFiles::with_registers(sets, SLOTS, BUFFER_BYTES, options, REGISTERS) {
            Ok(engine) => Some(Box::new(engine)),
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
}

/// Runs `check` by system calls and with a ring, each on a place of its own.
fn with_each(options: &FileEngineOptions, check: impl Fn(&mut dyn Engine, &TwoFilesets)) {
    let filesets = TwoFilesets::new();
    check(filesets.psync(options).as_mut(), &filesets);
    let filesets = TwoFilesets::new();
    if let Some(mut engine) = filesets.ring(options) {
        check(engine.as_mut(), &filesets);
    }
}

/// A request in slot 0, of the first fileset and register.
fn request(operation: Operation, file_index: u32) -> Request {
    Request {
        operation,
        file_index,
        ..Request::EMPTY
    }
}

/// A request on the first register with a number in its offset.
fn numbered_request(operation: Operation, file_index: u32, offset_bytes: u64) -> Request {
    Request {
        offset_bytes,
        ..request(operation, file_index)
    }
}

/// A request on the file that a register of slot 0 has open.
fn on(handle: u8, operation: Operation, offset_bytes: u64, length_bytes: u32) -> Request {
    Request {
        handle,
        length_bytes,
        ..numbered_request(operation, 0, offset_bytes)
    }
}

fn execute(engine: &mut dyn Engine, request: Request) -> i32 {
    let mut done: Vec<Completion> = Vec::with_capacity(SLOTS as usize);
    engine.push(request);
    while done.is_empty() {
        engine.reap(WAIT, &mut done).unwrap();
    }
    assert_eq!((done.len(), done[0].slot), (1, request.slot));
    done[0].result
}

fn write(engine: &mut dyn Engine, handle: u8, offset_bytes: u64, text: &str) -> i32 {
    engine.buffer(0)[..text.len()].copy_from_slice(text.as_bytes());
    let length_bytes = text.len() as u32;
    execute(
        engine,
        on(handle, Operation::Write, offset_bytes, length_bytes),
    )
}

/// The name of that index in the second fileset.
fn second_fileset_name(file_index: u32) -> u64 {
    let fileset = 1;
    SecondName {
        fileset,
        file_index,
    }
    .code()
}

/// Requests that all succeed, with their results.
fn good_steps() -> Vec<(Request, i32)> {
    let create = |handle, fileset, file_index| Request {
        fileset,
        handle,
        ..request(Operation::Create, file_index)
    };
    let open = |handle, fileset, file_index| Request {
        operation: Operation::Open,
        offset_bytes: OpenAccess::Read.code(),
        ..create(handle, fileset, file_index)
    };
    let in_second = |operation, file_index| Request {
        fileset: 1,
        ..request(operation, file_index)
    };
    let mut steps = vec![
        (create(0, 0, 0), 0),
        (create(1, 1, 0), 0),
        (create(2, 1, 7), 0),
        (on(1, Operation::Write, 0, 4096), 4096),
        (on(2, Operation::Write, Request::AT_POSITION, 10), 10),
        (on(0, Operation::Write, Request::AT_END, 30), 30),
        (on(2, Operation::Write, Request::AT_END, 5), 5),
        (on(2, Operation::Write, Request::AT_POSITION, 1), 1),
        (
            on(2, Operation::Fsync, RequestObject::Directory.code(), 0),
            0,
        ),
        (on(0, Operation::Stat, RequestObject::Handle.code(), 0), 0),
        (on(1, Operation::Fdatasync, 0, 0), 0),
        (on(2, Operation::Close, 0, 0), 0),
        (open(2, 0, 0), 0),
        (on(2, Operation::Read, 0, 30), 30),
        (on(1, Operation::Truncate, 100, 0), 0),
    ];
    steps.extend((0..3).map(|handle| (on(handle, Operation::Close, 0, 0), 0)));
    steps.extend([
        (
            numbered_request(Operation::Rename, 0, second_fileset_name(1)),
            0,
        ),
        (in_second(Operation::Stat, 1), 0),
        (open(1, 1, 0), 0),
        (on(1, Operation::Read, 0, 100), 100),
        (on(1, Operation::Close, 0, 0), 0),
        (in_second(Operation::Unlink, 7), 0),
        (in_second(Operation::Mkdir, 9), 0),
        (in_second(Operation::Rmdir, 9), 0),
    ]);
    steps
}

#[test]
fn system_calls_a_ring_and_the_null_engine_return_the_same_results() {
    let answers = |engine: &mut dyn Engine| -> Vec<i32> {
        for slot in 0..SLOTS {
            engine.buffer(slot).fill(b'x');
        }
        let steps = good_steps().into_iter();
        steps.map(|(step, _)| execute(engine, step)).collect()
    };
    let wanted: Vec<i32> = good_steps().into_iter().map(|(_, wanted)| wanted).collect();
    let mut null = Null::new(SLOTS, BUFFER_BYTES).unwrap();
    assert_eq!(answers(&mut null), wanted);
    with_each(&FileEngineOptions::default(), |engine, place| {
        assert_eq!(answers(engine), wanted);
        let sizes: Vec<_> = place.files();
        let sizes: Vec<_> = sizes
            .iter()
            .map(|(path, content)| (path.to_str().unwrap(), content.len()))
            .collect();
        assert_eq!(sizes, [("two/b0", 100), ("two/b1", 30)]);
    });
}

#[test]
fn a_register_holds_one_open_file_and_none_exist_past_the_last() {
    with_each(&FileEngineOptions::default(), |engine, _| {
        for (slot, handle) in [(0, 0), (0, 2), (1, 0), (1, 2)] {
            let create = Request {
                handle,
                slot,
                ..request(Operation::Create, slot * 10 + u32::from(handle))
            };
            let close = Request {
                operation: Operation::Close,
                ..create
            };
            assert_eq!(execute(engine, close), -libc::EBADF);
            assert_eq!(execute(engine, create), 0);
            let again = Request {
                file_index: 99,
                ..create
            };
            assert_eq!(execute(engine, again), -libc::EBUSY);
        }
        for operation in [Operation::Create, Operation::Read, Operation::Close] {
            let beyond = on(REGISTERS, operation, 0, 0);
            assert_eq!(execute(engine, beyond), -libc::EBADF, "{operation:?}");
            let empty = on(1, operation, 0, 0);
            let wanted = match operation {
                // There it is now.
                Operation::Create => -libc::EEXIST,
                _ => -libc::EBADF,
            };
            assert_eq!(execute(engine, empty), wanted, "{operation:?}");
        }
        let last = on(u8::MAX, Operation::Open, 0, 0);
        assert_eq!(execute(engine, last), -libc::EBADF);
        let beyond_sets = Request {
            fileset: 2,
            ..on(1, Operation::Create, 0, 0)
        };
        assert_eq!(execute(engine, beyond_sets), -libc::EBADF);
        let last_set = Request {
            fileset: u8::MAX,
            ..request(Operation::Stat, 0)
        };
        assert_eq!(execute(engine, last_set), -libc::EBADF);
    });
}

#[test]
fn every_register_of_every_slot_keeps_its_own_file() {
    with_each(&FileEngineOptions::default(), |engine, _| {
        let all = (0..SLOTS).flat_map(|slot| (0..REGISTERS).map(move |handle| (slot, handle)));
        let number = |slot: u32, handle: u8| slot * 10 + u32::from(handle);
        let of = |slot, handle, operation| Request {
            slot,
            fileset: handle % 2,
            ..on(handle, operation, 0, 3)
        };
        for (slot, handle) in all.clone() {
            let create = Request {
                file_index: number(slot, handle),
                ..of(slot, handle, Operation::Create)
            };
            assert_eq!(execute(engine, create), 0);
            let text = format!("{:03}", number(slot, handle));
            engine.buffer(slot)[..3].copy_from_slice(text.as_bytes());
            assert_eq!(execute(engine, of(slot, handle, Operation::Write)), 3);
        }
        for (slot, handle) in all {
            engine.buffer(slot).fill(0);
            assert_eq!(execute(engine, of(slot, handle, Operation::Read)), 3);
            let text = format!("{:03}", number(slot, handle));
            assert_eq!(&engine.buffer(slot)[..3], text.as_bytes());
            assert_eq!(execute(engine, of(slot, handle, Operation::Close)), 0);
        }
    });
}

#[test]
fn two_registers_append_to_one_file_without_moving_their_positions() {
    with_each(&FileEngineOptions::default(), |engine, place| {
        assert_eq!(execute(engine, on(0, Operation::Create, 0, 0)), 0);
        let open = on(1, Operation::Open, OpenAccess::ReadWrite.code(), 0);
        assert_eq!(execute(engine, open), 0);
        for (handle, text) in [(0, "aa"), (1, "bbb"), (0, "c"), (0, ""), (1, "dd")] {
            let moved = write(engine, handle, Request::AT_END, text);
            assert_eq!(moved, text.len() as i32);
        }
        assert_eq!(place.content("one/a0"), "aabbbcdd");
        for handle in [0, 1] {
            let moved = write(engine, handle, Request::AT_POSITION, "XY");
            assert_eq!(moved, 2);
        }
        assert_eq!(place.content("one/a0"), "XYbbbcdd");
        assert_eq!(write(engine, 1, Request::AT_POSITION, "Z"), 1);
        assert_eq!(write(engine, 0, Request::AT_END, "e"), 1);
        assert_eq!(place.content("one/a0"), "XYZbbcdde");
        let read = on(1, Operation::Read, Request::AT_END, 4);
        assert_eq!(execute(engine, read), -libc::EINVAL);
    });
}

#[test]
fn files_are_renamed_and_linked_from_one_fileset_into_another() {
    with_each(&FileEngineOptions::default(), |engine, place| {
        assert_eq!(execute(engine, on(0, Operation::Create, 0, 0)), 0);
        assert_eq!(write(engine, 0, 0, "content"), 7);
        assert_eq!(execute(engine, on(0, Operation::Close, 0, 0)), 0);
        let link = numbered_request(Operation::Link, 0, second_fileset_name(4));
        assert_eq!(execute(engine, link), 0);
        assert_eq!(execute(engine, link), -libc::EEXIST);
        let symlink = numbered_request(Operation::Symlink, 0, second_fileset_name(5));
        assert_eq!(execute(engine, symlink), 0);
        let text = fs::read_link(place.path("two/b5")).unwrap();
        assert_eq!(text, Path::new("a0"));
        fs::remove_file(place.path("two/b5")).unwrap();
        let rename = numbered_request(Operation::Rename, 0, second_fileset_name(6));
        assert_eq!(execute(engine, rename), 0);
        assert_eq!(execute(engine, rename), -libc::ENOENT);
        let back = Request {
            fileset: 1,
            ..numbered_request(Operation::Rename, 6, 8)
        };
        assert_eq!(execute(engine, back), 0);
        let content = b"content".to_vec();
        let wanted = ["one/a8", "two/b4"].map(|it| (PathBuf::from(it), content.clone()));
        assert_eq!(place.files(), wanted);
        for code in [second_fileset_name(0) * 2, 1 << 40, u64::MAX] {
            let invalid = numbered_request(Operation::Rename, 8, code);
            assert_eq!(execute(engine, invalid), -libc::EBADF);
        }
    });
}

#[test]
fn directory_syncs_and_whole_file_reads_need_no_free_register() {
    with_each(&FileEngineOptions::default(), |engine, place| {
        fs::write(place.path("two/b9"), "whole").unwrap();
        let read_whole = Request {
            fileset: 1,
            file_index: 9,
            ..on(0, Operation::ReadWhole, 0, 4096)
        };
        let sync = on(0, Operation::Fsync, RequestObject::Directory.code(), 0);
        for handle in 0..REGISTERS {
            let create = on(handle, Operation::Create, 0, 0);
            let file_index = u32::from(handle);
            let create = Request {
                file_index,
                ..create
            };
            assert_eq!(execute(engine, create), 0);
            // As often as it takes for a place in a table that stays taken to be noticed.
            for _ in 0..3 {
                assert_eq!(execute(engine, read_whole), 5);
                assert_eq!(execute(engine, sync), 0);
            }
        }
        for handle in 0..REGISTERS {
            assert_eq!(execute(engine, on(handle, Operation::Close, 0, 0)), 0);
        }
    });
}

/// Ways with these flags.
fn ways(flags: &[i32]) -> FileEngineOptions {
    let mode = |flags: &i32| OpenMode::new(*flags, 0o600);
    FileEngineOptions {
        open_modes: flags.iter().map(mode).collect(),
        ..FileEngineOptions::default()
    }
}

#[test]
fn ways_to_open_are_chosen_by_their_number() {
    let options = ways(&[
        libc::O_WRONLY | libc::O_APPEND,
        libc::O_RDWR | libc::O_TRUNC,
        libc::O_RDONLY,
        libc::O_RDWR | libc::O_CREAT,
        libc::O_WRONLY | libc::O_DSYNC,
        libc::O_WRONLY | libc::O_SYNC,
    ]);
    let by = |operation, way: u8| on(0, operation, OpenModeIndex(way).code(), 0);
    let close = on(0, Operation::Close, 0, 0);
    with_each(&options, |engine, place| {
        assert_eq!(execute(engine, by(Operation::Open, 0)), -libc::ENOENT);
        // With `O_CREAT`, opening creates the missing file.
        assert_eq!(execute(engine, by(Operation::Open, 3)), 0);
        assert_eq!(write(engine, 0, 0, "first"), 5);
        assert_eq!(execute(engine, close), 0);
        assert_eq!(execute(engine, by(Operation::Open, 0)), 0);
        assert_eq!(write(engine, 0, 0, "last"), 4);
        assert_eq!(execute(engine, close), 0);
        assert_eq!(place.content("one/a0"), "firstlast");
        assert_eq!(execute(engine, by(Operation::Open, 2)), 0);
        assert_eq!(write(engine, 0, 0, "no"), -libc::EBADF);
        assert_eq!(execute(engine, close), 0);
        for way in [4, 5] {
            assert_eq!(execute(engine, by(Operation::Open, way)), 0);
            assert_eq!(write(engine, 0, 0, "F"), 1);
            assert_eq!(execute(engine, close), 0);
        }
        assert_eq!(place.content("one/a0"), "Firstlast");
        assert_eq!(execute(engine, by(Operation::Open, 1)), 0);
        assert_eq!(execute(engine, close), 0);
        assert_eq!(place.content("one/a0"), "");
        for operation in [Operation::Open, Operation::Create] {
            assert_eq!(execute(engine, by(operation, 6)), -libc::EINVAL);
            assert_eq!(execute(engine, by(operation, u8::MAX)), -libc::EINVAL);
            let none = on(0, operation, u64::MAX, 0);
            assert_eq!(execute(engine, none), -libc::EINVAL);
        }
    });
}

#[test]
fn creating_never_opens_an_existing_file_in_any_way() {
    let options = ways(&[
        libc::O_RDWR,
        libc::O_RDWR | libc::O_TRUNC,
        libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
        libc::O_WRONLY | libc::O_APPEND,
    ]);
    with_each(&options, |engine, place| {
        fs::write(place.path("one/a0"), "precious").unwrap();
        for way in 0..4 {
            let create = on(0, Operation::Create, OpenModeIndex(way).code(), 0);
            assert_eq!(execute(engine, create), -libc::EEXIST);
            let new = Request {
                file_index: u32::from(way) + 1,
                ..create
            };
            assert_eq!(execute(engine, new), 0);
            assert_eq!(write(engine, 0, 0, "new"), 3);
            assert_eq!(execute(engine, on(0, Operation::Close, 0, 0)), 0);
        }
        assert_eq!(place.content("one/a0"), "precious");
        assert_eq!(place.files().len(), 5);
    });
}

#[test]
fn a_way_can_bypass_the_cache() {
    with_each(&ways(&[libc::O_RDWR | libc::O_DIRECT]), |engine, place| {
        let create = on(0, Operation::Create, OpenModeIndex(0).code(), 0);
        match execute(engine, create) {
            result if result == -libc::EINVAL => return println!("skipped: no direct I/O here"),
            result => assert_eq!(result, 0),
        }
        engine.buffer(0).fill(b'd');
        for offset in [0, Request::AT_END] {
            let write = on(0, Operation::Write, offset, BUFFER_BYTES);
            assert_eq!(execute(engine, write), BUFFER_BYTES as i32);
        }
        let size = place.path("one/a0").metadata().unwrap().len();
        assert_eq!(size, 2 * u64::from(BUFFER_BYTES));
    });
}

#[test]
fn a_file_is_read_and_written_at_its_position_after_a_seek() {
    let filesets = TwoFilesets::new();
    let mut engine = filesets.psync(&FileEngineOptions::default());
    let engine = engine.as_mut();
    assert_eq!(execute(engine, on(0, Operation::Create, 0, 0)), 0);
    for (offset, text) in [
        (Request::in_units(1), "abcdefgh"),
        (Request::seeking(2), "CD"),
        (Request::AT_POSITION, "EF"),
        (Request::SEEK_END, "i"),
        (Request::in_units(3), "jklmnopq"),
        (Request::AT_END, "r"),
        (Request::AT_POSITION, "R"),
    ] {
        assert_eq!(write(engine, 0, offset, text), text.len() as i32);
    }
    assert_eq!(filesets.content("one/a0"), "abCDEFghijklmnopqR");
    for (offset, length, wanted) in [
        (Request::seeking(14), 3, "opq"),
        (Request::AT_POSITION, 9, "R"),
        (Request::seeking(0), 2, "ab"),
        (Request::in_units(2), 5, "CDEFg"),
        (Request::seeking(15), 1, "p"),
        (Request::in_units(2), 5, "qR"),
        (Request::in_units(0), 5, ""),
    ] {
        let moved = execute(engine, on(0, Operation::Read, offset, length));
        assert_eq!(&engine.buffer(0)[..moved as usize], wanted.as_bytes());
    }
    let past_end = on(0, Operation::Read, Request::seeking(u64::MAX), 1);
    assert!([0, -libc::EINVAL].contains(&execute(engine, past_end)));
    for offset in [Request::AT_END, Request::SEEK_END] {
        let read = on(0, Operation::Read, offset, 1);
        assert_eq!(execute(engine, read), -libc::EINVAL);
    }
    assert_eq!(execute(engine, on(0, Operation::Close, 0, 0)), 0);
    let read_only = on(0, Operation::Open, OpenAccess::Read.code(), 0);
    assert_eq!(execute(engine, read_only), 0);
    let refused = write(engine, 0, Request::in_units(1), "x");
    assert_eq!(refused, -libc::EBADF);
}

#[test]
fn creating_an_existing_file_works_only_if_the_way_allows_it() {
    let open_mode = |flags, takes_existing| OpenMode {
        takes_existing,
        ..OpenMode::new(flags, 0o640)
    };
    let options = FileEngineOptions {
        open_modes: vec![
            open_mode(libc::O_RDWR | libc::O_CREAT, false),
            open_mode(libc::O_RDWR, true),
            open_mode(libc::O_WRONLY | libc::O_TRUNC, true),
        ],
        ..FileEngineOptions::default()
    };
    let create = |index| on(0, Operation::Create, OpenModeIndex(index).code(), 0);
    with_each(&options, |engine, place| {
        for (way, result, text) in [(1, 0, "long"), (1, 0, "la"), (0, -libc::EEXIST, "")] {
            assert_eq!(execute(engine, create(way)), result);
            if result == 0 {
                assert_eq!(write(engine, 0, 0, text), text.len() as i32);
                assert_eq!(execute(engine, on(0, Operation::Close, 0, 0)), 0);
            }
        }
        assert_eq!(place.content("one/a0"), "lang");
        assert_eq!(execute(engine, create(2)), 0);
        assert_eq!(place.content("one/a0"), "");
        let mode = place.path("one/a0").metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o700, 0o600);
        std::os::unix::fs::symlink("a0", place.path("one/a1")).unwrap();
        let through_link = Request {
            file_index: 1,
            handle: 1,
            ..create(1)
        };
        assert_eq!(execute(engine, through_link), -libc::ELOOP);
    });
}

#[test]
fn mapped_files_are_read_and_written_by_copies() {
    let filesets = TwoFilesets::new();
    let flags = libc::O_RDWR;
    let mapped = OpenMode {
        mapped: Some(MappingSync::Sync),
        ..OpenMode::new(flags, 0o600)
    };
    let options = FileEngineOptions {
        open_modes: vec![mapped, OpenMode::new(flags, 0o600)],
        ..FileEngineOptions::default()
    };
    let sets = filesets.sets.clone();
    let mut engine = MappedFiles::new(sets, SLOTS, BUFFER_BYTES, options, REGISTERS).unwrap();
    let mut answer = |request: Request| execute(&mut engine, request);
    let opening = |operation, mode| Request {
        offset_bytes: OpenModeIndex(mode).code(),
        ..request(operation, 0)
    };
    let moving = |operation, offset_bytes| Request {
        offset_bytes,
        length_bytes: 4096,
        ..request(operation, 0)
    };
    let closing = request(Operation::Close, 0);
    // A created file is empty and not mapped.
    assert_eq!(answer(opening(Operation::Create, 0)), 0);
    assert_eq!(answer(closing), 0);
    assert_eq!(answer(opening(Operation::Open, 0)), -libc::EINVAL);
    assert_eq!(answer(closing), -libc::EBADF);
    fs::write(filesets.path("one/a0"), [7; 6000]).unwrap();
    assert_eq!(answer(opening(Operation::Open, 0)), 0);
    assert_eq!(answer(moving(Operation::Read, 4096)), 6000 - 4096);
    assert_eq!(answer(moving(Operation::Write, 8192)), -libc::EFBIG);
    assert_eq!(answer(moving(Operation::Write, 0)), 4096);
    assert_eq!(
        answer(moving(Operation::Read, Request::AT_POSITION)),
        -libc::EINVAL
    );
    assert_eq!(answer(request(Operation::Fsync, 0)), 0);
    let shared = Request {
        offset_bytes: Request::SHARED_LOCK,
        ..request(Operation::Lock, 0)
    };
    assert_eq!(
        (answer(shared), answer(request(Operation::Unlock, 0))),
        (0, 0)
    );
    assert_eq!(answer(closing), 0);
    assert_eq!(fs::metadata(filesets.path("one/a0")).unwrap().len(), 6000);
    // Other ways use system calls, which extend the file.
    assert_eq!(answer(opening(Operation::Open, 1)), 0);
    assert_eq!(answer(moving(Operation::Write, 8192)), 4096);
    assert_eq!(fs::metadata(filesets.path("one/a0")).unwrap().len(), 12_288);
}
