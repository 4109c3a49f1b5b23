//! Content of written files: the original's text, from its start in each chain.

use engine::Request;

use crate::Content;

/// Longest text that is kept in each slot's buffer, in bytes.
const KEPT_BYTES_MAX: u32 = 256 << 10;

/// The text that [`PoolStream::with_text`](super::PoolStream::with_text) draws, without checks.
///
/// A request's offset selects the start in the text. If [`PlayOptions`](super::PlayOptions) leave
/// positions to the file, files are identical to the original's.
#[derive(Debug, Clone)]
pub struct TextContent {
    text: Vec<u8>,
}

impl TextContent {
    /// Content from a text, which must not be empty.
    #[must_use]
    pub const fn new(text: Vec<u8>) -> Self {
        Self { text }
    }

    /// Length of the text if it is short enough to be kept in each slot's buffer, otherwise 0.
    #[must_use]
    pub fn kept_bytes(&self) -> u32 {
        let length = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        if length <= KEPT_BYTES_MAX { length } else { 0 }
    }

    /// Copies the text to the start of a buffer, for an engine that writes from there.
    pub fn prepare_buffer(&self, buffer: &mut [u8]) {
        buffer[..self.text.len()].copy_from_slice(&self.text);
    }

    /// Content that fills nothing, for buffers that have been prepared.
    #[must_use]
    pub const fn prepared() -> Self {
        Self { text: Vec::new() }
    }
}

impl Content for TextContent {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        let mut start = request.offset_bytes;
        let mut rest = buffer;
        while !rest.is_empty() && !self.text.is_empty() {
            // The text is twice as long as the largest file, so it restarts only in broken runs.
            let text = &self.text[(start % self.text.len() as u64) as usize..];
            let length = text.len().min(rest.len());
            let (part, behind) = rest.split_at_mut(length);
            part.copy_from_slice(&text[..length]);
            start += length as u64;
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Operation;

    use super::*;

    fn filled(offset_bytes: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        let request = Request {
            operation: Operation::Write,
            fileset: 0,
            handle: 0,
            slot: 0,
            file_index: 9,
            length_bytes: length as u32,
            offset_bytes,
        };
        TextContent::new(b"abcdefg".to_vec()).fill(&mut buffer, &request);
        buffer
    }

    #[test]
    fn a_chain_is_written_from_the_start_of_the_text() {
        assert_eq!(filled(0, 3), b"abc");
        assert_eq!(filled(3, 4), b"defg");
        assert_eq!(filled(7, 0), b"");
    }

    #[test]
    fn only_a_short_text_is_put_into_the_buffers_in_advance() {
        let content = TextContent::new(b"abcdefg".to_vec());
        let mut buffer = *b"0123456789";
        content.prepare_buffer(&mut buffer);
        assert_eq!((content.kept_bytes(), &buffer), (7, b"abcdefg789"));
        let request = Request {
            operation: Operation::Write,
            fileset: 0,
            handle: 0,
            slot: 0,
            file_index: 9,
            length_bytes: 10,
            offset_bytes: 0,
        };
        TextContent::prepared().fill(&mut buffer, &request);
        assert_eq!(&buffer, b"abcdefg789");
        assert_eq!(TextContent::new(vec![b'x'; 1 << 20]).kept_bytes(), 0);
    }

    #[test]
    fn the_text_starts_over_after_its_end() {
        assert_eq!(filled(5, 10), b"fgabcdefga");
    }
}
