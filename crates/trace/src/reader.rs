//! Reads a trace from one or several files.

use std::io::{Cursor, ErrorKind, Read};

use crate::container::uncompressed;
use crate::error::TraceError;
use crate::event::{TraceBatch, TraceLayer, TracedCall};
use crate::lines::TraceDecoder;
use crate::names::TraceNames;
use crate::notice::DecodeContext;
use crate::order::{RequestOrder, SortWindow};
use crate::recognize::{HEAD_BYTES, TraceFormat};
use crate::table::TraceTimeUnit;

/// Maximum number of files of one trace; blktrace writes one for each CPU.
pub const INPUTS_MAX: usize = 1024;
/// Total size of the buffers of all files.
const BUFFERS_BYTES: usize = 8 << 20;
const BUFFER_BYTES_MAX: usize = 256 << 10;
const BUFFER_BYTES_MIN: usize = 8 << 10;

/// How a trace is read.
#[derive(Debug, Clone, Copy)]
pub struct TraceOptions {
    /// Layer whose requests count; by default, issues to the driver if there are any, otherwise
    /// queued requests, otherwise completions.
    pub layer: Option<TraceLayer>,
    /// Unit of the times of tables whose format does not define it.
    pub time_unit: Option<TraceTimeUnit>,
    /// Time within which events are sorted, in nanoseconds.
    pub window_ns: i64,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            layer: None,
            time_unit: None,
            window_ns: 1_000_000_000,
        }
    }
}

/// A trace that is read in order of time with bounded memory.
pub struct TraceReader<'a> {
    format_name: &'static str,
    has_calls: bool,
    inputs: Vec<TraceInput<'a>>,
    context: DecodeContext,
    requests: RequestOrder,
    calls: SortWindow<TracedCall>,
    is_ended: bool,
}

/// One file of a trace.
struct TraceInput<'a> {
    decoder: Box<dyn TraceDecoder + 'a>,
    batch: TraceBatch,
    /// Number of events of the batch that were taken.
    taken: usize,
    is_ended: bool,
}

impl std::fmt::Debug for TraceReader<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = formatter.debug_struct("TraceReader");
        debug
            .field("format_name", &self.format_name)
            .finish_non_exhaustive()
    }
}

impl<'a> TraceReader<'a> {
    /// Recognizes a trace by its content. Several inputs, such as the files of all CPUs, are parts
    /// of one trace.
    ///
    /// # Errors
    /// The content is no trace, or an input fails.
    pub fn open(
        inputs: Vec<Box<dyn Read + 'a>>,
        options: TraceOptions,
    ) -> Result<Self, TraceError> {
        let count = inputs.len();
        if count > INPUTS_MAX {
            let max = INPUTS_MAX;
            return Err(TraceError::ManyInputs { count, max });
        }
        let share = BUFFERS_BYTES / count.max(1);
        let buffer_bytes = share.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        let mut reader = Self {
            format_name: "",
            has_calls: false,
            inputs: Vec::with_capacity(count),
            context: DecodeContext::default(),
            requests: RequestOrder::new(options.window_ns, options.layer),
            calls: SortWindow::new(options.window_ns),
            is_ended: false,
        };
        for input in inputs {
            let (format, input) = recognized(input, options.time_unit)?;
            reader.format_name = format.name();
            reader.has_calls |= format.has_calls();
            reader.inputs.push(TraceInput {
                decoder: format.decoder(input, buffer_bytes),
                batch: TraceBatch::default(),
                taken: 0,
                is_ended: false,
            });
        }
        Ok(reader)
    }

    /// Name of the format.
    #[must_use]
    pub fn format_name(&self) -> &'static str {
        self.format_name
    }

    /// `true` if the trace has calls in place of requests.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// Replaces `batch` with the next requests or calls in order of time; `false` at the end. A
    /// batch may be empty before the end.
    ///
    /// # Errors
    /// An input fails, or most of it is invalid.
    pub fn read(&mut self, batch: &mut TraceBatch) -> Result<bool, TraceError> {
        batch.clear();
        if self.is_ended {
            return Ok(false);
        }
        let has_more = match self.inputs.as_slice() {
            [_] => self.read_single(batch)?,
            _ => self.read_merged(batch)?,
        };
        if !has_more {
            self.is_ended = true;
            self.requests.finish(&mut self.context, &mut batch.requests);
            self.calls.pass_on(None, &mut batch.calls);
        }
        Ok(has_more || !batch.is_empty())
    }

    fn read_single(&mut self, batch: &mut TraceBatch) -> Result<bool, TraceError> {
        let Some(input) = self.inputs.first_mut() else {
            return Ok(false);
        };
        input.batch.clear();
        let has_more = input.decoder.fill(&mut self.context, &mut input.batch)?;
        for request in &input.batch.requests {
            self.requests
                .add(*request, &mut self.context, &mut batch.requests);
        }
        for call in &input.batch.calls {
            self.calls.add(*call, &mut self.context, &mut batch.calls);
        }
        Ok(has_more)
    }

    /// Takes events in order of time from all files until one of them needs more.
    fn read_merged(&mut self, batch: &mut TraceBatch) -> Result<bool, TraceError> {
        for input in &mut self.inputs {
            input.refill(&mut self.context)?;
        }
        loop {
            let next = self
                .inputs
                .iter_mut()
                .filter(|input| input.next_ns().is_some());
            let Some(input) = next.min_by_key(|input| input.next_ns()) else {
                return Ok(self.inputs.iter().any(|input| !input.is_ended));
            };
            if let Some(request) = input.batch.requests.get(input.taken) {
                self.requests
                    .add(*request, &mut self.context, &mut batch.requests);
            } else if let Some(call) = input.batch.calls.get(input.taken) {
                self.calls.add(*call, &mut self.context, &mut batch.calls);
            }
            input.taken += 1;
            if input.next_ns().is_none() && !input.is_ended {
                return Ok(true);
            }
        }
    }

    /// Names of devices, files and processes.
    #[must_use]
    pub fn names(&self) -> &TraceNames {
        &self.context.names
    }

    /// What the user should know, in sentences without end. They are complete after the end.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.context.notices()
    }

    /// The layer that counts, once it is known.
    #[must_use]
    pub fn layer(&self) -> Option<TraceLayer> {
        self.requests.layer()
    }

    /// Number of events of a layer so far.
    #[must_use]
    pub fn layer_count(&self, layer: TraceLayer) -> u64 {
        self.requests.layer_counts()[layer as usize]
    }

    /// Number of completions without a request so far.
    #[must_use]
    pub fn unmatched_count(&self) -> u64 {
        self.requests.unmatched_count()
    }

    /// Number of rows or records that were left out because they are invalid.
    #[must_use]
    pub fn invalid_rows(&self) -> u64 {
        self.context.bad_rows()
    }

    /// Number of events that the recording program reported as lost.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.context.lost_events()
    }

    /// How often time ran backward in the file.
    #[must_use]
    pub fn backward_count(&self) -> u64 {
        match self.has_calls {
            true => self.calls.backward_count(),
            false => self.requests.backward_count(),
        }
    }
}

impl TraceInput<'_> {
    /// Decodes until there is an event, or the file ends.
    fn refill(&mut self, context: &mut DecodeContext) -> Result<(), TraceError> {
        while self.next_ns().is_none() && !self.is_ended {
            self.batch.clear();
            self.taken = 0;
            self.is_ended = !self.decoder.fill(context, &mut self.batch)?;
        }
        Ok(())
    }

    fn next_ns(&self) -> Option<i64> {
        let request = self.batch.requests.get(self.taken).map(|it| it.time_ns);
        request.or_else(|| self.batch.calls.get(self.taken).map(|it| it.time_ns))
    }
}

/// `true` if content that begins with `head` is a trace, or a known recording that cannot be read.
#[must_use]
pub fn is_trace(head: &[u8]) -> bool {
    // Text in UTF-16 may be anything.
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    !is_utf16
        && match recognized(Box::new(head), None) {
            Ok(_) | Err(TraceError::Refused { .. }) => true,
            Err(_) => false,
        }
}

/// Recognizes the format of a stream, which continues from its first byte.
fn recognized<'a>(
    input: Box<dyn Read + 'a>,
    time_unit: Option<TraceTimeUnit>,
) -> Result<(TraceFormat, Box<dyn Read + 'a>), TraceError> {
    let mut input = uncompressed(input).map_err(TraceError::Read)?;
    let mut head = vec![0; HEAD_BYTES];
    let mut filled = 0;
    while filled < head.len() {
        match input.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The decoder meets the same end again and reports it.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && filled > 0 => break,
            Err(error) => return Err(TraceError::Read(error)),
        }
    }
    head.truncate(filled);
    let format = TraceFormat::recognize(&head, time_unit)?;
    Ok((format, Box::new(Cursor::new(head).chain(input))))
}
