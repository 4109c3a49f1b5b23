//! Traces of Florida International University (SRCMap and others).

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::{first_word, last_word};
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number::{self, SECTOR_BYTES};

/// Parses `NS PID PROCESS SECTOR COUNT W MAJOR MINOR MD5`.
#[derive(Debug, Default)]
pub(crate) struct FiuParser;

/// Raw fields of a row.
struct FiuRow<'a> {
    time: &'a [u8],
    pid: &'a [u8],
    process: &'a [u8],
    sector: &'a [u8],
    count: &'a [u8],
    letter: &'a [u8],
    major: &'a [u8],
    minor: &'a [u8],
}

/// The fields of a row. The name of a process may contain blanks, so those after it are counted
/// from the end.
fn fields(line: &[u8]) -> Option<FiuRow<'_>> {
    let (time, rest) = first_word(line);
    let (pid, rest) = first_word(rest);
    let (rest, hash) = last_word(rest);
    let (rest, minor) = last_word(rest);
    let (rest, major) = last_word(rest);
    let (rest, letter) = last_word(rest);
    let (rest, count) = last_word(rest);
    let (process, sector) = last_word(rest);
    let numbers = [time, pid, sector, count, major, minor];
    let is_row = numbers.iter().all(|text| number::whole(text).is_some())
        && matches!(letter, b"R" | b"W" | b"r" | b"w")
        && !hash.is_empty()
        && !process.is_empty();
    is_row.then_some(FiuRow {
        time,
        pid,
        process,
        sector,
        count,
        letter,
        major,
        minor,
    })
}

/// `true` if a line has this form.
pub(crate) fn is_row(line: &[u8]) -> bool {
    fields(line).is_some()
}

impl RowParser for FiuParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        let wanted = "a row `NS PID PROCESS SECTOR COUNT W MAJOR MINOR MD5`";
        let row = fields(line).ok_or_else(|| RowFault::new(line, wanted))?;
        let kind = match row.letter.eq_ignore_ascii_case(b"r") {
            true => TracedKind::Read,
            false => TracedKind::Write,
        };
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        let whole = |text: &[u8]| number::whole(text).unwrap_or(0);
        request.time_ns = number::stored_time(i128::from(whole(row.time)), row.time)?;
        request.offset_bytes = number::offset(whole(row.sector), SECTOR_BYTES, row.sector)?;
        request.length_bytes = number::length(whole(row.count), SECTOR_BYTES, false, row.count)?;
        request.pid = u32::try_from(whole(row.pid)).unwrap_or(0);
        request.process = context.names.id(row.process);
        request.device = context.names.id(&[row.major, b",", row.minor].concat());
        batch.requests.push(request);
        Ok(())
    }
}
