//! The queue file of a store. Only the server that holds its lock starts runs.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use results::ProcessIdentity;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::QueueEntry;
use crate::answer::RefusedAnswer;
use crate::scratch::ChildFile;

/// Maximum size of a queue file, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SavedQueue {
    pub waiting: Vec<QueueEntry>,
    #[serde(default)]
    pub begun: Option<StartedEntry>,
    /// Workload files as they were when the run was queued, by id of the entry.
    #[serde(default)]
    pub texts: BTreeMap<String, ChildFile>,
}

/// A run in progress, and its process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StartedEntry {
    pub entry: QueueEntry,
    pub owner: ProcessIdentity,
}

/// Reason why this server does not start runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QueueLockFailure {
    /// Another server starts the runs of this store.
    OtherServer,
    /// This is the page of a single run, and ends with it.
    SingleRun,
    /// The file is not usable.
    Failed(String),
}

impl QueueLockFailure {
    /// The refusal for a request to start a run.
    pub fn refusal(&self) -> RefusedAnswer {
        match self {
            Self::OtherServer => {
                let error = "another `pgmeter serve` starts the runs of this store";
                RefusedAnswer::conflict(error).help("use its page, or stop it")
            }
            Self::SingleRun => {
                let error = "this page belongs to one run and starts no others";
                RefusedAnswer::conflict(error).help("start `pgmeter serve`")
            }
            Self::Failed(reason) => {
                let error = format!("cannot use the queue file: {reason}");
                RefusedAnswer::conflict(error).help("use a store in a directory of your own")
            }
        }
    }
}

/// Locks the file for this process. Different paths to the same store share one file.
pub(crate) fn lock(store: &Path) -> Result<File, QueueLockFailure> {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let mut path = store.into_os_string();
    path.push("-queue");
    let mut options = OpenOptions::new();
    // Until the lock is held, the content belongs to another server.
    options.read(true).write(true).create(true).truncate(false);
    options
        .mode(0o600)
        // A link could lead to any file, and opening a named pipe could wait.
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    let failed = |error: io::Error| QueueLockFailure::Failed(error.to_string());
    let file = options.open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(QueueLockFailure::Failed(
            "it is not a regular file".to_owned(),
        ));
    }
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(QueueLockFailure::OtherServer),
        Err(error) => Err(failed(error.into())),
    }
}

/// Content of a locked file; empty if it is unreadable.
pub(crate) fn read(file: &mut File) -> SavedQueue {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX).read_to_string(&mut text).ok();
    let saved = read.and_then(|_| units::parse_json(&text).ok());
    saved.unwrap_or_default()
}

/// Writes the waiting and running entries.
pub(crate) fn write(file: &mut File, queue: &SavedQueue) -> io::Result<()> {
    let text = units::json_line(queue).map_err(io::Error::other)?;
    // Written in place: a new file under this name would not have the lock.
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    // The previous content may have been longer.
    file.set_len(text.len() as u64)
}
