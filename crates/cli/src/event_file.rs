//! The file with the events of a run, one line each, for programs that follow the run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use jiff::Timestamp;
use results::{EventLine, RunEvent};
use units::JsonDocument;

use crate::failure::CliError;
use crate::output::cannot_write;

/// A file of events. A thread writes it, because a reader of a pipe may be slow and the monitor of
/// a run must not wait.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    lines: Sender<String>,
    writer: JoinHandle<io::Result<()>>,
}

impl EventFile {
    /// Creates the file, or opens an existing pipe or terminal.
    ///
    /// # Errors
    /// If the file exists already, or cannot be created.
    pub fn create(path: &Path) -> Result<Self, CliError> {
        let file = open(path).map_err(|reason| cannot_write(path, &reason))?;
        let (lines, received) = channel();
        Ok(Self {
            path: path.to_owned(),
            lines,
            writer: std::thread::spawn(move || write_all(file, &received)),
        })
    }

    /// Adds an event.
    pub fn on_event(&self, event: &RunEvent) {
        let at = Timestamp::now();
        // After an error of the file, nothing is received any more; `finish` reports the error.
        let _ = self.lines.send(EventLine { at, event }.to_line());
    }

    /// Waits until all events are written. Returns `true` if they were; otherwise, prints why not.
    pub fn finish(self) -> bool {
        drop(self.lines);
        let written = self.writer.join();
        let written = written.unwrap_or_else(|_| Err(io::Error::other("its thread panicked")));
        if let Err(error) = &written {
            tell!("error: cannot write `{}`: {error}", self.path.display());
        }
        written.is_ok()
    }
}

fn open(path: &Path) -> io::Result<File> {
    let is_file = std::fs::metadata(path).map_or(true, |found| found.is_file());
    let mut options = OpenOptions::new();
    match is_file {
        true => options.write(true).create_new(true).open(path),
        false => options.append(true).open(path),
    }
}

fn write_all(mut file: File, lines: &Receiver<String>) -> io::Result<()> {
    // Each line at once, so that a reader sees an event when it happens.
    lines
        .iter()
        .try_for_each(|line| file.write_all(line.as_bytes()))
}
