//! Transactions with TCP peers: one connection a slot, so that replies need no numbers.
//!
//! A request goes out with its header in one call, right before its bytes. A short send or receive
//! goes on where it stopped. A connection that failed is closed, and all later requests of its slot
//! fail with `ENOTCONN` until it is opened again.

mod psync;
mod uring;

use std::net::TcpStream;
use std::sync::Arc;

use network::{HEADER_BYTES, Header, Peer, Way};

use crate::{Buffers, EngineError, Operation, Request};

pub use psync::PsyncNetwork;
pub use uring::UringNetwork;

/// Room before a slot's bytes, so that those start at a page and their header right before it.
const ROOM_BYTES: usize = 4096;

/// The slots' connections.
#[derive(Debug)]
struct Sockets {
    /// Of each slot.
    peers: Vec<Arc<Peer>>,
    streams: Vec<Option<TcpStream>>,
}

impl Sockets {
    /// All connected, or none where each is opened by its slot.
    fn new(peers: Vec<Arc<Peer>>, connects: bool) -> Result<Self, EngineError> {
        let stream = |peer: &Arc<Peer>| connects.then(|| peer.connect()).transpose();
        let streams: Result<Vec<_>, _> = peers.iter().map(stream).collect();
        Ok(Self {
            streams: streams?,
            peers,
        })
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<&TcpStream> {
        self.streams[slot as usize].as_ref()
    }

    /// What `open` of a slot results in: 0, or a negated errno.
    fn open(&mut self, slot: u32) -> i32 {
        let stream = &mut self.streams[slot as usize];
        if stream.is_some() {
            return -libc::EBUSY;
        }
        match self.peers[slot as usize].connect() {
            Ok(connected) => {
                *stream = Some(connected);
                0
            }
            Err(error) => -error.errno(),
        }
    }

    /// What `close` of a slot results in: 0, or a negated errno.
    fn close(&mut self, slot: u32) -> i32 {
        match self.streams[slot as usize].take() {
            Some(_) => 0,
            None => -libc::ENOTCONN,
        }
    }
}

/// The slots' buffers, with room for a header before each.
#[derive(Debug)]
struct Messages(Buffers);

impl Messages {
    fn new(slot_count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        let with_room = buffer_bytes.saturating_add(ROOM_BYTES as u32);
        Ok(Self(Buffers::new(slot_count, with_room)?))
    }

    fn slot_count(&self) -> u32 {
        self.0.slot_count()
    }

    /// The most bytes of a request.
    fn length_max(&self) -> usize {
        self.0.buffer_bytes() - ROOM_BYTES
    }

    #[inline]
    fn payload(&mut self, slot: u32) -> &mut [u8] {
        &mut self.0.slot(slot)[ROOM_BYTES..]
    }

    /// Where the slot's bytes start.
    #[inline]
    fn pointer(&self, slot: u32) -> *mut u8 {
        self.0.slot_pointer(slot).wrapping_add(ROOM_BYTES)
    }

    /// Puts the header of a request that begins a transaction before the slot's bytes, and returns
    /// it with them.
    #[inline]
    fn with_header(&mut self, request: &Request) -> &mut [u8] {
        let header = Header {
            way: match request.operation {
                Operation::Read => Way::FromSink,
                _ => Way::ToSink,
            },
            length_bytes: request.length_bytes,
            // What is above is no reply's length.
            reply_bytes: request.offset_bytes as u32,
        };
        let message = &mut self.0.slot(request.slot)[ROOM_BYTES - HEADER_BYTES..];
        message[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        message
    }
}

/// Whether the request begins a transaction, so that its header goes first.
#[inline]
const fn begins(request: &Request) -> bool {
    request.offset_bytes != Request::REPLY
}

#[cfg(test)]
mod tests;
