//! Content that depends on its position, for files that are read with other lengths and offsets
//! than they were written with.

use engine::Request;

use crate::{Content, Mismatch};
use stats::mix;

/// Number of bytes that are generated and compared in one step.
const WORD_BYTES: usize = 8;

/// Difference of consecutive words before mixing.
const STEP: u64 = 0xa076_1d64_78bd_642f;

/// The two factors of a word's multiplication differ in these bits.
const TWIST: u64 = 0xe703_7ed1_a0b4_28db;

/// Maximum number of bytes that a mismatch shows.
const SHOWN_BYTES: usize = 8;

/// Content and its check for many files: every byte is derived from a seed, the index of the file
/// and the offset in the file.
///
/// Any part of a file can be written and checked separately, whatever its alignment, but requests
/// must give the offset in the file. The check finds the first wrong byte of data that was never
/// written, belongs elsewhere in the file or to another file, or is damaged. A repeated write has
/// the same content as the first, so its loss is not detected.
#[derive(Debug, Clone)]
pub struct FileStamp {
    seed: u64,
    /// `true` if all files have the same content, because their names change.
    ignores_file_index: bool,
    /// `true` if unwritten parts may read as zeros.
    has_holes: bool,
}

impl FileStamp {
    /// Content for a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            ignores_file_index: false,
            has_holes: false,
        }
    }

    /// Gives all files the same content, for files that are renamed or linked.
    #[must_use]
    pub const fn of_place(self) -> Self {
        Self {
            ignores_file_index: true,
            ..self
        }
    }

    /// Accepts zeros as unwritten parts of a file. A lost write to such a part goes unnoticed.
    #[must_use]
    pub const fn with_holes(self) -> Self {
        Self {
            has_holes: true,
            ..self
        }
    }

    #[inline]
    const fn key(&self, file_index: u32) -> u64 {
        let index = if self.ignores_file_index {
            0
        } else {
            file_index
        };
        mix(self.seed ^ mix(index as u64))
    }
}

/// Offset of a request in the file.
#[inline]
fn place(request: &Request) -> u64 {
    request.file_offset().unwrap_or(request.offset_bytes)
}

/// `true` if a word contains the expected bytes, or zeros on one side of a point where a write
/// began or ended.
fn is_word_or_hole(actual: &[u8], wanted: &[u8]) -> bool {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    (0..=actual.len()).any(|at| {
        let ((actual_head, actual_tail), (head, tail)) = (actual.split_at(at), wanted.split_at(at));
        actual_head == head && is_zero(actual_tail) || is_zero(actual_head) && actual_tail == tail
    })
}

/// The word with a number, computed with one multiplication.
///
/// Source: the output function of wyrand (Wang Yi, wyhash, final version 3).
#[inline]
const fn word(key: u64, number: u64) -> [u8; WORD_BYTES] {
    let state = key.wrapping_add(number.wrapping_mul(STEP));
    let product = state as u128 * (state ^ TWIST) as u128;
    ((product >> 64) as u64 ^ product as u64).to_le_bytes()
}

/// Number of bytes in a buffer before the first whole word.
#[inline]
fn head_bytes(offset_bytes: u64, length: usize) -> usize {
    let skip = (offset_bytes % WORD_BYTES as u64) as usize;
    ((WORD_BYTES - skip) % WORD_BYTES).min(length)
}

impl Content for FileStamp {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        let key = self.key(request.file_index);
        let offset_bytes = place(request);
        let (head, rest) = buffer.split_at_mut(head_bytes(offset_bytes, buffer.len()));
        let skip = (offset_bytes % WORD_BYTES as u64) as usize;
        let mut number = offset_bytes / WORD_BYTES as u64;
        if !head.is_empty() {
            head.copy_from_slice(&word(key, number)[skip..skip + head.len()]);
            number += 1;
        }
        let mut words = rest.chunks_exact_mut(WORD_BYTES);
        for place in &mut words {
            place.copy_from_slice(&word(key, number));
            number = number.wrapping_add(1);
        }
        let tail = words.into_remainder();
        tail.copy_from_slice(&word(key, number)[..tail.len()]);
    }

    #[inline]
    fn checks(&self) -> bool {
        true
    }

    #[inline]
    fn check(&mut self, buffer: &[u8], request: &Request) -> Result<(), Mismatch> {
        let key = self.key(request.file_index);
        let offset_bytes = place(request);
        let (head, rest) = buffer.split_at(head_bytes(offset_bytes, buffer.len()));
        let skip = (offset_bytes % WORD_BYTES as u64) as usize;
        let mut number = offset_bytes / WORD_BYTES as u64;
        // One comparison at the end instead of a branch per word.
        let mut damage = 0;
        if !head.is_empty() {
            damage |= u64::from(word(key, number)[skip..skip + head.len()] != *head);
            number += 1;
        }
        let mut words = rest.chunks_exact(WORD_BYTES);
        for chunk in &mut words {
            // Each chunk has this length, so the default is never used.
            let bytes = chunk.try_into().unwrap_or([0; WORD_BYTES]);
            damage |= u64::from_le_bytes(word(key, number)) ^ u64::from_le_bytes(bytes);
            number = number.wrapping_add(1);
        }
        let tail = words.remainder();
        damage |= u64::from(word(key, number)[..tail.len()] != *tail);
        // The search for holes allocates memory, so it runs only after a difference.
        if damage == 0 || self.has_holes && self.is_written_or_hole(buffer, request) {
            return Ok(());
        }
        Err(self.explain(buffer, request))
    }
}

impl FileStamp {
    /// Expected content of a read that returned `length` bytes.
    #[cold]
    fn wanted(&self, length: usize, request: &Request) -> Vec<u8> {
        let mut wanted = vec![0; length];
        self.clone().fill(&mut wanted, request);
        wanted
    }

    /// `true` if the buffer differs from the expected content only by zeros.
    #[cold]
    fn is_written_or_hole(&self, actual: &[u8], request: &Request) -> bool {
        let wanted = self.wanted(actual.len(), request);
        let head = head_bytes(place(request), actual.len());
        let ((actual_head, actual), (head, wanted)) =
            (actual.split_at(head), wanted.split_at(head));
        let words = actual.chunks(WORD_BYTES).zip(wanted.chunks(WORD_BYTES));
        is_word_or_hole(actual_head, head) && { words }.all(|(a, b)| is_word_or_hole(a, b))
    }

    /// Description of the first difference between a buffer and the expected content.
    #[cold]
    fn explain(&self, actual: &[u8], request: &Request) -> Mismatch {
        let wanted = self.wanted(actual.len(), request);
        let differs = wanted
            .iter()
            .zip(actual)
            .position(|(expected, actual)| expected != actual);
        let start = differs.unwrap_or(0);
        let end = actual.len().min(start + SHOWN_BYTES);
        let wrong_count = wanted
            .iter()
            .zip(actual)
            .filter(|(expected, actual)| expected != actual);
        let wrong_count = wrong_count.count();
        Mismatch {
            file_index: request.file_index,
            offset_bytes: place(request) + start as u64,
            expected: format!("`{}`", hex(&wanted[start..end])),
            actual: format!(
                "`{}`, and {wrong_count} wrong bytes among {} bytes read",
                hex(&actual[start..end]),
                actual.len()
            ),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use engine::Operation;
    use proptest::prelude::*;

    use super::*;

    fn request(file_index: u32, offset_bytes: u64, length: usize) -> Request {
        Request {
            operation: Operation::Write,
            fileset: 0,
            handle: 0,
            slot: 0,
            file_index,
            length_bytes: length as u32,
            offset_bytes,
        }
    }

    fn filled(file_index: u32, offset_bytes: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        let request = request(file_index, offset_bytes, length);
        FileStamp::new(7).fill(&mut buffer, &request);
        buffer
    }

    #[test]
    fn content_differs_by_file_seed_and_offset() {
        let mut other = vec![0; 64];
        FileStamp::new(8).fill(&mut other, &request(1, 0, 64));
        let contents = [filled(1, 0, 64), filled(2, 0, 64), filled(1, 64, 64), other];
        for (index, one) in contents.iter().enumerate() {
            for other in &contents[index + 1..] {
                assert_ne!(one, other);
            }
        }
    }

    #[test]
    fn the_content_of_a_seed_never_changes() {
        assert_eq!(hex(&filled(1, 0, 8)), "ff2533267175f337");
    }

    #[test]
    fn damage_is_shown_from_its_first_byte() {
        let mut buffer = filled(3, 1001, 500);
        let wanted = hex(&buffer[499..]);
        buffer[499] ^= 0x10;
        let result = FileStamp::new(7).check(&buffer, &request(3, 1001, 500));
        let actual = hex(&buffer[499..]);
        assert_eq!(
            result.unwrap_err(),
            Mismatch {
                file_index: 3,
                offset_bytes: 1500,
                expected: format!("`{wanted}`"),
                actual: format!("`{actual}`, and 1 wrong bytes among 500 bytes read"),
            }
        );
    }

    #[test]
    fn zeros_count_as_holes_if_allowed_but_damage_is_always_found() {
        let (strict, holed) = (FileStamp::new(7), FileStamp::new(7).with_holes());
        let request = request(5, 1003, 600);
        let intact = filled(5, 1003, 600);
        // Written up to 100, and again from 333 on.
        let mut partly = intact.clone();
        partly[100..333].fill(0);
        assert!(strict.clone().check(&partly, &request).is_err());
        assert_eq!(holed.clone().check(&partly, &request), Ok(()));
        for place in [0, 50, 99, 200, 333, 400, 599] {
            let mut damaged = partly.clone();
            damaged[place] ^= 0x41;
            let result = holed.clone().check(&damaged, &request);
            assert!(result.is_err(), "at {place}");
        }
    }

    #[test]
    fn content_by_offset_is_the_same_in_every_file() {
        let mut stamp = FileStamp::new(7).of_place();
        let mut buffer = vec![0; 64];
        stamp.fill(&mut buffer, &request(1, 512, 64));
        assert_eq!(stamp.check(&buffer, &request(2, 512, 64)), Ok(()));
        assert!(stamp.check(&buffer, &request(2, 1024, 64)).is_err());
        // Wherever the file stood before.
        let sought = request(2, Request::seeking(512), 64);
        assert_eq!(stamp.check(&buffer, &sought), Ok(()));
    }

    proptest! {
        #[test]
        fn filling_a_part_equals_that_part_of_the_whole(
            start in 0_usize..300,
            length in 0_usize..300,
            base in prop_oneof![Just(0_u64), Just(u64::from(u32::MAX) * 100)],
        ) {
            let whole = filled(5, base, 600);
            let part = filled(5, base + start as u64, length);
            prop_assert_eq!(&whole[start..start + length], &part);
            let request = request(5, base + start as u64, length);
            prop_assert_eq!(FileStamp::new(7).check(&part, &request), Ok(()));
        }

        #[test]
        fn every_wrong_byte_is_found_at_its_offset(
            offset in 0_u64..100,
            length in 1_usize..200,
            places in proptest::collection::btree_set(0_usize..200, 1..5),
            change in 1_u8..,
        ) {
            let mut buffer = filled(5, offset, length);
            let positions: Vec<_> = places.into_iter().map(|it| it % length).collect();
            let positions: std::collections::BTreeSet<_> = positions.into_iter().collect();
            for place in &positions {
                buffer[*place] ^= change;
            }
            let result = FileStamp::new(7).check(&buffer, &request(5, offset, length));
            let first = *positions.first().unwrap() as u64;
            prop_assert_eq!(result.unwrap_err().offset_bytes, offset + first);
        }
    }
}
