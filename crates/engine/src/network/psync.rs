//! Blocking calls, one transaction at a time.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use network::{HEADER_BYTES, Peer};

use super::{MessageBuffers, Sockets, begins};
use crate::{Completion, Engine, EngineError, Operation, Request, Wait, pause};

/// `send` and `recv`. Requests are executed one after another at the next `reap`.
///
/// A call that transfers nothing for [`network::SILENCE_TIMEOUT`] fails with `ETIMEDOUT`.
#[derive(Debug)]
pub struct PsyncNetwork {
    sockets: Sockets,
    messages: MessageBuffers,
    pending: Vec<Request>,
}

impl PsyncNetwork {
    /// An engine with one slot per peer and a buffer of `buffer_bytes` per slot. With `connects` it
    /// connects all slots immediately; otherwise each slot connects by [`Operation::Open`].
    ///
    /// # Errors
    /// If there is not enough memory for the buffers, or a connection fails.
    pub fn new(
        peers: Vec<Arc<Peer>>,
        buffer_bytes: u32,
        connects: bool,
    ) -> Result<Self, EngineError> {
        let messages = MessageBuffers::new(peers.len() as u32, buffer_bytes)?;
        Ok(Self {
            pending: Vec::with_capacity(peers.len()),
            sockets: Sockets::new(peers, connects)?,
            messages,
        })
    }

    fn execute(&mut self, request: &Request) -> i32 {
        let slot = request.slot;
        match request.operation {
            Operation::Open => return self.sockets.open(slot),
            Operation::Close => return self.sockets.close(slot),
            Operation::Read | Operation::Write => {}
            _ => return -libc::EOPNOTSUPP,
        }
        let Some(stream) = self.sockets.get(slot) else {
            return -libc::ENOTCONN;
        };
        let fd = stream.as_raw_fd();
        let result = self.transfer(fd, request);
        // After a partial transfer, the start of the next message in the stream is unknown.
        if result < 0 {
            self.sockets.close(slot);
        }
        result
    }

    #[inline]
    fn transfer(&mut self, fd: i32, request: &Request) -> i32 {
        let length = request.length_bytes as usize;
        let reads = request.operation == Operation::Read;
        let sent = match (begins(request), reads) {
            (true, true) => send_all(fd, &self.messages.write_header(request)[..HEADER_BYTES]),
            (true, false) => {
                let message = &self.messages.write_header(request)[..HEADER_BYTES + length];
                send_all(fd, message)
            }
            (false, true) => 0,
            (false, false) => send_all(fd, &self.messages.payload(request.slot)[..length]),
        };
        if sent < 0 {
            return sent;
        }
        if reads {
            let received = receive_all(fd, &mut self.messages.payload(request.slot)[..length]);
            if received < 0 {
                return received;
            }
        }
        request.length_bytes as i32
    }
}

/// Sends all bytes. Returns 0 or a negated errno.
#[inline]
fn send_all(fd: i32, bytes: &[u8]) -> i32 {
    let mut moved = 0;
    while moved < bytes.len() {
        let rest = &bytes[moved..];
        // `MSG_NOSIGNAL`: a connection that the peer closed is a result, not a `SIGPIPE`.
        // SAFETY: the kernel reads the rest of a borrowed buffer.
        let count = unsafe { libc::send(fd, rest.as_ptr().cast(), rest.len(), libc::MSG_NOSIGNAL) };
        match count {
            1.. => moved += count as usize,
            _ => match failure() {
                libc::EINTR => {}
                errno => return -errno,
            },
        }
    }
    0
}

/// Fills the buffer. Returns 0 or a negated errno.
#[inline]
fn receive_all(fd: i32, buffer: &mut [u8]) -> i32 {
    let mut moved = 0;
    while moved < buffer.len() {
        let rest = &mut buffer[moved..];
        // SAFETY: the kernel writes to the rest of an exclusively borrowed buffer.
        let count =
            unsafe { libc::recv(fd, rest.as_mut_ptr().cast(), rest.len(), libc::MSG_WAITALL) };
        match count {
            1.. => moved += count as usize,
            // The peer closed the connection in the middle of a message.
            0 => return -libc::ECONNRESET,
            _ => match failure() {
                libc::EINTR => {}
                errno => return -errno,
            },
        }
    }
    0
}

/// Errno of the last call; `ETIMEDOUT` if the call transferred nothing within the socket's time
/// limit.
#[cold]
fn failure() -> i32 {
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => libc::ETIMEDOUT,
        errno => errno.unwrap_or(libc::EIO),
    }
}

impl Engine for PsyncNetwork {
    fn slot_count(&self) -> u32 {
        self.messages.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.messages.payload(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        self.pending.push(request);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if self.pending.is_empty() {
            pause(wait);
        }
        for index in 0..self.pending.len() {
            let request = self.pending[index];
            let result = self.execute(&request);
            let slot = request.slot;
            done.push(Completion { slot, result });
        }
        self.pending.clear();
        Ok(())
    }
}
