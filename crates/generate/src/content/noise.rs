//! Random bytes at the speed of a copy.

use super::BLOCK_BYTES;
use crate::Rng;

/// Distinct starts in the table, 8 bytes apart.
const START_COUNT: usize = 1 << 13;

/// Words that are written together.
const AT_ONCE: usize = 8;

/// A table of random words; pieces of it, each under a key of its own, share no sequence that a
/// compressor could find.
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

    /// Fills at most a block with bytes that follow from `key`, different for different keys.
    #[inline]
    pub(super) fn write(&self, block: &mut [u8], key: u64) {
        let start = (key >> 51) as usize;
        let source = &self.table[start..start + BLOCK_BYTES / 8];
        // Whole arrays of 8 bytes are what the compiler makes vectors of, and several at a time are
        // as fast wherever the loop lies: one of single words took a third longer across a cache
        // line.
        let (words, tail) = block.as_chunks_mut();
        let (parts, rest) = words.as_chunks_mut::<AT_ONCE>();
        let (part_sources, _) = source.as_chunks::<AT_ONCE>();
        for (part, randoms) in parts.iter_mut().zip(part_sources) {
            for (word, random) in part.iter_mut().zip(randoms) {
                *word = (random ^ key).to_le_bytes();
            }
        }
        let rest_source = &source[parts.len() * AT_ONCE..];
        for (word, random) in rest.iter_mut().zip(rest_source) {
            *word = (random ^ key).to_le_bytes();
        }
        if let Some(random) = source.get(words.len()) {
            tail.copy_from_slice(&(random ^ key).to_le_bytes()[..tail.len()]);
        }
    }

    /// Fills a buffer of any length, each block under its own key.
    pub(super) fn write_all(&self, buffer: &mut [u8], rng: &mut Rng) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            self.write(block, rng.next_u64());
        }
    }
}
