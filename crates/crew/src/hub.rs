//! The leader's end: what goes to whom, and what came from whom.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// What came from somebody.
#[derive(Debug)]
pub enum Arrival {
    /// A message.
    Message(Vec<u8>),
    /// Nothing will come any more, and why.
    Gone(String),
}

/// Takes a message for one process, without waiting. A message to a process that is gone is lost.
pub type Outlet = Box<dyn Fn(Vec<u8>) + Send>;

/// An outlet that puts messages into a channel.
#[must_use]
pub fn outlet(to: Sender<Vec<u8>>) -> Outlet {
    Box::new(move |message| {
        // Who is gone is noticed by its silence.
        let _ = to.send(message);
    })
}

/// Outlets to all others, and what comes from them.
pub struct Hub {
    /// By number.
    pub to: Vec<Outlet>,
    /// From whom, and what.
    pub from: Receiver<(u32, Arrival)>,
}

impl Hub {
    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.to.len()).unwrap_or(u32::MAX)
    }

    /// Sends a message; who is gone is told of when something comes, or does not.
    pub(crate) fn send(&self, rank: u32, message: Vec<u8>) {
        if let Some(to) = self.to.get(rank as usize) {
            to(message);
        }
    }

    /// What comes within that time.
    pub(crate) fn receive(&self, wait: Duration) -> Option<(u32, Arrival)> {
        match self.from.recv_timeout(wait) {
            Ok(arrival) => Some(arrival),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // Nobody is left; who waits for that to be noticed does not spin.
                thread::sleep(wait);
                None
            }
        }
    }
}
