//! Transactions that are counted as wholes, and begin when they are due.

use plan::program::PoolPart;

use super::Play;
use crate::{Backlog, DueQueue, OpenStream, Step};

impl Play {
    /// Tells it when its transactions are due, which begin then.
    pub fn begin_when_due(&mut self, queue: DueQueue) {
        if let Some(whole) = &mut self.whole {
            whole.begin_when_due(queue);
        }
    }

    /// Begins a transaction that is counted as a whole where one is next; what to do where it is
    /// not due yet.
    #[inline]
    pub(super) fn begin_whole(&mut self, now_ns: u64) -> Result<(), Step> {
        if let (Some(whole), Some(PoolPart::Transact)) = (&mut self.whole, self.phase)
            && !whole.begin(now_ns)?
        {
            self.stream.stop();
        }
        Ok(())
    }
}

impl OpenStream for Play {
    fn close(&mut self, end_ns: u64) {
        if let Some(whole) = &mut self.whole {
            whole.close(end_ns);
        }
    }

    fn backlog(&self) -> Option<Backlog> {
        Some(self.whole.as_ref()?.queue()?.backlog())
    }
}
