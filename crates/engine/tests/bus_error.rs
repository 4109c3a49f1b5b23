//! Mapped files that give way under an engine, and accesses that are none of its business.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use engine::{Engine, Mmap, MmapOptions, Operation, Request, Wait};

const PAGE: u64 = 4096;
const SIZE: u64 = 64 * PAGE;
/// Set for the process that is to die.
const CHILD_VARIABLE: &str = "PGMETER_TEST_DIES";

/// A directory with a file whose pages hold their number.
struct PagedFile {
    dir: tempfile::TempDir,
    content: Vec<u8>,
}

impl PagedFile {
    fn new() -> Self {
        let dir = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let content: Vec<u8> = (0..SIZE).map(|offset| (offset / PAGE) as u8).collect();
        let paged = Self { dir, content };
        std::fs::write(paged.path(), &paged.content).unwrap();
        paged
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("content")
    }

    fn open(&self) -> OwnedFd {
        let file = File::options().read(true).write(true).open(self.path());
        file.unwrap().into()
    }

    fn set_len(&self, size_bytes: u64) {
        File::from(self.open()).set_len(size_bytes).unwrap();
    }

    fn mmap(&self) -> Mmap {
        let options = MmapOptions { write: true };
        Mmap::new(vec![self.open()], 1, 4 * PAGE as u32, options).unwrap()
    }
}

/// Accesses this number of pages and returns the result.
fn one(engine: &mut Mmap, operation: Operation, page: u64, pages: u64) -> i32 {
    engine.push(Request {
        operation,
        fileset: 0,
        handle: 0,
        slot: 0,
        file_index: 0,
        length_bytes: (pages * PAGE) as u32,
        offset_bytes: page * PAGE,
    });
    let mut done = Vec::new();
    engine.reap(Wait::Poll, &mut done).unwrap();
    done.remove(0).result
}

#[test]
fn access_past_the_end_of_a_shortened_file_fails_with_eio() {
    let paged = PagedFile::new();
    let mut engine = paged.mmap();
    paged.set_len(10 * PAGE);
    for operation in [Operation::Read, Operation::Write] {
        assert_eq!(one(&mut engine, operation, 20, 4), -libc::EIO);
        // The end of the file is in the middle of it.
        assert_eq!(one(&mut engine, operation, 8, 4), -libc::EIO);
        assert_eq!(one(&mut engine, operation, 63, 1), -libc::EIO);
        assert_eq!(one(&mut engine, operation, 6, 4), 4 * PAGE as i32);
    }
    assert_eq!(one(&mut engine, Operation::Fsync, 0, 0), 0);
}

#[test]
fn a_restored_file_can_be_read_and_written_again() {
    let paged = PagedFile::new();
    let mut engine = paged.mmap();
    paged.set_len(2 * PAGE);
    assert_eq!(one(&mut engine, Operation::Read, 0, 4), -libc::EIO);
    std::fs::write(paged.path(), &paged.content).unwrap();
    assert_eq!(one(&mut engine, Operation::Read, 1, 4), 4 * PAGE as i32);
    let wanted = &paged.content[PAGE as usize..5 * PAGE as usize];
    assert!(&engine.buffer(0)[..] == wanted);
    engine.buffer(0).fill(7);
    assert_eq!(one(&mut engine, Operation::Write, 1, 4), 4 * PAGE as i32);
    let written = std::fs::read(paged.path()).unwrap();
    assert!(
        written[PAGE as usize..5 * PAGE as usize]
            .iter()
            .all(|byte| *byte == 7)
    );
    assert!(written[5 * PAGE as usize..] == paged.content[5 * PAGE as usize..]);
}

#[test]
fn a_bus_error_outside_the_engine_ends_the_process() {
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        let paged = PagedFile::new();
        let mut engine = paged.mmap();
        assert_eq!(one(&mut engine, Operation::Read, 0, 1), PAGE as i32);
        let file = paged.open();
        // SAFETY: a new mapping at an address of the kernel's choice replaces nothing.
        let mapped = unsafe {
            let (size, shared) = (PAGE as usize, rustix::mm::MapFlags::SHARED);
            let read = rustix::mm::ProtFlags::READ;
            rustix::mm::mmap(std::ptr::null_mut(), size, read, shared, file, 0).unwrap()
        };
        paged.set_len(0);
        std::fs::remove_dir_all(paged.dir.path()).unwrap();
        // SAFETY: the mapping exists; the test expects the access to fail.
        let byte = unsafe { mapped.cast::<u8>().read_volatile() };
        panic!("read {byte}");
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "a_bus_error_outside_the_engine_ends_the_process"])
        .env(CHILD_VARIABLE, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
}
