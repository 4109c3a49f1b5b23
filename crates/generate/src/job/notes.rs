//! What a job asked for, request by request, for a log.

use std::sync::mpsc::Sender;

use engine::{Operation, Request};
use plan::job::{RecordedAct, RecordedKind};

use super::{JobStage, JobStream};

/// Requests that are handed over together.
const NOTES_AT_ONCE: usize = 8192;

/// Requests that are noted of a job; later ones are not.
pub const NOTES_MAX: u64 = 1 << 24;

/// Takes down requests as they are made.
#[derive(Debug, Clone)]
pub(super) struct RequestNotes {
    receiver: Sender<Vec<RecordedAct>>,
    gathered: Vec<RecordedAct>,
    /// When the first request was made, on the worker's clock.
    begin_ns: Option<u64>,
    left_count: u64,
}

impl RequestNotes {
    pub(super) fn take(&mut self, request: &Request, now_ns: u64) {
        let kind = match request.operation {
            Operation::Read => RecordedKind::Read,
            Operation::Write => RecordedKind::Write,
            Operation::Fsync => RecordedKind::Fsync,
            Operation::Fdatasync => RecordedKind::Fdatasync,
            _ => return,
        };
        if self.left_count == 0 {
            return;
        }
        self.left_count -= 1;
        let begin_ns = *self.begin_ns.get_or_insert(now_ns);
        self.gathered.push(RecordedAct {
            due_ns: now_ns.saturating_sub(begin_ns),
            kind,
            part_index: request.file_index,
            length_bytes: request.length_bytes,
            offset_bytes: request.offset_bytes,
        });
        if self.gathered.len() >= NOTES_AT_ONCE {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let empty = Vec::with_capacity(NOTES_AT_ONCE);
        let gathered = std::mem::replace(&mut self.gathered, empty);
        // Where nobody receives any more, nobody wants them.
        let _ = self.receiver.send(gathered);
    }
}

impl Drop for RequestNotes {
    fn drop(&mut self) {
        self.hand_over();
    }
}

impl JobStream {
    /// Sends what it asks for to the receiver, the last part when it is dropped: at most
    /// [`NOTES_MAX`] requests, their times in nanoseconds from the first one. Before the first
    /// request.
    pub fn note_to(&mut self, receiver: Sender<Vec<RecordedAct>>) {
        if matches!(self.stage, JobStage::Plain(_)) {
            // Plain requests have no time for notes.
            self.stage = JobStage::Loop;
        }
        self.notes = Some(RequestNotes {
            receiver,
            gathered: Vec::with_capacity(NOTES_AT_ONCE),
            begin_ns: None,
            left_count: NOTES_MAX,
        });
    }
}
