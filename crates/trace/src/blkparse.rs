//! Text of blkparse in its default form.

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::first_word;
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_S, SECTOR_BYTES};
use crate::rwbs;

/// Parses the lines of blkparse.
#[derive(Debug, Default)]
pub(crate) struct BlkparseParser {
    /// `true` after the last event, in the tables of totals.
    is_in_totals: bool,
}

/// The columns that all lines begin with.
struct EventHead<'a> {
    device: &'a [u8],
    time_ns: i64,
    pid: u32,
    action: &'a [u8],
    /// Letters, and everything after them.
    rest: &'a [u8],
}

impl RowParser for BlkparseParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        if line.starts_with(b"#") {
            return Ok(());
        }
        let head = match head(line) {
            Ok(head) => head,
            Err(_) if self.is_in_totals || is_totals(line) => {
                self.is_in_totals = true;
                context.rows -= 1;
                return Ok(());
            }
            Err(fault) => return Err(fault),
        };
        self.is_in_totals = false;
        let layer = match head.action {
            b"Q" => TraceLayer::Queue,
            b"D" => TraceLayer::Issue,
            b"C" => TraceLayer::Complete,
            b"R" => TraceLayer::Requeue,
            b"A" | b"B" | b"F" | b"G" | b"I" | b"M" | b"P" | b"S" | b"T" | b"U" | b"UT" | b"X"
            | b"m" => return Ok(()),
            other => return Err(RowFault::new(other, "an action of blkparse, such as `Q`")),
        };
        let mut request = details(head.rest, layer, number, context)?;
        request.time_ns = head.time_ns;
        request.device = context.names.id(head.device);
        request.pid = head.pid;
        batch.requests.push(request);
        Ok(())
    }
}

/// `true` if a line has the form of an event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    head(line).is_ok_and(|head| !head.action.is_empty() && head.action.len() <= 2)
}

fn is_totals(line: &[u8]) -> bool {
    line.starts_with(b"CPU") || line.starts_with(b"Total (") || line.starts_with(b"Throughput")
}

fn head(line: &[u8]) -> Result<EventHead<'_>, RowFault> {
    let (device, rest) = first_word(line);
    let comma = memchr::memchr(b',', device);
    let numbers = comma.map(|at| (&device[..at], &device[at + 1..]));
    let is_device =
        numbers.is_some_and(|(a, b)| number::whole(a).is_some() && number::whole(b).is_some());
    if !is_device {
        return Err(RowFault::new(device, "a device, such as `8,0`"));
    }
    let (cpu, rest) = first_word(rest);
    let (sequence, rest) = first_word(rest);
    for word in [cpu, sequence] {
        if number::whole(word).is_none() {
            return Err(RowFault::new(word, "a number of a CPU or an event"));
        }
    }
    let (time, rest) = first_word(rest);
    let ns = number::nanoseconds(time, NS_PER_S).ok_or(RowFault::new(time, "a time in seconds"));
    let (pid, rest) = first_word(rest);
    let pid_number = number::whole(pid).and_then(|pid| u32::try_from(pid).ok());
    let (action, rest) = first_word(rest);
    Ok(EventHead {
        device,
        time_ns: number::stored_time(ns?, time)?,
        pid: pid_number.ok_or_else(|| RowFault::new(pid, "a process"))?,
        action,
        rest,
    })
}

/// Letters, place, length and process: `WS 2048 + 64 [name]`.
fn details(
    text: &[u8],
    layer: TraceLayer,
    number: u64,
    context: &mut DecodeContext,
) -> Result<TraceRequest, RowFault> {
    let (letters, rest) = first_word(text);
    if !rwbs::is_letters(letters) {
        return Err(RowFault::new(
            letters,
            "the letters of a request, such as `WS`",
        ));
    }
    let mut request = TraceRequest::new(TracedKind::Other, layer, number);
    let (sector, after) = first_word(rest);
    let (sign, after_sign) = first_word(after);
    // A process follows immediately after the letters of a flush.
    let mut is_command = false;
    if !sector.starts_with(b"[") && !sector.is_empty() {
        let start = number::whole(sector);
        let start = start.ok_or_else(|| RowFault::new(sector, "a sector"))?;
        is_command = sign.starts_with(b"(");
        let (sectors, _) = first_word(after_sign);
        if sign == b"+" {
            let count = number::whole(sectors);
            let count = count.ok_or_else(|| RowFault::new(sectors, "a number of sectors"))?;
            let is_discard = letters.contains(&b'D');
            request.length_bytes = number::length(count, SECTOR_BYTES, is_discard, sectors)?;
        }
        let is_flush = rwbs::kind(letters, request.length_bytes, layer).0 == TracedKind::Flush;
        // A flush completes at the sector 2^64 - 1.
        if !is_command && !is_flush {
            request.offset_bytes = number::offset(start, SECTOR_BYTES, sector)?;
        }
    }
    if !is_command {
        (request.kind, request.is_forced) = rwbs::kind(letters, request.length_bytes, layer);
    }
    // A completion ends with an error number in place of the name.
    if layer != TraceLayer::Complete {
        request.process = context.names.id(bracketed(rest));
    }
    Ok(request)
}

/// The text in the brackets at the end of a line. Names may contain brackets and blanks.
pub(crate) fn bracketed(text: &[u8]) -> &[u8] {
    let start = memchr::memmem::find(text, b" [").map(|at| at + 2);
    let start = start.or_else(|| text.starts_with(b"[").then_some(1));
    let inner = start.map_or(&b""[..], |start| &text[start..]);
    let end = memchr::memrchr(b']', inner).unwrap_or(0);
    match inner.get(end) {
        Some(b']') => &inner[..end],
        _ => b"",
    }
}
