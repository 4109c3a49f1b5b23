//! Text of block events from ftrace, `trace-cmd report` and `perf script`.

use memchr::memmem;

use crate::blkparse::bracketed;
use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::{first_word, last_word};
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_S, SECTOR_BYTES};
use crate::rwbs;

/// Parses the lines of ftrace and perf.
#[derive(Debug, Default)]
pub(crate) struct TracingParser {
    /// `true` after the first event of a request; such devices also have events of bios, which
    /// would count each completion twice.
    has_requests: bool,
}

/// A block event of a line.
struct BlockEvent<'a> {
    name: &'a [u8],
    /// The line before the name.
    head: &'a [u8],
    /// The line after the name and its colon.
    details: &'a [u8],
}

impl RowParser for TracingParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        let Some(event) = block_event(line) else {
            context.rows -= 1;
            if let Some(events) = lost(line) {
                context.lost(events);
            } else if !line.starts_with(b"#") && has_time(line) {
                context.skip("are events of other kinds than requests to block devices");
            }
            return Ok(());
        };
        let Some(layer) = self.layer(event.name) else {
            return Ok(());
        };
        let (before, time) = last_word(event.head);
        let time_text = time.strip_suffix(b":").unwrap_or(time);
        let ns = number::nanoseconds(time_text, NS_PER_S);
        let ns = ns.ok_or_else(|| RowFault::new(time, "a time in seconds"))?;
        let mut request = details(event.details, layer, number, context)?;
        request.time_ns = number::stored_time(ns, time)?;
        request.pid = pid(before);
        batch.requests.push(request);
        Ok(())
    }
}

impl TracingParser {
    fn layer(&mut self, name: &[u8]) -> Option<TraceLayer> {
        self.has_requests |= name.starts_with(b"block_rq_");
        match name {
            b"block_rq_issue" => Some(TraceLayer::Issue),
            b"block_rq_complete" => Some(TraceLayer::Complete),
            b"block_rq_requeue" => Some(TraceLayer::Requeue),
            b"block_bio_queue" => Some(TraceLayer::Queue),
            b"block_bio_complete" if !self.has_requests => Some(TraceLayer::Complete),
            _ => None,
        }
    }
}

/// `true` if a line is a block event.
pub(crate) fn is_event(line: &[u8]) -> bool {
    block_event(line).is_some()
}

/// The name of a process may look like an event, so the colon before the name decides.
fn block_event(line: &[u8]) -> Option<BlockEvent<'_>> {
    memmem::find_iter(line, b"block_").find_map(|at| {
        let head = line[..at].strip_suffix(b"block:").unwrap_or(&line[..at]);
        let head = head.trim_ascii_end();
        let end = at + memchr::memchr(b':', &line[at..])?;
        let name = &line[at..end];
        let is_name = name
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || *byte == b'_');
        (head.ends_with(b":") && is_name).then(|| BlockEvent {
            name,
            head,
            details: &line[end + 1..],
        })
    })
}

/// Events that the kernel dropped: `CPU:1 [LOST 12 EVENTS]`.
fn lost(line: &[u8]) -> Option<u64> {
    let at = memmem::find(line, b"[LOST ")?;
    number::whole(first_word(&line[at + 6..]).0)
}

/// `true` if a line looks like an event of any kind.
fn has_time(line: &[u8]) -> bool {
    let is_time = |word: &[u8]| {
        let time = word.strip_suffix(b":");
        time.is_some_and(|time| time.contains(&b'.') && number::nanoseconds(time, 1).is_some())
    };
    line.split(|byte| *byte == b' ').any(is_time)
}

/// The process in the columns before the time: `name-12 [001] d..1.`, `name 12/13 [001]`.
fn pid(head: &[u8]) -> u32 {
    let is_cpu = |at: &usize| head[*at + 1..].first().is_some_and(u8::is_ascii_digit);
    let cpu = memchr::memrchr_iter(b'[', head).find(is_cpu);
    let mut names = head[..cpu.unwrap_or(head.len())].trim_ascii_end();
    if names.ends_with(b")") {
        // The thread group of ftrace's option `record-tgid`.
        names = names[..memchr::memrchr(b'(', names).unwrap_or(0)].trim_ascii_end();
    }
    let word = last_word(names).1;
    let word = memchr::memrchr(b'-', word).map_or(word, |at| &word[at + 1..]);
    let word = memchr::memchr(b'/', word).map_or(word, |at| &word[..at]);
    number::whole(word)
        .and_then(|pid| u32::try_from(pid).ok())
        .unwrap_or(0)
}

/// Device, letters, bytes, command, place and process:
/// `8,0 WS 4096 () 2048 + 8 be,0,4 [name]`.
fn details(
    text: &[u8],
    layer: TraceLayer,
    number: u64,
    context: &mut DecodeContext,
) -> Result<TraceRequest, RowFault> {
    let (device, rest) = first_word(text);
    let (letters, rest) = first_word(rest);
    if !device.contains(&b',') || !rwbs::is_letters(letters) {
        return Err(RowFault::new(
            text.trim_ascii(),
            "a request, such as `8,0 R 4096 () 8 + 8`",
        ));
    }
    // The command of a request stands in parentheses and may contain blanks. Bios have none.
    let open = memchr::memchr(b'(', rest);
    let close = open.and_then(|open| memchr::memchr(b')', &rest[open..]).map(|at| open + at));
    let is_command = matches!((open, close), (Some(open), Some(close)) if close > open + 1);
    // A bio's process may have parentheses in its name.
    let name_at = memchr::memchr(b'[', rest).unwrap_or(rest.len());
    let place = close
        .filter(|close| *close < name_at)
        .map_or(rest, |close| &rest[close + 1..]);
    let (sector, after) = first_word(place);
    let (sign, after) = first_word(after);
    let (sectors, _) = first_word(after);
    let fault = || RowFault::new(text.trim_ascii(), "a request with `SECTOR + COUNT`");
    let (start, count) = number::whole(sector)
        .zip(number::whole(sectors))
        .ok_or_else(fault)?;
    if sign != b"+" {
        return Err(fault());
    }
    let mut request = TraceRequest::new(TracedKind::Other, layer, number);
    if !is_command {
        let is_discard = letters.contains(&b'D');
        request.length_bytes = number::length(count, SECTOR_BYTES, is_discard, sectors)?;
        (request.kind, request.is_forced) = rwbs::kind(letters, request.length_bytes, layer);
        // A flush completes at the sector 2^64 - 1.
        if request.kind != TracedKind::Flush {
            request.offset_bytes = number::offset(start, SECTOR_BYTES, sector)?;
        }
    }
    request.device = context.names.id(device);
    if layer != TraceLayer::Complete {
        request.process = context.names.id(bracketed(place));
    }
    Ok(request)
}
