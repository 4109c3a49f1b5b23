//! Reads traces that pgmeter recorded.

use std::io::Read;

use super::number::PayloadReader;
use super::{
    BLOCK_HEAD_BYTES, BLOCK_MAGIC, BlockKind, FILE_HEAD_BYTES, FORCED, HAS_DURATION, HAS_OFFSET,
    HAS_RESULT, HAS_SECOND_FILE, PAYLOAD_BYTES_MAX, SAME_SOURCE, SAME_THREAD, checksum,
};
use crate::binary::RecordReader;
use crate::error::{RowFault, TraceError};
use crate::event::{
    CallKind, TraceBatch, TraceLayer, TraceRequest, TracedCall, TracedKind, TracedOpen,
};
use crate::lines::TraceDecoder;
use crate::names::NameId;
use crate::notice::DecodeContext;
use crate::number;
use crate::strace::call_kind;

/// Limit of memory; a file of pgmeter has fewer names.
const NAMES_MAX: usize = 1 << 17;

/// Decodes a file.
pub(crate) struct PgtDecoder<R> {
    records: RecordReader<R>,
    is_begun: bool,
    state: PgtState,
}

/// State that blocks share.
struct PgtState {
    /// Names of the file by their number there.
    names: Vec<NameId>,
    /// Number of events so far.
    row: u64,
    is_ended: bool,
}

impl<R: Read> PgtDecoder<R> {
    pub(crate) fn new(input: R, buffer_bytes: usize) -> Self {
        Self {
            records: RecordReader::new(input, buffer_bytes),
            is_begun: false,
            state: PgtState {
                names: vec![NameId::UNKNOWN, NameId::OVERFLOW],
                row: 0,
                is_ended: false,
            },
        }
    }

    /// Decodes one block; `false` at the end.
    fn block(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        if !self.is_begun {
            self.is_begun = true;
            // Only bytes that were looked at can be taken.
            if self.records.peek(FILE_HEAD_BYTES)?.is_some() {
                self.records.take(FILE_HEAD_BYTES);
            }
        }
        let number = self.records.number();
        let head = self.records.peek(BLOCK_HEAD_BYTES)?;
        let Some(head) = head.and_then(|head| head.first_chunk::<BLOCK_HEAD_BYTES>().copied())
        else {
            return Ok(false);
        };
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !head.starts_with(BLOCK_MAGIC) || length > PAYLOAD_BYTES_MAX {
            context.notice(format!(
                "record {number} does not begin as a block; the rest of the file is left out"
            ));
            self.records.stop();
            // The notice above says more than one about a missing end.
            self.state.is_ended = true;
            return Ok(false);
        }
        let Some(whole) = self.records.peek(BLOCK_HEAD_BYTES + length)? else {
            return Ok(false);
        };
        let payload = &whole[BLOCK_HEAD_BYTES..];
        let [.., a, b, c, d, e, f, g, h] = head;
        let wanted = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        if checksum(&head[..8], payload) != wanted {
            context.notice(format!(
                "record {number} has a wrong checksum; the events of this block are left out"
            ));
        } else if let Some(kind) = BlockKind::of(head[3]) {
            self.state.block(kind, payload, context, batch)?;
        }
        self.records.take(BLOCK_HEAD_BYTES + length);
        Ok(true)
    }
}

impl<R: Read> TraceDecoder for PgtDecoder<R> {
    fn fill(
        &mut self,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<bool, TraceError> {
        // A block has a few thousand events.
        if self.block(context, batch)? {
            return Ok(true);
        }
        self.records.report_rest(context);
        if !self.state.is_ended {
            context.notice(
                "the recording was killed or is still running: its last second may be missing"
                    .to_owned(),
            );
        }
        Ok(false)
    }
}

impl PgtState {
    fn block(
        &mut self,
        kind: BlockKind,
        payload: &[u8],
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), TraceError> {
        let mut reader = PayloadReader { rest: payload };
        let read = match kind {
            BlockKind::About => {
                let about = String::from_utf8_lossy(payload);
                let lines = about.lines().take(4).filter(|line| !line.is_empty());
                lines.for_each(|line| context.notice(units::printable(line).into_owned()));
                Some(())
            }
            BlockKind::Names => self.add_names(&mut reader, context),
            BlockKind::Loss => reader.number().map(|events| context.lost(events)),
            BlockKind::End => {
                self.is_ended = true;
                Some(())
            }
            BlockKind::Requests => return self.add_requests(&mut reader, context, batch),
            BlockKind::Calls => return self.add_calls(&mut reader, context, batch),
        };
        match read {
            Some(()) => Ok(()),
            None => {
                let fault = RowFault::new(&payload[..payload.len().min(16)], "a block of pgmeter");
                context.bad_row(&format!("before row {}", self.row + 1), &fault)
            }
        }
    }

    /// A number within the file, translated.
    fn name(&self, number: u64) -> NameId {
        let name = usize::try_from(number)
            .ok()
            .and_then(|at| self.names.get(at));
        // The block of the name was damaged.
        name.copied().unwrap_or(NameId::OVERFLOW)
    }

    fn add_names(
        &mut self,
        reader: &mut PayloadReader<'_>,
        context: &mut DecodeContext,
    ) -> Option<()> {
        let first = usize::try_from(reader.number()?).ok()?;
        if first > NAMES_MAX {
            return None;
        }
        // A damaged block before this one leaves a gap.
        self.names.resize(first, NameId::OVERFLOW);
        while !reader.rest.is_empty() && self.names.len() < NAMES_MAX {
            let name = reader.text()?;
            self.names.push(context.names.id(name));
        }
        Some(())
    }

    fn add_requests(
        &mut self,
        reader: &mut PayloadReader<'_>,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), TraceError> {
        let mut last = TraceRequest::new(TracedKind::Other, TraceLayer::Request, 0);
        while !reader.rest.is_empty() {
            self.row += 1;
            context.rows += 1;
            let row = self.row;
            let start = reader.rest;
            let Some(request) = self.request(reader, &last) else {
                return cut_off(row, start, context);
            };
            last = request;
            match within_limits(&request) {
                Ok(()) => batch.requests.push(request),
                Err(fault) => context.bad_row(&format!("row {row}"), &fault)?,
            }
        }
        Ok(())
    }

    fn request(&self, reader: &mut PayloadReader<'_>, last: &TraceRequest) -> Option<TraceRequest> {
        let flags = reader.byte()?;
        let kind = *TracedKind::ALL.get(usize::from(flags & 7))?;
        let layer = *TraceLayer::ALL.get(usize::from(flags >> 3 & 7))?;
        let mut request = TraceRequest::new(kind, layer, self.row);
        request.is_forced = flags & FORCED != 0;
        (request.device, request.process, request.pid) = match flags & SAME_SOURCE != 0 {
            true => (last.device, last.process, last.pid),
            false => {
                let device = self.name(reader.number()?);
                let process = self.name(reader.number()?);
                (device, process, reader.number_u32()?)
            }
        };
        request.time_ns = last.time_ns.wrapping_add(reader.signed()?);
        let step = reader.signed()?.cast_unsigned();
        request.offset_bytes = last.end_bytes().wrapping_add(step);
        request.length_bytes = reader.number()?;
        Some(request)
    }

    fn add_calls(
        &mut self,
        reader: &mut PayloadReader<'_>,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), TraceError> {
        let mut last = (0, 0);
        while !reader.rest.is_empty() {
            self.row += 1;
            context.rows += 1;
            let start = reader.rest;
            let Some(mut call) = self.call(reader, last) else {
                return cut_off(self.row, start, context);
            };
            last = (call.time_ns, call.thread);
            call.kind = call_kind(context.names.bytes(call.name));
            batch.calls.push(call);
        }
        Ok(())
    }

    /// `last` are time and thread of the call before.
    fn call(&self, reader: &mut PayloadReader<'_>, last: (i64, u32)) -> Option<TracedCall> {
        let flags = reader.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let (last_ns, last_thread) = last;
        let thread = match has(SAME_THREAD) {
            true => last_thread,
            false => reader.number_u32()?,
        };
        let time_ns = last_ns.wrapping_add(reader.signed()?);
        let name = self.name(reader.number()?);
        let file = self.name(reader.number()?);
        let mut optional = |flag: u8| match has(flag) {
            true => reader.number().map(Some),
            false => Some(None),
        };
        let second_file = optional(HAS_SECOND_FILE)?;
        let duration_ns = optional(HAS_DURATION)?;
        let offset_bytes = optional(HAS_OFFSET)?;
        let length_bytes = reader.number()?;
        let result = match has(HAS_RESULT) {
            true => Some(reader.signed()?),
            false => None,
        };
        Some(TracedCall {
            time_ns,
            duration_ns,
            offset_bytes,
            length_bytes,
            result,
            row: self.row,
            thread,
            name,
            file,
            second_file: second_file.map_or(NameId::UNKNOWN, |number| self.name(number)),
            kind: CallKind::Other,
            open: TracedOpen::default(),
        })
    }
}

/// The rest of a block has no known start, so it is left out.
fn cut_off(row: u64, bytes: &[u8], context: &mut DecodeContext) -> Result<(), TraceError> {
    let fault = RowFault::new(&bytes[..bytes.len().min(16)], "an event");
    context.bad_row(&format!("row {row}"), &fault)
}

/// The checksum says nothing about the program that computed it.
fn within_limits(request: &TraceRequest) -> Result<(), RowFault> {
    let is_discard = request.kind == TracedKind::Discard;
    number::length(request.length_bytes, 1, is_discard, request.length_bytes)?;
    number::offset(request.offset_bytes, 1, request.offset_bytes)?;
    Ok(())
}
