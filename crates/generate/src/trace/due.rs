//! Recorded calls that begin when they are due.

use super::TracePlayer;
use crate::{Backlog, DueQueue, DueStep, OpenStream, Step};

impl TracePlayer {
    /// Sets the queue of due times at which calls begin.
    pub fn set_due_queue(&mut self, queue: DueQueue) {
        self.queue = Some(Box::new(queue));
    }

    /// Begins a due call; an error if none is due yet.
    pub(super) fn begin_due(&mut self, now_ns: u64) -> Result<(), Step> {
        let Some(queue) = &mut self.queue else {
            return Ok(());
        };
        match queue.turn_with_short_wait(now_ns) {
            DueStep::Due(due_ns) => {
                queue.begin(0, due_ns, now_ns);
                Ok(())
            }
            DueStep::Wait(until_ns) => Err(Step::Wait { until_ns }),
            DueStep::Finished => Err(Step::Finished),
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
