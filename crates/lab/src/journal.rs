//! The journal of a lab: a line a step, durable before the step is done.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::LabError;
use crate::step::Step;

/// The journal's name in its lab's directory.
pub(crate) const JOURNAL: &str = "journal";

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of the first line.
    begin_bytes: u64,
    steps: Vec<Step>,
}

impl Journal {
    /// A new journal in a lab's directory, with its first line.
    pub fn begin(directory: &Path, begin: Step) -> Result<Self, LabError> {
        let path = directory.join(JOURNAL);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| LabError::system("make", &path, error))?;
        let mut journal = Self {
            path,
            file,
            begin_bytes: 0,
            steps: Vec::new(),
        };
        journal.note(begin)?;
        journal.begin_bytes = journal.position()?;
        let synced = File::open(directory).and_then(|opened| opened.sync_all());
        synced.map_err(|error| LabError::system("sync", directory, error))?;
        Ok(journal)
    }

    /// Notes a step that is about to be done.
    pub fn note(&mut self, step: Step) -> Result<(), LabError> {
        let mut line = serde_json::to_string(&step).unwrap_or_default();
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| LabError::system("write", &self.path, error))?;
        self.steps.push(step);
        Ok(())
    }

    /// What has been noted since the lab began.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Forgets all but the first line, as all that was made is gone.
    pub fn forget(&mut self) -> Result<(), LabError> {
        self.steps.truncate(1);
        let length = self.begin_bytes;
        let cut = self.file.set_len(length);
        cut.and_then(|()| self.file.seek(SeekFrom::Start(length)))
            .and_then(|_| self.file.sync_data())
            .map_err(|error| LabError::system("write", &self.path, error))
    }

    fn position(&mut self) -> Result<u64, LabError> {
        let position = self.file.stream_position();
        position.map_err(|error| LabError::system("write", &self.path, error))
    }
}

/// The steps that a journal holds; a torn last line stands for a step that was not begun.
pub(crate) fn read(directory: &Path) -> Vec<Step> {
    let bytes = fs::read(directory.join(JOURNAL)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines()
        .map_while(|line| serde_json::from_str(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: Step = Step::Begin {
        pid: 7,
        start_ticks: 8,
    };

    #[test]
    fn what_was_noted_is_read_until_it_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(directory.path(), BEGIN).unwrap();
        journal.note(Step::Loop).unwrap();
        assert_eq!(read(directory.path()), [BEGIN, Step::Loop]);
        journal.forget().unwrap();
        assert_eq!(read(directory.path()), [BEGIN]);
        journal.note(Step::Image { size_bytes: 5 }).unwrap();
        assert_eq!(journal.steps(), read(directory.path()));
        assert_eq!(journal.steps().len(), 2);
    }

    #[test]
    fn a_torn_line_is_a_step_that_was_not_begun() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(directory.path(), BEGIN).unwrap();
        journal.file.write_all(b"{\"step\":\"lo").unwrap();
        assert_eq!(read(directory.path()), [BEGIN]);
        assert_eq!(read(&directory.path().join("none")), []);
    }
}
