//! The process that serves the delayed file.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use fuser::{Config, Session, SessionACL};

use super::DelayCommand;
use super::files::DelayedFiles;
use super::reads::DelayedReads;
use crate::store::MemoryStore;

/// Total capacity of all files.
const CAPACITY_BYTES: u64 = 64 << 20;

/// Serves the delayed file on the FUSE device that is standard input. Requests and answers use the
/// socket that is standard output; returns when it is closed.
///
/// # Errors
/// If standard input or standard output is something else.
pub fn serve() -> io::Result<()> {
    let device = io::stdin().as_fd().try_clone_to_owned()?;
    let orders = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Fails if standard output is a terminal or a file, so that nothing is written there.
    orders.peer_addr()?;
    let reads = Arc::new(DelayedReads::new());
    let (answering, serving) = (Arc::clone(&reads), Arc::clone(&reads));
    thread::spawn(move || answering.answer());
    let session = Session::from_fd(
        DelayedFiles::new(MemoryStore::new(CAPACITY_BYTES), serving),
        device,
        SessionACL::All,
        Config::default(),
    )?;
    // This thread ends with the process, when the loop below has ended.
    thread::spawn(move || session.run());
    let mut answers = orders.try_clone()?;
    for line in BufReader::new(orders).lines() {
        let answer = match serde_json::from_str(&line?)? {
            DelayCommand::Begin { delay, stall } => {
                reads.begin(delay, stall);
                // The empty line tells the client that reads from now on are in the new log.
                String::new()
            }
            DelayCommand::Tell => units::json_line(&reads.log())?,
        };
        writeln!(answers, "{answer}")?;
    }
    Ok(())
}
