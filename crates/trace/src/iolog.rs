//! fio's request logs of versions 2 and 3, and IOzone's telemetry files.

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::{LineFields, first_word};
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_MS, NS_PER_US};

/// fio writes microseconds; logs of other programs often have nanoseconds in their place.
const PLAUSIBLE_SPAN_NS: i64 = 30 * 86_400 * 1_000_000_000;

/// Parses the lines of a log.
#[derive(Debug, Default)]
pub(crate) struct IologParser {
    has_times: bool,
    /// Time of the next request of version 2.
    due_ns: i64,
    /// Times of the first and the last request.
    span_ns: Option<(i64, i64)>,
}

impl RowParser for IologParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        if let Some(version) = line.strip_prefix(b"fio version ") {
            // Jobs that append to one log repeat this line.
            self.has_times = version.starts_with(b"3");
            return Ok(());
        }
        let mut rest = line;
        if self.has_times {
            let (time, after) = first_word(rest);
            let ns = number::nanoseconds(time, NS_PER_US);
            let ns = ns.ok_or_else(|| RowFault::new(time, "a time in microseconds"))?;
            self.due_ns = number::stored_time(ns, time)?;
            rest = after;
        }
        let (file, rest) = first_word(rest);
        let (action, rest) = first_word(rest);
        let (first, second) = first_word(rest);
        let kind = match action {
            b"read" => TracedKind::Read,
            b"write" => TracedKind::Write,
            b"trim" => TracedKind::Discard,
            b"sync" | b"datasync" => TracedKind::Flush,
            b"add" | b"open" | b"close" => return Ok(()),
            b"wait" => return self.wait(first),
            other => return Err(RowFault::new(other, "an action of a log, such as `read`")),
        };
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        if kind != TracedKind::Flush {
            place(&mut request, first, second)?;
        }
        request.time_ns = self.due_ns;
        request.device = context.names.id(file);
        batch.requests.push(request);
        let start = self.span_ns.map_or(self.due_ns, |(start, _)| start);
        self.span_ns = Some((start, self.due_ns));
        Ok(())
    }

    fn finish(&mut self, context: &mut DecodeContext, _batch: &mut TraceBatch) {
        let span_ns = self
            .span_ns
            .map_or(0, |(start, end)| end.saturating_sub(start));
        if span_ns > PLAUSIBLE_SPAN_NS {
            let days = span_ns / (86_400 * 1_000_000_000);
            context.notice(format!(
                "the log spans {days} days: its times are probably nanoseconds, but fio reads \
                 microseconds"
            ));
        }
    }
}

impl IologParser {
    /// Waits are milliseconds since the start of the job, not since the last wait.
    ///
    /// Source: fio's behavior, measured; its manual says microseconds.
    fn wait(&mut self, text: &[u8]) -> Result<(), RowFault> {
        let ns = number::nanoseconds(text, NS_PER_MS);
        let ns = ns.ok_or_else(|| RowFault::new(text, "a wait in milliseconds"))?;
        self.due_ns = self.due_ns.max(number::stored_time(ns, text)?);
        Ok(())
    }
}

fn place(request: &mut TraceRequest, first: &[u8], second: &[u8]) -> Result<(), RowFault> {
    let numbers = number::whole(first).zip(number::whole(second));
    let (offset, length) = numbers.ok_or_else(|| {
        let seen = if number::whole(first).is_none() {
            first
        } else {
            second
        };
        RowFault::new(seen, "a number of bytes")
    })?;
    let is_discard = request.kind == TracedKind::Discard;
    request.offset_bytes = number::offset(offset, 1, first)?;
    request.length_bytes = number::length(length, 1, is_discard, second)?;
    Ok(())
}

/// Parses IOzone's telemetry: offset, length, and the delay before the request in milliseconds.
#[derive(Debug, Default)]
pub(crate) struct TelemetryParser {
    due_ns: i64,
}

impl RowParser for TelemetryParser {
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
        let fields = LineFields::blank(line);
        if fields.all().len() != 3 {
            return Err(RowFault::new(line, "`OFFSET LENGTH DELAY`"));
        }
        let mut request = TraceRequest::new(TracedKind::Read, TraceLayer::Request, number);
        place(&mut request, fields.get(0), fields.get(1))?;
        let delay = fields.get(2);
        let ns = number::nanoseconds(delay, NS_PER_MS).filter(|ns| *ns >= 0);
        let ns = ns.ok_or_else(|| RowFault::new(delay, "a delay in milliseconds"))?;
        self.due_ns = number::stored_time(i128::from(self.due_ns) + ns, delay)?;
        request.time_ns = self.due_ns;
        request.device = context.names.id(b"file");
        let notice = "the file does not contain directions: all requests are taken as reads";
        context.notice(notice.to_owned());
        batch.requests.push(request);
        Ok(())
    }
}
