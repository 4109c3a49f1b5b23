//! File content: every byte follows from the seed, the step that wrote it, and its offset.

use stats::mix;

/// Bytes of one random number.
const WORD_BYTES: u64 = 8;

/// Content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayeredContent {
    pub length_bytes: u64,
    /// The writes, oldest first; the first one covers the whole file.
    layers: Vec<WrittenLayer>,
}

/// A write of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WrittenLayer {
    start_bytes: u64,
    end_bytes: u64,
    step: u32,
}

impl LayeredContent {
    /// A file that one step wrote completely.
    pub fn new(length_bytes: u64, step: u32) -> Self {
        let empty = Self {
            length_bytes: 0,
            layers: Vec::new(),
        };
        empty.written(0, length_bytes, step)
    }

    /// The file after another step wrote a part of it, or beyond its end.
    pub fn written(&self, at_bytes: u64, length_bytes: u64, step: u32) -> Self {
        let end_bytes = at_bytes + length_bytes;
        let mut layers = self.layers.clone();
        layers.push(WrittenLayer {
            start_bytes: at_bytes,
            end_bytes,
            step,
        });
        Self {
            length_bytes: self.length_bytes.max(end_bytes),
            layers,
        }
    }

    /// The bytes of the whole file.
    pub fn bytes(&self, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.length_bytes as usize];
        for layer in &self.layers {
            let part = &mut bytes[layer.start_bytes as usize..layer.end_bytes as usize];
            fill(seed, layer.step, layer.start_bytes, part);
        }
        bytes
    }
}

/// Fills a buffer with the bytes that a step writes at an offset.
pub(crate) fn fill(seed: u64, step: u32, at_bytes: u64, buffer: &mut [u8]) {
    let key = mix(seed ^ mix(u64::from(step)));
    let mut offset_bytes = at_bytes;
    let mut rest = buffer;
    while !rest.is_empty() {
        // Depends on the absolute offset, so that a part has the same bytes as the whole has there.
        let word = mix(key.wrapping_add(offset_bytes / WORD_BYTES)).to_le_bytes();
        let from = (offset_bytes % WORD_BYTES) as usize;
        let count = rest.len().min(word.len() - from);
        let (now, later) = rest.split_at_mut(count);
        now.copy_from_slice(&word[from..from + count]);
        offset_bytes += count as u64;
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_step_and_seed_writes_different_bytes() {
        let of = |seed, step| LayeredContent::new(64, step).bytes(seed);
        assert_eq!(of(1, 1), of(1, 1));
        assert_ne!(of(1, 1), of(1, 2));
        assert_ne!(of(1, 1), of(2, 1));
    }

    #[test]
    fn the_last_step_overwrites_earlier_ones() {
        let first = LayeredContent::new(100, 1);
        let second = first.written(90, 20, 2);
        let (before, after) = (first.bytes(7), second.bytes(7));
        assert_eq!(after.len(), 110);
        assert_eq!(before[..90], after[..90]);
        assert_ne!(before[90..], after[90..100]);
    }

    proptest! {
        #[test]
        fn a_part_equals_the_same_range_of_the_whole(at in 0_usize..200, length in 0_usize..100) {
            let mut whole = vec![0; 300];
            fill(5, 6, 0, &mut whole);
            let mut part = vec![0; length];
            fill(5, 6, at as u64, &mut part);
            prop_assert_eq!(&whole[at..at + length], &part[..]);
        }
    }
}
