//! The sink's end of one connection, over any stream.

use std::io;
use std::time::{Duration, Instant};

use crate::connection::{Connection, GREETING_TIMEOUT, in_words, read_until, write_all};
use crate::frame::{
    ByteDirection, FRAME_BYTES, Frame, FrameStatus, HEADER_BYTES, MAJOR, TransactionHeader,
};
use crate::peer::{NO_SECRET, SILENCE_TIMEOUT};
use crate::token::{NetworkToken, ProofSide, is_equal};

/// Maximum number of bytes per receive call. Memory pages are allocated at their first write.
const RECEIVE_BYTES_MAX: usize = 256 << 10;
/// Maximum number of bytes per send call.
const SEND_BYTES_MAX: usize = 1 << 20;

/// State that all connections of a sink share.
#[derive(Debug)]
pub struct SinkState {
    /// Token that clients must know; without one, any client may connect.
    pub token: Option<NetworkToken>,
    /// Maximum time between transactions of a connection.
    pub idle_max: Duration,
    /// Bytes that are sent repeatedly.
    content: Vec<u8>,
}

/// Reason why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The other end closed it between transactions.
    Closed,
    /// The other end closed it, or fell silent, in the middle of a transaction or greeting.
    Broken,
    /// The frame or header received is not the one expected.
    Refused,
    /// The other end did not prove that it has the token.
    Unproven,
}

impl SinkState {
    /// Creates the shared state, with content that no link can compress.
    #[must_use]
    pub fn new(token: Option<NetworkToken>, idle_max: Duration) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut content = Vec::with_capacity(SEND_BYTES_MAX);
        while content.len() < SEND_BYTES_MAX {
            // xorshift64; the quality of its numbers does not matter.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            content.extend_from_slice(&state.to_le_bytes());
        }
        Self {
            token,
            idle_max,
            content,
        }
    }
}

/// Greets the client, then serves transactions until it closes the connection. Reads have a time
/// limit, and the stream should have one for writes. `challenge` must be a number that is used only
/// once.
///
/// The only memory allocated is one buffer of fixed size, whatever the client sends.
pub fn serve<S: Connection>(
    stream: &mut S,
    serving: &SinkState,
    challenge: [u8; 32],
) -> ConnectionEnd {
    match greet(stream, serving, challenge) {
        Ok(None) => {}
        Ok(Some(ended)) => return ended,
        Err(_) => return ConnectionEnd::Broken,
    }
    // `read_until` leaves the stream with the limit of the greeting's last read.
    if stream.limit_reads(SILENCE_TIMEOUT).is_err() {
        return ConnectionEnd::Broken;
    }
    let mut received = ReceiveBuffer {
        stream,
        buffer: vec![0; RECEIVE_BYTES_MAX],
        start: 0,
        end: 0,
    };
    loop {
        let Some(header) = (match received.header(serving.idle_max) {
            Ok(Some(bytes)) => TransactionHeader::of_bytes(&bytes),
            Ok(None) => return ConnectionEnd::Closed,
            Err(_) => return ConnectionEnd::Broken,
        }) else {
            let refusal = Frame::new(FrameStatus::Refused, NO_SECRET);
            // A client that sends such a header may not read either, so a failure is ignored.
            let _ = write_all(received.stream, &refusal.to_bytes());
            return ConnectionEnd::Refused;
        };
        if received.transact(header, &serving.content).is_err() {
            return ConnectionEnd::Broken;
        }
    }
}

/// Greets the client: `None` if transactions may start, otherwise the reason for the end.
fn greet<S: Connection>(
    stream: &mut S,
    serving: &SinkState,
    challenge: [u8; 32],
) -> io::Result<Option<ConnectionEnd>> {
    let until = Instant::now() + GREETING_TIMEOUT;
    let refuse = |stream: &mut S, status, ended| {
        write_all(stream, &Frame::new(status, NO_SECRET).to_bytes()).map(|()| Some(ended))
    };
    let hello = match frame(stream, until)? {
        Some(hello) if hello.major != MAJOR => {
            return refuse(stream, FrameStatus::Version, ConnectionEnd::Refused);
        }
        Some(hello) if hello.status == FrameStatus::Hello => hello.secret,
        _ => return refuse(stream, FrameStatus::Refused, ConnectionEnd::Refused),
    };
    let mut secret = NO_SECRET;
    if let Some(token) = &serving.token {
        write_all(
            stream,
            &Frame::new(FrameStatus::Prove, challenge).to_bytes(),
        )?;
        let wanted = token.proof(ProofSide::Pgmeter, &hello, &challenge);
        match frame(stream, until)? {
            Some(proof)
                if proof.status == FrameStatus::Proof && is_equal(&proof.secret, &wanted) => {}
            Some(_) => return refuse(stream, FrameStatus::Token, ConnectionEnd::Unproven),
            None => return refuse(stream, FrameStatus::Refused, ConnectionEnd::Refused),
        }
        secret = token.proof(ProofSide::Sink, &hello, &challenge);
    }
    write_all(stream, &Frame::new(FrameStatus::Welcome, secret).to_bytes())?;
    Ok(None)
}

/// Reads the next frame; `None` if the bytes are not a frame.
fn frame(stream: &mut impl Connection, until: Instant) -> io::Result<Option<Frame>> {
    let mut bytes = [0; FRAME_BYTES];
    read_until(stream, &mut bytes, until)?;
    Ok(Frame::of_bytes(&bytes).ok())
}

/// Bytes that were received but not processed yet.
struct ReceiveBuffer<'a, S> {
    stream: &'a mut S,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<S: Connection> ReceiveBuffer<'_, S> {
    /// Reads the next header; `None` if the client closed the connection instead of sending one.
    fn header(&mut self, idle_max: Duration) -> io::Result<Option<[u8; HEADER_BYTES]>> {
        let mut since = None;
        while self.end - self.start < HEADER_BYTES {
            // The beginning of a header moves to the front, so that the buffer has room for the
            // rest.
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            match self.receive() {
                Ok(0) if self.end == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                // A workload may pause between transactions.
                Err(error) if error.kind() == io::ErrorKind::TimedOut && self.end == 0 => {
                    let since = since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= idle_max {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let mut bytes = [0; HEADER_BYTES];
        bytes.copy_from_slice(&self.buffer[self.start..self.start + HEADER_BYTES]);
        self.start += HEADER_BYTES;
        Ok(Some(bytes))
    }

    /// Transfers the bytes of a request and of its reply.
    fn transact(&mut self, header: TransactionHeader, content: &[u8]) -> io::Result<()> {
        let (length, reply) = (header.length_bytes, header.reply_bytes);
        match header.direction {
            ByteDirection::ToSink => {
                self.drop_bytes(length)?;
                self.send(reply, content)
            }
            ByteDirection::FromSink => {
                self.send(length, content)?;
                self.drop_bytes(reply)
            }
        }
    }

    fn send(&mut self, length_bytes: u32, content: &[u8]) -> io::Result<()> {
        let mut left = length_bytes as usize;
        while left > 0 {
            let count = left.min(content.len());
            write_all(self.stream, &content[..count])?;
            left -= count;
        }
        Ok(())
    }

    /// Receives bytes and discards them.
    fn drop_bytes(&mut self, length_bytes: u32) -> io::Result<()> {
        let mut left = length_bytes as usize;
        loop {
            let count = left.min(self.end - self.start);
            self.start += count;
            left -= count;
            if left == 0 {
                return Ok(());
            }
            (self.start, self.end) = (0, 0);
            if self.receive()? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Appends the bytes that have arrived; returns 0 at the end of the stream.
    fn receive(&mut self) -> io::Result<usize> {
        loop {
            // One call may return the end of a request together with the next headers.
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(in_words(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
