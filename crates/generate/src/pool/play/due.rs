//! Whole transactions, which begin when they are due.

use plan::program::PoolPart;

use super::PoolRun;
use crate::{Backlog, DueQueue, OpenStream, Step};

impl PoolRun {
    /// Sets the queue of due times at which transactions begin.
    pub fn set_due_queue(&mut self, queue: DueQueue) {
        if let Some(whole) = &mut self.transactions {
            whole.set_due_queue(queue);
        }
    }

    /// Begins a whole transaction if one is next; an error if none is due yet.
    #[inline]
    pub(super) fn begin_whole_transaction(&mut self, now_ns: u64) -> Result<(), Step> {
        if let (Some(whole), Some(PoolPart::Transact)) = (&mut self.transactions, self.phase)
            && !whole.begin(now_ns)?
        {
            self.stream.stop();
        }
        Ok(())
    }
}

impl OpenStream for PoolRun {
    fn close(&mut self, end_ns: u64) {
        if let Some(whole) = &mut self.transactions {
            whole.close(end_ns);
        }
    }

    fn backlog(&self) -> Option<Backlog> {
        Some(self.transactions.as_ref()?.queue()?.backlog())
    }
}
