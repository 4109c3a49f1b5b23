//! The stamp at the start of each verified block.
//!
//! 40 bytes, little endian: magic number, offset in the file, seed of the file, sequence number and
//! checksum. The checksum covers the rest of the block, with a checksum of the other four as its
//! key.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const MAGIC: u64 = u64::from_le_bytes(*b"pgmblk\x00\x01");

/// Size of the stamp in bytes.
const STAMP_BYTES: usize = 40;

/// Bytes of the stamp that its checksum covers.
const KEYED_BYTES: usize = 32;

/// Size of the smallest block that can be stamped, in bytes.
pub(super) const SMALLEST_BLOCK_BYTES: u32 = 64;

/// Content of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) offset_bytes: u64,
    pub(super) file_seed: u64,
    /// 0 for prepared content, otherwise unique among all writes of a cell.
    pub(super) sequence: u64,
}

/// Reason why a block is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// There is no stamp; has the bytes at the place of the magic number.
    NoStamp(u64),
    /// The checksum does not match the content.
    Checksum { wanted: u64, actual: u64 },
}

impl Stamp {
    /// Stamps a block, whose length is at least [`SMALLEST_BLOCK_BYTES`].
    pub(super) fn put(self, block: &mut [u8]) {
        let words = [MAGIC, self.offset_bytes, self.file_seed, self.sequence];
        for (to, word) in block.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let sum = checksum(block);
        block[KEYED_BYTES..STAMP_BYTES].copy_from_slice(&sum.to_le_bytes());
    }

    /// Reads the stamp of an undamaged block.
    pub(super) fn get(block: &[u8]) -> Result<Self, Damage> {
        let word = |index: usize| {
            let bytes = block.get(index * 8..index * 8 + 8);
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        if word(0) != MAGIC {
            return Err(Damage::NoStamp(word(0)));
        }
        let (wanted, actual) = (word(4), checksum(block));
        if wanted != actual {
            return Err(Damage::Checksum { wanted, actual });
        }
        Ok(Self {
            offset_bytes: word(1),
            file_seed: word(2),
            sequence: word(3),
        })
    }
}

fn checksum(block: &[u8]) -> u64 {
    xxh3_64_with_seed(&block[STAMP_BYTES..], xxh3_64(&block[..KEYED_BYTES]))
}

/// Stamps prepared content.
pub(super) fn prepared(buffer: &mut [u8], block_bytes: usize, offset_bytes: u64, file_seed: u64) {
    let mut offset_bytes = offset_bytes;
    for block in buffer.chunks_exact_mut(block_bytes) {
        Stamp {
            offset_bytes,
            file_seed,
            sequence: 0,
        }
        .put(block);
        offset_bytes += block_bytes as u64;
    }
}
