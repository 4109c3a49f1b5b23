//! Random bytes as fast as a copy.

use super::BLOCK_BYTES;
use crate::Rng;

/// Number of different starts in the table, 8 bytes apart.
const START_COUNT: usize = 1 << 13;

/// Number of words written together.
const BATCH_WORDS: usize = 8;

/// A table of random words. Pieces with different keys share no sequence that a compressor could
/// find.
#[derive(Debug)]
pub(super) struct Noise {
    table: Vec<u64>,
}

impl Noise {
    pub(super) fn new() -> Self {
        let mut rng = Rng::new(0x006e_6f69_7365);
        let words = START_COUNT + BLOCK_BYTES / 8;
        Self {
            table: (0..words).map(|_| rng.next_u64()).collect(),
        }
    }

    /// Fills at most one block with bytes derived from `key`; different keys give different bytes.
    #[inline]
    pub(super) fn write(&self, block: &mut [u8], key: u64) {
        // The upper 13 bits select one of `START_COUNT` starts.
        let start = (key >> 51) as usize;
        let source = &self.table[start..start + BLOCK_BYTES / 8];
        // The compiler vectorizes loops over whole arrays of 8 bytes. Several arrays at a time are
        // equally fast at any alignment of the loop: a loop over single words took a third longer
        // across a cache line.
        let (words, tail) = block.as_chunks_mut();
        let (parts, rest) = words.as_chunks_mut::<BATCH_WORDS>();
        let (part_sources, _) = source.as_chunks::<BATCH_WORDS>();
        for (part, randoms) in parts.iter_mut().zip(part_sources) {
            for (word, random) in part.iter_mut().zip(randoms) {
                *word = (random ^ key).to_le_bytes();
            }
        }
        let rest_source = &source[parts.len() * BATCH_WORDS..];
        for (word, random) in rest.iter_mut().zip(rest_source) {
            *word = (random ^ key).to_le_bytes();
        }
        if let Some(random) = source.get(words.len()) {
            tail.copy_from_slice(&(random ^ key).to_le_bytes()[..tail.len()]);
        }
    }

    /// Fills a buffer of any length, each block with its own key.
    pub(super) fn write_all(&self, buffer: &mut [u8], rng: &mut Rng) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            self.write(block, rng.next_u64());
        }
    }
}
