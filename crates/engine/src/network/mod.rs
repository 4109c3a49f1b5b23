//! Transactions with TCP peers: one connection per slot, so that replies need no numbers.
//!
//! A request is sent in one call with its header, which is directly before its bytes. A short send
//! or receive continues where it stopped. A failed connection is closed, and all later requests of
//! its slot fail with `ENOTCONN` until it is opened again.

mod psync;
mod uring;

use std::net::TcpStream;
use std::sync::Arc;

use network::{ByteDirection, HEADER_BYTES, Peer, TransactionHeader};

use crate::{Buffers, EngineError, Operation, Request};

pub use psync::PsyncNetwork;
pub use uring::UringNetwork;

/// Space before a slot's bytes: they start at a page, directly after their header.
const HEADROOM_BYTES: usize = 4096;

/// Connections of the slots.
#[derive(Debug)]
struct Sockets {
    /// Peer of each slot.
    peers: Vec<Arc<Peer>>,
    streams: Vec<Option<TcpStream>>,
}

impl Sockets {
    /// Connects all slots, or none if each slot opens its connection itself.
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

    /// Result of opening the slot's connection: 0 or a negated errno.
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

    /// Result of closing the slot's connection: 0 or a negated errno.
    fn close(&mut self, slot: u32) -> i32 {
        match self.streams[slot as usize].take() {
            Some(_) => 0,
            None => -libc::ENOTCONN,
        }
    }
}

/// Buffers of the slots, with space for a header before each.
#[derive(Debug)]
struct MessageBuffers(Buffers);

impl MessageBuffers {
    fn new(slot_count: u32, buffer_bytes: u32) -> Result<Self, EngineError> {
        let with_room = buffer_bytes.saturating_add(HEADROOM_BYTES as u32);
        Ok(Self(Buffers::new(slot_count, with_room)?))
    }

    fn slot_count(&self) -> u32 {
        self.0.slot_count()
    }

    /// Maximum number of bytes in a request.
    fn length_max(&self) -> usize {
        self.0.buffer_bytes() - HEADROOM_BYTES
    }

    #[inline]
    fn payload(&mut self, slot: u32) -> &mut [u8] {
        &mut self.0.slot(slot)[HEADROOM_BYTES..]
    }

    /// Start of the slot's bytes.
    #[inline]
    fn pointer(&self, slot: u32) -> *mut u8 {
        self.0.slot_pointer(slot).wrapping_add(HEADROOM_BYTES)
    }

    /// Writes the header of a request that begins a transaction before the slot's bytes. Returns
    /// the header and the bytes.
    #[inline]
    fn write_header(&mut self, request: &Request) -> &mut [u8] {
        let header = TransactionHeader {
            direction: match request.operation {
                Operation::Read => ByteDirection::FromSink,
                _ => ByteDirection::ToSink,
            },
            length_bytes: request.length_bytes,
            // A reply's length has 32 bits.
            reply_bytes: request.offset_bytes as u32,
        };
        let message = &mut self.0.slot(request.slot)[HEADROOM_BYTES - HEADER_BYTES..];
        message[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        message
    }
}

/// `true` if the request begins a transaction, so that its header is sent first.
#[inline]
const fn begins(request: &Request) -> bool {
    request.offset_bytes != Request::REPLY
}

#[cfg(test)]
mod tests;
