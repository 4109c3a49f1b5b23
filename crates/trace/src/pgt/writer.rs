//! Writes traces.

use std::io::{self, Write};

use super::number::{put, put_signed};
use super::{
    BLOCK_HEAD_BYTES, BLOCK_MAGIC, BlockKind, FILE_HEAD_BYTES, FORCED, HAS_DURATION, HAS_OFFSET,
    HAS_RESULT, HAS_SECOND_FILE, MAGIC, SAME_SOURCE, SAME_THREAD, TraceContent, VERSION, checksum,
};
use crate::event::{TraceRequest, TracedCall};
use crate::names::{NameId, TraceNames};

/// Size of a payload after which its block ends.
const PAYLOAD_BYTES: usize = 64 << 10;

/// Writes a trace in pgmeter's own form.
///
/// A reader sorts events within a second, so events should be added roughly in the order of time.
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
    content: TraceContent,
    names: TraceNames,
    /// Number of names that are in the file.
    written_names: usize,
    /// The current block; its head is filled in at its end.
    block: Vec<u8>,
    last_request: Option<TraceRequest>,
    last_call: Option<TracedCall>,
    event_count: u64,
    written_bytes: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Begins a trace. `about` are lines of text about the recording.
    ///
    /// # Errors
    /// The output fails.
    pub fn new(output: W, content: TraceContent, about: &str) -> io::Result<Self> {
        let mut writer = Self {
            output,
            content,
            names: TraceNames::default(),
            // The first two names are not recorded.
            written_names: TraceNames::default().count(),
            block: vec![0; BLOCK_HEAD_BYTES],
            last_request: None,
            last_call: None,
            event_count: 0,
            written_bytes: 0,
        };
        let mut head = [0; FILE_HEAD_BYTES];
        head[..MAGIC.len()].copy_from_slice(MAGIC);
        head[MAGIC.len()] = VERSION;
        head[MAGIC.len() + 1] = content.byte();
        writer.write(&head)?;
        let about = &about.as_bytes()[..about.len().min(PAYLOAD_BYTES)];
        writer.block.extend_from_slice(about);
        writer.end_block(BlockKind::About)?;
        Ok(writer)
    }

    /// The number of a name, for the events that are added.
    pub fn name(&mut self, name: &[u8]) -> NameId {
        self.names.id(name)
    }

    /// Adds a request. Its row and latency are not written: rows are counted, and completions give
    /// their requests latencies.
    ///
    /// # Errors
    /// The output fails.
    pub fn request(&mut self, request: &TraceRequest) -> io::Result<()> {
        let last = self.last_request.replace(*request);
        let source = |it: &TraceRequest| (it.device, it.process, it.pid);
        let is_same = last.is_some_and(|last| source(&last) == source(request));
        let forced = if request.is_forced { FORCED } else { 0 };
        let same = if is_same { SAME_SOURCE } else { 0 };
        let flags = request.kind as u8 | (request.layer as u8) << 3 | forced | same;
        let block = &mut self.block;
        block.push(flags);
        if !is_same {
            put(block, request.device.number().into());
            put(block, request.process.number().into());
            put(block, request.pid.into());
        }
        let last_ns = last.map_or(0, |last| last.time_ns);
        put_signed(block, request.time_ns.wrapping_sub(last_ns));
        let last_end = last.map_or(0, |last| last.end_bytes());
        let step = request.offset_bytes.wrapping_sub(last_end);
        put_signed(block, step.cast_signed());
        put(block, request.length_bytes);
        self.added()
    }

    /// Adds a call. Its row and kind are not written: rows are counted, and the name determines the
    /// kind.
    ///
    /// # Errors
    /// The output fails.
    pub fn call(&mut self, call: &TracedCall) -> io::Result<()> {
        let last = self.last_call.replace(*call);
        let is_same = last.is_some_and(|last| last.thread == call.thread);
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        let flags = flag(SAME_THREAD, is_same)
            | flag(HAS_DURATION, call.duration_ns.is_some())
            | flag(HAS_OFFSET, call.offset_bytes.is_some())
            | flag(HAS_RESULT, call.result.is_some())
            | flag(HAS_SECOND_FILE, call.second_file != NameId::UNKNOWN);
        let block = &mut self.block;
        block.push(flags);
        if !is_same {
            put(block, call.thread.into());
        }
        let last_ns = last.map_or(0, |last| last.time_ns);
        put_signed(block, call.time_ns.wrapping_sub(last_ns));
        put(block, call.name.number().into());
        put(block, call.file.number().into());
        if flags & HAS_SECOND_FILE != 0 {
            put(block, call.second_file.number().into());
        }
        for number in [call.duration_ns, call.offset_bytes].into_iter().flatten() {
            put(block, number);
        }
        put(block, call.length_bytes);
        if let Some(result) = call.result {
            put_signed(block, result);
        }
        self.added()
    }

    fn added(&mut self) -> io::Result<()> {
        self.event_count += 1;
        match self.block.len() >= PAYLOAD_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Adds events that the kernel dropped.
    ///
    /// # Errors
    /// The output fails.
    pub fn lost(&mut self, events: u64) -> io::Result<()> {
        self.flush()?;
        put(&mut self.block, events);
        self.end_block(BlockKind::Loss)
    }

    /// Ends the current block, so that a reader sees all events so far.
    ///
    /// # Errors
    /// The output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.block.len() == BLOCK_HEAD_BYTES {
            return Ok(());
        }
        let empty = vec![0; BLOCK_HEAD_BYTES];
        // Names come before the events that use them.
        let events = std::mem::replace(&mut self.block, empty);
        while self.written_names < self.names.count() {
            self.write_names()?;
        }
        self.block = events;
        (self.last_request, self.last_call) = (None, None);
        self.end_block(match self.content {
            TraceContent::Requests => BlockKind::Requests,
            TraceContent::Calls => BlockKind::Calls,
        })
    }

    /// Writes one block of names.
    fn write_names(&mut self) -> io::Result<()> {
        put(&mut self.block, self.written_names as u64);
        while self.written_names < self.names.count() && self.block.len() < PAYLOAD_BYTES {
            let name = self.names.bytes(NameId::of(self.written_names));
            put(&mut self.block, name.len() as u64);
            self.block.extend_from_slice(name);
            self.written_names += 1;
        }
        self.end_block(BlockKind::Names)
    }

    /// Ends the trace, and returns the output and the size of the trace in bytes.
    ///
    /// # Errors
    /// The output fails.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.flush()?;
        put(&mut self.block, self.event_count);
        self.end_block(BlockKind::End)?;
        self.output.flush()?;
        Ok((self.output, self.written_bytes))
    }

    fn end_block(&mut self, kind: BlockKind) -> io::Result<()> {
        let mut block = std::mem::take(&mut self.block);
        let (head, payload) = block.split_at_mut(BLOCK_HEAD_BYTES);
        head[..3].copy_from_slice(BLOCK_MAGIC);
        head[3] = kind as u8;
        // A block ends soon after 64 KiB, far below the maximum of the number.
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        head[4..8].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(&head[..8], payload);
        head[8..].copy_from_slice(&sum.to_le_bytes());
        // One call for the whole block: after a kill, at most the last block is cut.
        let written = self.write(&block);
        block.truncate(BLOCK_HEAD_BYTES);
        self.block = block;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }
}
