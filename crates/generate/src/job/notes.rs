//! A log of requests and their results: a wrapper around a stream, which work without a log does
//! not have.

use std::sync::mpsc::Sender;

use engine::{Completion, Operation, OperationSet, Request};
use plan::job::{LoggedRequest, RecordedKind, RecordedRequest};

use super::split::LatencySplitter;
use crate::{Flow, Generator, Step};

/// Number of requests sent in one message.
const NOTES_PER_MESSAGE: usize = 8192;

/// Maximum number of requests logged per job; later ones are ignored.
// All of them stay in memory until the job ends: 896 MiB at 56 bytes each.
const NOTES_MAX: u32 = 1 << 24;

/// The requests of a stream, logged if there is a receiver, and timed if the engine tells when it
/// submits them.
#[derive(Debug)]
pub struct RequestLogger<G> {
    inner: G,
    log: Option<RequestLog>,
    split: Option<LatencySplitter>,
}

#[derive(Debug)]
struct RequestLog {
    receiver: Sender<Vec<LoggedRequest>>,
    batch: Vec<LoggedRequest>,
    /// Requests in flight, by slot.
    issued: Box<[Option<LoggedRequest>]>,
    /// Time of the first request, on the worker's clock.
    begin_ns: Option<u64>,
    count: u32,
    /// `true` before and after the measurement.
    is_aside: bool,
}

impl<G: Generator> RequestLogger<G> {
    /// Sends the requests of `inner` to the receiver as they complete, up to 2^24. The last part is
    /// sent when this is dropped.
    #[must_use]
    pub fn new(inner: G, receiver: Option<Sender<Vec<LoggedRequest>>>, slot_count: u32) -> Self {
        let notes = receiver.map(|receiver| RequestLog {
            receiver,
            batch: Vec::with_capacity(NOTES_PER_MESSAGE),
            issued: vec![None; slot_count as usize].into(),
            begin_ns: None,
            count: 0,
            is_aside: false,
        });
        Self {
            inner,
            log: notes,
            split: None,
        }
    }

    /// Also splits latencies at the submission of each request.
    #[must_use]
    pub fn splitting(mut self, splitter: Option<LatencySplitter>) -> Self {
        self.split = splitter;
        self
    }

    /// Ends the log and returns the stream.
    #[must_use]
    pub fn into_inner(self) -> G {
        self.inner
    }

    fn set_aside(&mut self, is_aside: bool) {
        if let Some(log) = &mut self.log {
            log.is_aside = is_aside;
        }
    }
}

impl RequestLog {
    fn issued(&mut self, request: &Request, now_ns: u64) {
        let kind = match request.operation {
            Operation::Read => RecordedKind::Read,
            Operation::Write => RecordedKind::Write,
            Operation::Fsync => RecordedKind::Fsync,
            Operation::Fdatasync => RecordedKind::Fdatasync,
            Operation::Trim => RecordedKind::Trim,
            _ => RecordedKind::Other,
        };
        if self.is_aside || self.count == NOTES_MAX {
            return;
        }
        let begin_ns = *self.begin_ns.get_or_insert(now_ns);
        self.issued[request.slot as usize] = Some(LoggedRequest {
            request: RecordedRequest {
                due_ns: now_ns.saturating_sub(begin_ns),
                kind,
                part_index: request.file_index,
                length_bytes: request.length_bytes,
                // The offset of work on files may be a code.
                offset_bytes: request.file_offset().unwrap_or(request.offset_bytes),
            },
            index: self.count,
            moved_bytes: 0,
            submitted_ns: 0,
            done_ns: 0,
        });
        self.count += 1;
    }

    /// Logs a completion; `submitted_ns` is `None` if nobody has timed the submission.
    fn completed(&mut self, completion: Completion, submitted_ns: Option<u64>, now_ns: u64) {
        let Some(noted) = self.issued[completion.slot as usize].take() else {
            return;
        };
        let begin_ns = self.begin_ns.unwrap_or(now_ns);
        self.batch.push(LoggedRequest {
            moved_bytes: match noted.request.kind {
                // The result of a trim has no length.
                RecordedKind::Trim if completion.result >= 0 => noted.request.length_bytes,
                // A failed request has moved nothing.
                _ => u32::try_from(completion.result).unwrap_or(0),
            },
            submitted_ns: match submitted_ns {
                Some(submitted_ns) => submitted_ns.saturating_sub(begin_ns),
                None => noted.request.due_ns,
            },
            done_ns: now_ns.saturating_sub(begin_ns),
            ..noted
        });
        if self.batch.len() >= NOTES_PER_MESSAGE {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        // This allocates during the measurement. Only jobs with a log pay for it.
        let empty = Vec::with_capacity(NOTES_PER_MESSAGE);
        let gathered = std::mem::replace(&mut self.batch, empty);
        // If the receiver is gone, the log is no longer needed.
        let _ = self.receiver.send(gathered);
    }
}

impl Drop for RequestLog {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl<G: Generator> Generator for RequestLogger<G> {
    fn operations(&self) -> OperationSet {
        self.inner.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.inner.transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.set_aside(true);
        self.inner.enter()
    }

    fn begin(&mut self) {
        self.set_aside(false);
        self.inner.begin();
    }

    fn leave(&mut self) -> bool {
        self.set_aside(true);
        self.inner.leave()
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        let step = self.inner.next(slot, now_ns);
        if let Step::Issue(request) = &step {
            if let Some(notes) = &mut self.log {
                notes.issued(request, now_ns);
            }
            if let Some(split) = &mut self.split {
                split.issued(request, now_ns);
            }
        }
        step
    }

    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.inner.expected_bytes(request, result)
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        let split = self.split.as_mut();
        let submitted_ns = split.map(|it| it.completed(completion, now_ns));
        if let Some(notes) = &mut self.log {
            notes.completed(completion, submitted_ns, now_ns);
        }
        self.inner.complete(completion, now_ns)
    }

    fn on_mismatch(&mut self) {
        self.inner.on_mismatch();
    }
}
