//! blktrace's binary records, versions 7 and 8, in either byte order.
//!
//! Source: `include/uapi/linux/blktrace_api.h` of Linux.

use std::collections::HashMap;
use std::io::Read;

use crate::binary::RecordReader;
use crate::error::{RowFault, TraceError};
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::lines::{BATCH_EVENTS, TraceDecoder};
use crate::names::NameId;
use crate::notice::DecodeContext;
use crate::number::{self, SECTOR_BYTES};

/// Upper 24 bits of a record's first word; the lower 8 are the version.
const MAGIC: u32 = 0x6561_7400;
const HEAD_BYTES: [usize; 2] = [48, 64];

/// Bits of categories, shifted down to bit 0.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;

const TIME_WANTED: &str = "a time within 292 years of its zero";

/// Limit on remembered names of processes, which a hostile trace could make arbitrarily many.
const PROCESSES_MAX: usize = 1 << 16;

/// Decodes the records of one file.
pub(crate) struct BlktraceDecoder<R> {
    records: RecordReader<R>,
    /// Names of processes, from notes.
    processes: HashMap<u32, NameId>,
    /// The last device and its name; most records repeat it.
    device: Option<(u32, NameId)>,
}

/// The fields of a record that are used.
struct BlktraceRecord {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    /// Without the bit for a control group.
    code: u16,
    categories: u32,
    pid: u32,
    device: u32,
    has_group: bool,
}

/// `true` if bytes begin with a record.
pub(crate) fn is_blktrace(head: &[u8]) -> bool {
    head.first_chunk()
        .is_some_and(|word| version(*word).is_some())
}

/// Version and byte order (`true` for big-endian) of a record.
fn version(word: [u8; 4]) -> Option<(u8, bool)> {
    let is_record = |word: u32| word & !0xff == MAGIC && matches!(word & 0xff, 7 | 8);
    let (little, big) = (u32::from_le_bytes(word), u32::from_be_bytes(word));
    if is_record(little) {
        Some((word[0], false))
    } else {
        is_record(big).then_some((word[3], true))
    }
}

impl<R: Read> BlktraceDecoder<R> {
    pub(crate) fn new(input: R, buffer_bytes: usize) -> Self {
        Self {
            records: RecordReader::new(input, buffer_bytes),
            processes: HashMap::new(),
            device: None,
        }
    }

    /// Decodes one record; `false` at the end.
    fn record(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        let number = self.records.number();
        let Some(word) = self
            .records
            .peek(4)?
            .and_then(|head| head.first_chunk().copied())
        else {
            return Ok(false);
        };
        let Some((version, is_big)) = version(word) else {
            // Records have no other mark, so the next one cannot be found.
            context.notice(format!(
                "record {number} has no magic number; the rest of the file is left out"
            ));
            self.records.stop();
            return Ok(false);
        };
        let head_bytes = HEAD_BYTES[usize::from(version == 8)];
        let Some(head) = self.records.peek(head_bytes)? else {
            return Ok(false);
        };
        let payload_bytes = usize::from(get_u16(head, head_bytes_of_length(version), is_big));
        let record = parse(head, version, is_big);
        let Some(whole) = self.records.peek(head_bytes + payload_bytes)? else {
            return Ok(false);
        };
        context.rows += 1;
        if record.categories & NOTIFY != 0 {
            let skipped = if record.has_group { 8 } else { 0 };
            let note = whole.get(head_bytes + skipped..).unwrap_or_default();
            // Code 0 is the name of a process.
            if record.code == 0 && self.processes.len() < PROCESSES_MAX {
                let end = memchr::memchr(0, note).unwrap_or(note.len());
                let name = context.names.id(&note[..end]);
                self.processes.insert(record.pid, name);
            }
        } else if let Some(layer) = layer(record.code) {
            match self.request(&record, layer, number, context) {
                Ok(request) => batch.requests.push(request),
                Err(fault) => context.bad_row(&format!("record {number}"), &fault)?,
            }
        }
        self.records.take(head_bytes + payload_bytes);
        Ok(true)
    }

    fn request(
        &mut self,
        record: &BlktraceRecord,
        layer: TraceLayer,
        number: u64,
        context: &mut DecodeContext,
    ) -> Result<TraceRequest, RowFault> {
        let mut request = TraceRequest::new(kind(record, layer), layer, number);
        // Numbers become text only for messages, because that is slow.
        request.time_ns = i64::try_from(record.time_ns)
            .map_err(|_| RowFault::new(record.time_ns.to_string().as_bytes(), TIME_WANTED))?;
        request.is_forced = record.categories & FUA != 0;
        request.pid = record.pid;
        request.process = match layer {
            TraceLayer::Complete => NameId::UNKNOWN,
            _ => self.processes.get(&record.pid).copied().unwrap_or_default(),
        };
        request.device = self.device(record.device, context);
        // A flush has no place; it completes at the sector 2^64 - 1.
        if !matches!(request.kind, TracedKind::Flush | TracedKind::Other) {
            let is_discard = request.kind == TracedKind::Discard;
            let bytes = u64::from(record.bytes);
            request.length_bytes = number::length(bytes, 1, is_discard, bytes)?;
            request.offset_bytes = number::offset(record.sector, SECTOR_BYTES, record.sector)?;
        }
        Ok(request)
    }

    fn device(&mut self, device: u32, context: &mut DecodeContext) -> NameId {
        if let Some((known, name)) = self.device
            && known == device
        {
            return name;
        }
        let name = format!("{},{}", device >> 20, device & 0xf_ffff);
        let name = context.names.id(name.as_bytes());
        self.device = Some((device, name));
        name
    }
}

impl<R: Read> TraceDecoder for BlktraceDecoder<R> {
    fn fill(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        while batch.requests.len() < BATCH_EVENTS {
            if !self.record(context, batch)? {
                self.records.report_rest(context);
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Place of the length of the payload within a record.
fn head_bytes_of_length(version: u8) -> usize {
    if version == 8 { 50 } else { 46 }
}

fn parse(head: &[u8], version: u8, is_big: bool) -> BlktraceRecord {
    let u32_at = |at| get_u32(head, at, is_big);
    let u64_at = |at| get_u64(head, at, is_big);
    // Version 8 has an action of 64 bits, whose upper half has the categories.
    let (code, categories, pid, device) = match version {
        8 => {
            let action = u64_at(32);
            let categories = (action >> 32) & 0xffff_ffff;
            (action & 0xffff, categories, u32_at(28), u32_at(40))
        }
        _ => {
            let action = u64::from(u32_at(28));
            (action & 0xffff, action >> 16, u32_at(32), u32_at(36))
        }
    };
    let code = u16::try_from(code).unwrap_or(0);
    BlktraceRecord {
        time_ns: u64_at(8),
        sector: u64_at(16),
        bytes: u32_at(24),
        code: code & !0x100,
        categories: u32::try_from(categories).unwrap_or(0),
        pid,
        device,
        has_group: code & 0x100 != 0,
    }
}

/// Layer of an action; merges, plugs, splits and others are no requests.
fn layer(code: u16) -> Option<TraceLayer> {
    match code {
        1 => Some(TraceLayer::Queue),
        6 => Some(TraceLayer::Requeue),
        7 => Some(TraceLayer::Issue),
        8 => Some(TraceLayer::Complete),
        _ => None,
    }
}

/// Discards have the bit of writes, and flushes that of reads, too.
fn kind(record: &BlktraceRecord, layer: TraceLayer) -> TracedKind {
    let has = |bit: u32| record.categories & bit != 0;
    if has(COMMAND) {
        TracedKind::Other
    } else if has(DISCARD) {
        TracedKind::Discard
    } else if has(WRITE) {
        // A write that also flushes completes a second time, without a length.
        match record.bytes > 0 || has(FUA) || layer == TraceLayer::Complete {
            true => TracedKind::Write,
            false => TracedKind::Flush,
        }
    } else if record.bytes > 0 {
        TracedKind::Read
    } else if has(FLUSH) {
        TracedKind::Flush
    } else {
        TracedKind::Other
    }
}

fn bytes_at<const N: usize>(head: &[u8], at: usize) -> [u8; N] {
    let bytes = head.get(at..at + N).and_then(|bytes| bytes.first_chunk());
    bytes.copied().unwrap_or([0; N])
}

fn get_u16(head: &[u8], at: usize, is_big: bool) -> u16 {
    let bytes = bytes_at(head, at);
    if is_big {
        u16::from_be_bytes(bytes)
    } else {
        u16::from_le_bytes(bytes)
    }
}

fn get_u32(head: &[u8], at: usize, is_big: bool) -> u32 {
    let bytes = bytes_at(head, at);
    if is_big {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    }
}

fn get_u64(head: &[u8], at: usize, is_big: bool) -> u64 {
    let bytes = bytes_at(head, at);
    if is_big {
        u64::from_be_bytes(bytes)
    } else {
        u64::from_le_bytes(bytes)
    }
}
