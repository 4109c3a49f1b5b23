//! Binary traces of VMware's vscsi layer, versions 1 and 2, as CloudPhysics published them.

use std::io::Read;

use crate::binary::RecordReader;
use crate::error::{RowFault, TraceError};
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::lines::{BATCH_EVENTS, TraceDecoder};
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_US, SECTOR_BYTES};

/// Version of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VscsiVersion {
    One,
    Two,
}

impl VscsiVersion {
    fn record_bytes(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    /// Place of the version within a record; its upper byte counts.
    fn version_at(self) -> usize {
        match self {
            Self::One => 15,
            Self::Two => 3,
        }
    }
}

/// The version of a binary stream, or `None` if it is no such trace. Two records in a row, if there
/// are as many, must have the version, because the form has no magic number.
pub(crate) fn version(head: &[u8]) -> Option<VscsiVersion> {
    let of_version = |version: VscsiVersion, mark: u8| {
        let size = version.record_bytes();
        let mut records = head.chunks_exact(size).take(4);
        let is_marked = |record: &[u8]| {
            let (opcode_at, device_bytes) = match version {
                VscsiVersion::One => (12, 4..8),
                VscsiVersion::Two => (0, 8..12),
            };
            // Commands have one byte, and the upper half of a length of more than 16 MiB is 0.
            record[version.version_at()] == mark
                && record[opcode_at + 1] == 0
                && record[device_bytes][3] == 0
        };
        head.len() >= size && records.all(is_marked)
    };
    if of_version(VscsiVersion::One, 1) {
        Some(VscsiVersion::One)
    } else {
        of_version(VscsiVersion::Two, 2).then_some(VscsiVersion::Two)
    }
}

/// Kind of a SCSI command.
pub(crate) fn kind_of_command(opcode: u64) -> TracedKind {
    match opcode {
        0x08 | 0x28 | 0x88 | 0xa8 => TracedKind::Read,
        0x0a | 0x2a | 0x8a | 0xaa => TracedKind::Write,
        0x35 | 0x91 => TracedKind::Flush,
        0x42 => TracedKind::Discard,
        _ => TracedKind::Other,
    }
}

/// Decodes the records of one file.
pub(crate) struct VscsiDecoder<R> {
    records: RecordReader<R>,
    version: VscsiVersion,
}

impl<R: Read> VscsiDecoder<R> {
    pub(crate) fn new(input: R, buffer_bytes: usize, version: VscsiVersion) -> Self {
        Self {
            records: RecordReader::new(input, buffer_bytes),
            version,
        }
    }
}

impl<R: Read> TraceDecoder for VscsiDecoder<R> {
    fn fill(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        let size = self.version.record_bytes();
        while batch.requests.len() < BATCH_EVENTS {
            let number = self.records.number();
            let Some(record) = self.records.peek(size)? else {
                self.records.report_rest(context);
                return Ok(false);
            };
            context.rows += 1;
            match request(record, self.version, number) {
                Ok(mut request) => {
                    request.device = context.names.id(b"disk");
                    batch.requests.push(request);
                }
                Err(fault) => context.bad_row(&format!("record {number}"), &fault)?,
            }
            self.records.take(size);
        }
        Ok(true)
    }
}

fn request(record: &[u8], version: VscsiVersion, number: u64) -> Result<TraceRequest, RowFault> {
    let u32_at = |at: usize| u64::from(u32::from_le_bytes(bytes_at(record, at)));
    let u64_at = |at: usize| u64::from_le_bytes(bytes_at(record, at));
    let (opcode, length, sector, time_us, latency_us) = match version {
        VscsiVersion::One => (
            u64::from(record[12]),
            u32_at(4),
            u64_at(16),
            u64_at(24),
            None,
        ),
        VscsiVersion::Two => {
            let latency_us = Some(u64_at(32));
            (
                u64::from(record[0]),
                u32_at(8),
                u64_at(16),
                u64_at(24),
                latency_us,
            )
        }
    };
    let kind = kind_of_command(opcode);
    let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
    let ns = i128::from(time_us) * NS_PER_US;
    request.time_ns = i64::try_from(ns).map_err(|_| {
        let wanted = "a time in microseconds within 292 years of its zero";
        RowFault::new(time_us.to_string().as_bytes(), wanted)
    })?;
    request.latency_ns = latency_us.and_then(|us| us.checked_mul(1000));
    if !matches!(kind, TracedKind::Flush | TracedKind::Other) {
        request.offset_bytes = number::offset(sector, SECTOR_BYTES, sector)?;
        let is_discard = kind == TracedKind::Discard;
        request.length_bytes = number::length(length, 1, is_discard, length)?;
    }
    Ok(request)
}

fn bytes_at<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    let bytes = record.get(at..at + N).and_then(|bytes| bytes.first_chunk());
    bytes.copied().unwrap_or([0; N])
}
