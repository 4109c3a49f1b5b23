//! The system calls of each operation.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};

use generate::pool::{
    CallPattern, Operation, Outcome, PoolDirectory, PoolFile, ReadCalls, WriteCalls,
    stdio_buffer_bytes,
};
use rustix::fs::{AtFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use workload::postmark::Settings;

use super::Overlooked;
use super::pool::Pool;

/// The least room for what is read: the largest buffer of a stream.
const SCRATCH_BYTES_MIN: usize = 8192;

/// Carries out operations.
pub(super) struct Calls {
    pool: Pool,
    /// What files are written from.
    text: Vec<u8>,
    /// Where reads go.
    scratch: Vec<u8>,
    read_block_bytes: u32,
    write_block_bytes: u32,
    is_buffered: bool,
    /// Numbers of files that could not be created, whose names may be somebody else's.
    not_made: HashSet<u32>,
    /// Subdirectories that were there before, by location and number.
    foreign_directories: HashSet<(u32, u32)>,
    overlooked: Overlooked,
}

impl Calls {
    pub(super) fn new(settings: &Settings, text: Vec<u8>) -> Self {
        // No read is larger than a file, which is shorter than the text.
        let read_block_bytes = settings.read_block_bytes as usize;
        let scratch_bytes = read_block_bytes.min(text.len()).max(SCRATCH_BYTES_MIN);
        Self {
            pool: Pool::new(settings),
            text,
            scratch: vec![0; scratch_bytes],
            read_block_bytes: settings.read_block_bytes,
            write_block_bytes: settings.write_block_bytes,
            is_buffered: settings.is_buffered,
            not_made: HashSet::new(),
            foreign_directories: HashSet::new(),
            overlooked: Overlooked::default(),
        }
    }

    pub(super) fn overlooked(&self) -> Overlooked {
        self.overlooked
    }

    #[inline]
    pub(super) fn carry_out(&mut self, operation: &Operation) -> Outcome {
        let done = match *operation {
            Operation::Create { file, size_bytes } => self.create(file, size_bytes),
            Operation::Read { file, size_bytes } => self.read(file, size_bytes),
            Operation::Append {
                file,
                appended_bytes,
                ..
            } => self.append(file, appended_bytes),
            Operation::Delete { file } => self.delete(file),
            Operation::MakeDirectory(directory) => self.make_directory(directory),
            Operation::RemoveDirectory(directory) => self.remove_directory(directory),
            Operation::Mark(_) => Ok(()),
        };
        match done {
            Ok(()) => Outcome::Done,
            Err(_) => Outcome::Failed,
        }
    }

    fn create(&mut self, file: PoolFile, size_bytes: u32) -> Result<(), Errno> {
        let flags = if self.is_buffered {
            OFlags::WRONLY | OFlags::TRUNC
        } else {
            OFlags::RDWR
        };
        match self.open(file, flags | OFlags::CREATE | OFlags::EXCL) {
            Ok(opened) => {
                self.write(&opened, size_bytes);
                Ok(())
            }
            Err(errno) => {
                self.overlooked.foreign_count += u64::from(errno == Errno::EXIST);
                self.not_made.insert(file.number);
                Err(errno)
            }
        }
    }

    fn read(&mut self, file: PoolFile, size_bytes: u32) -> Result<(), Errno> {
        self.check_made(file)?;
        let opened = self.open(file, OFlags::RDONLY)?;
        let mut error = None;
        let pattern = self.pattern(self.read_block_bytes, &opened);
        let mut calls = ReadCalls::new(size_bytes, pattern);
        while let Some(call) = calls.call() {
            let part = &mut self.scratch[..call.length_bytes as usize];
            calls.settle(match rustix::io::read(&opened, part) {
                Ok(count) => count as i64,
                Err(errno) => {
                    error = Some(errno);
                    -i64::from(errno.raw_os_error())
                }
            });
        }
        if calls.came_short() {
            self.overlooked.read_count += 1;
            self.note(error);
        }
        Ok(())
    }

    fn append(&mut self, file: PoolFile, appended_bytes: u32) -> Result<(), Errno> {
        // A stream makes the file if it is missing.
        let mut flags = if self.is_buffered {
            OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND
        } else {
            OFlags::RDWR | OFlags::APPEND
        };
        if self.check_made(file).is_err() {
            if !self.is_buffered {
                return Err(Errno::NOENT);
            }
            flags |= OFlags::EXCL;
        }
        let opened = self.open(file, flags)?;
        if flags.contains(OFlags::EXCL) {
            self.not_made.remove(&file.number);
        }
        if self.is_buffered {
            // What a pipe would answer does not matter to a stream either.
            let _ = rustix::fs::seek(&opened, SeekFrom::End(0));
        }
        self.write(&opened, appended_bytes);
        Ok(())
    }

    fn delete(&mut self, file: PoolFile) -> Result<(), Errno> {
        self.check_made(file)?;
        let (location, name) = self.pool.file(file).ok_or(Errno::NOENT)?;
        rustix::io::retry_on_intr(|| rustix::fs::unlinkat(location, name, AtFlags::empty()))
    }

    fn make_directory(&mut self, directory: PoolDirectory) -> Result<(), Errno> {
        let (location, name) = self.pool.directory(directory).ok_or(Errno::NOENT)?;
        let made = rustix::fs::mkdirat(location, name, Mode::RWXU);
        if made.is_err() {
            self.overlooked.foreign_count += u64::from(made == Err(Errno::EXIST));
            self.foreign_directories.insert(key(directory));
        }
        made
    }

    fn remove_directory(&mut self, directory: PoolDirectory) -> Result<(), Errno> {
        if self.foreign_directories.contains(&key(directory)) {
            return Err(Errno::EXIST);
        }
        let (location, name) = self.pool.directory(directory).ok_or(Errno::NOENT)?;
        rustix::fs::unlinkat(location, name, AtFlags::REMOVEDIR)
    }

    #[inline]
    fn open(&mut self, file: PoolFile, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if self.is_buffered { 0o666 } else { 0o644 };
        let (location, name) = self.pool.file(file).ok_or(Errno::NOENT)?;
        rustix::io::retry_on_intr(|| {
            rustix::fs::openat(location, name, flags, Mode::from_raw_mode(mode))
        })
    }

    /// Refuses to touch what the run did not make.
    #[inline]
    fn check_made(&self, file: PoolFile) -> Result<(), Errno> {
        if !self.not_made.is_empty() && self.not_made.contains(&file.number) {
            return Err(Errno::NOENT);
        }
        Ok(())
    }

    /// Writes the start of the text.
    #[inline]
    fn write(&mut self, opened: &OwnedFd, size_bytes: u32) {
        let (mut failed_count, mut error) = (0, None);
        let pattern = self.pattern(self.write_block_bytes, opened);
        let mut calls = WriteCalls::new(size_bytes, pattern);
        while let Some(call) = calls.call() {
            let start = call.at_bytes as usize;
            let part = &self.text[start..start + call.length_bytes as usize];
            let written = rustix::io::write(opened, part);
            let result = match written {
                Ok(count) => count as i64,
                Err(errno) => -i64::from(errno.raw_os_error()),
            };
            if !calls.settle(result) {
                failed_count += 1;
                error = error.or(written.err());
            }
        }
        if failed_count > 0 {
            self.overlooked.write_count += failed_count;
            self.note(error);
        }
    }

    #[inline]
    fn pattern(&self, block_bytes: u32, opened: &OwnedFd) -> CallPattern {
        CallPattern {
            block_bytes,
            buffer_bytes: self.is_buffered.then(|| buffer_of(opened)),
        }
    }

    #[cold]
    fn note(&mut self, error: Option<Errno>) {
        self.overlooked.first_error = self.overlooked.first_error.or(error);
    }
}

fn key(directory: PoolDirectory) -> (u32, u32) {
    let subdirectory = directory.subdirectory_index.unwrap_or(0);
    (directory.location_index, subdirectory)
}

/// The size of the buffer that a stream gives itself for a file.
#[inline]
fn buffer_of(opened: &OwnedFd) -> u32 {
    match rustix::fs::fstat(opened.as_fd()) {
        Ok(found) => stdio_buffer_bytes(found.st_blksize),
        Err(_) => stdio_buffer_bytes(0_i64),
    }
}
