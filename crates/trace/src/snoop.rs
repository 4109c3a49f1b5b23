//! Tables of bcc's biosnoop and of perf-tools' iosnoop, read by the heads of their columns.

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::{LineFields, first_word, last_word};
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_MS, NS_PER_S, SECTOR_BYTES};
use crate::rwbs;

/// Meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnoopColumn {
    Completion,
    Start,
    Process,
    Pid,
    Letters,
    Device,
    Sector,
    Bytes,
    Latency,
    Ignored,
}

/// Parses the rows below a head.
#[derive(Debug, Default)]
pub(crate) struct SnoopParser {
    columns: Vec<SnoopColumn>,
}

/// Raw fields of a row.
#[derive(Default)]
struct SnoopRow<'a> {
    completion: &'a [u8],
    start: &'a [u8],
    process: &'a [u8],
    pid: &'a [u8],
    letters: &'a [u8],
    device: &'a [u8],
    sector: &'a [u8],
    bytes: &'a [u8],
    latency: &'a [u8],
}

/// The columns of a head line, or `None` if it is none.
fn columns(line: &[u8]) -> Option<Vec<SnoopColumn>> {
    let fields = LineFields::blank(line);
    let column = |name: &&[u8]| match *name {
        b"TIME(s)" | b"ENDs" => SnoopColumn::Completion,
        b"STARTs" => SnoopColumn::Start,
        b"COMM" => SnoopColumn::Process,
        b"PID" => SnoopColumn::Pid,
        b"T" | b"TYPE" => SnoopColumn::Letters,
        b"DISK" | b"DEV" => SnoopColumn::Device,
        b"SECTOR" | b"BLOCK" => SnoopColumn::Sector,
        b"BYTES" => SnoopColumn::Bytes,
        b"LAT(ms)" | b"LATms" => SnoopColumn::Latency,
        _ => SnoopColumn::Ignored,
    };
    let columns: Vec<SnoopColumn> = fields.all().iter().map(column).collect();
    let has = |wanted| columns.contains(&wanted);
    let is_head = has(SnoopColumn::Process) && has(SnoopColumn::Sector) && has(SnoopColumn::Bytes);
    is_head.then_some(columns)
}

/// `true` if a line is the head of such a table.
pub(crate) fn is_head(line: &[u8]) -> bool {
    columns(line).is_some()
}

impl RowParser for SnoopParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        if let Some(columns) = columns(line) {
            self.use_columns(columns, context);
            return Ok(());
        }
        // Messages of the program surround the table.
        if self.columns.is_empty() || line.starts_with(b"Tracing") || line.starts_with(b"Ending") {
            return Ok(());
        }
        batch.requests.push(self.request(line, number, context)?);
        Ok(())
    }
}

impl SnoopParser {
    fn use_columns(&mut self, columns: Vec<SnoopColumn>, context: &mut DecodeContext) {
        let has = |wanted| columns.contains(&wanted);
        if !has(SnoopColumn::Completion) && !has(SnoopColumn::Start) {
            context.notice("the table has no times: only the order of requests is known".into());
        } else if !has(SnoopColumn::Start) && has(SnoopColumn::Latency) {
            let notice = "times are of completions; arrivals are computed as time - latency, \
                          which is exact to 5 µs";
            context.notice(notice.to_owned());
        } else if !has(SnoopColumn::Start) {
            context.notice("times are of completions, because latencies are missing".into());
        }
        self.columns = columns;
    }

    /// The name of a process may contain blanks, so the columns after it are counted from the end.
    fn fields<'a>(&self, line: &'a [u8]) -> SnoopRow<'a> {
        let mut row = SnoopRow::default();
        let name_at = self
            .columns
            .iter()
            .position(|it| *it == SnoopColumn::Process);
        let (before, after) = self.columns.split_at(name_at.unwrap_or(0));
        let mut rest = line;
        for column in before {
            let (word, next) = first_word(rest);
            row.set(*column, word);
            rest = next;
        }
        for column in after.iter().skip(1).rev() {
            let (next, word) = last_word(rest);
            row.set(*column, word);
            rest = next;
        }
        row.process = rest;
        row
    }

    fn request(
        &self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
    ) -> Result<TraceRequest, RowFault> {
        let row = self.fields(line);
        let number_of =
            |text: &[u8], wanted| number::whole(text).ok_or_else(|| RowFault::new(text, wanted));
        let mut request = TraceRequest::new(TracedKind::Other, TraceLayer::Request, number);
        let latency_ns = match row.latency {
            b"" => None,
            text => {
                let ns = number::nanoseconds(text, NS_PER_MS).filter(|ns| *ns >= 0);
                Some(ns.ok_or_else(|| RowFault::new(text, "a latency in milliseconds"))?)
            }
        };
        let (time, latency_before) = match row.start {
            b"" => (row.completion, latency_ns.unwrap_or(0)),
            start => (start, 0),
        };
        if !time.is_empty() {
            let ns = match time.contains(&b':') {
                true => number::time_of_day(time),
                false => number::nanoseconds(time, NS_PER_S),
            };
            let ns = ns.ok_or_else(|| RowFault::new(time, "a time in seconds"))?;
            request.time_ns = number::stored_time(ns - latency_before, time)?;
        }
        let bytes = number_of(row.bytes, "a number of bytes")?;
        let is_discard = row.letters.contains(&b'D');
        request.length_bytes = number::length(bytes, 1, is_discard, row.bytes)?;
        let layer = TraceLayer::Request;
        (request.kind, request.is_forced) = rwbs::kind(row.letters, bytes, layer);
        if request.kind != TracedKind::Flush {
            let sector = number_of(row.sector, "a sector")?;
            request.offset_bytes = number::offset(sector, SECTOR_BYTES, row.sector)?;
        }
        let pid = number_of(row.pid, "a process")?;
        request.pid = u32::try_from(pid).map_err(|_| RowFault::new(row.pid, "a process"))?;
        request.latency_ns = latency_ns.and_then(|ns| u64::try_from(ns).ok());
        request.process = context.names.id(row.process);
        request.device = context.names.id(row.device);
        Ok(request)
    }
}

impl<'a> SnoopRow<'a> {
    fn set(&mut self, column: SnoopColumn, word: &'a [u8]) {
        match column {
            SnoopColumn::Completion => self.completion = word,
            SnoopColumn::Start => self.start = word,
            SnoopColumn::Process => self.process = word,
            SnoopColumn::Pid => self.pid = word,
            SnoopColumn::Letters => self.letters = word,
            SnoopColumn::Device => self.device = word,
            SnoopColumn::Sector => self.sector = word,
            SnoopColumn::Bytes => self.bytes = word,
            SnoopColumn::Latency => self.latency = word,
            SnoopColumn::Ignored => {}
        }
    }
}
