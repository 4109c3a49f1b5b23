//! The files of a file system that ages.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Request, count_extents};
use generate::{Content, FileStamp};
use rustix::fs::Advice;

use super::aged::Layout;
use super::stream::{Kind, Live, Operation};
use crate::error::LabError;
use crate::place::make_directory;

/// Files lie in so many directories.
const DIRECTORIES: u32 = 64;
/// Bytes written at once.
const PIECE_BYTES: usize = 1 << 20;

/// What became of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// There was no room, and all is as it was before.
    NoRoom,
}

/// The files, in directories of their own.
pub(super) struct Files<'a> {
    path: PathBuf,
    directory: File,
    content: FileStamp,
    piece: Vec<u8>,
    /// No two writes write the same.
    write_index: u32,
    /// Files that were appended to since the last sync.
    grown: Vec<u32>,
    stop: &'a AtomicBool,
}

impl<'a> Files<'a> {
    /// Makes the directories.
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
            piece: vec![0; PIECE_BYTES],
            write_index: 0,
            grown: Vec::new(),
            stop,
        })
    }

    /// The directory of the directories.
    pub const fn directory(&self) -> (&File, &PathBuf) {
        (&self.directory, &self.path)
    }

    /// Does it.
    pub fn apply(&mut self, operation: Operation) -> Result<Outcome, LabError> {
        self.heed_stop()?;
        let path = self.path_of(operation.file);
        let (action, done) = match operation.kind {
            Kind::Create => ("create", self.create(&path, operation)),
            Kind::Append | Kind::Rewrite => ("write to", self.write(&path, operation)),
            Kind::Delete => ("remove", fs::remove_file(&path)),
        };
        match done {
            Ok(()) => {
                let is_grown = operation.kind == Kind::Append;
                self.grown.extend(is_grown.then_some(operation.file));
                Ok(Outcome::Done)
            }
            Err(error) if is_no_room(&error) && operation.kind != Kind::Delete => {
                restore(&path, operation)
                    .map_err(|error| LabError::system("restore", &path, error))?;
                Ok(Outcome::NoRoom)
            }
            Err(_) if self.is_stopped() => Err(LabError::Stopped),
            Err(error) => Err(LabError::system(action, &path, error)),
        }
    }

    /// Makes durable what was written, which gives it its place; false when there is no room.
    pub fn sync(&mut self) -> Result<bool, LabError> {
        let is_placed = match rustix::fs::syncfs(&self.directory).map_err(io::Error::from) {
            Ok(()) => true,
            Err(error) if is_no_room(&error) => false,
            Err(error) => return Err(LabError::system("sync", &self.path, error)),
        };
        for file in std::mem::take(&mut self.grown) {
            let path = self.path_of(file);
            match trim(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound && !is_no_room(&error) => {
                    return Err(LabError::system("trim", &path, error));
                }
                _ => {}
            }
        }
        Ok(is_placed)
    }

    /// How the files lie; none where the file system does not tell, or there is none.
    pub fn layout(&self, live: &[Live]) -> Result<Option<Layout>, LabError> {
        if live.is_empty() {
            return Ok(None);
        }
        let mut layout = Layout::default();
        for Live { file, .. } in live {
            self.heed_stop()?;
            let path = self.path_of(*file);
            let counted = File::open(&path).and_then(count_extents);
            let counted =
                counted.map_err(|error| LabError::system("count the extents of", &path, error))?;
            let Some(count) = counted else {
                return Ok(None);
            };
            layout.file_count += 1;
            layout.extent_count += count;
            layout.split_count += u64::from(count > 1);
        }
        Ok(Some(layout))
    }

    /// Takes the files' content out of the page cache, which a workload is to find empty.
    pub fn forget(&self, live: &[Live]) {
        for Live { file, .. } in live {
            // Only advice: what stays in the cache does no harm but to the cache.
            let _ = File::open(self.path_of(*file))
                .map(|file| rustix::fs::fadvise(&file, 0, None, Advice::DontNeed));
        }
    }

    fn path_of(&self, file: u32) -> PathBuf {
        let directory = format!("d{:02}", file % DIRECTORIES);
        self.path.join(directory).join(format!("f{file:08}"))
    }

    fn create(&mut self, path: &Path, operation: Operation) -> io::Result<()> {
        let file = File::create_new(path)?;
        self.fill(&file, operation)
    }

    fn write(&mut self, path: &Path, operation: Operation) -> io::Result<()> {
        let file = OpenOptions::new().write(true).open(path)?;
        self.fill(&file, operation)
    }

    fn fill(&mut self, file: &File, operation: Operation) -> io::Result<()> {
        self.write_index = self.write_index.wrapping_add(1);
        let mut offset_bytes = operation.offset_bytes;
        let end_bytes = offset_bytes + operation.length_bytes;
        while offset_bytes < end_bytes {
            if self.is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = (end_bytes - offset_bytes).min(PIECE_BYTES as u64) as usize;
            let request = Request {
                operation: engine::Operation::Write,
                fileset: 0,
                handle: 0,
                slot: 0,
                file_index: self.write_index,
                length_bytes: length as u32,
                offset_bytes,
            };
            let piece = &mut self.piece[..length];
            self.content.fill(piece, &request);
            file.write_all_at(piece, offset_bytes)?;
            offset_bytes += length as u64;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn heed_stop(&self) -> Result<(), LabError> {
        match self.is_stopped() {
            true => Err(LabError::Stopped),
            false => Ok(()),
        }
    }
}

fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Gives back what is reserved behind the end of a file for more to come, which is for what is
/// written just now and not for files that were in use for long.
///
/// Source: Linux, `Documentation/admin-guide/xfs.rst`, `speculative_prealloc_lifetime`.
fn trim(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(file.metadata()?.len())
}

/// Undoes what was done of an operation before the room was used up.
fn restore(path: &Path, operation: Operation) -> io::Result<()> {
    match operation.kind {
        Kind::Create => match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        },
        Kind::Append => {
            let file = OpenOptions::new().write(true).open(path)?;
            file.set_len(operation.offset_bytes)
        }
        Kind::Rewrite | Kind::Delete => Ok(()),
    }
}
