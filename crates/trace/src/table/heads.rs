//! Tables whose first line names the columns.

use super::time_unit::{TraceTimeUnit, median_gap};
use super::{BytesColumn, KindCode, KindColumn, TableLayout, TimestampColumn, most_fit};
use crate::fields::LineFields;
use crate::number::{self, SECTOR_BYTES};

/// Names of columns in lower case, without types such as `.I`. Earlier names win.
const TIMES: &[&str] = &[
    "elapsed_usecs",
    "timestamp",
    "time",
    "ts",
    "time_us",
    "arrival_time",
];
const OFFSETS: &[&str] = &["offset", "offset_bytes", "byteoffset"];
const SECTORS: &[&str] = &["lba", "lbn", "sector", "block"];
const LENGTHS: &[&str] = &["size", "length", "len", "bytes", "length_bytes", "iosize"];
const LENGTHS_IN_SECTORS: &[&str] = &["nblks", "count", "sectors", "blocks"];
const KINDS: &[&str] = &["op", "type", "iotype", "opcode", "rw", "operation", "kind"];
const DEVICES: &[&str] = &[
    "lun_ssid",
    "disknumber",
    "lun",
    "device",
    "device_id",
    "volume",
    "volumeid",
    "volume_id",
    "asu",
    "disk",
    "dev",
];

/// Column numbers by name.
struct ColumnNames(Vec<String>);

impl ColumnNames {
    fn find(&self, names: &[&str]) -> Option<usize> {
        let index = |name: &&str| self.0.iter().position(|known| known == name);
        names.iter().find_map(index)
    }

    fn bytes(&self, bytes: &[&str], sectors: &[&str]) -> Option<BytesColumn> {
        let column = |index, unit_bytes| BytesColumn { index, unit_bytes };
        let in_bytes = self.find(bytes).map(|index| column(index, 1));
        in_bytes.or_else(|| self.find(sectors).map(|index| column(index, SECTOR_BYTES)))
    }
}

/// The layout of a table with a head, or `None` if the first line is none.
pub(super) fn with_head(lines: &[&[u8]]) -> Option<TableLayout> {
    let (first, rows) = lines.split_first()?;
    let first = first.strip_prefix(b"#").unwrap_or(first);
    let has_commas = first.contains(&b',');
    let head = match has_commas {
        true => LineFields::comma(first),
        false => LineFields::blank(first),
    };
    let names = ColumnNames(head.all().iter().map(|name| plain_name(name)).collect());
    let time = names.find(TIMES)?;
    let offset = names.bytes(OFFSETS, SECTORS)?;
    let length = names.bytes(LENGTHS, LENGTHS_IN_SECTORS)?;
    let kind = names.find(KINDS)?;
    let devices = [names.find(&["hostname"]), names.find(DEVICES)];
    let mut layout = TableLayout {
        name: "CSV with named columns",
        has_commas,
        fields_min: [time, offset.index, length.index, kind].into_iter().max()? + 1,
        time: TimestampColumn {
            index: time,
            unit: TraceTimeUnit::Seconds,
        },
        devices: match devices {
            [None, device] => [device, None],
            both => both,
        },
        kind: KindColumn {
            index: kind,
            code: KindCode::Letters,
        },
        offset,
        length,
        latency: None,
        has_head: true,
        notices: Vec::new(),
    };
    fill_in(&mut layout, &names, rows);
    let fits = |row: &[u8]| {
        let fields = layout.fields(row);
        let is_number = |index| number::whole(fields.get(index)).is_some();
        is_number(layout.offset.index) && is_number(layout.length.index)
    };
    // A head alone is a trace without requests.
    (rows.is_empty() || most_fit(rows, fits)).then_some(layout)
}

fn plain_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name).trim().to_ascii_lowercase();
    let typed = [".i", ".d", ".s", ".n"];
    let typed = typed.iter().find_map(|suffix| name.strip_suffix(suffix));
    typed.map(str::to_owned).unwrap_or(name)
}

/// Adds units, which depend on the program that wrote the head.
fn fill_in(layout: &mut TableLayout, names: &ColumnNames, rows: &[&[u8]]) {
    let column = |index: usize| -> Vec<Vec<u8>> {
        let value = |row: &&[u8]| layout.fields(row).get(index).to_vec();
        rows.iter().map(value).collect()
    };
    let times = column(layout.time.index);
    let times: Vec<&[u8]> = times.iter().map(Vec::as_slice).collect();
    let kinds = column(layout.kind.index);
    let has = |name| names.find(&[name]).is_some();
    let latency = |name, unit| names.find(&[name]).map(|index| (index, unit));
    let is_digit = |kind: &Vec<u8>| matches!(kind.as_slice(), b"0" | b"1");
    let has_digits = !kinds.is_empty() && kinds.iter().all(is_digit);
    if has("elapsed_usecs") {
        layout.name = "hfplayer CSV";
        layout.time.unit = TraceTimeUnit::Microseconds;
        layout.kind.code = KindCode::ZeroIsRead;
        layout.latency = latency("latency_usecs", TraceTimeUnit::Microseconds);
    } else if has("hostname") && has("disknumber") {
        layout.name = "MSR Cambridge CSV";
        layout.time.unit = TraceTimeUnit::WindowsTicks;
        layout.latency = latency("responsetime", TraceTimeUnit::WindowsTicks);
    } else if has("response") && has("iotype") && has("lun") {
        layout.name = "SYSTOR '17 CSV";
        layout.latency = latency("response", TraceTimeUnit::Seconds);
    } else if has("version") && has("lbn") {
        layout.name = "CloudPhysics CSV";
        layout.kind.code = KindCode::Scsi;
        layout.time.unit = seconds_or_microseconds(&times);
        layout.notices.push(guessed(layout.time.unit));
    } else {
        layout.time.unit = TraceTimeUnit::guess(&times);
        layout.notices.push(guessed(layout.time.unit));
        if has_digits {
            layout.kind.code = KindCode::ZeroIsRead;
            let notice = "the kind is taken as 0 for reads and 1 for writes";
            layout.notices.push(notice.to_owned());
        }
        let unit = if layout.offset.unit_bytes == 1 {
            "bytes"
        } else {
            "sectors of 512 bytes"
        };
        layout.notices.push(format!(
            "offsets are taken as {unit}, by the name of the column"
        ));
    }
}

/// Copies of CloudPhysics' traces have either unit under the same head.
fn seconds_or_microseconds(times: &[&[u8]]) -> TraceTimeUnit {
    let values: Vec<u64> = times
        .iter()
        .filter_map(|text| number::whole(text))
        .collect();
    let first = values.first().copied().unwrap_or(0);
    // 10^10 s are 317 years. Several requests per second leave no gap between most rows.
    match first < 10_000_000_000 && median_gap(&values) <= 1 {
        true => TraceTimeUnit::Seconds,
        false => TraceTimeUnit::Microseconds,
    }
}

pub(super) fn guessed(unit: TraceTimeUnit) -> String {
    format!(
        "the file does not name the unit of its times; they are taken as {} (`--time-unit`)",
        unit.name()
    )
}
