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
    thread: Option<JoinHandle<(Journal, Option<u64>)>>,
    /// What the thread left when it came to its end.
    journal: Option<Journal>,
    /// Bytes that the thread wrote.
    written_bytes: Option<u64>,
}

impl Writer {
    pub(crate) fn start(journal: Journal) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || (journal.keep(&receiver), written_by_this_thread()))?;
        Ok(Self {
            told: Some(sender),
            thread: Some(thread),
            journal: None,
            written_bytes: None,
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
        self.settle();
        let journal = self
            .journal
            .take()
            .expect("the thread leaves it at its end");
        journal.finish(record)
    }

    /// Writes what was told until now, after which nothing more is heard, and tells how many bytes
    /// were written since the run began; none where the kernel does not count them.
    pub fn settle(&mut self) -> Option<u64> {
        self.told.take();
        if let Some(thread) = self.thread.take() {
            match thread.join() {
                Ok((journal, written_bytes)) => {
                    self.journal = Some(journal);
                    self.written_bytes = written_bytes;
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        self.written_bytes
    }
}

/// Bytes that this thread has handed to the kernel to be written.
fn written_by_this_thread() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let written = counts
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "))?;
    written.trim().parse().ok()
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
