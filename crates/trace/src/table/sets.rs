//! Published traces without names of columns, recognized by the values of their columns.

use super::heads::guessed;
use super::time_unit::{TraceTimeUnit, median_gap};
use super::{BytesColumn, KindCode, KindColumn, TableLayout, TimestampColumn, most_fit};
use crate::fields::LineFields;
use crate::number::{self, NS_PER_S, SECTOR_BYTES};

/// The form of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnForm {
    /// A number without sign and fraction.
    Whole,
    /// A number that may have a fraction.
    Decimal,
    /// Exactly 18 digits: ticks of Windows.
    Ticks,
    /// `R` or `W` in either case.
    Letter,
    /// The same, or empty.
    LetterOrEmpty,
    /// `Read` or `Write`.
    Word,
    /// `0` or `1`.
    Bit,
    /// Any text.
    Text,
}

use ColumnForm::{Bit, Decimal, Letter, LetterOrEmpty, Text, Ticks, Whole, Word};

/// A published set.
struct PublishedSet {
    name: &'static str,
    forms: &'static [ColumnForm],
    /// `true` if further columns may follow.
    is_open: bool,
    time: TimestampColumn,
    devices: [Option<usize>; 2],
    kind: KindColumn,
    offset: BytesColumn,
    length: BytesColumn,
    latency: Option<(usize, TraceTimeUnit)>,
}

const fn bytes(index: usize) -> BytesColumn {
    BytesColumn {
        index,
        unit_bytes: 1,
    }
}

const fn sectors(index: usize) -> BytesColumn {
    BytesColumn {
        index,
        unit_bytes: SECTOR_BYTES,
    }
}

const fn letters(index: usize) -> KindColumn {
    KindColumn {
        index,
        code: KindCode::Letters,
    }
}

const fn time(index: usize, unit: TraceTimeUnit) -> TimestampColumn {
    TimestampColumn { index, unit }
}

const ZERO_IS_READ: KindCode = KindCode::ZeroIsRead;

/// Sets with commas, the most specific first.
const SETS: [PublishedSet; 6] = [
    PublishedSet {
        name: "MSR Cambridge CSV",
        forms: &[Ticks, Text, Whole, Word, Whole, Whole],
        is_open: true,
        time: time(0, TraceTimeUnit::WindowsTicks),
        devices: [Some(1), Some(2)],
        kind: letters(3),
        offset: bytes(4),
        length: bytes(5),
        latency: Some((6, TraceTimeUnit::WindowsTicks)),
    },
    PublishedSet {
        name: "SYSTOR '17 CSV",
        forms: &[Decimal, Decimal, LetterOrEmpty, Whole, Whole, Whole],
        is_open: false,
        time: time(0, TraceTimeUnit::Seconds),
        devices: [Some(3), None],
        kind: letters(2),
        offset: bytes(4),
        length: bytes(5),
        latency: Some((1, TraceTimeUnit::Seconds)),
    },
    PublishedSet {
        name: "Alibaba CSV",
        forms: &[Whole, Letter, Whole, Whole, Whole],
        is_open: false,
        time: time(4, TraceTimeUnit::Microseconds),
        devices: [Some(0), None],
        kind: letters(1),
        offset: bytes(2),
        length: bytes(3),
        latency: None,
    },
    PublishedSet {
        name: "Fujitsu K5 CSV",
        forms: &[Text, Decimal, Letter, Whole, Whole],
        is_open: false,
        time: time(1, TraceTimeUnit::Seconds),
        devices: [Some(0), None],
        kind: letters(2),
        offset: bytes(3),
        length: bytes(4),
        latency: None,
    },
    PublishedSet {
        name: "SPC",
        forms: &[Whole, Whole, Whole, Letter, Decimal],
        is_open: true,
        time: time(4, TraceTimeUnit::Seconds),
        devices: [Some(0), None],
        kind: letters(3),
        offset: sectors(1),
        length: bytes(2),
        latency: None,
    },
    PublishedSet {
        name: "Tencent CSV",
        forms: &[Whole, Whole, Whole, Bit, Whole],
        is_open: false,
        time: time(0, TraceTimeUnit::Seconds),
        devices: [Some(4), None],
        kind: KindColumn {
            index: 3,
            code: ZERO_IS_READ,
        },
        offset: sectors(1),
        length: sectors(2),
        latency: None,
    },
];

/// Blank-separated tables of simulators.
const DISKSIM: PublishedSet = PublishedSet {
    name: "DiskSim",
    forms: &[Decimal, Whole, Whole, Whole, Whole],
    is_open: false,
    time: time(0, TraceTimeUnit::Milliseconds),
    devices: [Some(1), None],
    kind: KindColumn {
        index: 4,
        code: KindCode::OneIsRead,
    },
    offset: sectors(2),
    length: sectors(3),
    latency: None,
};

/// The layout of a table without a head.
pub(super) fn without_head(lines: &[&[u8]]) -> Option<TableLayout> {
    let set = SETS
        .iter()
        .find(|set| most_fit(lines, |row| set.fits(&LineFields::comma(row))));
    if let Some(set) = set {
        return Some(set.layout(true, lines));
    }
    let is_disksim = most_fit(lines, |row| DISKSIM.fits(&LineFields::blank(row)));
    is_disksim.then(|| DISKSIM.layout(false, lines))
}

impl PublishedSet {
    fn fits(&self, fields: &LineFields<'_>) -> bool {
        let count = fields.all().len();
        let has_count = count == self.forms.len() || self.is_open && count > self.forms.len();
        has_count
            && self
                .forms
                .iter()
                .zip(fields.all())
                .all(|(form, field)| form.fits(field))
    }

    fn layout(&self, has_commas: bool, lines: &[&[u8]]) -> TableLayout {
        let mut layout = TableLayout {
            name: self.name,
            has_commas,
            fields_min: self.forms.len(),
            time: self.time,
            devices: self.devices,
            kind: self.kind,
            offset: self.offset,
            length: self.length,
            latency: self.latency,
            has_head: false,
            notices: Vec::new(),
        };
        match self.name {
            "DiskSim" => guess_of_simulator(&mut layout, lines),
            "Tencent CSV" => guess_of_tencent(&mut layout, lines),
            "SPC" => {
                let notice = "offsets are taken as sectors of 512 bytes, as in the published files";
                layout.notices.push(notice.to_owned());
            }
            _ => {}
        }
        layout
    }
}

impl ColumnForm {
    fn fits(self, field: &[u8]) -> bool {
        match self {
            Whole => number::whole(field).is_some(),
            Decimal => number::nanoseconds(field, NS_PER_S).is_some_and(|ns| ns >= 0),
            Ticks => field.len() == 18 && number::whole(field).is_some(),
            Letter => matches!(field, b"R" | b"W" | b"r" | b"w"),
            LetterOrEmpty => field.is_empty() || Letter.fits(field),
            Word => [&b"read"[..], b"write"]
                .iter()
                .any(|it| field.eq_ignore_ascii_case(it)),
            Bit => matches!(field, b"0" | b"1"),
            Text => !field.is_empty(),
        }
    }
}

/// DiskSim writes milliseconds with a fraction; other simulators, which share its columns, whole
/// numbers of nanoseconds.
fn guess_of_simulator(layout: &mut TableLayout, lines: &[&[u8]]) {
    let times = lines
        .iter()
        .filter_map(|row| LineFields::blank(row).all().first().copied());
    let times: Vec<&[u8]> = times.collect();
    if times.iter().any(|time| time.contains(&b'.')) {
        layout.time.unit = TraceTimeUnit::Milliseconds;
    } else {
        let values: Vec<u64> = times
            .iter()
            .filter_map(|text| number::whole(text))
            .collect();
        layout.name = "DiskSim with whole times (MQSim, SSDsim)";
        // No device takes requests a few nanoseconds apart.
        layout.time.unit = match median_gap(&values) {
            1..100 => TraceTimeUnit::Microseconds,
            _ => TraceTimeUnit::Nanoseconds,
        };
    }
    layout.notices.push(guessed(layout.time.unit));
}

/// Some copies of the set contain bytes in place of sectors.
fn guess_of_tencent(layout: &mut TableLayout, lines: &[&[u8]]) {
    let notice = "times are whole seconds: the order within a second is known, but not the pace";
    layout.notices.push(notice.to_owned());
    let is_of_bytes = |row: &&[u8]| {
        let fields = LineFields::comma(row);
        let length = number::whole(fields.get(2)).unwrap_or(1);
        let offset = number::whole(fields.get(1)).unwrap_or(1);
        length >= SECTOR_BYTES
            && length.is_multiple_of(SECTOR_BYTES)
            && offset.is_multiple_of(SECTOR_BYTES)
    };
    if lines.iter().all(is_of_bytes) {
        layout.offset.unit_bytes = 1;
        layout.length.unit_bytes = 1;
        let notice = "offsets and lengths are taken as bytes, because all are multiples of 512; \
                      the original set has sectors";
        layout.notices.push(notice.to_owned());
    } else {
        let notice = "offsets and lengths are taken as sectors of 512 bytes";
        layout.notices.push(notice.to_owned());
    }
}
