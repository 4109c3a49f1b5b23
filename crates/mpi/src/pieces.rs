//! Splits messages into pieces, because MPI counts bytes in a C `int`.
//!
//! All pieces of a message except the last have the tag [`TAG_MORE`]. MPI keeps the order of
//! messages between two ranks, so the receiver appends pieces until the last one arrives.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ops::Range;

/// Maximum size of a piece in bytes.
pub(crate) const PIECE_BYTES: usize = 1 << 30;
/// Tag of a piece that is followed by another one.
pub(crate) const TAG_MORE: c_int = 1;
/// Tag of a message's last piece.
pub(crate) const TAG_LAST: c_int = 2;

/// Byte ranges of the pieces of a message, with their tags. An empty message has one piece too.
pub(crate) fn pieces(
    length: usize,
    piece_bytes: usize,
) -> impl Iterator<Item = (Range<usize>, c_int)> {
    let count = length.div_ceil(piece_bytes).max(1);
    (0..count).map(move |index| {
        let start = index * piece_bytes;
        let end = length.min(start + piece_bytes);
        let is_last = index + 1 == count;
        (start..end, if is_last { TAG_LAST } else { TAG_MORE })
    })
}

/// Pieces received of incomplete messages, by sender.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    partial: BTreeMap<usize, Vec<u8>>,
}

impl Assembly {
    /// Adds a piece, and returns the message that it completes.
    pub(crate) fn add(&mut self, from: usize, tag: c_int, piece: Vec<u8>) -> Option<Vec<u8>> {
        let message = match self.partial.remove(&from) {
            // Most messages are a single piece, which needs no copy.
            None => piece,
            Some(mut begun) => {
                begun.extend_from_slice(&piece);
                begun
            }
        };
        if tag == TAG_LAST {
            return Some(message);
        }
        self.partial.insert(from, message);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_without_bytes_has_one_piece() {
        assert_eq!(pieces(0, 4).collect::<Vec<_>>(), [(0..0, TAG_LAST)]);
    }

    #[test]
    fn a_message_of_full_pieces_has_no_empty_one() {
        let split: Vec<_> = pieces(8, 4).collect();
        assert_eq!(split, [(0..4, TAG_MORE), (4..8, TAG_LAST)]);
    }

    #[test]
    fn the_size_of_a_piece_fits_an_int() {
        assert!(c_int::try_from(PIECE_BYTES).is_ok());
    }

    proptest! {
        #[test]
        fn interleaved_pieces_of_several_ranks_form_their_messages(
            messages in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..40), 1..5),
            piece_bytes in 1_usize..9,
        ) {
            let mut queues: Vec<_> = messages
                .iter()
                .map(|message| pieces(message.len(), piece_bytes))
                .collect();
            let mut assembly = Assembly::default();
            let mut came = vec![None; messages.len()];
            let mut is_busy = true;
            while is_busy {
                is_busy = false;
                for (from, queue) in queues.iter_mut().enumerate() {
                    let Some((range, tag)) = queue.next() else { continue };
                    is_busy = true;
                    prop_assert!(range.len() <= piece_bytes);
                    let piece = messages[from][range].to_vec();
                    if let Some(message) = assembly.add(from, tag, piece) {
                        prop_assert!(came[from].replace(message).is_none());
                    }
                }
            }
            let came: Vec<Vec<u8>> = came.into_iter().flatten().collect();
            prop_assert_eq!(came, messages);
            prop_assert!(assembly.partial.is_empty());
        }
    }
}
