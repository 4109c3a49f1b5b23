//! Contents with headers and patterns, which reads of any run can verify.

use std::time::{SystemTime, UNIX_EPOCH};

use engine::Request;
use plan::job::{BlockCheck, BlockCheckKind, JobPlan};

use super::block_header::{
    BlockHeader, HEADER_BYTES, HeaderDamage, VERSIONED_BYTES, kind_number, size_of_header,
};
use super::block_sum::{BlockParts, SUM_BYTES_MAX, SumFunction, sum_function};
use super::header_numbers::HeaderNumbers;
use super::pattern::RepeatedPattern;
use super::plain::PlainContent;
use crate::{Content, GenerateError, Mismatch};

/// Content of a job that writes a pattern, or headers that reads of any run can verify.
///
/// A read is correct if the header of every interval is undamaged and was written for this offset
/// of a file, and the rest of the interval matches its checksum or the pattern. No write is known
/// to be the last one, so a lost write is not detected, unless it was the first.
#[derive(Debug, Clone)]
pub struct CheckedContent {
    payload: PlainContent,
    pattern: Option<RepeatedPattern>,
    check: Option<IntervalCheck>,
    /// `true` if only requests that read back writes are verified, because other reads may find
    /// what was never written.
    reads_back_only: bool,
    /// `true` if the buffers keep the pattern, because nothing else is written or read.
    keeps_buffers: bool,
    headers: WrittenHeaders,
}

/// How intervals are verified.
#[derive(Debug, Clone, Copy)]
struct IntervalCheck {
    rule: BlockCheck,
    interval_bytes: usize,
    sum: Option<SumFunction>,
}

/// Fields of headers that change with each write or are the same for all writes.
#[derive(Debug, Clone)]
struct WrittenHeaders {
    numbers: HeaderNumbers,
    time_s: u32,
    thread: u16,
    number: u16,
}

/// Place of an interval: its offset in the request and in the file.
#[derive(Debug, Clone, Copy)]
struct IntervalStart {
    in_request: usize,
    in_file: u64,
}

impl CheckedContent {
    /// `None` if the job has neither pattern nor headers.
    pub(super) fn new(
        payload: PlainContent,
        job: &JobPlan,
        job_seed: u64,
    ) -> Result<Option<Self>, GenerateError> {
        if job.pattern.is_none() && job.check.is_none() {
            return Ok(None);
        }
        let pattern = match &job.pattern {
            Some(pattern) => {
                Some(RepeatedPattern::new(pattern).ok_or(GenerateError::ContentPattern)?)
            }
            None => None,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Some(Self {
            payload,
            check: job.check.map(IntervalCheck::new).transpose()?,
            reads_back_only: job.stream.mix.writes(),
            keeps_buffers: job.check.is_none()
                && job.recorded.is_none()
                && !job.stream.mix.reads()
                && pattern.as_ref().is_some_and(RepeatedPattern::is_constant),
            pattern,
            headers: WrittenHeaders {
                numbers: HeaderNumbers::new(job_seed),
                time_s: now.map_or(0, |it| it.as_secs() as u32),
                thread: job_seed as u16,
                number: 0,
            },
        }))
    }

    /// Fills a slot's whole buffer before the first request.
    pub fn prepare_buffer(&mut self, buffer: &mut [u8]) {
        match &mut self.pattern {
            Some(pattern) => pattern.fill(buffer, 0),
            None => self.payload.prepare_buffer(buffer),
        }
    }
}

impl IntervalCheck {
    fn new(rule: BlockCheck) -> Result<Self, GenerateError> {
        match rule.problem() {
            Some(reason) => Err(GenerateError::BlockCheck { reason }),
            None => Ok(Self {
                rule,
                interval_bytes: rule.interval_bytes as usize,
                sum: sum_function(rule.kind),
            }),
        }
    }

    /// Size of header and checksum, for a header of this size.
    const fn reserved_bytes(&self, header_bytes: usize) -> usize {
        header_bytes + self.rule.kind.sum_bytes() as usize
    }

    /// Places header and checksum in an interval that is already filled.
    fn put(&self, interval: &mut [u8], header: &BlockHeader) {
        let reserved_bytes = self.reserved_bytes(HEADER_BYTES);
        let (head, data) = interval.split_at_mut(reserved_bytes);
        header.put(head);
        if let Some(sum) = self.sum {
            let bytes = sum([data, &[], &[]]);
            head[HEADER_BYTES..].copy_from_slice(&bytes[..reserved_bytes - HEADER_BYTES]);
        }
        let at = self.rule.header_offset_bytes as usize;
        if at > 0 {
            // The header and the bytes at this offset change places, as in fio.
            data[at - reserved_bytes..at].swap_with_slice(head);
        }
    }

    /// The data of an interval in the order in which it was written, without a header of this
    /// reserved size.
    fn data<'a>(&self, interval: &'a [u8], reserved_bytes: usize) -> BlockParts<'a> {
        match self.rule.header_offset_bytes as usize {
            0 => [&interval[reserved_bytes..], &[], &[]],
            at => [
                &interval[reserved_bytes..at],
                &interval[..reserved_bytes],
                &interval[at + reserved_bytes..],
            ],
        }
    }

    /// Checks header and checksum. Returns the reserved size, or the expected and the actual
    /// content in words.
    fn check(&self, interval: &[u8], start: IntervalStart) -> Result<usize, (String, String)> {
        let at = self.rule.header_offset_bytes as usize;
        let head = &interval[at..];
        let header = BlockHeader::get(head).map_err(|it| explain_damage(it, start))?;
        let is_right =
            header.offset_bytes == start.in_file && header.length_bytes == self.rule.interval_bytes;
        if !is_right {
            return Err(self.explain_header(&header, start));
        }
        let header_bytes = size_of_header(head);
        let reserved_bytes = self.reserved_bytes(header_bytes);
        // A header of another version may be longer than its own checks allow.
        let has_room = match at {
            0 => reserved_bytes < interval.len(),
            at => reserved_bytes <= at && at + reserved_bytes <= interval.len(),
        };
        if !has_room {
            return Err(self.explain_header(&header, start));
        }
        let Some(sum) = self.sum else {
            return Ok(reserved_bytes);
        };
        let data = self.data(interval, reserved_bytes);
        let stored = &head[header_bytes..reserved_bytes];
        let actual = sum(data);
        let is_right = stored == &actual[..stored.len()]
            || self.rule.kind == BlockCheckKind::Sha512
                && header_bytes != VERSIONED_BYTES
                && stored == unhashed(data);
        match is_right {
            true => Ok(reserved_bytes),
            false => Err((
                format!("data with the checksum `{}`", hex(stored)),
                format!("data with the checksum `{}`", hex(&actual[..stored.len()])),
            )),
        }
    }

    #[cold]
    fn explain_header(&self, header: &BlockHeader, start: IntervalStart) -> (String, String) {
        let of = |length_bytes: u32, offset_bytes: u64| {
            format!("a header for {length_bytes} bytes at offset `{offset_bytes}`")
        };
        (
            of(self.rule.interval_bytes, start.in_file),
            of(header.length_bytes, header.offset_bytes),
        )
    }
}

/// What fio before version 3.39 stored as SHA-512: the first 128 bytes of the data, with the bytes
/// after the last multiple of 128 copied over their beginning.
#[cold]
fn unhashed(data: BlockParts<'_>) -> [u8; SUM_BYTES_MAX] {
    let mut stored = [0; SUM_BYTES_MAX];
    let length_bytes: usize = data.iter().map(|part| part.len()).sum();
    let bytes = || data.iter().flat_map(|part| part.iter());
    let copy = |stored: &mut [u8; SUM_BYTES_MAX], skipped_bytes: usize| {
        for (place, byte) in stored.iter_mut().zip(bytes().skip(skipped_bytes)) {
            *place = *byte;
        }
    };
    copy(&mut stored, 0);
    copy(&mut stored, length_bytes - length_bytes % SUM_BYTES_MAX);
    stored
}

#[cold]
fn explain_damage(damage: HeaderDamage, start: IntervalStart) -> (String, String) {
    let wanted = format!("a header for offset `{}`", start.in_file);
    match damage {
        HeaderDamage::NoHeader(magic) => (wanted, format!("no header, but `{magic:04x}`")),
        HeaderDamage::Checksum { wanted, actual } => (
            format!("a header with the checksum `{wanted:08x}`"),
            format!("a header with the checksum `{actual:08x}`"),
        ),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl WrittenHeaders {
    /// The header of the next write, without place and kind.
    fn next(&mut self, has_pattern: bool) -> BlockHeader {
        let number = self.number;
        self.number = number.wrapping_add(1);
        BlockHeader {
            kind_number: 0,
            length_bytes: 0,
            // In fio, the number is the seed of the data, and a pattern needs none.
            seed: if has_pattern { 0 } else { self.numbers.next() },
            offset_bytes: 0,
            time_s: self.time_s,
            thread: self.thread,
            number,
        }
    }
}

impl Content for CheckedContent {
    fn fill(&mut self, buffer: &mut [u8], request: &Request) {
        if self.keeps_buffers {
            return;
        }
        match &mut self.pattern {
            Some(pattern) => pattern.fill(buffer, request.offset_bytes),
            None => self.payload.fill(buffer, request),
        }
        let Some(check) = &self.check else { return };
        if check.rule.kind == BlockCheckKind::Pattern {
            return;
        }
        let mut header = BlockHeader {
            kind_number: kind_number(check.rule.kind),
            length_bytes: check.rule.interval_bytes,
            offset_bytes: request.offset_bytes,
            ..self.headers.next(self.pattern.is_some())
        };
        for interval in buffer.chunks_exact_mut(check.interval_bytes) {
            check.put(interval, &header);
            header.offset_bytes += u64::from(check.rule.interval_bytes);
        }
    }

    #[inline]
    fn checks(&self) -> bool {
        self.check.is_some()
    }

    fn check(&mut self, buffer: &[u8], request: &Request) -> Result<(), Mismatch> {
        let Some(check) = self.check else {
            return Ok(());
        };
        if self.reads_back_only && !request.is_read_back() {
            return Ok(());
        }
        let mismatch = |offset_bytes: u64, (expected, actual): (String, String)| Mismatch {
            file_index: request.file_index,
            offset_bytes,
            expected,
            actual,
        };
        for (index, interval) in buffer.chunks_exact(check.interval_bytes).enumerate() {
            let in_request = index * check.interval_bytes;
            let start = IntervalStart {
                in_request,
                in_file: request.offset_bytes + in_request as u64,
            };
            let reserved_bytes = match check.rule.kind {
                BlockCheckKind::Pattern => 0,
                _ => check
                    .check(interval, start)
                    .map_err(|words| mismatch(start.in_file, words))?,
            };
            let pattern = self.pattern.as_mut();
            let compares = check.sum.is_none() && pattern.is_some();
            let Some(pattern) = pattern.filter(|_| compares) else {
                continue;
            };
            if let Some((at, words)) = different(
                pattern,
                (interval, reserved_bytes, check.rule.header_offset_bytes),
                start,
                request,
            ) {
                return Err(mismatch(start.in_file + at as u64, words));
            }
        }
        Ok(())
    }
}

/// Compares the data of an interval with the pattern. Returns the position of the first difference
/// in the interval, and the expected and the actual byte in words.
fn different(
    pattern: &mut RepeatedPattern,
    (interval, reserved_bytes, header_offset_bytes): (&[u8], usize, u32),
    start: IntervalStart,
    request: &Request,
) -> Option<(usize, (String, String))> {
    let place = (request.offset_bytes, request.length_bytes as usize);
    let at = header_offset_bytes as usize;
    let found = match at {
        _ if reserved_bytes == 0 => pattern.difference(interval, 0, start.in_request, place),
        0 => pattern.difference(interval, reserved_bytes, start.in_request, place),
        at => {
            // The bytes that the header replaced are at the start of the interval.
            let middle =
                pattern.difference(&interval[..at], reserved_bytes, start.in_request, place);
            let moved = || {
                let moved = &interval[..reserved_bytes];
                pattern.difference(moved, 0, start.in_request + at, place)
            };
            middle.or_else(moved).or_else(|| {
                let end = at + reserved_bytes;
                pattern.difference(interval, end, start.in_request, place)
            })
        }
    };
    let (position, wanted) = found?;
    let actual = interval.get(position).copied().unwrap_or_default();
    let words = (
        format!("the pattern's byte `{wanted:02x}`"),
        format!("the byte `{actual:02x}`"),
    );
    Some((position, words))
}

#[cfg(test)]
mod tests;
