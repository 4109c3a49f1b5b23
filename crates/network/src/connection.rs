//! What both ends ask of a TCP connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long each step of a greeting may take.
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(10);

/// Lets small messages go out at once, and every wait end after so long without a byte.
pub(crate) fn set_up(stream: &TcpStream, wait_max: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(wait_max))?;
    stream.set_write_timeout(Some(wait_max))
}

/// A stream whose reads can be limited in time.
pub trait Connection: Read + Write {
    /// Lets a read fail after this time without a byte; streams that never wait need no limit.
    ///
    /// # Errors
    /// When the system refuses the limit.
    fn limit_reads(&self, _longest: Duration) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for TcpStream {
    fn limit_reads(&self, longest: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(longest))
    }
}

/// Reads the whole buffer until a point in time, however slowly the bytes come. The limit of the
/// stream's last read stays.
pub(crate) fn read_until(
    stream: &mut impl Connection,
    buffer: &mut [u8],
    until: Instant,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        let left = until.saturating_duration_since(Instant::now());
        // A limit of 0 is none.
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

/// A wait that ended at its limit is told by the system as one that would go on.
pub(crate) fn in_words(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}
