//! Random bytes at the speed of a copy.

use super::BLOCK_BYTES;
use crate::Rng;

/// Distinct starts in the table, 8 bytes apart.
const START_COUNT: usize = 1 << 13;

/// A table of random bytes; pieces of it, each under a key of its own, share no sequence that a
/// compressor could find.
#[derive(Debug)]
pub(super) struct Noise {
    table: Vec<u8>,
}

impl Noise {
    pub(super) fn new() -> Self {
        let mut rng = Rng::new(0x006e_6f69_7365);
        let words = START_COUNT + BLOCK_BYTES / 8;
        Self {
            table: (0..words)
                .flat_map(|_| rng.next_u64().to_le_bytes())
                .collect(),
        }
    }

    /// Fills at most a block with bytes that follow from `key`, different for different keys.
    #[inline]
    pub(super) fn write(&self, block: &mut [u8], key: u64) {
        let start = (key >> 51) as usize * 8;
        let mut words = block.chunks_exact_mut(8);
        let mut source = self.table[start..start + BLOCK_BYTES].chunks_exact(8);
        let mut masked = || {
            let word = source.next().and_then(|word| word.try_into().ok());
            (u64::from_le_bytes(word.unwrap_or_default()) ^ key).to_le_bytes()
        };
        for word in &mut words {
            word.copy_from_slice(&masked());
        }
        let tail = words.into_remainder();
        tail.copy_from_slice(&masked()[..tail.len()]);
    }

    /// Fills a buffer of any length, each block under its own key.
    pub(super) fn write_all(&self, buffer: &mut [u8], rng: &mut Rng) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            self.write(block, rng.next_u64());
        }
    }
}
