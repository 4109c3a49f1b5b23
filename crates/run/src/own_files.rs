//! The files that a classic makes: worked on pass by pass, never anybody else's, and removed if
//! they are not kept.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{
    Completion, Engine, FileOptions, Fileset, OpenFlags, OpenMode, Operation, PsyncFiles, Request,
    Wait,
};
use generate::classics::{Names, Pass};
use generate::{Flow, Generator, Step};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use workload::classics::PassPlan;

use crate::RunError;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Permissions of new directories, before the process's mask.
const DIRECTORY_MODE: u32 = 0o777;

/// Whether all workers are to end: somebody asked, or one of them failed.
#[derive(Debug)]
pub(crate) struct Halt<'a> {
    stop: &'a AtomicBool,
    failed: AtomicBool,
}

impl<'a> Halt<'a> {
    pub const fn new(stop: &'a AtomicBool) -> Self {
        Self {
            stop,
            failed: AtomicBool::new(false),
        }
    }

    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    #[inline]
    pub fn is_set(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.load(Ordering::Relaxed)
    }
}

/// Who looks on at each system call.
pub(crate) trait Watch {
    /// It is about to be made.
    fn before(&mut self, operation: Operation);

    /// It was made.
    fn after(&mut self, operation: Operation);
}

/// Nobody.
impl Watch for () {
    #[inline]
    fn before(&mut self, _: Operation) {}

    #[inline]
    fn after(&mut self, _: Operation) {}
}

/// One worker's files, by index of their names.
///
/// A file is made only where its name is free, and only what was made is removed. What is still
/// there when this value goes is removed then, unless it is kept.
pub(crate) struct OwnFiles {
    engine: PsyncFiles,
    location: OwnedFd,
    /// The location as the user calls it.
    shown: PathBuf,
    names: Names,
    /// Which files there are.
    made: Bits,
    /// Directories that were not there before.
    made_directories: Vec<PathBuf>,
    done: Vec<Completion>,
}

/// Files opened for `access` are made as the classics make them, but where the name is free.
pub(crate) fn creating(access: OFlags) -> FileOptions {
    let flags = access | OFlags::CREATE | OFlags::TRUNC | OFlags::EXCL;
    let create = OpenMode::new(flags.bits().cast_signed(), 0o666);
    FileOptions {
        open: OpenFlags {
            create,
            plain: true,
            ..OpenFlags::default()
        },
        ..FileOptions::default()
    }
}

/// Opens a directory to make files in, as it is given.
pub(crate) fn open_location(path: &Path) -> Result<OwnedFd, RunError> {
    let opened = rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty());
    opened.map_err(|errno| RunError::file("open", path, errno))
}

fn made(answer: rustix::io::Result<()>) -> rustix::io::Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno),
    }
}

impl OwnFiles {
    /// Files of these names in `location`, which `shown` names, none of them made yet; makes
    /// their directories where they are missing. No write is longer than `buffer_bytes`.
    pub fn new(
        location: OwnedFd,
        shown: &Path,
        names: Names,
        mut options: FileOptions,
        buffer_bytes: u32,
    ) -> Result<Self, RunError> {
        options.directory_mode = DIRECTORY_MODE;
        let mut made_directories = Vec::new();
        let opened = open_engine(
            &location,
            shown,
            &names,
            (options, buffer_bytes),
            &mut made_directories,
        );
        let engine = match opened {
            Ok(engine) => engine,
            Err(error) => {
                remove_directories(&location, &made_directories);
                return Err(error);
            }
        };
        Ok(Self {
            engine,
            location,
            shown: shown.to_owned(),
            made: Bits::new(names.files.len()),
            names,
            made_directories,
            done: Vec::with_capacity(1),
        })
    }

    /// Carries out a pass to its end, to the first failure, or until `halt`, which is looked at
    /// between files.
    ///
    /// # Errors
    /// The first operation that failed; its file is closed by then.
    pub fn carry_out(
        &mut self,
        plan: &PassPlan,
        halt: &Halt<'_>,
        watch: &mut impl Watch,
    ) -> Result<(), RunError> {
        let mut pass = Pass::new(plan);
        let mut failure = None;
        // With one slot, whose requests are done at once, there is nothing to wait for.
        while let Step::Issue(mut request) = pass.next(0, 0) {
            if request.operation == Operation::Write {
                // As programs of old write.
                request.offset_bytes = Request::AT_POSITION;
            }
            watch.before(request.operation);
            let completion = self.issue(request)?;
            watch.after(request.operation);
            self.note(&request, completion.result);
            if has_failed(&request, completion.result) {
                failure.get_or_insert((request, completion.result));
            }
            match pass.complete(completion, 0) {
                Flow::Continues => {}
                Flow::Judged { errno: 0, .. } if halt.is_set() => return Ok(()),
                Flow::Judged { errno: 0, .. } => {}
                _ => return Err(self.failure(failure.unwrap_or((request, 0)))),
            }
        }
        Ok(())
    }

    #[inline]
    fn issue(&mut self, request: Request) -> Result<Completion, RunError> {
        self.done.clear();
        self.engine.push(request);
        self.engine.reap(Wait::Poll, &mut self.done)?;
        // A request that was not answered is one that failed.
        let lost = Completion {
            slot: 0,
            result: -Errno::IO.raw_os_error(),
        };
        Ok(self.done.first().copied().unwrap_or(lost))
    }

    #[inline]
    fn note(&mut self, request: &Request, result: i32) {
        if result >= 0 {
            match request.operation {
                Operation::Create => self.made.set(request.file_index),
                Operation::Unlink => self.made.clear(request.file_index),
                _ => {}
            }
        }
    }

    #[cold]
    fn failure(&self, (request, result): (Request, i32)) -> RunError {
        // What says nothing more is a write that wrote nothing.
        let errno = match result {
            0.. => Errno::IO,
            result => Errno::from_raw_os_error(-result),
        };
        let name = self.names.files.get(request.file_index as usize);
        let path = name.map_or_else(|| self.shown.clone(), |name| self.shown.join(name));
        RunError::file(verb(request.operation), &path, errno)
    }

    /// Removes what was made and is still there.
    ///
    /// # Errors
    /// The first file that could not be removed; the others are gone.
    pub fn remove(&mut self) -> Result<(), RunError> {
        let mut failure = None;
        while let Some(file_index) = self.made.first() {
            self.made.clear(file_index);
            let request = Request {
                operation: Operation::Unlink,
                fileset: 0,
                handle: 0,
                slot: 0,
                file_index,
                length_bytes: 0,
                offset_bytes: engine::Aim::Name.code(),
            };
            let result = self.issue(request)?.result;
            // Somebody else may have removed it.
            if result < 0 && result != -Errno::NOENT.raw_os_error() {
                failure.get_or_insert((request, result));
            }
        }
        remove_directories(&self.location, &self.made_directories);
        self.made_directories.clear();
        match failure {
            Some(failure) => Err(self.failure(failure)),
            None => Ok(()),
        }
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        // Who wants to know calls it before.
        let _ = self.remove();
    }
}

/// The engine on the files, whose directories are made first; says which were.
fn open_engine(
    location: &OwnedFd,
    shown: &Path,
    names: &Names,
    (options, buffer_bytes): (FileOptions, u32),
    made_directories: &mut Vec<PathBuf>,
) -> Result<PsyncFiles, RunError> {
    for directory in &names.directories {
        let mode = Mode::from_raw_mode(DIRECTORY_MODE);
        let is_new = made(rustix::fs::mkdirat(location, directory, mode))
            .map_err(|errno| RunError::file("make", &shown.join(directory), errno))?;
        if is_new {
            made_directories.push(directory.clone());
        }
    }
    let own = rustix::io::fcntl_dupfd_cloexec(location, 0)
        .map_err(|errno| RunError::file("open", shown, errno))?;
    let fileset = Arc::new(Fileset::listed(own, &names.files)?);
    Ok(PsyncFiles::new(fileset, 1, buffer_bytes, options)?)
}

/// Removes directories in the reverse of the order in which they were made; those in which
/// somebody put something stay.
pub(crate) fn remove_directories(location: impl AsFd, directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        let _ = rustix::fs::unlinkat(&location, directory, AtFlags::REMOVEDIR);
    }
}

/// Whether a pass cannot go on after this.
#[inline]
const fn has_failed(request: &Request, result: i32) -> bool {
    match request.operation {
        // That the directory is there is what is expected; without it no file can be made.
        Operation::Mkdir => false,
        Operation::Write => result < 0 || result == 0 && request.length_bytes > 0,
        _ => result < 0,
    }
}

const fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Unlink => "remove",
        Operation::Stat => "access",
        other => other.name(),
    }
}

impl RunError {
    /// What could not be done with a file or directory.
    pub(crate) fn file(verb: &'static str, path: &Path, errno: Errno) -> Self {
        Self::File {
            verb,
            path: path.to_owned(),
            source: io::Error::from(errno),
        }
    }
}

/// A set of file indexes.
struct Bits {
    words: Vec<u64>,
    /// No word before this one has a member.
    first_word: usize,
}

impl Bits {
    fn new(count: usize) -> Self {
        Self {
            words: vec![0; count.div_ceil(64)],
            first_word: 0,
        }
    }

    #[inline]
    fn set(&mut self, index: u32) {
        let word = index as usize / 64;
        self.words[word] |= 1 << (index % 64);
        self.first_word = self.first_word.min(word);
    }

    #[inline]
    fn clear(&mut self, index: u32) {
        self.words[index as usize / 64] &= !(1 << (index % 64));
    }

    /// The least member.
    fn first(&mut self) -> Option<u32> {
        let rest = &self.words[self.first_word.min(self.words.len())..];
        let skipped = rest.iter().take_while(|word| **word == 0).count();
        self.first_word += skipped;
        let word = self.words.get(self.first_word)?;
        Some(self.first_word as u32 * 64 + word.trailing_zeros())
    }
}

#[cfg(test)]
mod tests;
