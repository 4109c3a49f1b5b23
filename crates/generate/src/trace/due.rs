//! Recorded calls that begin when they are due.

use super::Player;
use crate::{Backlog, DueQueue, OpenStream, Step, Turn};

impl Player {
    /// Tells it when its calls are due, which begin then.
    pub fn begin_when_due(&mut self, queue: DueQueue) {
        self.queue = Some(Box::new(queue));
    }

    /// Begins what is due, if anything has to be; else what to do.
    pub(super) fn begin_due(&mut self, now_ns: u64) -> Result<(), Step> {
        let Some(queue) = &mut self.queue else {
            return Ok(());
        };
        match queue.watched_turn(now_ns) {
            Turn::Due(due_ns) => {
                queue.begin(0, due_ns, now_ns);
                Ok(())
            }
            Turn::Wait(until_ns) => Err(Step::Wait { until_ns }),
            Turn::Over => Err(Step::Finished),
        }
    }
}

impl OpenStream for Player {
    fn close(&mut self, end_ns: u64) {
        if let Some(queue) = &mut self.queue {
            queue.close(end_ns);
        }
    }

    fn backlog(&self) -> Option<Backlog> {
        self.queue.as_ref().map(|it| it.backlog())
    }
}
