//! The journal of a lab: one line per step, durable before the step is done.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::LabError;
use crate::labs_dir::{open_owned_file, pid_of_name};
use crate::step::JournalStep;

/// File name of the journal in its lab's directory.
pub(crate) const JOURNAL: &str = "journal";
/// Maximum size; longer files are not journals.
const BYTES_MAX: u64 = 1 << 28;
/// Text at the start of each journal.
const PREFIX: &str = "{\"step\":\"begin\",\"pid\":";
const NO_PREFIX: &str = "it does not begin with the process that the lab is named after";

/// A journal that is being written.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Length of the first line, in bytes.
    header_bytes: u64,
    steps: Vec<JournalStep>,
}

impl Journal {
    /// Creates the journal in a lab's directory, with its first line.
    pub fn begin(directory: &Path, begin: JournalStep) -> Result<Self, LabError> {
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
            header_bytes: 0,
            steps: Vec::new(),
        };
        journal.note(begin)?;
        journal.header_bytes = journal.position()?;
        // The name must be durable too, or the content could not be found.
        let synced = File::open(directory).and_then(|opened| opened.sync_all());
        synced.map_err(|error| LabError::system("sync", directory, error))?;
        Ok(journal)
    }

    /// Writes a step that is about to be done.
    pub fn note(&mut self, step: JournalStep) -> Result<(), LabError> {
        let mut line = units::json_line(&step).unwrap_or_default();
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written
            // The step begins after this returns: whatever exists after a crash is in the journal.
            .and_then(|()| self.file.sync_data())
            .map_err(|error| LabError::system("write", &self.path, error))?;
        self.steps.push(step);
        Ok(())
    }

    /// All steps written so far.
    pub fn steps(&self) -> &[JournalStep] {
        &self.steps
    }

    /// Removes all lines but the first, after everything created is removed.
    pub fn forget(&mut self) -> Result<(), LabError> {
        // The first line stays, because it shows that the lab still runs.
        self.steps.truncate(1);
        let length = self.header_bytes;
        let cut = self.file.set_len(length);
        // Otherwise the next line would be written at the old position, after a gap of zeros.
        cut.and_then(|()| self.file.seek(SeekFrom::Start(length)))
            .and_then(|_| self.file.sync_data())
            .map_err(|error| LabError::system("write", &self.path, error))
    }

    fn position(&mut self) -> Result<u64, LabError> {
        let position = self.file.stream_position();
        position.map_err(|error| LabError::system("write", &self.path, error))
    }
}

/// Reads the steps of a lab's journal, the beginning first. A torn last line is ignored, because
/// its step was not started. Empty if the lab had not started.
///
/// # Errors
/// Why it is not a journal of the process that gave the lab its name.
pub(crate) fn read(lab: &Path) -> Result<Vec<JournalStep>, String> {
    let path = lab.join(JOURNAL);
    if fs::symlink_metadata(&path).is_err() {
        return Ok(Vec::new());
    }
    let untrusted = |reason: String| format!("its journal cannot be trusted: {reason}");
    let mut bytes = Vec::new();
    let file = open_owned_file(&path, OFlags::RDONLY).map_err(untrusted)?;
    let read = file.take(BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| untrusted(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let Some((first, rest)) = text.split_once('\n') else {
        // A crash can leave any prefix of the first line; nothing was created before it was
        // complete.
        let is_torn = PREFIX.starts_with(&*text) || text.starts_with(PREFIX);
        return if is_torn {
            Ok(Vec::new())
        } else {
            Err(untrusted(NO_PREFIX.to_owned()))
        };
    };
    let name = lab.file_name().and_then(|name| name.to_str());
    let first = units::parse_json(first);
    let named = name.and_then(pid_of_name);
    let begin = first.ok().filter(|step| match step {
        JournalStep::Begin { pid, .. } => named == Some(*pid),
        _ => false,
    });
    let begin = begin.ok_or_else(|| untrusted(NO_PREFIX.to_owned()))?;
    let steps = rest
        .lines()
        // Only the last line can be torn, so nothing after such a line is trusted.
        .map_while(|line| units::parse_json(line).ok())
        // A lab writes its beginning once; what follows a second one is not trusted.
        .take_while(|step| !matches!(step, JournalStep::Begin { .. }));
    Ok(std::iter::once(begin).chain(steps).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: JournalStep = JournalStep::Begin {
        pid: 7,
        start_ticks: 8,
        has_made_place: true,
    };

    /// A lab's directory, named after the process of `BEGIN`.
    fn lab(directory: &Path) -> PathBuf {
        let lab = directory.join("lab-20260102-030405-6-7");
        fs::create_dir(&lab).unwrap();
        lab
    }

    #[test]
    fn noted_steps_are_read_until_they_are_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let lab = lab(directory.path());
        let mut journal = Journal::begin(&lab, BEGIN).unwrap();
        journal.note(JournalStep::Loop).unwrap();
        assert_eq!(read(&lab).unwrap(), [BEGIN, JournalStep::Loop]);
        journal.forget().unwrap();
        assert_eq!(read(&lab).unwrap(), [BEGIN]);
        journal.note(JournalStep::Image { size_bytes: 5 }).unwrap();
        assert_eq!(journal.steps(), read(&lab).unwrap());
        assert_eq!(journal.steps().len(), 2);
    }

    #[test]
    fn a_torn_line_is_a_step_that_never_began() {
        let directory = tempfile::tempdir().unwrap();
        let lab = lab(directory.path());
        assert_eq!(read(&lab).unwrap(), []);
        let mut journal = Journal::begin(&lab, BEGIN).unwrap();
        journal.file.write_all(b"{\"step\":\"lo").unwrap();
        assert_eq!(read(&lab).unwrap(), [BEGIN]);
        let bytes = fs::read(lab.join(JOURNAL)).unwrap();
        let first = bytes.iter().position(|&byte| byte == b'\n').unwrap();
        for length in 0..first {
            fs::write(lab.join(JOURNAL), &bytes[..length]).unwrap();
            assert_eq!(read(&lab).unwrap(), []);
        }
    }

    #[test]
    fn an_incomplete_or_foreign_journal_is_not_trusted() {
        let directory = tempfile::tempdir().unwrap();
        let lab = lab(directory.path());
        let mount = "{\"step\":\"mount\",\"point\":\"/\"}\n";
        for text in [
            mount.to_owned(),
            "{\"step\":\"begin\",\"pid\":8,\"start_ticks\":1}\n".to_owned() + mount,
            "dear diary".to_owned(),
        ] {
            fs::write(lab.join(JOURNAL), text).unwrap();
            assert!(read(&lab).is_err());
        }
        fs::remove_file(lab.join(JOURNAL)).unwrap();
        Journal::begin(&lab, BEGIN).unwrap();
        fs::rename(lab.join(JOURNAL), directory.path().join("away")).unwrap();
        std::os::unix::fs::symlink(directory.path().join("away"), lab.join(JOURNAL)).unwrap();
        assert!(read(&lab).is_err());
    }
}
