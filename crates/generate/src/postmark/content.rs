//! What files are written with: the original's text, from its start in each chain.

use engine::Request;

use crate::{Content, Mismatch};

/// The text that [`Stream::with_text`](super::Stream::with_text) draws; nothing is checked.
///
/// A request's offset says where in the text it starts, so a file is the original's to the byte
/// where [`PlayOptions`](super::PlayOptions) leave positions to the file.
#[derive(Debug, Clone)]
pub struct TextContent {
    text: Vec<u8>,
}

impl TextContent {
    /// The content of a text, which must not be empty.
    #[must_use]
    pub const fn new(text: Vec<u8>) -> Self {
        Self { text }
    }
}

impl Content for TextContent {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        let mut start = request.offset_bytes;
        let mut rest = buffer;
        while !rest.is_empty() && !self.text.is_empty() {
            // Twice the largest file, so that it begins anew in broken runs only.
            let text = &self.text[(start % self.text.len() as u64) as usize..];
            let length = text.len().min(rest.len());
            let (part, behind) = rest.split_at_mut(length);
            part.copy_from_slice(&text[..length]);
            start += length as u64;
            rest = behind;
        }
    }

    #[inline]
    fn check(&mut self, _: &[u8], _: &Request) -> Result<(), Mismatch> {
        Ok(())
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
    fn the_text_begins_anew_behind_its_end() {
        assert_eq!(filled(5, 10), b"fgabcdefga");
    }
}
