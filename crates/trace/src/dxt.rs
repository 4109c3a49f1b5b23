//! Text of `darshan-dxt-parser`.

use crate::error::RowFault;
use crate::event::{TraceBatch, TraceLayer, TraceRequest, TracedKind};
use crate::fields::LineFields;
use crate::lines::RowParser;
use crate::names::NameId;
use crate::notice::DecodeContext;
use crate::number::{self, NS_PER_S};

/// Parses the records of files and their segments.
#[derive(Debug, Default)]
pub(crate) struct DxtParser {
    file: NameId,
    /// Module of the first segment: MPI-IO repeats the bytes of POSIX at another level.
    module: Vec<u8>,
}

impl RowParser for DxtParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        if line.starts_with(b"#") {
            if let Some(at) = memchr::memmem::find(line, b"file_name: ") {
                self.file = context.names.id(line[at + 11..].trim_ascii());
            }
            return Ok(());
        }
        let fields = LineFields::blank(line);
        let module = fields.get(0);
        if !module.starts_with(b"X_") || fields.all().len() < 8 {
            return Err(RowFault::new(
                line,
                "a segment, such as `X_POSIX 0 read 0 0 64 0.1 0.2`",
            ));
        }
        if self.module.is_empty() {
            self.module = module.to_vec();
            let notice = "times have 4 digits: they are exact to 0.1 ms";
            context.notice(notice.to_owned());
        } else if self.module != module {
            context.skip("repeat the same bytes at the level of another module");
            return Ok(());
        }
        let kind = match fields.get(2) {
            b"read" => TracedKind::Read,
            b"write" => TracedKind::Write,
            other => return Err(RowFault::new(other, "`read` or `write`")),
        };
        let mut request = TraceRequest::new(kind, TraceLayer::Request, number);
        let (offset, length) = (fields.get(4), fields.get(5));
        let whole = |text: &[u8]| {
            number::whole(text).ok_or_else(|| RowFault::new(text, "a number of bytes"))
        };
        request.offset_bytes = number::offset(whole(offset)?, 1, offset)?;
        request.length_bytes = number::length(whole(length)?, 1, false, length)?;
        let (start, end) = (fields.get(6), fields.get(7));
        let seconds = |text: &[u8]| {
            let ns = number::nanoseconds(text, NS_PER_S);
            ns.ok_or_else(|| RowFault::new(text, "a time in seconds"))
        };
        let (start_ns, end_ns) = (seconds(start)?, seconds(end)?);
        request.time_ns = number::stored_time(start_ns, start)?;
        request.latency_ns = u64::try_from(end_ns - start_ns).ok();
        request.device = self.file;
        let rank = [b"rank ", fields.get(1)].concat();
        request.process = context.names.id(&rank);
        batch.requests.push(request);
        Ok(())
    }
}
