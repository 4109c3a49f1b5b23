//! TCP settings and reads that both ends of a connection use.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Time limit for each step of a greeting.
pub(crate) const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Sends small messages immediately, and makes every wait fail after `wait_max` without a byte.
pub(crate) fn set_up(stream: &TcpStream, wait_max: Duration) -> io::Result<()> {
    // Nagle's algorithm would hold back a short header until earlier bytes are acknowledged.
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(wait_max))?;
    stream.set_write_timeout(Some(wait_max))
}

/// A stream whose reads can have a time limit.
pub trait Connection: Read + Write {
    /// Makes a read fail after this time without a byte. Streams that never wait need no limit.
    ///
    /// # Errors
    /// The system rejects the limit.
    fn limit_reads(&self, _longest: Duration) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for TcpStream {
    fn limit_reads(&self, longest: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(longest))
    }
}

/// Fills the whole buffer before a deadline, however slowly the bytes arrive. Leaves the stream
/// with the time limit of its last read.
pub(crate) fn read_until(
    stream: &mut impl Connection,
    buffer: &mut [u8],
    until: Instant,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        // A constant limit per read is not enough: with one byte per read, a greeting would never
        // end.
        let left = until.saturating_duration_since(Instant::now());
        // The system rejects a limit of 0.
        stream.limit_reads(left.max(Duration::from_millis(1)))?;
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(in_words(error)),
        }
        if Instant::now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// Writes the whole buffer.
pub(crate) fn write_all(stream: &mut impl Write, buffer: &[u8]) -> io::Result<()> {
    stream.write_all(buffer).map_err(in_words)
}

/// Turns `WouldBlock`, which the system returns when a read or write hits its limit, into
/// `TimedOut`.
pub(crate) fn in_words(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}
