//! The leader's connections to all processes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// An event on the connection to a process.
#[derive(Debug)]
pub enum LinkEvent {
    /// A message, not yet decoded.
    Message(Vec<u8>),
    /// No message will follow, with the reason.
    Closed(String),
}

/// Sends a message to one process without waiting. A message to a process that has ended is lost.
pub type MessageSender = Box<dyn Fn(Vec<u8>) + Send>;

/// Creates a sender that puts messages into a channel.
#[must_use]
pub fn channel_sender(to: Sender<Vec<u8>>) -> MessageSender {
    Box::new(move |message| {
        // The leader notices a process that has ended by its silence.
        let _ = to.send(message);
    })
}

/// Senders to all processes, and the channel of their messages.
pub struct LeaderLinks {
    /// Senders, indexed by rank.
    pub senders: Vec<MessageSender>,
    /// Rank of the sender, and the event.
    pub events: Receiver<(u32, LinkEvent)>,
}

impl LeaderLinks {
    /// Number of processes.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.senders.len()).unwrap_or(u32::MAX)
    }

    /// Sends a message. A lost process is noticed only when its messages stop.
    pub(crate) fn send(&self, rank: u32, message: Vec<u8>) {
        if let Some(to) = self.senders.get(rank as usize) {
            to(message);
        }
    }

    /// Waits at most `wait` for an event.
    pub(crate) fn receive(&self, wait: Duration) -> Option<(u32, LinkEvent)> {
        match self.events.recv_timeout(wait) {
            Ok(arrival) => Some(arrival),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // All processes have ended. Sleeps so that a caller in a loop does not spin.
                thread::sleep(wait);
                None
            }
        }
    }
}
