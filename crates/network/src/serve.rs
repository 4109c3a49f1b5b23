//! The sink's end of one connection, over anything that reads and writes.

use std::io;
use std::time::{Duration, Instant};

use crate::connection::{Connection, GREETING_MAX, in_words, read_until, write_all};
use crate::frame::{FRAME_BYTES, Frame, HEADER_BYTES, Header, MAJOR, Status, Way};
use crate::peer::{NO_SECRET, SILENCE_MAX};
use crate::token::{Prover, Token, is_equal};

/// Bytes that are received with one call, at most. Pages are taken as they are first written.
const RECEIVED_BYTES: usize = 256 << 10;
/// Bytes that are sent with one call, at most.
const SENT_BYTES: usize = 1 << 20;

/// What all connections of a sink have in common.
#[derive(Debug)]
pub struct Serving {
    /// What whoever connects has to know; anybody may where there is none.
    pub token: Option<Token>,
    /// How long a connection may be without a transaction.
    pub idle_max: Duration,
    /// What is sent, over and over.
    content: Vec<u8>,
}

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The other end closed it between transactions.
    Closed,
    /// The other end closed it, or was silent, where more was to come.
    Broken,
    /// What came is not what was to come.
    Refused,
    /// The other end did not prove that it has the token.
    Unproven,
}

impl Serving {
    /// With content that no link can compress.
    #[must_use]
    pub fn new(token: Option<Token>, idle_max: Duration) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut content = Vec::with_capacity(SENT_BYTES);
        while content.len() < SENT_BYTES {
            // xorshift64: any bytes do.
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

/// Greets, then serves transactions until the other end closes. Reads end when nothing moves for a
/// while, and writes of the stream should; `challenge` is used once.
///
/// Whatever comes, what is allocated is one buffer of fixed size.
pub fn serve<S: Connection>(stream: &mut S, serving: &Serving, challenge: [u8; 32]) -> Ended {
    match greet(stream, serving, challenge) {
        Ok(None) => {}
        Ok(Some(ended)) => return ended,
        Err(_) => return Ended::Broken,
    }
    if stream.limit_reads(SILENCE_MAX).is_err() {
        return Ended::Broken;
    }
    let mut received = Received {
        stream,
        buffer: vec![0; RECEIVED_BYTES],
        start: 0,
        end: 0,
    };
    loop {
        let Some(header) = (match received.header(serving.idle_max) {
            Ok(Some(bytes)) => Header::of_bytes(&bytes),
            Ok(None) => return Ended::Closed,
            Err(_) => return Ended::Broken,
        }) else {
            let refusal = Frame::new(Status::Refused, NO_SECRET);
            // Whoever sends such headers may not read either.
            let _ = write_all(received.stream, &refusal.to_bytes());
            return Ended::Refused;
        };
        if received.transact(header, &serving.content).is_err() {
            return Ended::Broken;
        }
    }
}

/// Says who may go on; how it ended for all others.
fn greet<S: Connection>(
    stream: &mut S,
    serving: &Serving,
    challenge: [u8; 32],
) -> io::Result<Option<Ended>> {
    let until = Instant::now() + GREETING_MAX;
    let refuse = |stream: &mut S, status, ended| {
        write_all(stream, &Frame::new(status, NO_SECRET).to_bytes()).map(|()| Some(ended))
    };
    let hello = match frame(stream, until)? {
        Some(hello) if hello.major != MAJOR => {
            return refuse(stream, Status::Version, Ended::Refused);
        }
        Some(hello) if hello.status == Status::Hello => hello.secret,
        _ => return refuse(stream, Status::Refused, Ended::Refused),
    };
    let mut secret = NO_SECRET;
    if let Some(token) = &serving.token {
        write_all(stream, &Frame::new(Status::Prove, challenge).to_bytes())?;
        let wanted = token.proof(Prover::Pgmeter, &hello, &challenge);
        match frame(stream, until)? {
            Some(proof) if proof.status == Status::Proof && is_equal(&proof.secret, &wanted) => {}
            Some(_) => return refuse(stream, Status::Token, Ended::Unproven),
            None => return refuse(stream, Status::Refused, Ended::Refused),
        }
        secret = token.proof(Prover::Sink, &hello, &challenge);
    }
    write_all(stream, &Frame::new(Status::Welcome, secret).to_bytes())?;
    Ok(None)
}

/// The next frame; nothing for bytes that are none.
fn frame(stream: &mut impl Connection, until: Instant) -> io::Result<Option<Frame>> {
    let mut bytes = [0; FRAME_BYTES];
    read_until(stream, &mut bytes, until)?;
    Ok(Frame::of_bytes(&bytes).ok())
}

/// What has come and was not looked at yet.
struct Received<'a, S> {
    stream: &'a mut S,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<S: Connection> Received<'_, S> {
    /// The next header; nothing where the other end closed in its place.
    fn header(&mut self, idle_max: Duration) -> io::Result<Option<[u8; HEADER_BYTES]>> {
        let mut since = None;
        while self.end - self.start < HEADER_BYTES {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            match self.receive() {
                Ok(0) if self.end == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                // Between transactions there may be a delay.
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

    /// Moves the bytes of a request and of its reply.
    fn transact(&mut self, header: Header, content: &[u8]) -> io::Result<()> {
        let (length, reply) = (header.length_bytes, header.reply_bytes);
        match header.way {
            Way::ToSink => {
                self.drop_bytes(length)?;
                self.send(reply, content)
            }
            Way::FromSink => {
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

    /// Receives bytes that nobody looks at.
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

    /// Appends what is there; 0 at the end.
    fn receive(&mut self) -> io::Result<usize> {
        loop {
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
