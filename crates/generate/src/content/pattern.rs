//! Patterns that are written instead of other content.

use plan::job::{ContentPattern, PatternTemplate};

/// A pattern, and where it starts over.
#[derive(Debug, Clone)]
pub(super) struct RepeatedPattern {
    template: PatternTemplate,
    /// 0 for the whole request.
    interval_bytes: usize,
}

impl RepeatedPattern {
    /// `None` if the text is not a pattern.
    pub(super) fn new(pattern: &ContentPattern) -> Option<Self> {
        Some(Self {
            template: pattern.template()?,
            interval_bytes: pattern.interval_bytes as usize,
        })
    }

    /// `true` if all requests have the same bytes.
    pub(super) fn is_constant(&self) -> bool {
        self.template.offset_positions.is_empty()
    }

    /// Fills the buffer of a request at this offset in the file.
    pub(super) fn fill(&mut self, buffer: &mut [u8], offset_bytes: u64) {
        let interval_bytes = self.interval(buffer.len());
        let mut at_bytes = offset_bytes;
        for part in buffer.chunks_mut(interval_bytes) {
            self.put_offset(at_bytes);
            for repetition in part.chunks_mut(self.template.bytes.len()) {
                repetition.copy_from_slice(&self.template.bytes[..repetition.len()]);
            }
            at_bytes += interval_bytes as u64;
        }
    }

    /// Position of the first byte between `from` and the end of `part` that differs from the
    /// pattern, with the expected byte. `part` is a part of a request of `request_bytes` that
    /// starts `part_start` bytes after the start of the request, at `offset_bytes` in the file.
    pub(super) fn difference(
        &mut self,
        part: &[u8],
        from: usize,
        part_start: usize,
        (offset_bytes, request_bytes): (u64, usize),
    ) -> Option<(usize, u8)> {
        let interval_bytes = self.interval(request_bytes);
        let mut at = from;
        while at < part.len() {
            let in_request = part_start + at;
            let in_interval = in_request % interval_bytes;
            let end = part.len().min(at + interval_bytes - in_interval);
            self.put_offset(offset_bytes + (in_request - in_interval) as u64);
            let bytes = self.template.bytes.iter().cycle();
            let wanted = bytes.skip(in_interval % self.template.bytes.len());
            let mut pairs = part[at..end].iter().zip(wanted).enumerate();
            if let Some((index, (_, byte))) = pairs.find(|(_, (actual, wanted))| actual != wanted) {
                return Some((at + index, *byte));
            }
            at = end;
        }
        None
    }

    fn interval(&self, request_bytes: usize) -> usize {
        match self.interval_bytes {
            0 => request_bytes.max(1),
            interval_bytes => interval_bytes,
        }
    }

    fn put_offset(&mut self, offset_bytes: u64) {
        let PatternTemplate {
            bytes,
            offset_positions,
        } = &mut self.template;
        for at in offset_positions.iter() {
            bytes[*at..*at + 8].copy_from_slice(&offset_bytes.to_le_bytes());
        }
    }
}
