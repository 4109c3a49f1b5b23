//! Which system calls the original makes of one file's content: those of the C library's streams,
//! or one for each block.
//!
//! Content is not copied on its way: what a stream gathers are parts of one text in their order,
//! so that only the lengths of the calls have to be found.
//!
//! Source: calls of glibc's `fread` and `fwrite`, traced with many sizes of blocks.

/// The largest buffer that a stream gives itself (`BUFSIZ`), in bytes.
const BUFFER_BYTES_MAX: u32 = 8192;

/// The size of the buffer that a stream gives itself for a file whose `st_blksize` that is.
#[must_use]
pub fn stdio_buffer_bytes(block_bytes: impl Into<i64>) -> u32 {
    let block_bytes = u32::try_from(block_bytes.into()).unwrap_or(0);
    if block_bytes > 0 && block_bytes < BUFFER_BYTES_MAX {
        block_bytes
    } else {
        BUFFER_BYTES_MAX
    }
}

/// How the content of one file is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPattern {
    /// Bytes that the program moves at a time, at least 1.
    pub block_bytes: u32,
    /// Bytes of a stream's buffer between the program and the file, at least 1; none if each
    /// block is a call, and what is left at the end, even if that is nothing.
    pub buffer_bytes: Option<u32>,
}

impl CallPattern {
    /// Whether every call of a stream is of the buffer's length, the last write excepted.
    const fn fits_buffer(self, buffer_bytes: u32) -> bool {
        self.block_bytes <= buffer_bytes
    }

    /// Bytes of the longest call for files of at most `size_bytes`.
    #[must_use]
    pub fn longest_call_bytes(self, size_bytes: u32) -> u32 {
        let block_bytes = self.block_bytes.min(size_bytes);
        self.buffer_bytes
            .map_or(block_bytes, |buffer_bytes| block_bytes.max(buffer_bytes))
    }
}

/// The writes of one file, one after the other.
///
/// A stream writes a full buffer when more comes, and at the end; what does not fit in is written
/// past it in whole buffers. It goes on after a short write and leaves out what an error refused.
#[derive(Debug, Clone, Copy)]
pub struct WriteCalls {
    pattern: CallPattern,
    /// Bytes that the program has not handed over yet.
    rest_bytes: u32,
    /// Bytes in the buffer.
    held_bytes: u32,
    /// Bytes that fit into the buffer; it is made at the first write, which finds no room in it.
    room_bytes: u32,
    /// Bytes that were handed over and must wait for the buffer to be written.
    owed_bytes: u32,
    /// Where the call starts in the content.
    at_bytes: u32,
    call_bytes: u32,
    written_bytes: u32,
    end: End,
}

/// A call that is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Where it starts in what is written or read, in bytes.
    pub at_bytes: u32,
    /// How many bytes it asks for; 0 only without a stream.
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
            room_bytes: 0,
            owed_bytes: 0,
            at_bytes: 0,
            call_bytes: 0,
            written_bytes: 0,
            end: End::Ahead,
        };
        calls.advance();
        calls
    }

    /// The call to make next, none behind the last.
    #[inline]
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        (self.end != End::Behind).then_some(Call {
            at_bytes: self.at_bytes,
            length_bytes: self.call_bytes,
        })
    }

    /// Bytes that were written.
    #[inline]
    #[must_use]
    pub const fn written_bytes(&self) -> u32 {
        self.written_bytes
    }

    /// Takes note of a call's result, below 0 for an error; says whether all went well.
    #[inline]
    pub fn settle(&mut self, result: i64) -> bool {
        let moved_bytes = u32::try_from(result).unwrap_or(0).min(self.call_bytes);
        self.written_bytes += moved_bytes;
        let is_short = moved_bytes < self.call_bytes;
        if is_short && moved_bytes > 0 && self.pattern.buffer_bytes.is_some() {
            self.at_bytes += moved_bytes;
            self.call_bytes -= moved_bytes;
            return true;
        }
        self.at_bytes += self.call_bytes;
        self.advance();
        !is_short && result >= 0
    }

    #[inline]
    fn advance(&mut self) {
        let Some(buffer_bytes) = self.pattern.buffer_bytes else {
            self.end = self.end.behind_block(self.rest_bytes, self.pattern);
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
            self.end = End::Behind;
        }
    }

    /// The next call where blocks are larger than the buffer; 0 behind the last.
    fn past_buffer(&mut self, buffer_bytes: u32) -> u32 {
        let mut length_bytes = std::mem::take(&mut self.owed_bytes);
        loop {
            let whole_bytes = length_bytes - length_bytes % buffer_bytes;
            if length_bytes > 0 {
                self.held_bytes = length_bytes - whole_bytes;
                self.room_bytes = buffer_bytes - self.held_bytes;
            }
            if whole_bytes > 0 {
                return whole_bytes;
            }
            length_bytes = self.rest_bytes.min(self.pattern.block_bytes);
            if length_bytes == 0 {
                return std::mem::take(&mut self.held_bytes);
            }
            self.rest_bytes -= length_bytes;
            let filled_bytes = length_bytes.min(self.room_bytes);
            self.held_bytes += filled_bytes;
            self.room_bytes -= filled_bytes;
            length_bytes -= filled_bytes;
            if length_bytes > 0 && self.held_bytes > 0 {
                self.owed_bytes = length_bytes;
                return std::mem::take(&mut self.held_bytes);
            }
        }
    }
}

/// The reads of one file, one after the other.
///
/// A stream fills its buffer whenever it is empty, and reads whole buffers past it; it ends where
/// a read returns nothing or fails. Without a stream every block is asked for.
#[derive(Debug, Clone, Copy)]
pub struct ReadCalls {
    pattern: CallPattern,
    size_bytes: u32,
    /// Bytes that the program has not asked for yet.
    rest_bytes: u32,
    /// Bytes of the block at hand that have not come.
    wanted_bytes: u32,
    /// Bytes in the buffer.
    held_bytes: u32,
    came_bytes: u32,
    call_bytes: u32,
    is_direct: bool,
    end: End,
}

/// Where the calls end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Ahead,
    /// The call at hand is the last; known without a stream only.
    Now,
    Behind,
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
            wanted_bytes: 0,
            held_bytes: 0,
            came_bytes: 0,
            call_bytes: 0,
            is_direct: false,
            end: End::Ahead,
        };
        calls.advance();
        calls
    }

    /// The call to make next, none behind the last.
    #[inline]
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        (self.end != End::Behind).then_some(Call {
            at_bytes: self.came_bytes,
            length_bytes: self.call_bytes,
        })
    }

    /// Whether one call that moves bytes is all, if the file is as long as it should be.
    #[inline]
    #[must_use]
    pub fn is_one(&self) -> bool {
        let mut after = *self;
        after.settle(self.expected_bytes().into());
        self.expected_bytes() > 0 && after.call().is_none()
    }

    /// Bytes that the call returns if the file is as long as it should be.
    #[inline]
    #[must_use]
    pub fn expected_bytes(&self) -> u32 {
        self.call_bytes
            .min(self.size_bytes.saturating_sub(self.came_bytes))
    }

    /// Whether all calls together returned less than the file's size.
    #[inline]
    #[must_use]
    pub const fn came_short(&self) -> bool {
        self.came_bytes < self.size_bytes
    }

    /// Takes note of a call's result, below 0 for an error.
    #[inline]
    pub fn settle(&mut self, result: i64) {
        let came_bytes = u32::try_from(result).unwrap_or(0).min(self.call_bytes);
        self.came_bytes = self.came_bytes.saturating_add(came_bytes);
        if self.pattern.buffer_bytes.is_some() {
            if came_bytes == 0 {
                self.end = End::Behind;
                return;
            }
            if self.is_direct {
                self.wanted_bytes -= came_bytes.min(self.wanted_bytes);
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
                self.end = self.end.behind_block(self.rest_bytes, self.pattern);
                self.call_bytes = self.rest_bytes.min(self.pattern.block_bytes);
                self.rest_bytes -= self.call_bytes;
            }
            Some(buffer_bytes) if self.pattern.fits_buffer(buffer_bytes) => {
                self.call_bytes = buffer_bytes;
                if !self.came_short() {
                    self.end = End::Behind;
                }
            }
            Some(buffer_bytes) => self.past_buffer(buffer_bytes),
        }
    }

    /// The next call where blocks are larger than the buffer.
    fn past_buffer(&mut self, buffer_bytes: u32) {
        while self.wanted_bytes <= self.held_bytes {
            self.held_bytes -= self.wanted_bytes;
            self.wanted_bytes = self.rest_bytes.min(self.pattern.block_bytes);
            self.rest_bytes -= self.wanted_bytes;
            if self.wanted_bytes == 0 {
                self.end = End::Behind;
                return;
            }
        }
        self.wanted_bytes -= std::mem::take(&mut self.held_bytes);
        self.is_direct = self.wanted_bytes >= buffer_bytes;
        self.call_bytes = if self.is_direct {
            self.wanted_bytes - self.wanted_bytes % buffer_bytes
        } else {
            buffer_bytes
        };
    }
}

impl End {
    /// Where it is without a stream: whole blocks are followed by a call for what is left, even
    /// if that is nothing.
    #[inline]
    const fn behind_block(self, rest_bytes: u32, pattern: CallPattern) -> Self {
        match self {
            Self::Ahead if rest_bytes >= pattern.block_bytes => Self::Ahead,
            Self::Ahead => Self::Now,
            Self::Now | Self::Behind => Self::Behind,
        }
    }
}

#[cfg(test)]
mod tests;
