//! The letters with which Linux describes a request, such as `FWSM`.

use crate::event::{TraceLayer, TracedKind};

/// Kind of a request that Linux describes with letters, and whether it must reach the medium (FUA).
///
/// The letters are: `F` (flush before), one of `R`, `W`, `D`, `F`, `N`, `Z`, then `F` (FUA), `A`,
/// `S`, `M` and others.
#[must_use]
pub fn kind(letters: &[u8], length_bytes: u64, layer: TraceLayer) -> (TracedKind, bool) {
    let (is_flushed, rest) = match letters {
        [b'F', rest @ ..] if !rest.is_empty() => (true, rest),
        _ => (false, letters),
    };
    let is_forced = rest.get(1) == Some(&b'F');
    let kind = match rest.first() {
        Some(b'D') => TracedKind::Discard,
        Some(b'R') => TracedKind::Read,
        // A write that also flushes completes a second time, without a length. A queued request
        // without a length is the flush itself, unless it must write through (FUA).
        Some(b'W') if length_bytes > 0 || is_forced || layer == TraceLayer::Complete => {
            TracedKind::Write
        }
        Some(b'W' | b'F') => TracedKind::Flush,
        Some(b'N') if is_flushed => TracedKind::Flush,
        // Appends to zones.
        Some(b'Z') if rest.get(1) == Some(&b'A') => TracedKind::Write,
        _ => TracedKind::Other,
    };
    (kind, is_forced)
}

/// `true` if `word` consists of such letters.
pub(crate) fn is_letters(word: &[u8]) -> bool {
    let is_known = |byte: &u8| b"FRWDENZAIOCSMU".contains(byte);
    !word.is_empty() && word.len() <= 10 && word.iter().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TraceLayer::{Complete, Issue, Queue};

    #[test]
    fn letters_are_read_by_their_place() {
        assert_eq!(kind(b"RAM", 512, Issue), (TracedKind::Read, false));
        assert_eq!(kind(b"FWFSM", 512, Issue), (TracedKind::Write, true));
        assert_eq!(kind(b"FWS", 0, Queue), (TracedKind::Flush, false));
        assert_eq!(kind(b"FWFS", 0, Queue), (TracedKind::Write, true));
        assert_eq!(kind(b"FF", 0, Issue).0, TracedKind::Flush);
        assert_eq!(kind(b"FN", 0, Issue).0, TracedKind::Flush);
        assert_eq!(kind(b"WSM", 0, Complete).0, TracedKind::Write);
        assert_eq!(kind(b"DE", 512, Queue).0, TracedKind::Discard);
        assert_eq!(kind(b"N", 96, Issue).0, TracedKind::Other);
    }
}
