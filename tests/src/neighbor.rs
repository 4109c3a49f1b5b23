//! Someone else who uses the same device.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::FixtureError;

/// Bytes of its file, and of a request.
const FILE_BYTES: usize = 16 << 20;
const REQUEST_BYTES: usize = 64 << 10;
/// Buffers and offsets of direct I/O are multiples of this everywhere.
const ALIGNMENT: usize = 4096;

/// Reads or writes a file of its own directly, as fast as it goes, until it is dropped.
#[derive(Debug)]
pub struct Neighbor {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Neighbor {
    /// One that reads.
    ///
    /// # Errors
    /// Its file cannot be made in `directory`.
    pub fn reading(directory: &Path) -> Result<Neighbor, FixtureError> {
        Neighbor::new(directory, |file, buffer, at| {
            file.read_at(buffer, at).map(drop)
        })
    }

    /// One that writes.
    ///
    /// # Errors
    /// Its file cannot be made in `directory`.
    pub fn writing(directory: &Path) -> Result<Neighbor, FixtureError> {
        Neighbor::new(directory, |file, buffer, at| {
            file.write_at(buffer, at).map(drop)
        })
    }

    fn new(
        directory: &Path,
        request: fn(&File, &mut [u8], u64) -> std::io::Result<()>,
    ) -> Result<Neighbor, FixtureError> {
        let path = directory.join("neighbor");
        let file = open(&path).map_err(FixtureError::file(&path))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut memory = vec![0; REQUEST_BYTES + ALIGNMENT];
            let skipped = memory.as_ptr().align_offset(ALIGNMENT);
            let buffer = &mut memory[skipped..skipped + REQUEST_BYTES];
            for at in (0..FILE_BYTES as u64).step_by(REQUEST_BYTES).cycle() {
                if stopped.load(Ordering::Relaxed) || request(&file, buffer, at).is_err() {
                    return;
                }
            }
        });
        Ok(Neighbor {
            stop,
            thread: Some(thread),
            path,
        })
    }
}

/// The file, written, and open for direct I/O.
fn open(path: &Path) -> std::io::Result<File> {
    let mut file = File::create(path)?;
    file.write_all(&vec![7; FILE_BYTES])?;
    file.sync_all()?;
    file.rewind()?;
    let direct = rustix::fs::OFlags::DIRECT.bits().cast_signed();
    let mut options = File::options();
    options.read(true).write(true).custom_flags(direct);
    options.open(path)
}

impl Drop for Neighbor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It panicked if at all on the test's side; there is nothing to do about it here.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}
