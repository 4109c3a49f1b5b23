//! Contents of writes: tables shared by all workers, and the initial content of test files.

mod block_header;
mod block_sum;
mod checked;
mod file_stamp;
mod header_numbers;
mod noise;
mod pattern;
mod plain;
mod repeats;
mod stamp;
mod verified;

use std::sync::Arc;

use plan::ContentPlan;
use plan::job::JobPlan;

use crate::GenerateError;
use crate::arithmetic::threshold;
use crate::rng::Rng;
use noise::Noise;
use stats::mix;

pub use checked::CheckedContent;
pub use file_stamp::FileStamp;
pub use plain::{PlainContent, UnchangedContent};
pub use verified::{VerifiedContent, verify_block_bytes};

/// Granularity at which contents differ, repeat, compress and are stamped, in bytes.
pub(crate) const BLOCK_BYTES: usize = 4096;

/// Length of Iometer's random buffer for full random data, in bytes.
const WINDOW_BYTES: usize = 16 << 20;

/// Length of the pattern of pseudo-random data, in bytes.
const PATTERN_BYTES: usize = 1 << 16;

/// Period of the initial content of kind `constant`, in bytes.
const CONSTANT_BYTES: u64 = 1 << 20;

/// A kind of content with its tables; clones share them.
///
/// Created once per cell, and shared by all workers and the preparation of files.
#[derive(Debug, Clone)]
pub struct ContentSource {
    tables: Arc<Tables>,
    /// `true` if the worker's files contain the same zeros that it writes.
    reads_zeros: bool,
}

#[derive(Debug)]
pub(crate) struct Tables {
    kind: ContentPlan,
    noise: Noise,
    /// Empty unless the kind needs it.
    pattern: Vec<u8>,
    reduction: Reduction,
}

/// Compressibility of blocks.
#[derive(Debug, Clone, Copy)]
struct Reduction {
    /// Number of zero bytes per 2^32 bytes.
    zero: u64,
    /// Number of blocks, per 2^32, that repeat another one.
    repeat: u64,
}

impl ContentSource {
    /// Prepares the tables of a kind of content.
    ///
    /// # Errors
    /// If a share is not a percentage.
    pub fn new(plan: &ContentPlan) -> Result<Self, GenerateError> {
        let pattern_bytes = match plan {
            ContentPlan::PseudoRandom => PATTERN_BYTES,
            ContentPlan::FullRandom => WINDOW_BYTES,
            _ => 0,
        };
        let (compress_percent, dedupe_percent) = match plan {
            ContentPlan::Reducible {
                compress_percent,
                dedupe_percent,
            } => (*compress_percent, *dedupe_percent),
            _ => (0.0, 0.0),
        };
        let tables = Tables {
            kind: *plan,
            noise: Noise::new(),
            pattern: pattern(plan, pattern_bytes),
            reduction: Reduction {
                zero: threshold("the share that compresses", compress_percent)?,
                repeat: threshold("the share that repeats", dedupe_percent)?,
            },
        };
        Ok(Self {
            tables: Arc::new(tables),
            reads_zeros: false,
        })
    }

    /// Declares that the worker reads only zeros, because nothing else was written. Has an effect
    /// only for zero content.
    pub fn set_reads_zeros(&mut self) {
        self.reads_zeros = self.tables.kind == ContentPlan::Zero;
    }

    /// Content for a worker's writes, derived from its seed. `reads` is `true` if the worker also
    /// reads into the buffers that it writes from.
    #[must_use]
    pub fn plain_with_reads(&self, worker_seed: u64, reads: bool) -> PlainContent {
        let content = self.plain(worker_seed);
        // A read leaves its bytes in the buffer, so each write must fill it again.
        match reads && !self.reads_zeros {
            true => content,
            false => content.without_repeated_fills(),
        }
    }

    /// Content for a worker's writes, derived from its seed.
    #[must_use]
    // Once per worker; inlined, it would be in the program for each kind of stream and engine.
    #[inline(never)]
    pub fn plain(&self, worker_seed: u64) -> PlainContent {
        PlainContent::new(Arc::clone(&self.tables), worker_seed)
    }

    /// Content of a job with a pattern or a block check; `None` if it has neither.
    ///
    /// # Errors
    /// If headers do not fit in the blocks, or the pattern is not one.
    // As for `plain`.
    #[inline(never)]
    pub fn checked(
        &self,
        job: &JobPlan,
        worker_seed: u64,
    ) -> Result<Option<CheckedContent>, GenerateError> {
        CheckedContent::new(self.plain(worker_seed), job, worker_seed)
    }

    /// Stamped content that a worker writes and checks.
    ///
    /// `file_seeds` has the seed of each of the worker's files, as given to
    /// [`prefill`](Self::prefill). `block_bytes` is the result of [`verify_block_bytes`] for all
    /// plans of these files.
    ///
    /// # Errors
    /// If the blocks cannot be stamped.
    // As for `plain`.
    #[inline(never)]
    pub fn verified(
        &self,
        worker_seed: u64,
        worker_index: u32,
        file_seeds: Vec<u64>,
        block_bytes: u32,
    ) -> Result<VerifiedContent, GenerateError> {
        // Every write gets new content: a torn write is detected only if old and new content
        // differ.
        let payload = PlainContent::new(Arc::clone(&self.tables), worker_seed);
        VerifiedContent::new(payload, worker_index, file_seeds, block_bytes)
    }

    /// Writes the initial content of a test file from `offset_bytes` on to `buffer`.
    ///
    /// With `verify_block_bytes` the content is stamped, so that blocks that are never overwritten
    /// can be verified too. The value must be the one given to the workers' [`VerifiedContent`].
    pub fn prefill(
        &self,
        file_seed: u64,
        verify_block_bytes: Option<u32>,
        offset_bytes: u64,
        buffer: &mut [u8],
    ) {
        let mut offset_bytes = offset_bytes;
        let mut rest = buffer;
        while !rest.is_empty() {
            let skip = (offset_bytes % BLOCK_BYTES as u64) as usize;
            let start_bytes = offset_bytes - skip as u64;
            let taken = rest.len().min(BLOCK_BYTES - skip);
            let (part, behind) = std::mem::take(&mut rest).split_at_mut(taken);
            // A part of a block needs the whole block first, because one key determines all its
            // bytes.
            if let Ok(block) = <&mut [u8; BLOCK_BYTES]>::try_from(&mut *part) {
                self.prefill_block(file_seed, verify_block_bytes, start_bytes, block);
            } else {
                let mut block = [0; BLOCK_BYTES];
                self.prefill_block(file_seed, verify_block_bytes, start_bytes, &mut block);
                part.copy_from_slice(&block[skip..skip + taken]);
            }
            offset_bytes += taken as u64;
            rest = behind;
        }
    }

    fn prefill_block(
        &self,
        file_seed: u64,
        verify_block_bytes: Option<u32>,
        offset_bytes: u64,
        block: &mut [u8; BLOCK_BYTES],
    ) {
        let tables = &self.tables;
        let key = mix(file_seed ^ mix(offset_bytes));
        match tables.kind {
            ContentPlan::Incompressible => tables.noise.write(block, key),
            ContentPlan::Constant => tables
                .noise
                .write(block, mix(offset_bytes % CONSTANT_BYTES)),
            ContentPlan::Repeating => block.fill(key as u8),
            ContentPlan::Zero => block.fill(0),
            ContentPlan::PseudoRandom | ContentPlan::FullRandom => {
                // The pattern's length is a multiple of a block, so no block reaches beyond its
                // end.
                let at = (offset_bytes % tables.pattern.len() as u64) as usize;
                block.copy_from_slice(&tables.pattern[at..at + BLOCK_BYTES]);
            }
            ContentPlan::Reducible { .. } => {
                let number = offset_bytes / BLOCK_BYTES as u64;
                tables.write_reducible(block, tables.source_key(file_seed, number));
            }
        }
        if let Some(stamped_bytes) = verify_block_bytes {
            stamp::prepared(block, stamped_bytes as usize, offset_bytes, file_seed);
        }
    }
}

impl Tables {
    /// `true` if these random bits turn a block or a request into a copy.
    #[inline]
    const fn is_repeat(&self, bits: u64) -> bool {
        bits & (u32::MAX as u64) < self.reduction.repeat
    }

    /// Key of a block of the initial content, by its number in the file. A copy has the key of an
    /// earlier block in the file; the first block is never a copy.
    fn source_key(&self, file_seed: u64, number: u64) -> u64 {
        let mut number = number;
        loop {
            let key = mix(file_seed ^ mix(number * BLOCK_BYTES as u64));
            let chance = mix(key);
            if number == 0 || !self.is_repeat(chance) {
                return key;
            }
            // This halves the number on average, so even a file of copies takes few steps.
            number = ((u128::from(mix(chance)) * u128::from(number)) >> 64) as u64;
        }
    }

    /// Fills a block with random bytes derived from the key, followed by zeros.
    fn write_reducible(&self, block: &mut [u8], key: u64) {
        let zero_bytes = (block.len() as u64 * self.reduction.zero) >> 32;
        let (random, zeros) = block.split_at_mut(block.len() - zero_bytes as usize);
        self.noise.write(random, mix(key));
        zeros.fill(0);
    }
}

/// Source bytes of pseudo-random and full-random data.
fn pattern(plan: &ContentPlan, length_bytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(0x7061_7474_6572_6e73);
    let mut bytes = vec![0; length_bytes];
    for chunk in bytes.chunks_exact_mut(8) {
        chunk.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    if *plan == ContentPlan::PseudoRandom {
        // Iometer's bytes are remainders modulo 255.
        bytes.iter_mut().for_each(|byte| *byte %= 255);
    }
    bytes
}

#[cfg(test)]
mod tests;
