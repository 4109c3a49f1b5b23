//! The table of resources used by cells: CPU, pgmeter's own share of it, and block devices.

use results::{CellRecord, DeviceFigures, RunRecord};

use super::tables::{OMITTED_IF_UNIFORM, fit_to_classics, place_columns, places};
use crate::numbers::{ABSENT, digits, mebibytes, percent};
use crate::table::{Column, Table};

/// Heads of columns with the device's bytes as a multiple of those read and written.
const READ_RATIO_HEADER: &str = "of read";
const WRITTEN_RATIO_HEADER: &str = "of written";

/// Returns the use of CPU and device by each cell; `None` if nothing is known.
pub fn usage(record: &RunRecord) -> Option<Table> {
    let has_usage =
        |cell: &CellRecord| cell.cpu.user_ns + cell.cpu.system_ns > 0 || cell.device.is_some();
    if !record.cells.iter().any(has_usage) {
        return None;
    }
    let shown: Vec<&UsageColumn> = USAGE_COLUMNS
        .iter()
        .filter(|usage| {
            let is_known = |cell| (usage.text)(cell).is_some();
            !usage.is_rare || record.cells.iter().any(is_known)
        })
        .collect();
    let mut columns = place_columns();
    let first = columns.len();
    let numbers = shown.iter().map(|it| Column::number(it.head, it.priority));
    columns.extend(numbers);
    let identity = places(record);
    let figures = |cell: &CellRecord| -> Vec<String> {
        let texts = shown.iter().map(|usage| (usage.text)(cell));
        texts
            .map(|text| text.unwrap_or_else(|| ABSENT.to_owned()))
            .collect()
    };
    let rows = record
        .cells
        .iter()
        .map(|cell| [identity(cell), figures(cell)].concat());
    // Counted from the end, because rare columns before the device can be missing.
    let last = first + shown.len();
    let mut table =
        Table::new(columns, rows).with_span(last - DEVICE_COLUMN, last - 1, "block device");
    table.drop_uniform(&OMITTED_IF_UNIFORM);
    for (operation, head) in [("read", READ_RATIO_HEADER), ("write", WRITTEN_RATIO_HEADER)] {
        if !differs(record, operation) {
            table.drop_column(head);
        }
    }
    fit_to_classics(record, &mut table);
    Some(table)
}

/// A column of used resources.
struct UsageColumn {
    head: &'static str,
    priority: u8,
    /// `true` to omit the column if no cell has a value.
    is_rare: bool,
    text: fn(&CellRecord) -> Option<String>,
}

/// Index of the first column about the block device.
const DEVICE_COLUMN: usize = 5;

const USAGE_COLUMNS: [UsageColumn; 10] = [
    UsageColumn::new("user %", 8, |cell| share_of_time(cell, cell.cpu.user_ns)),
    UsageColumn::new("sys %", 8, |cell| share_of_time(cell, cell.cpu.system_ns)),
    UsageColumn::rare("wait %", 8, |cell| cell.cpu.waiting.map(percent)),
    UsageColumn::new("own ns/op", 5, |cell| {
        cell.own_cost_ns_per_operation.map(digits)
    }),
    UsageColumn::rare("user ns/op", 4, |cell| {
        cell.user_cost_ns_per_operation.map(digits)
    }),
    UsageColumn::new("read MiB/s", 7, |cell| {
        device_rate(cell, |device| device.read_bytes)
    }),
    UsageColumn::new(READ_RATIO_HEADER, 6, |cell| device_share(cell, "read")),
    UsageColumn::new("write MiB/s", 7, |cell| {
        device_rate(cell, |device| device.write_bytes)
    }),
    UsageColumn::new(WRITTEN_RATIO_HEADER, 6, |cell| device_share(cell, "write")),
    UsageColumn::new("busy %", 6, |cell| {
        cell.device.as_ref()?.utilization.map(percent)
    }),
];

impl UsageColumn {
    const fn new(head: &'static str, priority: u8, of: fn(&CellRecord) -> Option<String>) -> Self {
        Self {
            head,
            priority,
            is_rare: false,
            text: of,
        }
    }

    const fn rare(head: &'static str, priority: u8, of: fn(&CellRecord) -> Option<String>) -> Self {
        Self {
            is_rare: true,
            ..Self::new(head, priority, of)
        }
    }
}

fn share_of_time(cell: &CellRecord, ns: u64) -> Option<String> {
    // Not divided by the number of CPUs: 100 % is one CPU, as in the record.
    (cell.run_time_ns > 0).then(|| percent(ns as f64 / cell.run_time_ns as f64))
}

fn device_rate(cell: &CellRecord, bytes: fn(&DeviceFigures) -> u64) -> Option<String> {
    let bytes = bytes(cell.device.as_ref()?);
    Some(mebibytes(results::per_second(bytes, cell.run_time_ns)))
}

/// Returns `true` if a device's bytes clearly differ from the bytes of a cell.
fn differs(record: &RunRecord, operation: &str) -> bool {
    let mut shares = record
        .cells
        .iter()
        .filter_map(|it| it.device_share(operation));
    // The warnings about caches have the same limit of 90 %.
    shares.any(|share| !(0.9..=1.1).contains(&share))
}

/// Returns the device's bytes as a multiple of those that an operation moved.
fn device_share(cell: &CellRecord, operation: &str) -> Option<String> {
    let share = cell.device_share(operation);
    share.map(|share| format!("x {share:.2}"))
}
