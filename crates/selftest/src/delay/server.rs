//! The process that serves the delayed file.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use fuser::{Config, Session, SessionACL};

use super::Order;
use super::files::Files;
use super::reads::DelayedReads;
use crate::store::Store;

/// What all files together may hold.
const CAPACITY_BYTES: u64 = 64 << 20;

/// Serves the delayed file on the device that is standard input, with orders and answers on the
/// socket that is standard output, until that is closed.
///
/// # Errors
/// When either is something else.
pub fn serve() -> io::Result<()> {
    let device = io::stdin().as_fd().try_clone_to_owned()?;
    let orders = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Nothing may be written to a terminal or a file.
    orders.peer_addr()?;
    let reads = Arc::new(DelayedReads::new());
    let (answering, serving) = (Arc::clone(&reads), Arc::clone(&reads));
    thread::spawn(move || answering.answer());
    let session = Session::from_fd(
        Files::new(Store::new(CAPACITY_BYTES), serving),
        device,
        SessionACL::All,
        Config::default(),
    )?;
    thread::spawn(move || session.run());
    let mut answers = orders.try_clone()?;
    for line in BufReader::new(orders).lines() {
        let told = match serde_json::from_str(&line?)? {
            Order::Begin { delay, stall } => {
                reads.begin(delay, stall);
                String::new()
            }
            Order::Tell => units::json_line(&reads.log())?,
        };
        writeln!(answers, "{told}")?;
    }
    Ok(())
}
