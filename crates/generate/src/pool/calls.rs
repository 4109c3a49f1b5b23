//! The system calls that the original makes for the content of one file: the calls of the C
//! library's streams, or one per block.
//!
//! Content is not copied in between: a stream gathers consecutive parts of one text, so only the
//! lengths of the calls are needed.
//!
//! Source: traces of glibc's `fread` and `fwrite` with many block sizes.

/// Largest buffer that a stream allocates by default (`BUFSIZ`), in bytes.
const BUFFER_BYTES_MAX: u32 = 8192;

/// Default buffer size of a stream for a file with this `st_blksize`, in bytes.
#[must_use]
pub fn stdio_buffer_bytes(block_bytes: impl Into<i64>) -> u32 {
    let block_bytes = u32::try_from(block_bytes.into()).unwrap_or(0);
    if block_bytes > 0 && block_bytes < BUFFER_BYTES_MAX {
        block_bytes
    } else {
        BUFFER_BYTES_MAX
    }
}

/// Block and buffer sizes with which the content of one file is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPattern {
    /// Bytes per call of the program, at least 1.
    pub block_bytes: u32,
    /// Size of the stream buffer between program and file in bytes, at least 1. `None` if each
    /// block is a system call; a last call then moves the rest, even if it is empty.
    pub buffer_bytes: Option<u32>,
}

impl CallPattern {
    /// `true` if every call of a stream has the length of the buffer, except the last write.
    const fn fits_buffer(self, buffer_bytes: u32) -> bool {
        self.block_bytes <= buffer_bytes
    }

    /// Length of the longest call for files of at most `size_bytes`.
    #[must_use]
    pub fn longest_call_bytes(self, size_bytes: u32) -> u32 {
        let block_bytes = self.block_bytes.min(size_bytes);
        self.buffer_bytes
            .map_or(block_bytes, |buffer_bytes| block_bytes.max(buffer_bytes))
    }
}

/// The writes of one file, in order.
///
/// A stream writes a full buffer when more data comes, and at the end. Data that does not fit is
/// written in whole buffers, bypassing the buffer. After a short write it continues with the rest;
/// after an error it skips the refused data.
#[derive(Debug, Clone, Copy)]
pub struct WriteCalls {
    pattern: CallPattern,
    /// Bytes that the program has not passed to the stream yet.
    rest_bytes: u32,
    /// Bytes in the buffer.
    held_bytes: u32,
    /// Free bytes in the buffer. The buffer is allocated at the first write, so it is 0 before.
    free_bytes: u32,
    /// Bytes passed to the stream that must wait until the buffer is written.
    owed_bytes: u32,
    /// Start of the call in the content.
    offset_bytes: u32,
    call_bytes: u32,
    written_bytes: u32,
    end: CallsEnd,
}

/// A call to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolCall {
    /// Offset of the call in the data to write or read, in bytes.
    pub offset_bytes: u32,
    /// Length of the call in bytes; 0 only without a stream.
    pub length_bytes: u32,
}

impl WriteCalls {
    /// The calls that write `size_bytes`.
    #[inline]
    #[must_use]
    pub fn new(size_bytes: u32, pattern: CallPattern) -> Self {
        let mut calls = Self {
            pattern,
            rest_bytes: size_bytes,
            held_bytes: 0,
            free_bytes: 0,
            owed_bytes: 0,
            offset_bytes: 0,
            call_bytes: 0,
            written_bytes: 0,
            end: CallsEnd::NotReached,
        };
        calls.advance();
        calls
    }

    /// The next call; `None` after the last one.
    #[inline]
    #[must_use]
    pub fn call(&self) -> Option<PoolCall> {
        (self.end != CallsEnd::Reached).then_some(PoolCall {
            offset_bytes: self.offset_bytes,
            length_bytes: self.call_bytes,
        })
    }

    /// Number of bytes written.
    #[inline]
    #[must_use]
    pub const fn written_bytes(&self) -> u32 {
        self.written_bytes
    }

    /// Records the result of a call; an error is negative. Returns `true` if the call succeeded or
    /// is continued.
    #[inline]
    pub fn settle(&mut self, result: i64) -> bool {
        let moved_bytes = u32::try_from(result).unwrap_or(0).min(self.call_bytes);
        self.written_bytes += moved_bytes;
        let is_short = moved_bytes < self.call_bytes;
        // glibc continues a short write with its rest. Without a stream, PostMark ignores the
        // result.
        if is_short && moved_bytes > 0 && self.pattern.buffer_bytes.is_some() {
            self.offset_bytes += moved_bytes;
            self.call_bytes -= moved_bytes;
            return true;
        }
        self.offset_bytes += self.call_bytes;
        self.advance();
        !is_short && result >= 0
    }

    #[inline]
    fn advance(&mut self) {
        let Some(buffer_bytes) = self.pattern.buffer_bytes else {
            self.end = self.end.after_block(self.rest_bytes, self.pattern);
            self.call_bytes = self.rest_bytes.min(self.pattern.block_bytes);
            self.rest_bytes -= self.call_bytes;
            return;
        };
        self.call_bytes = if self.pattern.fits_buffer(buffer_bytes) {
            let length_bytes = self.rest_bytes.min(buffer_bytes);
            self.rest_bytes -= length_bytes;
            length_bytes
        } else {
            self.past_buffer(buffer_bytes)
        };
        if self.call_bytes == 0 {
            self.end = CallsEnd::Reached;
        }
    }

    /// The next call if blocks are larger than the buffer; 0 after the last one.
    fn past_buffer(&mut self, buffer_bytes: u32) -> u32 {
        let mut length_bytes = std::mem::take(&mut self.owed_bytes);
        loop {
            let whole_bytes = length_bytes - length_bytes % buffer_bytes;
            if length_bytes > 0 {
                self.held_bytes = length_bytes - whole_bytes;
                self.free_bytes = buffer_bytes - self.held_bytes;
            }
            if whole_bytes > 0 {
                return whole_bytes;
            }
            length_bytes = self.rest_bytes.min(self.pattern.block_bytes);
            // At the end, `fclose` writes what is left in the buffer.
            if length_bytes == 0 {
                return std::mem::take(&mut self.held_bytes);
            }
            self.rest_bytes -= length_bytes;
            let filled_bytes = length_bytes.min(self.free_bytes);
            self.held_bytes += filled_bytes;
            self.free_bytes -= filled_bytes;
            length_bytes -= filled_bytes;
            // The full buffer is written before the rest of the block.
            if length_bytes > 0 && self.held_bytes > 0 {
                self.owed_bytes = length_bytes;
                return std::mem::take(&mut self.held_bytes);
            }
        }
    }
}

/// The reads of one file, in order.
///
/// A stream fills its buffer whenever it is empty, and reads whole buffers directly. It ends when a
/// read returns nothing or fails. Without a stream, every block is requested.
#[derive(Debug, Clone, Copy)]
pub struct ReadCalls {
    pattern: CallPattern,
    size_bytes: u32,
    /// Bytes that the program has not requested yet.
    rest_bytes: u32,
    /// Missing bytes of the current block.
    missing_bytes: u32,
    /// Bytes in the buffer.
    held_bytes: u32,
    received_bytes: u32,
    call_bytes: u32,
    is_direct: bool,
    end: CallsEnd,
}

/// State of the end of the calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallsEnd {
    NotReached,
    /// The current call is the last; only used without a stream.
    LastCall,
    Reached,
}

impl ReadCalls {
    /// The calls that read a file of `size_bytes`.
    #[inline]
    #[must_use]
    pub fn new(size_bytes: u32, pattern: CallPattern) -> Self {
        let mut calls = Self {
            pattern,
            size_bytes,
            rest_bytes: size_bytes,
            missing_bytes: 0,
            held_bytes: 0,
            received_bytes: 0,
            call_bytes: 0,
            is_direct: false,
            end: CallsEnd::NotReached,
        };
        calls.advance();
        calls
    }

    /// The next call; `None` after the last one.
    #[inline]
    #[must_use]
    pub fn call(&self) -> Option<PoolCall> {
        (self.end != CallsEnd::Reached).then_some(PoolCall {
            offset_bytes: self.received_bytes,
            length_bytes: self.call_bytes,
        })
    }

    /// `true` if a single call moves all bytes of a file with the expected size.
    #[inline]
    #[must_use]
    pub fn is_one(&self) -> bool {
        let mut after = *self;
        after.settle(self.expected_bytes().into());
        self.expected_bytes() > 0 && after.call().is_none()
    }

    /// Number of bytes that the call returns for a file with the expected size.
    #[inline]
    #[must_use]
    pub fn expected_bytes(&self) -> u32 {
        self.call_bytes
            .min(self.size_bytes.saturating_sub(self.received_bytes))
    }

    /// `true` if all calls together returned less than the file's size.
    #[inline]
    #[must_use]
    pub const fn is_short_read(&self) -> bool {
        self.received_bytes < self.size_bytes
    }

    /// Records the result of a call; an error is negative.
    #[inline]
    pub fn settle(&mut self, result: i64) {
        let came_bytes = u32::try_from(result).unwrap_or(0).min(self.call_bytes);
        self.received_bytes = self.received_bytes.saturating_add(came_bytes);
        if self.pattern.buffer_bytes.is_some() {
            if came_bytes == 0 {
                self.end = CallsEnd::Reached;
                return;
            }
            if self.is_direct {
                self.missing_bytes -= came_bytes.min(self.missing_bytes);
            } else {
                self.held_bytes = came_bytes;
            }
        }
        self.advance();
    }

    #[inline]
    fn advance(&mut self) {
        match self.pattern.buffer_bytes {
            None => {
                self.end = self.end.after_block(self.rest_bytes, self.pattern);
                self.call_bytes = self.rest_bytes.min(self.pattern.block_bytes);
                self.rest_bytes -= self.call_bytes;
            }
            Some(buffer_bytes) if self.pattern.fits_buffer(buffer_bytes) => {
                // A stream requests a whole buffer, even if fewer bytes are left in the file.
                self.call_bytes = buffer_bytes;
                // PostMark reads the size that it knows, so no call returns 0 bytes at the end.
                if !self.is_short_read() {
                    self.end = CallsEnd::Reached;
                }
            }
            Some(buffer_bytes) => self.past_buffer(buffer_bytes),
        }
    }

    /// The next call if blocks are larger than the buffer.
    fn past_buffer(&mut self, buffer_bytes: u32) {
        while self.missing_bytes <= self.held_bytes {
            self.held_bytes -= self.missing_bytes;
            self.missing_bytes = self.rest_bytes.min(self.pattern.block_bytes);
            self.rest_bytes -= self.missing_bytes;
            if self.missing_bytes == 0 {
                self.end = CallsEnd::Reached;
                return;
            }
        }
        self.missing_bytes -= std::mem::take(&mut self.held_bytes);
        // `fread` reads whole buffers directly into the program's memory.
        self.is_direct = self.missing_bytes >= buffer_bytes;
        self.call_bytes = if self.is_direct {
            self.missing_bytes - self.missing_bytes % buffer_bytes
        } else {
            buffer_bytes
        };
    }
}

impl CallsEnd {
    /// The next state without a stream: after whole blocks, a last call moves the rest, even if it
    /// is empty.
    #[inline]
    const fn after_block(self, rest_bytes: u32, pattern: CallPattern) -> Self {
        match self {
            Self::NotReached if rest_bytes >= pattern.block_bytes => Self::NotReached,
            Self::NotReached => Self::LastCall,
            Self::LastCall | Self::Reached => Self::Reached,
        }
    }
}

#[cfg(test)]
mod tests;
