//! CSV files of Procmon and of `xperf -a dumper`.

use memchr::memmem;

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::LineFields;
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_S, NS_PER_US};

const DAY_NS: i128 = 86_400 * NS_PER_S;

/// Columns of Procmon, which its user selects.
#[derive(Debug, Clone, Copy)]
struct ProcmonColumns {
    time: usize,
    process: Option<usize>,
    pid: Option<usize>,
    operation: usize,
    path: usize,
    result: Option<usize>,
    detail: usize,
}

/// Parses Procmon's rows of reads, writes and flushes.
#[derive(Debug, Default)]
pub(crate) struct ProcmonParser {
    columns: Option<ProcmonColumns>,
    /// Days since the start: rows have no date.
    day_ns: i128,
    last_ns: i128,
}

/// The columns of a head line, or `None` if it is none.
fn procmon_columns(line: &[u8]) -> Option<ProcmonColumns> {
    let fields = LineFields::comma(line);
    let find = |name: &[u8]| fields.all().iter().position(|field| *field == name);
    Some(ProcmonColumns {
        time: find(b"Time of Day")?,
        process: find(b"Process Name"),
        pid: find(b"PID"),
        operation: find(b"Operation")?,
        path: find(b"Path")?,
        result: find(b"Result"),
        detail: find(b"Detail")?,
    })
}

/// `true` if a line is Procmon's head with all columns that are needed.
pub(crate) fn is_procmon_head(line: &[u8]) -> bool {
    procmon_columns(line).is_some()
}

impl RowParser for ProcmonParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        let Some(columns) = self.columns else {
            let columns = procmon_columns(line);
            self.columns = columns;
            context.rows -= 1;
            let wanted = "a head with Time of Day, Operation, Path and Detail";
            return columns
                .map(|_| ())
                .ok_or_else(|| RowFault::new(line, wanted));
        };
        let fields = LineFields::comma(line);
        let kind = match fields.get(columns.operation) {
            b"ReadFile" => TracedKind::Read,
            b"WriteFile" => TracedKind::Write,
            b"FlushBuffersFile" => TracedKind::Flush,
            _ => return Ok(()),
        };
        let detail = fields.get(columns.detail);
        // The cache manager's own requests: the program's call is another row.
        if memmem::find(detail, b"Paging I/O").is_some() {
            context.skip("are paging I/O, which repeats the requests of programs");
            return Ok(());
        }
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        request.time_ns = self.time(fields.get(columns.time))?;
        if kind != TracedKind::Flush {
            place(&mut request, detail)?;
        }
        let result = columns.result.map_or(&b"SUCCESS"[..], |at| fields.get(at));
        if result != b"SUCCESS" {
            request.kind = TracedKind::Other;
        }
        let pid = columns.pid.and_then(|at| number::whole(fields.get(at)));
        request.pid = pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
        if let Some(at) = columns.process {
            request.process = context.names.id(fields.get(at));
        }
        request.device = context.names.id(fields.get(columns.path));
        batch.requests.push(request);
        Ok(())
    }
}

impl ProcmonParser {
    fn time(&mut self, text: &[u8]) -> Result<i64, RowFault> {
        let ns = number::time_of_day(text);
        let ns = ns.ok_or_else(|| RowFault::new(text, "a time of day"))?;
        // Midnight passed; smaller steps back are rows out of order.
        if self.last_ns - ns > DAY_NS / 2 {
            self.day_ns += DAY_NS;
        }
        self.last_ns = ns;
        number::stored_time(ns + self.day_ns, text)
    }
}

/// Reads `Offset: 40 960, Length: 3 306` with the separators of any locale.
fn place(request: &mut TraceRequest, detail: &[u8]) -> Result<(), RowFault> {
    let (offset, length) = (value(detail, b"Offset: "), value(detail, b"Length: "));
    if offset == b"-1" {
        // An append, whose place is not recorded.
        request.kind = TracedKind::Other;
        return Ok(());
    }
    let fault = || RowFault::new(detail, "a detail with offset and length");
    let (count, bytes) = grouped(offset).zip(grouped(length)).ok_or_else(fault)?;
    request.offset_bytes = number::offset(count, 1, offset)?;
    request.length_bytes = number::length(bytes, 1, false, length)?;
    Ok(())
}

/// The value of a key, up to the next key.
fn value<'a>(detail: &'a [u8], key: &[u8]) -> &'a [u8] {
    let start = memmem::find(detail, key).map_or(detail.len(), |at| at + key.len());
    let rest = &detail[start..];
    let is_key = |at: &usize| rest.get(at + 2).is_some_and(u8::is_ascii_alphabetic);
    let end = memmem::find_iter(rest, b", ").find(is_key);
    &rest[..end.unwrap_or(rest.len())]
}

/// A number whose digits may be grouped by blanks, points, commas or apostrophes.
fn grouped(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let is_separator =
        |it: char| matches!(it, ' ' | '\u{a0}' | '\u{202f}' | '.' | ',' | '\'' | '’');
    let digits: String = text.chars().filter(|it| !is_separator(*it)).collect();
    number::whole(digits.as_bytes())
}

/// Parses the events of disks from xperf.
#[derive(Debug, Default)]
pub(crate) struct XperfParser {
    is_after_head: bool,
    /// Column names of the events of disks, from the head.
    layouts: Vec<(Vec<u8>, XperfColumns)>,
}

/// Columns of one event.
#[derive(Debug, Clone, Copy)]
struct XperfColumns {
    time: usize,
    process: usize,
    offset: Option<usize>,
    length: Option<usize>,
    elapsed: usize,
    disk: usize,
}

fn xperf_columns(fields: &LineFields<'_>) -> Option<XperfColumns> {
    let find = |name: &[u8]| fields.all().iter().position(|field| *field == name);
    Some(XperfColumns {
        time: find(b"TimeStamp")?,
        process: find(b"Process Name ( PID)")?,
        offset: find(b"ByteOffset"),
        length: find(b"IOSize"),
        elapsed: find(b"ElapsedTime")?,
        disk: find(b"DiskNum")?,
    })
}

impl RowParser for XperfParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        let fields = LineFields::comma(line);
        let event = fields.get(0);
        if !self.is_after_head {
            context.rows -= 1;
            self.is_after_head = event == b"EndHeader";
            if let Some(columns) = xperf_columns(&fields) {
                self.layouts.push((event.to_vec(), columns));
            }
            return Ok(());
        }
        let kind = match event {
            b"DiskRead" => TracedKind::Read,
            b"DiskWrite" => TracedKind::Write,
            b"DiskFlush" => TracedKind::Flush,
            _ => return Ok(()),
        };
        let columns = self.layouts.iter().find(|(name, _)| name == event);
        let wanted = "an event that the head describes";
        let (_, columns) = columns.ok_or_else(|| RowFault::new(event, wanted))?;
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        let hexadecimal = |index: Option<usize>| {
            let text = index.map_or(&b""[..], |index| fields.get(index));
            let value = number::hexadecimal(text);
            value.ok_or_else(|| RowFault::new(text, "a hexadecimal number"))
        };
        if kind != TracedKind::Flush {
            let (offset, length) = (hexadecimal(columns.offset)?, hexadecimal(columns.length)?);
            request.offset_bytes = number::offset(offset, 1, offset)?;
            request.length_bytes = number::length(length, 1, false, length)?;
        }
        let microseconds = |index: usize| {
            let text = fields.get(index);
            let ns = number::nanoseconds(text, NS_PER_US);
            ns.ok_or_else(|| RowFault::new(text, "a time in microseconds"))
        };
        // Events are recorded at completion.
        let elapsed_ns = microseconds(columns.elapsed)?;
        let start_ns = microseconds(columns.time)? - elapsed_ns;
        request.time_ns = number::stored_time(start_ns, fields.get(columns.time))?;
        request.latency_ns = u64::try_from(elapsed_ns).ok();
        (request.process, request.pid) = process(fields.get(columns.process), context);
        let disk = [b"disk ", fields.get(columns.disk)].concat();
        request.device = context.names.id(&disk);
        batch.requests.push(request);
        Ok(())
    }
}

/// Name and number of a process: `app.exe (1234)`.
fn process(text: &[u8], context: &mut DecodeContext) -> (crate::names::NameId, u32) {
    let open = memchr::memrchr(b'(', text).unwrap_or(text.len());
    let name = context.names.id(text[..open].trim_ascii());
    let inner = text.get(open + 1..).unwrap_or_default();
    let digits = inner.strip_suffix(b")").unwrap_or(inner).trim_ascii();
    let pid = number::whole(digits).and_then(|pid| u32::try_from(pid).ok());
    (name, pid.unwrap_or(0))
}
