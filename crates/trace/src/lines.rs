//! Lines of a stream, and the rows of text traces.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use crate::error::{RowFault, TraceError};
use crate::event::TraceBatch;
use crate::notice::DecodeContext;

/// Maximum length of a line; strace prints the longest ones.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;
/// Number of events after which a batch is handed over.
pub(crate) const BATCH_EVENTS: usize = 1024;

/// Decodes the events of one file.
pub(crate) trait TraceDecoder {
    /// Adds events to `batch`; `false` at the end of the file.
    ///
    /// # Errors
    /// The input fails, or most of it is invalid.
    fn fill(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError>;
}

/// Parses the lines of one format.
pub(crate) trait RowParser {
    /// Parses a line without its end and adds its events.
    ///
    /// # Errors
    /// The line is invalid; the trace continues after it.
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault>;

    /// Called after the last line.
    fn finish(&mut self, _context: &mut DecodeContext, _batch: &mut TraceBatch) {}
}

/// Reads the lines of a stream.
pub(crate) struct LineReader<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    is_ended: bool,
    /// The compressed stream ended early.
    is_cut: bool,
    number: u64,
}

/// A line of a stream.
pub(crate) struct StreamLine<'a> {
    /// Without the end of the line.
    pub(crate) bytes: &'a [u8],
    /// From 1.
    pub(crate) number: u64,
    /// `false` if the stream ended before the end of the line.
    pub(crate) is_whole: bool,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(input: R, buffer_bytes: usize) -> Self {
        Self {
            input,
            buffer: vec![0; buffer_bytes],
            start: 0,
            end: 0,
            is_ended: false,
            is_cut: false,
            number: 0,
        }
    }

    /// The next line, or `None` at the end.
    ///
    /// # Errors
    /// The input fails, or the line is too long.
    pub(crate) fn next_line(&mut self) -> Result<Option<StreamLine<'_>>, TraceError> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..self.end]) {
                let stop = searched + found;
                return Ok(Some(self.take(stop, stop + 1, true)));
            }
            if self.is_ended {
                let stop = self.end;
                return Ok((self.start < stop).then(|| self.take(stop, stop, false)));
            }
            searched = self.more(self.end - self.start)?;
        }
    }

    /// Moves the unread bytes to the start of the buffer and reads more; returns the place of the
    /// new bytes.
    fn more(&mut self, kept: usize) -> Result<usize, TraceError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, kept);
        if kept >= LINE_BYTES_MAX {
            let line = self.number + 1;
            return Err(TraceError::LongLine { line });
        }
        if kept == self.buffer.len() {
            self.buffer.resize(kept * 2, 0);
        }
        match self.input.read(&mut self.buffer[kept..]) {
            Ok(0) => self.is_ended = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A compressed file that was cut: everything before the cut is valid.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                (self.is_ended, self.is_cut) = (true, true);
            }
            Err(error) => return Err(TraceError::Read(error)),
        }
        Ok(kept)
    }

    fn take(&mut self, stop: usize, next: usize, is_whole: bool) -> StreamLine<'_> {
        let mut bytes = &self.buffer[self.start..stop];
        self.number += 1;
        self.start = next;
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        StreamLine {
            bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes),
            number: self.number,
            is_whole,
        }
    }
}

/// Decodes a text trace with the parser of its format.
pub(crate) struct TextDecoder<R, P> {
    lines: LineReader<R>,
    parser: P,
}

impl<R: Read, P: RowParser> TextDecoder<R, P> {
    pub(crate) fn new(input: R, buffer_bytes: usize, parser: P) -> Self {
        Self {
            lines: LineReader::new(input, buffer_bytes),
            parser,
        }
    }
}

impl<R: Read, P: RowParser> TraceDecoder for TextDecoder<R, P> {
    fn fill(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        while batch.requests.len() < BATCH_EVENTS && batch.calls.len() < BATCH_EVENTS {
            let Some(line) = self.lines.next_line()? else {
                self.parser.finish(context, batch);
                if self.lines.is_cut {
                    context.notice("the compressed file is cut; its rest is missing".to_owned());
                }
                return Ok(false);
            };
            if line.bytes.is_empty() {
                continue;
            }
            context.rows += 1;
            let number = line.number;
            let is_whole = line.is_whole;
            let read = self.parser.row(line.bytes, number, context, batch);
            match read {
                Ok(()) if is_whole => {}
                Ok(()) => context.notice(format!(
                    "line {number}, the last, has no end of line; if it was cut, its last value \
                     is wrong"
                )),
                Err(_) if !is_whole => {
                    context.notice(format!("line {number}, the last, is cut and left out"));
                }
                Err(fault) => context.bad_row(&format!("line {number}"), &fault)?,
            }
        }
        Ok(true)
    }
}
