//! Writes the content of a file, with several requests in flight and with direct I/O if possible.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Completion, Engine, IoUring, Operation, Request, UringOptions, Wait};
use generate::ContentSource;

const SLOT_COUNT: u32 = 8;
/// All buffers together have 2 MiB. Larger ones would determine the peak memory of a run without
/// being faster.
const CHUNK_BYTES: u32 = 256 << 10;
/// Alignment of direct requests, sufficient for every device.
const DIRECT_BYTES: u64 = 4096;
/// Buffered content is synced in steps of this size, so that the reported progress is real.
const SYNC_BYTES: u64 = 256 << 20;
// The loop wakes up this often to notice a request to stop, even if the device hangs.
const WAKE_NS: u64 = 100_000_000;

/// Observes and stops a long preparation.
pub struct FillWatch<'a> {
    /// Receives bytes done and total bytes, many times a second.
    pub progress: &'a mut dyn FnMut(u64, u64),
    /// Set by another thread to stop.
    pub stop: &'a AtomicBool,
}

/// Description of the content.
pub(crate) struct FillContent {
    pub source: ContentSource,
    pub seed: u64,
    pub verify_block_bytes: Option<u32>,
    /// Offset of the first byte to write. A block with a stamp that begins before it is left out.
    pub start_bytes: u64,
    /// End of the last byte to write.
    pub size_bytes: u64,
}

/// Why writing ended early.
#[derive(Debug)]
pub(crate) enum FillError {
    Stopped,
    Io {
        offset_bytes: u64,
        source: io::Error,
    },
}

impl FillContent {
    /// Writes and syncs everything. `direct` is the same file opened with `O_DIRECT`, if possible.
    pub(crate) fn write(
        &self,
        direct: Option<OwnedFd>,
        buffered: &File,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), FillError> {
        let block_bytes = self.verify_block_bytes.unwrap_or(1);
        let mut done_bytes = self.start_bytes.next_multiple_of(block_bytes.into());
        // The rest of a file may begin anywhere, and direct requests may not.
        if let Some(direct) = direct.filter(|_| done_bytes == 0) {
            let options = UringOptions::default();
            // Where io_uring is not available, the buffered path below writes everything.
            if let Ok(mut ring) = IoUring::new(vec![direct], SLOT_COUNT, CHUNK_BYTES, options) {
                // A direct request must have an aligned length, so the buffered path writes the
                // tail.
                let end_bytes = self.size_bytes - self.size_bytes % DIRECT_BYTES;
                self.write_at_depth(&mut ring, end_bytes, buffered, watch)?;
                done_bytes = end_bytes;
            }
        }
        self.write_buffered(buffered, done_bytes, watch)?;
        // Direct writes also need this: it makes the file's extents and the device's cache durable.
        let synced = buffered.sync_all();
        synced.map_err(|source| FillError::Io {
            offset_bytes: self.size_bytes,
            source,
        })
    }

    fn write_at_depth(
        &self,
        engine: &mut impl Engine,
        end_bytes: u64,
        buffered: &File,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), FillError> {
        let mut pass = FillPass {
            next_bytes: 0,
            done_bytes: 0,
            in_flight: 0,
            requests: vec![None; engine.slot_count() as usize],
        };
        let mut result = Ok(());
        let mut done = Vec::with_capacity(pass.requests.len());
        while pass.in_flight > 0 || (result.is_ok() && pass.next_bytes < end_bytes) {
            if result.is_ok() && watch.stop.load(Ordering::Relaxed) {
                result = Err(FillError::Stopped);
            }
            if result.is_ok() {
                self.push_all(engine, &mut pass, end_bytes);
            }
            if pass.in_flight == 0 {
                break;
            }
            // After an error, the ring is still drained: its buffers must outlive the requests.
            let reaped = engine.reap(
                Wait::One {
                    timeout_ns: WAKE_NS,
                },
                &mut done,
            );
            if let Err(error) = reaped {
                let source = io::Error::other(error.to_string());
                return Err(FillError::Io {
                    offset_bytes: pass.done_bytes,
                    source,
                });
            }
            for completion in done.drain(..) {
                let settled = self.settle(completion, &mut pass, buffered);
                result = result.and(settled);
            }
            (watch.progress)(pass.done_bytes, self.size_bytes);
        }
        result
    }

    fn push_all(&self, engine: &mut impl Engine, pass: &mut FillPass, end_bytes: u64) {
        for slot in 0..pass.requests.len() {
            if pass.requests[slot].is_some() || pass.next_bytes >= end_bytes {
                continue;
            }
            let length = u64::from(CHUNK_BYTES).min(end_bytes - pass.next_bytes);
            let request = Request {
                operation: Operation::Write,
                fileset: 0,
                handle: 0,
                slot: slot as u32,
                file_index: 0,
                length_bytes: length as u32,
                offset_bytes: pass.next_bytes,
            };
            let buffer = &mut engine.buffer(slot as u32)[..length as usize];
            self.content(pass.next_bytes, buffer);
            engine.push(request);
            pass.requests[slot] = Some(request);
            pass.next_bytes += length;
            pass.in_flight += 1;
        }
    }

    fn settle(
        &self,
        completion: Completion,
        pass: &mut FillPass,
        buffered: &File,
    ) -> Result<(), FillError> {
        let entry = pass.requests.get_mut(completion.slot as usize);
        let Some(request) = entry.and_then(Option::take) else {
            return Ok(());
        };
        pass.in_flight -= 1;
        let offset_bytes = request.offset_bytes;
        let Ok(written) = u32::try_from(completion.result) else {
            let source = io::Error::from_raw_os_error(-completion.result);
            return Err(FillError::Io {
                offset_bytes,
                source,
            });
        };
        if written < request.length_bytes {
            // Writing the rest with plain calls either succeeds or gives the reason for the short
            // write.
            let mut rest = vec![0; (request.length_bytes - written) as usize];
            let offset_bytes = offset_bytes + u64::from(written);
            self.content(offset_bytes, &mut rest);
            buffered
                .write_all_at(&rest, offset_bytes)
                .map_err(|source| FillError::Io {
                    offset_bytes,
                    source,
                })?;
        }
        pass.done_bytes += u64::from(request.length_bytes);
        Ok(())
    }

    fn write_buffered(
        &self,
        file: &File,
        start_bytes: u64,
        watch: &mut FillWatch<'_>,
    ) -> Result<(), FillError> {
        let rest_bytes = self.size_bytes.saturating_sub(start_bytes);
        let mut buffer = vec![0; rest_bytes.min(CHUNK_BYTES.into()) as usize];
        let mut offset_bytes = start_bytes;
        while offset_bytes < self.size_bytes {
            if watch.stop.load(Ordering::Relaxed) {
                return Err(FillError::Stopped);
            }
            let length = u64::from(CHUNK_BYTES).min(self.size_bytes - offset_bytes);
            let chunk = &mut buffer[..length as usize];
            self.content(offset_bytes, chunk);
            let mut written = file.write_all_at(chunk, offset_bytes);
            offset_bytes += length;
            if written.is_ok() && offset_bytes.is_multiple_of(SYNC_BYTES) {
                written = file.sync_data();
            }
            written.map_err(|source| FillError::Io {
                offset_bytes: offset_bytes - length,
                source,
            })?;
            (watch.progress)(offset_bytes, self.size_bytes);
        }
        Ok(())
    }

    fn content(&self, offset_bytes: u64, buffer: &mut [u8]) {
        self.source
            .prefill(self.seed, self.verify_block_bytes, offset_bytes, buffer);
    }
}

/// Progress of a pass over the file.
struct FillPass {
    next_bytes: u64,
    done_bytes: u64,
    in_flight: u32,
    requests: Vec<Option<Request>>,
}

#[cfg(test)]
mod tests;
