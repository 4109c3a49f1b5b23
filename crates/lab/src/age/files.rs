//! The files that age a file system.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Request, count_extents};
use generate::{Content, FileStamp};
use rustix::fs::Advice;

use super::aged::ExtentLayout;
use super::stream::{AgedFile, AgingKind, AgingOperation};
use crate::error::LabError;
use crate::labs_dir::make_directory;

/// Number of directories for the files.
const DIRECTORIES: u32 = 64;
/// Bytes per write.
const WRITE_BYTES: usize = 1 << 20;

/// Result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgingOutcome {
    Done,
    /// No space was left; the operation was undone.
    NoSpace,
}

/// The files, in dedicated directories.
pub(super) struct AgedFiles<'a> {
    path: PathBuf,
    directory: File,
    content: FileStamp,
    chunk: Vec<u8>,
    /// Number of the next write, so that each write has different content.
    write_index: u32,
    /// Files that grew since the last sync.
    grown: Vec<u32>,
    stop: &'a AtomicBool,
}

impl<'a> AgedFiles<'a> {
    /// Creates the directories.
    pub fn make(path: PathBuf, seed: u64, stop: &'a AtomicBool) -> Result<Self, LabError> {
        make_directory(&path)?;
        for number in 0..DIRECTORIES {
            make_directory(&path.join(format!("d{number:02}")))?;
        }
        let directory =
            File::open(&path).map_err(|error| LabError::system("open", &path, error))?;
        Ok(Self {
            path,
            directory,
            content: FileStamp::new(seed),
            chunk: vec![0; WRITE_BYTES],
            write_index: 0,
            grown: Vec::new(),
            stop,
        })
    }

    /// The directory that contains the others, opened and as a path.
    pub const fn directory(&self) -> (&File, &PathBuf) {
        (&self.directory, &self.path)
    }

    /// Performs an operation.
    pub fn apply(&mut self, operation: AgingOperation) -> Result<AgingOutcome, LabError> {
        self.check_stopped()?;
        let path = self.path_of(operation.file);
        let (action, done) = match operation.kind {
            AgingKind::Create => ("create", self.create(&path, operation)),
            AgingKind::Append | AgingKind::Rewrite => ("write to", self.write(&path, operation)),
            AgingKind::Delete => ("remove", fs::remove_file(&path)),
        };
        match done {
            Ok(()) => {
                let is_grown = operation.kind == AgingKind::Append;
                // Only appends leave space reserved after the end of a file.
                self.grown.extend(is_grown.then_some(operation.file));
                Ok(AgingOutcome::Done)
            }
            // A removal cannot be undone, so a lack of space in it (copy on write) is an error.
            Err(error) if is_out_of_space(&error) && operation.kind != AgingKind::Delete => {
                restore(&path, operation)
                    .map_err(|error| LabError::system("restore", &path, error))?;
                Ok(AgingOutcome::NoSpace)
            }
            Err(_) if self.is_stopped() => Err(LabError::Stopped),
            Err(error) => Err(LabError::system(action, &path, error)),
        }
    }

    /// Syncs all data, which gives it its blocks; `false` if no space is left.
    pub fn sync(&mut self) -> Result<bool, LabError> {
        let is_placed = match rustix::fs::syncfs(&self.directory).map_err(io::Error::from) {
            Ok(()) => true,
            Err(error) if is_out_of_space(&error) => false,
            Err(error) => return Err(LabError::system("sync", &self.path, error)),
        };
        for file in std::mem::take(&mut self.grown) {
            let path = self.path_of(file);
            match trim(&path) {
                Err(error)
                    if error.kind() != io::ErrorKind::NotFound && !is_out_of_space(&error) =>
                {
                    return Err(LabError::system("trim", &path, error));
                }
                _ => {}
            }
        }
        Ok(is_placed)
    }

    /// Layout of the files; `None` if there are no files or the file system does not report it.
    pub fn layout(&self, live: &[AgedFile]) -> Result<Option<ExtentLayout>, LabError> {
        if live.is_empty() {
            return Ok(None);
        }
        let mut layout = ExtentLayout::default();
        for AgedFile { file, .. } in live {
            self.check_stopped()?;
            let path = self.path_of(*file);
            let counted = File::open(&path).and_then(count_extents);
            let counted =
                counted.map_err(|error| LabError::system("count the extents of", &path, error))?;
            // One file without an answer is enough: the file system does not support the request.
            let Some(count) = counted else {
                return Ok(None);
            };
            layout.file_count += 1;
            layout.extent_count += count;
            layout.split_count += u64::from(count > 1);
        }
        Ok(Some(layout))
    }

    /// Drops the files from the page cache, so that a workload starts with an empty one.
    pub fn forget(&self, live: &[AgedFile]) {
        for AgedFile { file, .. } in live {
            // The advice may fail; then only the cache is fuller.
            let _ = File::open(self.path_of(*file))
                .map(|file| rustix::fs::fadvise(&file, 0, None, Advice::DontNeed));
        }
    }

    fn path_of(&self, file: u32) -> PathBuf {
        let directory = format!("d{:02}", file % DIRECTORIES);
        self.path.join(directory).join(format!("f{file:08}"))
    }

    fn create(&mut self, path: &Path, operation: AgingOperation) -> io::Result<()> {
        // Numbers are not reused, so an existing file would be someone else's.
        let file = File::create_new(path)?;
        self.fill(&file, operation)
    }

    fn write(&mut self, path: &Path, operation: AgingOperation) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        self.fill(&file, operation)
    }

    fn fill(&mut self, file: &File, operation: AgingOperation) -> io::Result<()> {
        self.write_index = self.write_index.wrapping_add(1);
        let mut offset_bytes = operation.offset_bytes;
        let end_bytes = offset_bytes + operation.length_bytes;
        while offset_bytes < end_bytes {
            if self.is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = (end_bytes - offset_bytes).min(WRITE_BYTES as u64) as usize;
            let request = Request {
                operation: engine::Operation::Write,
                fileset: 0,
                handle: 0,
                slot: 0,
                file_index: self.write_index,
                length_bytes: length as u32,
                offset_bytes,
            };
            let piece = &mut self.chunk[..length];
            self.content.fill(piece, &request);
            file.write_all_at(piece, offset_bytes)?;
            offset_bytes += length as u64;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn check_stopped(&self) -> Result<(), LabError> {
        match self.is_stopped() {
            true => Err(LabError::Stopped),
            false => Ok(()),
        }
    }
}

fn is_out_of_space(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Releases space that the file system has reserved after the end of a file for further appends.
/// Only recently written files have such a reservation; files in long use do not.
///
/// Source: Linux, `Documentation/admin-guide/xfs.rst`, `speculative_prealloc_lifetime`.
fn trim(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(file.metadata()?.len())
}

/// Undoes the part of an operation that was done before space ran out.
fn restore(path: &Path, operation: AgingOperation) -> io::Result<()> {
    match operation.kind {
        AgingKind::Create => match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        },
        AgingKind::Append => {
            let file = OpenOptions::new().write(true).open(path)?;
            file.set_len(operation.offset_bytes)
        }
        // A rewrite does not change the size, so the part that was done may stay.
        AgingKind::Rewrite | AgingKind::Delete => Ok(()),
    }
}
