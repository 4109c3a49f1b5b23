//! Records of binary streams.

use std::io::{ErrorKind, Read};

use crate::error::TraceError;
use crate::notice::DecodeContext;

/// Buffers a stream so that records can be looked at before they are taken.
pub(crate) struct RecordReader<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_ended: bool,
    /// Number of records that were taken.
    taken: u64,
}

impl<R: Read> RecordReader<R> {
    pub(crate) fn new(input: R, buffer_bytes: usize) -> Self {
        // The largest record has a payload of 64 KiB.
        Self {
            input,
            buffer: vec![0; buffer_bytes.max(128 << 10)],
            start: 0,
            end: 0,
            is_ended: false,
            taken: 0,
        }
    }

    /// Number of the next record, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.taken + 1
    }

    /// The next `count` bytes, at most 128 KiB, or `None` if the stream has fewer.
    ///
    /// # Errors
    /// The input fails.
    pub(crate) fn peek(&mut self, count: usize) -> Result<Option<&[u8]>, TraceError> {
        if self.end - self.start < count && !self.is_ended {
            self.more(count)?;
        }
        Ok(self
            .buffer
            .get(self.start..self.start + count)
            .filter(|_| self.end - self.start >= count))
    }

    fn more(&mut self, wanted: usize) -> Result<(), TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        while self.end < wanted && !self.is_ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A compressed file that was cut: everything before the cut is valid.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => self.is_ended = true,
                Err(error) => return Err(TraceError::Read(error)),
            }
        }
        Ok(())
    }

    /// Takes a record that was looked at.
    pub(crate) fn take(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        self.taken += 1;
    }

    /// Ends the stream before its end.
    pub(crate) fn stop(&mut self) {
        (self.start, self.end, self.is_ended) = (0, 0, true);
    }

    /// Adds a notice if bytes remain that are no whole record.
    pub(crate) fn report_rest(&self, context: &mut DecodeContext) {
        let rest = self.end - self.start;
        if rest > 0 {
            context.notice(format!(
                "record {}, the last, is cut after {rest} bytes and left out",
                self.number()
            ));
        }
    }
}
