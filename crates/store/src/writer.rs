//! What a run tells, written on a thread of its own.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use results::{RunEvent, RunRecord};

use crate::StoreError;
use crate::draft::Told;
use crate::journal::Journal;

/// Writes one run while it goes on.
///
/// Dropped without [`Writer::finish`], it writes what it was told, and the run is shown as
/// interrupted once the process has ended.
#[derive(Debug)]
pub struct Writer {
    told: Option<Sender<Told>>,
    thread: Option<JoinHandle<Journal>>,
}

impl Writer {
    pub(crate) fn start(journal: Journal) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || journal.keep(&receiver))?;
        Ok(Self {
            told: Some(sender),
            thread: Some(thread),
        })
    }

    /// Takes note of an event. Never waits, and never fails: what cannot be written now is
    /// written later, at the latest by [`Writer::finish`].
    pub fn event(&self, event: &RunEvent) {
        if let (Some(told), Some(sender)) = (Told::of(event), &self.told) {
            // Only a thread that panicked does not hear; `finish` tells.
            let _ = sender.send(told);
        }
    }

    /// Ends the run: when this returns, the store holds the whole record, also after a power
    /// failure.
    ///
    /// # Errors
    /// When the record cannot be stored; what was stored before remains, as an interrupted run.
    pub fn finish(mut self, record: &RunRecord) -> Result<(), StoreError> {
        let journal = self.stop().expect("the thread is there until the end");
        journal.finish(record)
    }

    /// Lets the thread come to its end; none the second time.
    fn stop(&mut self) -> Option<Journal> {
        self.told.take();
        match self.thread.take()?.join() {
            Ok(journal) => Some(journal),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.told.take();
        if let Some(thread) = self.thread.take() {
            // A panic was told by its thread; another one here would end the process.
            let _ = thread.join();
        }
    }
}
