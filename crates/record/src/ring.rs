//! Pages of the kernel's ring buffers, as `trace_pipe_raw` returns them.
//!
//! Source: Linux, `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c`.

use std::ops::Range;

use crate::format::place_in;

/// Flags above the length of the data in a page's `commit`.
const HAS_LOST: u64 = 1 << 31;
const LENGTH_MASK: u64 = 0xf_ffff;

/// Types of records; smaller ones are the number of 4-byte words of an event.
const LONG_EVENT: u32 = 0;
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// An absolute time has only these bits.
const TIME_MASK: u64 = (1 << 59) - 1;

/// Places in the head of a page, which depend on the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLayout {
    time: Range<usize>,
    commit: Range<usize>,
    data: usize,
    /// Size of a page in bytes, with its head.
    pub page_bytes: usize,
}

impl PageLayout {
    /// Parses the text of `events/header_page`; `None` if it lacks a field.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let data = place_in(text, "data")?;
        Some(Self {
            time: place_in(text, "timestamp")?,
            commit: place_in(text, "commit")?,
            page_bytes: data.end,
            data: data.start,
        })
    }
}

/// A page of a ring buffer.
#[derive(Debug, Clone, Copy)]
pub struct RingPage<'a> {
    time_ns: u64,
    data: &'a [u8],
    /// `true` if the kernel overwrote events before this page.
    pub has_lost: bool,
}

/// An event of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingEvent<'a> {
    /// Time of the trace clock in nanoseconds.
    pub time_ns: u64,
    /// The event, from its number on. It may be followed by up to three bytes without meaning.
    pub bytes: &'a [u8],
}

impl<'a> RingPage<'a> {
    /// Parses the head of a page; `None` if the bytes are too few for it.
    #[must_use]
    pub fn parse(bytes: &'a [u8], layout: &PageLayout) -> Option<Self> {
        let commit = number(bytes.get(layout.commit.clone())?);
        let data = bytes.get(layout.data..)?;
        let length = usize::try_from(commit & LENGTH_MASK).ok()?;
        Some(Self {
            time_ns: number(bytes.get(layout.time.clone())?),
            // The number of lost events may follow the data; `stats` has it, too.
            data: &data[..length.min(data.len())],
            has_lost: commit & HAS_LOST != 0,
        })
    }

    /// The events of the page, in the order in which the CPU recorded them. A damaged page ends
    /// early.
    pub fn events(self) -> impl Iterator<Item = RingEvent<'a>> {
        let (mut time_ns, mut rest) = (self.time_ns, self.data);
        std::iter::from_fn(move || {
            loop {
                match RingRecord::take(&mut rest, &mut time_ns)? {
                    RingRecord::Event(bytes) => return Some(RingEvent { time_ns, bytes }),
                    RingRecord::Time => {}
                }
            }
        })
    }
}

/// A record of a page.
enum RingRecord<'a> {
    Event(&'a [u8]),
    /// A record that only changes the time.
    Time,
}

impl<'a> RingRecord<'a> {
    /// Takes the next record; `None` at the end of the page.
    fn take(rest: &mut &'a [u8], time_ns: &mut u64) -> Option<Self> {
        let head = word(rest)?;
        let (kind, delta) = (head & 0x1f, u64::from(head >> 5));
        match kind {
            TIME_EXTEND => {
                let high = u64::from(word(rest)?) << 27;
                *time_ns = time_ns.wrapping_add(high + delta);
                Some(Self::Time)
            }
            TIME_STAMP => {
                let absolute = (u64::from(word(rest)?) << 27) + delta;
                *time_ns = *time_ns & !TIME_MASK | absolute & TIME_MASK;
                Some(Self::Time)
            }
            // Nothing follows on the page.
            PADDING if delta == 0 => None,
            PADDING => {
                // A discarded event. The kernel changes its time from 0 to 1, to tell it from the
                // end of a page.
                if delta > 1 {
                    *time_ns = time_ns.wrapping_add(delta);
                }
                long(rest)?;
                Some(Self::Time)
            }
            _ => {
                let bytes = match kind {
                    LONG_EVENT => long(rest)?,
                    words => split(rest, usize::try_from(words * 4).ok()?)?,
                };
                *time_ns = time_ns.wrapping_add(delta);
                Some(Self::Event(bytes))
            }
        }
    }
}

/// Bytes whose length, which counts its own four bytes, precedes them.
fn long<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(word(rest)?).ok()?.checked_sub(4)?;
    split(rest, length)
}

fn split<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn word(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(u32::from_ne_bytes(*bytes))
}

/// A number of up to eight bytes in this machine's order; longer ones are cut.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    let count = bytes.len().min(8);
    match cfg!(target_endian = "big") {
        true => all[8 - count..].copy_from_slice(&bytes[..count]),
        false => all[..count].copy_from_slice(&bytes[..count]),
    }
    u64::from_ne_bytes(all)
}

#[cfg(test)]
mod tests;
