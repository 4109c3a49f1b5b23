//! Recorded calls that begin when they are due.

use super::TracePlayer;
use crate::{Backlog, DueQueue, DueTurn, OpenStream, Step};

impl TracePlayer {
    /// Sets the queue of due times at which calls begin.
    pub fn begin_when_due(&mut self, queue: DueQueue) {
        self.queue = Some(Box::new(queue));
    }

    /// Begins a due call; an error if none is due yet.
    pub(super) fn begin_due(&mut self, now_ns: u64) -> Result<(), Step> {
        let Some(queue) = &mut self.queue else {
            return Ok(());
        };
        match queue.watched_turn(now_ns) {
            DueTurn::Due(due_ns) => {
                queue.begin(0, due_ns, now_ns);
                Ok(())
            }
            DueTurn::Wait(until_ns) => Err(Step::Wait { until_ns }),
            DueTurn::Over => Err(Step::Finished),
        }
    }
}

impl OpenStream for TracePlayer {
    fn close(&mut self, end_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.close(end_ns);
        }
    }

    fn backlog(&self) -> Option<Backlog> {
        self.queue.as_ref().map(|it| it.backlog())
    }
}
