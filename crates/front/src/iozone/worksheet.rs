//! The file of `-b`: the tables of `-R` as a worksheet of Excel 2, as the original writes them.
//!
//! Writers of current formats cannot write this one, whose records fit on a page.
//!
//! Source: OpenOffice's documentation of the Microsoft Excel file format, BIFF2: records BOF,
//! NUMBER, LABEL and EOF.

use results::RunRecord;

use super::options::IozoneOptions;
use super::text::{MeasuredSizes, children_reports, measured, tables};
use crate::text::ParsedArguments;

/// Types of records.
const BEGIN: u16 = 0x09;
const NUMBER: u16 = 0x03;
const LABEL: u16 = 0x04;
const END: u16 = 0x0A;
/// Version 2, and the type of a worksheet.
const WORKSHEET: [u8; 4] = [2, 0, 0x10, 0];
/// Neither locked nor hidden, with the first font and format.
const PLAIN_CELL: [u8; 3] = [0; 3];
/// Longest text of a cell.
const LABEL_BYTES_MAX: usize = 255;

/// Column of the sums of several children, as in the original.
const SUM_COLUMN: u16 = 2;

/// A worksheet that is written row by row.
struct Worksheet {
    bytes: Vec<u8>,
    row: u16,
}

impl Worksheet {
    fn new() -> Self {
        let mut sheet = Self {
            bytes: Vec::new(),
            row: 0,
        };
        sheet.record(BEGIN, &WORKSHEET);
        sheet
    }

    fn record(&mut self, kind: u16, content: &[u8]) {
        // At most a few hundred bytes.
        let length = content.len() as u16;
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(content);
    }

    fn cell(&mut self, kind: u16, column: u16, value: &[u8]) {
        let [row, column] = [self.row, column].map(u16::to_le_bytes);
        let content = [&row[..], &column, &PLAIN_CELL, value].concat();
        self.record(kind, &content);
    }

    fn number(&mut self, column: u16, number: f64) {
        self.cell(NUMBER, column, &number.to_le_bytes());
    }

    /// A row of numbers from this column on.
    fn numbers(&mut self, column: u16, numbers: impl Iterator<Item = f64>) {
        for (column, number) in (column..).zip(numbers) {
            self.number(column, number);
        }
        self.row = self.row.saturating_add(1);
    }

    fn label(&mut self, text: &str) {
        // The format has one byte per character, and its character sets differ beyond ASCII.
        let text = text.replace(|it: char| !it.is_ascii(), "?");
        let text = &text.as_bytes()[..text.len().min(LABEL_BYTES_MAX)];
        // At most 255.
        let value = [&[text.len() as u8], text].concat();
        self.cell(LABEL, 0, &value);
    }

    fn title(&mut self, text: &str) {
        self.label(text);
        self.row = self.row.saturating_add(1);
    }
}

/// The worksheet of a run.
pub(super) fn bytes(parsed: &ParsedArguments<IozoneOptions>, record: &RunRecord) -> Vec<u8> {
    let options = &parsed.options;
    let results = measured(record);
    let mut sheet = Worksheet::new();
    let command = [&["iozone".to_owned()], &parsed.arguments[..]].concat();
    sheet.title(&command.join(" "));
    match options.is_together() {
        true => children(&mut sheet, options, &results),
        false => single(&mut sheet, options, &results),
    }
    sheet.record(END, &[]);
    sheet.bytes
}

fn single(sheet: &mut Worksheet, options: &IozoneOptions, results: &[MeasuredSizes<'_>]) {
    sheet.title(" ");
    sheet.title("The top row is records sizes, the left column is file sizes");
    let rate = |it: &MeasuredSizes<'_>, name: &str| it.rate(options, name).map(|it| it as f64);
    write_tables(sheet, "Report", tables(options, results, &rate));
    if options.has_cpu_tables {
        sheet.row = sheet.row.saturating_add(1);
        let percent = |it: &MeasuredSizes<'_>, name: &str| {
            let worker = it.phase(name)?.worker_figures.first()?;
            Some(worker.utilization * 100.0)
        };
        let title = "CPU utilization report (Zero values should be ignored)";
        write_tables(sheet, title, tables(options, results, &percent));
    }
}

fn write_tables(sheet: &mut Worksheet, title: &str, tables: Vec<super::text::SizeTable>) {
    for table in tables {
        sheet.title(&format!("{} {title}", table.title));
        sheet.numbers(1, table.records_kib.iter().map(|kib| *kib as f64));
        for (file_kib, values) in &table.rows {
            sheet.number(0, *file_kib as f64);
            sheet.numbers(1, values.iter().copied());
        }
    }
}

fn children(sheet: &mut Worksheet, options: &IozoneOptions, results: &[MeasuredSizes<'_>]) {
    let record_kib = results.first().map_or(0, |it| it.sizes.record_kib);
    sheet.title("Throughput report Y-axis is type of test X-axis is number of processes");
    sheet.title(&format!("Record size = {record_kib} kBytes "));
    sheet.title(&format!("Output is in {}", options.unit.names()[2]));
    let (_, rows) = children_reports(options, results);
    for (test, sums) in &rows {
        sheet.label(&format!("{:>15} ", test.children_title));
        sheet.numbers(SUM_COLUMN, sums.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_their_place_and_value() {
        let mut sheet = Worksheet::new();
        sheet.title("aé");
        sheet.numbers(1, [1.0].into_iter());
        sheet.record(END, &[]);
        let wanted: [&[u8]; 4] = [
            &[9, 0, 4, 0, 2, 0, 0x10, 0],
            &[4, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'?'],
            &[
                3, 0, 15, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F,
            ],
            &[10, 0, 0, 0],
        ];
        assert_eq!(sheet.bytes, wanted.concat());
        let mut sheet = Worksheet::new();
        sheet.title(&"x".repeat(300));
        assert_eq!(sheet.bytes.len(), 8 + 4 + 8 + 255);
    }
}
