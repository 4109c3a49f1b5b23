//! Text of strace.

mod call;
mod files;
mod line;

use std::collections::HashMap;

use crate::error::RowFault;
use crate::event::{CallKind, TraceBatch, TracedCall, TracedOpen};
use crate::lines::RowParser;
use crate::notice::DecodeContext;
use crate::number;

use call::{CallText, kind};
use files::TracedDescriptors;
use line::{StraceLine, StraceText, StraceTime};

pub(crate) use call::kind as call_kind;
pub(crate) use line::is_call;

/// Limits of memory for calls that did not end yet.
const UNFINISHED_MAX: usize = 1 << 12;
const UNFINISHED_BYTES_MAX: usize = 4 << 10;
const DAY_NS: i128 = 86_400 * number::NS_PER_S;

/// Parses the lines of strace.
#[derive(Debug, Default)]
pub(crate) struct StraceParser {
    files: TracedDescriptors,
    /// Calls that did not end yet, by thread.
    unfinished: HashMap<u32, UnfinishedCall>,
    /// Days since the start: `-tt` prints no dates.
    day_ns: i128,
    /// Last time of day, or sum of the relative times of `-r`.
    last_ns: i128,
}

/// The start of a call that other threads interrupted.
#[derive(Debug)]
struct UnfinishedCall {
    time_ns: i64,
    text: Vec<u8>,
}

impl RowParser for StraceParser {
    fn row(
        &mut self,
        line: &[u8],
        number: u64,
        context: &mut DecodeContext,
        batch: &mut TraceBatch,
    ) -> Result<(), RowFault> {
        let StraceLine { thread, time, text } = StraceLine::parse(line);
        let time_ns = self.time(time, line, context)?;
        match text {
            // Signals, ends of threads, and messages of strace.
            StraceText::Note => {
                context.rows -= 1;
                Ok(())
            }
            StraceText::Unfinished(start) => self.suspend(thread, time_ns, start),
            StraceText::Resumed(rest) => {
                let Some(call) = self.unfinished.remove(&thread) else {
                    context.skip("end calls whose start is missing");
                    return Ok(());
                };
                let whole = [call.text.as_slice(), rest].concat();
                let added = self.call(&whole, thread, call.time_ns, context)?;
                batch.calls.push(TracedCall {
                    row: number,
                    ..added
                });
                Ok(())
            }
            StraceText::Call(text) => {
                let added = self.call(text, thread, time_ns, context)?;
                batch.calls.push(TracedCall {
                    row: number,
                    ..added
                });
                Ok(())
            }
        }
    }

    fn finish(&mut self, context: &mut DecodeContext, _batch: &mut TraceBatch) {
        let left = self.unfinished.len();
        if left > 0 {
            context.notice(format!(
                "{left} calls did not end before the end of the trace"
            ));
        }
    }
}

impl StraceParser {
    fn time(
        &mut self,
        time: StraceTime,
        line: &[u8],
        context: &mut DecodeContext,
    ) -> Result<i64, RowFault> {
        let ns = match time {
            StraceTime::Epoch(ns) => ns,
            StraceTime::Relative(ns) => {
                self.last_ns += ns;
                self.last_ns
            }
            StraceTime::OfDay(ns) => {
                // Midnight passed; smaller steps back come from other threads.
                if self.last_ns - ns > DAY_NS / 2 {
                    self.day_ns += DAY_NS;
                }
                self.last_ns = ns;
                self.day_ns + ns
            }
            StraceTime::Missing => {
                let notice = "the trace has no times (record with `strace -f -ttt -T -y`): only \
                              the order of calls is known";
                context.notice(notice.to_owned());
                0
            }
        };
        number::stored_time(ns, line)
    }

    fn suspend(&mut self, thread: u32, time_ns: i64, start: &[u8]) -> Result<(), RowFault> {
        let is_known = self.unfinished.contains_key(&thread);
        if self.unfinished.len() >= UNFINISHED_MAX && !is_known {
            return Err(RowFault::new(
                start,
                "a call of at most 4096 threads at once",
            ));
        }
        if start.len() > UNFINISHED_BYTES_MAX {
            return Err(RowFault::new(start, "the start of a call, below 4 KiB"));
        }
        let text = start.to_vec();
        self.unfinished
            .insert(thread, UnfinishedCall { time_ns, text });
        Ok(())
    }

    fn call(
        &mut self,
        text: &[u8],
        thread: u32,
        time_ns: i64,
        context: &mut DecodeContext,
    ) -> Result<TracedCall, RowFault> {
        let wanted = "a call, such as `read(3, \"\"..., 4096) = 4096`";
        let parsed = CallText::parse(text).ok_or_else(|| RowFault::new(text, wanted))?;
        let mut call = TracedCall {
            time_ns,
            duration_ns: parsed.duration_ns,
            offset_bytes: None,
            length_bytes: 0,
            result: parsed.result,
            row: 0,
            thread,
            name: context.names.id(parsed.name),
            file: crate::names::NameId::UNKNOWN,
            second_file: crate::names::NameId::UNKNOWN,
            kind: kind(parsed.name),
            open: TracedOpen::default(),
        };
        let moved = parsed.result.and_then(|result| u64::try_from(result).ok());
        if matches!(call.kind, CallKind::Read | CallKind::Write) {
            call.length_bytes = moved.unwrap_or(0);
        }
        self.files.follow(&parsed, &mut call, &mut context.names);
        Ok(call)
    }
}
