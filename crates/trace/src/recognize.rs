//! Recognizes the format of a trace by its content.

use std::io::Read;

use crate::blkparse::{self, BlkparseParser};
use crate::blktrace::{self, BlktraceDecoder};
use crate::dxt::DxtParser;
use crate::error::{TraceError, quoted};
use crate::fields::LineFields;
use crate::fiu::{self, FiuParser};
use crate::iolog::{IologParser, TelemetryParser};
use crate::lines::{RowParser, TextDecoder, TraceDecoder};
use crate::number;
use crate::pgt::{self, PgtDecoder, TraceContent};
use crate::snoop::{self, SnoopParser};
use crate::strace::{self, StraceParser};
use crate::table::{TableLayout, TableParser, TraceTimeUnit};
use crate::tracing::{self, TracingParser};
use crate::vscsi::{self, VscsiDecoder, VscsiVersion};
use crate::windows::{self, ProcmonParser, XperfParser};

/// Number of bytes that decide the format.
pub(crate) const HEAD_BYTES: usize = 64 << 10;
/// Number of lines that decide the format of a table.
const SAMPLED_LINES: usize = 64;

/// A recognized format.
#[derive(Debug, Clone)]
pub(crate) enum TraceFormat {
    Pgt(TraceContent),
    Blktrace,
    Vscsi(VscsiVersion),
    Blkparse,
    Ftrace,
    PerfScript,
    Snoop,
    Iolog,
    Telemetry,
    Dxt,
    Procmon,
    Xperf,
    Fiu,
    Strace,
    Table(Box<TableLayout>),
}

impl TraceFormat {
    /// Name for users.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Pgt(_) => "pgmeter",
            Self::Blktrace => "blktrace, binary",
            Self::Vscsi(VscsiVersion::One) => "vscsi, binary version 1",
            Self::Vscsi(VscsiVersion::Two) => "vscsi, binary version 2",
            Self::Blkparse => "blkparse",
            Self::Ftrace => "ftrace or trace-cmd",
            Self::PerfScript => "perf script",
            Self::Snoop => "biosnoop or iosnoop",
            Self::Iolog => "fio iolog",
            Self::Telemetry => "offsets, lengths and delays",
            Self::Dxt => "Darshan DXT",
            Self::Procmon => "Procmon CSV",
            Self::Xperf => "xperf CSV",
            Self::Fiu => "FIU",
            Self::Strace => "strace",
            Self::Table(layout) => layout.name,
        }
    }

    /// `true` if the trace has calls in place of requests.
    pub(crate) fn has_calls(&self) -> bool {
        matches!(self, Self::Strace | Self::Pgt(TraceContent::Calls))
    }

    /// Recognizes a format by the first bytes of the uncompressed stream.
    ///
    /// # Errors
    /// The content is unknown, or it is known not to be a trace.
    pub(crate) fn recognize(
        head: &[u8],
        time_unit: Option<TraceTimeUnit>,
    ) -> Result<Self, TraceError> {
        if let Some(content) = pgt::content(head) {
            return Ok(Self::Pgt(content));
        }
        if blktrace::is_blktrace(head) {
            return Ok(Self::Blktrace);
        }
        if let Some(error) = other_binary(head) {
            return Err(error);
        }
        if head.contains(&0) {
            let version = vscsi::version(head).map(Self::Vscsi);
            return version.ok_or_else(|| unknown(head));
        }
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let mut lines: Vec<&[u8]> = head.split(|byte| *byte == b'\n').collect();
        // The last line may be cut, here or by the program that recorded it.
        if lines.len() > 1 {
            lines.pop();
        }
        let trimmed = lines
            .iter()
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let lines: Vec<&[u8]> = trimmed
            .filter(|line| !line.trim_ascii().is_empty())
            .collect();
        if let Some(error) = other_text(&lines) {
            return Err(error);
        }
        let sampled = &lines[..lines.len().min(SAMPLED_LINES)];
        of_lines(&lines, sampled, time_unit).ok_or_else(|| unknown(head))
    }

    /// A decoder of a stream in this format.
    pub(crate) fn decoder<'a>(
        &self,
        input: Box<dyn Read + 'a>,
        buffer_bytes: usize,
    ) -> Box<dyn TraceDecoder + 'a> {
        match self {
            Self::Pgt(_) => Box::new(PgtDecoder::new(input, buffer_bytes)),
            Self::Blktrace => Box::new(BlktraceDecoder::new(input, buffer_bytes)),
            Self::Vscsi(version) => Box::new(VscsiDecoder::new(input, buffer_bytes, *version)),
            Self::Blkparse => text(input, buffer_bytes, BlkparseParser::default()),
            Self::Ftrace | Self::PerfScript => text(input, buffer_bytes, TracingParser::default()),
            Self::Snoop => text(input, buffer_bytes, SnoopParser::default()),
            Self::Iolog => text(input, buffer_bytes, IologParser::default()),
            Self::Telemetry => text(input, buffer_bytes, TelemetryParser::default()),
            Self::Dxt => text(input, buffer_bytes, DxtParser::default()),
            Self::Procmon => text(input, buffer_bytes, ProcmonParser::default()),
            Self::Xperf => text(input, buffer_bytes, XperfParser::default()),
            Self::Fiu => text(input, buffer_bytes, FiuParser),
            Self::Strace => text(input, buffer_bytes, StraceParser::default()),
            Self::Table(layout) => text(input, buffer_bytes, TableParser::new((**layout).clone())),
        }
    }
}

fn text<'a, P: RowParser + 'a>(
    input: Box<dyn Read + 'a>,
    buffer_bytes: usize,
    parser: P,
) -> Box<dyn TraceDecoder + 'a> {
    Box::new(TextDecoder::new(input, buffer_bytes, parser))
}

/// `lines` are all of the head, for formats with long introductions.
fn of_lines(
    lines: &[&[u8]],
    sampled: &[&[u8]],
    time_unit: Option<TraceTimeUnit>,
) -> Option<TraceFormat> {
    let first = *lines.first()?;
    let any = |is_it: fn(&[u8]) -> bool| lines.iter().any(|line| is_it(line));
    let words = |line: &[u8]| LineFields::blank(line).all().len();
    match () {
        () if first.starts_with(b"fio version ") => Some(TraceFormat::Iolog),
        () if first.trim_ascii() == b"BeginHeader" => Some(TraceFormat::Xperf),
        () if windows::is_procmon_head(first) => Some(TraceFormat::Procmon),
        () if any(|line| line.starts_with(b"# DXT, ")) => Some(TraceFormat::Dxt),
        () if any(tracing::is_event) => {
            let is_perf = any(|line| memchr::memmem::find(line, b"block:block_").is_some());
            Some(if is_perf {
                TraceFormat::PerfScript
            } else {
                TraceFormat::Ftrace
            })
        }
        () if sampled.iter().any(|line| snoop::is_head(line)) => Some(TraceFormat::Snoop),
        () if sampled.iter().any(|line| blkparse::is_event(line)) => Some(TraceFormat::Blkparse),
        () if most(sampled, strace::is_call) => Some(TraceFormat::Strace),
        () if most(sampled, fiu::is_row) => Some(TraceFormat::Fiu),
        () => {
            let table = TableLayout::detect(sampled, time_unit);
            let table = table.map(|layout| TraceFormat::Table(Box::new(layout)));
            let is_whole = |word: &&[u8]| number::whole(word).is_some();
            let is_telemetry = sampled
                .iter()
                .all(|line| words(line) == 3 && LineFields::blank(line).all().iter().all(is_whole));
            table.or_else(|| is_telemetry.then_some(TraceFormat::Telemetry))
        }
    }
}

fn most(lines: &[&[u8]], is_it: fn(&[u8]) -> bool) -> bool {
    let fitting = lines.iter().filter(|line| is_it(line)).count();
    fitting * 2 > lines.len()
}

fn unknown(head: &[u8]) -> TraceError {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    TraceError::Unknown { seen: quoted(line) }
}

fn refused(what: &'static str, help: &'static str) -> TraceError {
    TraceError::Refused { what, help }
}

/// Known binary files that are not read.
fn other_binary(head: &[u8]) -> Option<TraceError> {
    if pgt::is_pgt(head) {
        let help = "read it with the version of pgmeter that recorded it";
        return Some(refused(
            "the file is a trace of another version of pgmeter",
            help,
        ));
    }
    if head.starts_with(b"PERFILE2") {
        let help = "print it with `perf script --ns`";
        return Some(refused("the file is perf's own binary form", help));
    }
    if head.starts_with(b"\x17\x08\x44tracing") {
        let help = "print it with `trace-cmd report`";
        return Some(refused("the file is trace-cmd's own binary form", help));
    }
    if head.starts_with(b"PML_") {
        let help = "save it as CSV in Procmon";
        return Some(refused("the file is Procmon's own binary form", help));
    }
    // Darshan's magic number follows its version.
    if head.get(8..16) == Some(6_567_223_u64.to_le_bytes().as_slice()) {
        let help = "print it with `darshan-dxt-parser`";
        return Some(refused("the file is a binary log of Darshan", help));
    }
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    is_utf16.then(|| {
        refused(
            "the file is in UTF-16",
            "convert it with `iconv -f UTF-16 -t UTF-8`",
        )
    })
}

/// Known texts that contain no requests.
fn other_text(lines: &[&[u8]]) -> Option<TraceError> {
    let first = lines.first()?;
    if first.starts_with(b"Histogram: ") {
        let what = "the file contains histograms of `vscsiStats`, not single requests";
        return Some(refused(what, "record single requests with `vscsiStats -t`"));
    }
    let words = LineFields::blank(first);
    if words.get(0) == b"TIME(ms)" {
        let what = "bpftrace's biosnoop records neither places nor lengths";
        return Some(refused(what, "record with bcc's `biosnoop`"));
    }
    let is_version_1 = LineFields::comma(first).all().len() == 3
        && matches!(LineFields::comma(first).get(0), b"rw" | b"read" | b"write");
    is_version_1.then(|| {
        let help = "record again: fio writes version 3 since 2022";
        refused(
            "the file is an iolog of version 1, which fio does not read either",
            help,
        )
    })
}
