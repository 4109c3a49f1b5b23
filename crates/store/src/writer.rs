//! Writes the events of a run on a thread.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use results::{RunEvent, RunRecord};

use crate::StoreError;
use crate::draft::PersistedEvent;
use crate::journal::RunJournal;

/// Writes one run while it is running.
///
/// If it is dropped without [`RunWriter::finish`], it writes the events received so far. The run is
/// shown as interrupted once the process has ended.
#[derive(Debug)]
pub struct RunWriter {
    sender: Option<Sender<PersistedEvent>>,
    thread: Option<JoinHandle<(RunJournal, Option<u64>)>>,
    /// The journal that the thread returned when it ended.
    journal: Option<RunJournal>,
    /// Number of bytes that the thread wrote.
    written_bytes: Option<u64>,
}

impl RunWriter {
    pub(crate) fn start(journal: RunJournal) -> std::io::Result<Self> {
        // Not bounded: a full queue would make the measuring side wait.
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || (journal.keep(&receiver), thread_written_bytes()))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            journal: None,
            written_bytes: None,
        })
    }

    /// Queues an event. Never waits and never fails. Events that cannot be written now are written
    /// later, at the latest by [`RunWriter::finish`].
    pub fn event(&self, event: &RunEvent) {
        if let (Some(event), Some(sender)) = (PersistedEvent::of(event), &self.sender) {
            // Sending fails only if the thread panicked; `finish` reports that.
            let _ = sender.send(event);
        }
    }

    /// Ends the run. On return, the store has the whole record, even after a power failure.
    ///
    /// # Errors
    /// If the record cannot be stored. The data stored before remains, as an interrupted run.
    pub fn finish(mut self, record: &RunRecord) -> Result<(), StoreError> {
        self.settle();
        let journal = self
            .journal
            .take()
            .expect("`settle` takes the journal from the thread");
        journal.finish(record)
    }

    /// Writes all events received so far and stops the thread. Returns the number of bytes written
    /// since the run began; `None` if the kernel does not count them.
    pub fn settle(&mut self) -> Option<u64> {
        self.sender.take();
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

/// Number of bytes that this thread has passed to the kernel for writing.
fn thread_written_bytes() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let written = counts
        .lines()
        // `write_bytes` would count whole pages of the page cache instead of the bytes passed to
        // it.
        .find_map(|line| line.strip_prefix("wchar: "))?;
    written.trim().parse().ok()
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.sender.take();
        if let Some(thread) = self.thread.take() {
            // The thread reported the panic; another one here would abort the process.
            let _ = thread.join();
        }
    }
}
