//! Contents that are stamped when written and checked when read.

use engine::Request;
use plan::{PositionRule, WorkerPlan};

use super::BLOCK_BYTES;
use super::plain::PlainContent;
use super::stamp::{Damage, SMALLEST_BLOCK_BYTES, Stamp};
use crate::{Content, GenerateError, Mismatch};

/// Content of a worker that verifies its reads.
///
/// Each block carries its offset, the seed of the file, a sequence number and a checksum. A read is
/// correct if every block is undamaged and was written to this offset of this file by any write.
/// Requests of several slots and workers may overlap in any order, so no write is known to be the
/// last. A lost write is therefore not detected. Blocks that are damaged, misplaced or from another
/// file are detected.
#[derive(Debug, Clone)]
pub struct VerifiedContent {
    payload: PlainContent,
    file_seeds: Vec<u64>,
    block_bytes: usize,
    sequence: u64,
}

impl VerifiedContent {
    pub(super) fn new(
        payload: PlainContent,
        worker_index: u32,
        file_seeds: Vec<u64>,
        block_bytes: u32,
    ) -> Result<Self, GenerateError> {
        check_block_bytes(block_bytes)?;
        Ok(Self {
            payload,
            file_seeds,
            block_bytes: block_bytes as usize,
            // 2^40 sequence numbers per worker; 0 stands for initial content.
            sequence: (u64::from(worker_index) + 1) << 40,
        })
    }

    /// Fills a slot's whole buffer before the first request.
    pub fn prepare_buffer(&mut self, buffer: &mut [u8]) {
        self.payload.prepare_buffer(buffer);
    }

    fn file_seed(&self, file_index: u32) -> u64 {
        let seed = self.file_seeds.get(file_index as usize);
        *seed.expect("each of the worker's files has a seed")
    }
}

impl Content for VerifiedContent {
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        // The payload comes first, because the stamps replace parts of it.
        self.payload.fill(buffer, request);
        let file_seed = self.file_seed(request.file_index);
        let mut offset_bytes = request.offset_bytes;
        // Requests are whole blocks: `verify_block_bytes` divides all sizes and alignments.
        for block in buffer.chunks_exact_mut(self.block_bytes) {
            self.sequence += 1;
            Stamp {
                offset_bytes,
                file_seed,
                sequence: self.sequence,
            }
            .put(block);
            offset_bytes += self.block_bytes as u64;
        }
    }

    #[inline]
    fn checks(&self) -> bool {
        true
    }

    fn check(&mut self, buffer: &[u8], request: &Request) -> Result<(), Mismatch> {
        let file_seed = self.file_seed(request.file_index);
        let mut offset_bytes = request.offset_bytes;
        for block in buffer.chunks_exact(self.block_bytes) {
            let stamp = Stamp::get(block);
            let right = stamp.is_ok_and(|stamp| {
                stamp.offset_bytes == offset_bytes && stamp.file_seed == file_seed
            });
            if !right {
                let (expected, actual) = explain(stamp, offset_bytes, file_seed);
                return Err(Mismatch {
                    file_index: request.file_index,
                    offset_bytes,
                    expected,
                    actual,
                });
            }
            offset_bytes += self.block_bytes as u64;
        }
        Ok(())
    }
}

/// Expected and actual content of a block, in words.
#[cold]
fn explain(stamp: Result<Stamp, Damage>, offset_bytes: u64, file_seed: u64) -> (String, String) {
    let wanted = format!("a block written at offset `{offset_bytes}` with seed `{file_seed:016x}`");
    match stamp {
        Err(Damage::NoStamp(word)) => (wanted, format!("no stamp, but `{word:016x}`")),
        Err(Damage::Checksum { wanted, actual }) => (
            format!("content with checksum `{wanted:016x}`"),
            format!("content with checksum `{actual:016x}`"),
        ),
        Ok(stamp) => (
            wanted,
            format!(
                "a block written at offset `{}` with seed `{:016x}` as number `{}`",
                stamp.offset_bytes, stamp.file_seed, stamp.sequence
            ),
        ),
    }
}

/// Length of verified blocks that fits all requests of some plans: the largest power of two, at
/// most 4096, that divides their sizes, replies and alignments.
///
/// Pass all plans that use the same files, so that each worker can read what the others and the
/// preparation wrote.
///
/// # Errors
/// If the blocks would be too small for a stamp.
pub fn verify_block_bytes<'a>(
    plans: impl IntoIterator<Item = &'a WorkerPlan>,
) -> Result<u32, GenerateError> {
    let mut union = BLOCK_BYTES as u64;
    for plan in plans {
        for line in &plan.lines {
            union |= u64::from(line.size_bytes | line.reply_bytes | line.align_bytes);
        }
        if let Some(job) = &plan.job {
            let blocks = &job.stream.blocks;
            for rule in [&blocks.read, &blocks.write] {
                let sizes = rule.sizes.all_bytes().into_iter().chain([rule.align_bytes]);
                union |= sizes.fold(0, |sum, bytes| sum | u64::from(bytes));
            }
            let starts = job.files.iter().map(|part| part.start_bytes);
            union |= starts.fold(0, |sum, start| sum | start);
        }
        for span in &plan.spans {
            // An alignment of 0 stands for the sector of the target.
            if plan.lines.iter().any(|line| line.align_bytes == 0) {
                union |= u64::from(span.sector_bytes);
            }
            if plan.position == PositionRule::Iometer {
                // Wrapped positions are only rounded up to the sector.
                union |= u64::from(span.sector_bytes) | span.start_bytes;
            }
        }
    }
    // The lowest bit of the union is the largest power of two that divides all of them.
    let block_bytes = 1 << union.trailing_zeros();
    check_block_bytes(block_bytes)?;
    Ok(block_bytes)
}

fn check_block_bytes(block_bytes: u32) -> Result<(), GenerateError> {
    let reason = if !block_bytes.is_power_of_two() {
        "not a power of two"
    } else if block_bytes < SMALLEST_BLOCK_BYTES {
        "a stamp needs at least 64"
    } else if block_bytes > BLOCK_BYTES as u32 {
        "more than 4096"
    } else {
        return Ok(());
    };
    Err(GenerateError::VerifyBlock {
        block_bytes,
        reason,
    })
}
