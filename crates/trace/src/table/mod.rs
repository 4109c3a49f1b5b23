//! Tables with one request per row, separated by commas or blanks: most published traces.

mod heads;
mod sets;
mod time_unit;

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::LineFields;
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number;
use crate::vscsi;

pub use time_unit::TraceTimeUnit;

/// Meaning of a table's columns.
#[derive(Debug, Clone)]
pub(crate) struct TableLayout {
    /// Name of the format.
    pub(crate) name: &'static str,
    has_commas: bool,
    fields_min: usize,
    time: TimestampColumn,
    /// Columns whose texts together name the device.
    devices: [Option<usize>; 2],
    kind: KindColumn,
    offset: BytesColumn,
    length: BytesColumn,
    latency: Option<(usize, TraceTimeUnit)>,
    /// `true` if the first line contains names of columns.
    has_head: bool,
    /// Guesses and limits of the format, for the user.
    notices: Vec<String>,
}

#[derive(Debug, Clone, Copy)]
struct TimestampColumn {
    index: usize,
    unit: TraceTimeUnit,
}

/// A column of bytes or sectors.
#[derive(Debug, Clone, Copy)]
struct BytesColumn {
    index: usize,
    unit_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct KindColumn {
    index: usize,
    code: KindCode,
}

/// How a column encodes the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindCode {
    /// `R`, `W`, `Read`, `write` and others; empty if unknown.
    Letters,
    /// 0 for reads, 1 for writes.
    ZeroIsRead,
    /// A flag with 1 for reads in its lowest bit.
    OneIsRead,
    /// SCSI operation codes, hexadecimal.
    Scsi,
}

impl TableLayout {
    /// The layout of a table, from its first lines; `time_unit` replaces a guess.
    pub(crate) fn detect(lines: &[&[u8]], time_unit: Option<TraceTimeUnit>) -> Option<Self> {
        let mut layout = heads::with_head(lines).or_else(|| sets::without_head(lines))?;
        if let Some(unit) = time_unit {
            layout.time.unit = unit;
            layout
                .notices
                .retain(|notice| !notice.contains("--time-unit"));
        }
        Some(layout)
    }

    fn fields<'a>(&self, line: &'a [u8]) -> LineFields<'a> {
        match self.has_commas {
            true => LineFields::comma(line),
            false => LineFields::blank(line),
        }
    }
}

/// Parses the rows of a table.
#[derive(Debug)]
pub(crate) struct TableParser {
    layout: TableLayout,
    is_started: bool,
}

impl TableParser {
    pub(crate) fn new(layout: TableLayout) -> Self {
        Self {
            layout,
            is_started: false,
        }
    }

    fn request(
        &self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
    ) -> Result<TraceRequest, RowFault> {
        let layout = &self.layout;
        let fields = layout.fields(line);
        if fields.all().len() < layout.fields_min {
            return Err(RowFault::new(line, "a row with all columns"));
        }
        let kind_text = fields.get(layout.kind.index);
        let kind = kind(kind_text, layout.kind.code);
        let kind = kind.ok_or_else(|| RowFault::new(kind_text, "a kind of request"))?;
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        let time = fields.get(layout.time.index);
        let ns = layout.time.unit.nanoseconds(time);
        let ns = ns.ok_or_else(|| RowFault::new(time, "a time"))?;
        request.time_ns = number::stored_time(ns, time)?;
        let whole =
            |text: &[u8], wanted| number::whole(text).ok_or_else(|| RowFault::new(text, wanted));
        let (offset, length) = (
            fields.get(layout.offset.index),
            fields.get(layout.length.index),
        );
        let count = whole(offset, "an offset")?;
        request.offset_bytes = number::offset(count, layout.offset.unit_bytes, offset)?;
        let is_discard = kind == TracedKind::Discard;
        let count = whole(length, "a length")?;
        request.length_bytes = number::length(count, layout.length.unit_bytes, is_discard, length)?;
        if let Some((index, unit)) = layout.latency {
            let ns = unit.span_ns(fields.get(index));
            request.latency_ns = ns.and_then(|ns| u64::try_from(ns).ok());
        }
        request.device = match layout.devices {
            [Some(first), Some(second)] => {
                let name = [fields.get(first), b"/", fields.get(second)].concat();
                context.names.id(&name)
            }
            [Some(index), None] => context.names.id(fields.get(index)),
            _ => context.names.id(b"disk"),
        };
        Ok(request)
    }
}

impl RowParser for TableParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        if !self.is_started {
            self.is_started = true;
            for notice in std::mem::take(&mut self.layout.notices) {
                context.notice(notice);
            }
            if self.layout.has_head {
                return Ok(());
            }
        }
        if line.starts_with(b"#") {
            return Ok(());
        }
        let request = self.request(line, number, context)?;
        if request.kind == TracedKind::Other {
            context.notice("some rows have no known kind; they are counted as other".to_owned());
        }
        batch.requests.push(request);
        Ok(())
    }
}

fn kind(text: &[u8], code: KindCode) -> Option<TracedKind> {
    match code {
        KindCode::Letters => match text.first().map(u8::to_ascii_lowercase) {
            None => Some(TracedKind::Other),
            Some(b'r') => Some(TracedKind::Read),
            Some(b'w') => Some(TracedKind::Write),
            Some(b'd' | b't' | b'u') => Some(TracedKind::Discard),
            Some(b'f' | b's') => Some(TracedKind::Flush),
            Some(_) => None,
        },
        KindCode::ZeroIsRead => match text {
            b"0" => Some(TracedKind::Read),
            b"1" => Some(TracedKind::Write),
            _ => number::whole(text).map(|_| TracedKind::Other),
        },
        KindCode::OneIsRead => number::whole(text).map(|flags| match flags & 1 {
            1 => TracedKind::Read,
            _ => TracedKind::Write,
        }),
        KindCode::Scsi => number::hexadecimal(text).map(vscsi::kind_of_command),
    }
}

/// `true` if nearly all sampled rows fit; a few may be damaged.
fn most_fit(rows: &[&[u8]], fits: impl Fn(&[u8]) -> bool) -> bool {
    let rows = rows
        .iter()
        .filter(|row| !row.is_empty() && !row.starts_with(b"#"));
    let (count, fitting) = rows.fold((0, 0), |(count, fitting), row| {
        (count + 1, fitting + usize::from(fits(row)))
    });
    count > 0 && fitting * 4 >= count * 3
}
