//! Messages under way, each with its memory.

use std::ffi::c_int;

use crate::bindings::{Bindings, Envelope, Handle};
use crate::error::MpiError;
use crate::pieces::{PIECE_BYTES, pieces};

/// A message that is being sent, or a piece that is being received.
pub(crate) struct NonblockingTransfer {
    /// The library's until all requests are done: neither read nor changed nor freed.
    bytes: Vec<u8>,
    /// Those that are not done.
    requests: Vec<Handle>,
}

impl NonblockingTransfer {
    /// Begins to send a message.
    pub(crate) fn send(
        bindings: &Bindings,
        to: c_int,
        message: Vec<u8>,
    ) -> Result<NonblockingTransfer, MpiError> {
        let mut transfer = NonblockingTransfer {
            requests: Vec::new(),
            bytes: message,
        };
        for (range, tag) in pieces(transfer.bytes.len(), PIECE_BYTES) {
            let piece: *const [u8] = &raw const transfer.bytes[range];
            // SAFETY: the piece lies in memory that this transfer keeps, even when it is dropped,
            // until the request is done.
            let request = unsafe { bindings.start_send(piece, to, tag) }?;
            transfer.requests.push(request);
        }
        Ok(transfer)
    }

    /// Begins to receive a message that can be received.
    pub(crate) fn receive(
        bindings: &Bindings,
        envelope: Envelope,
    ) -> Result<NonblockingTransfer, MpiError> {
        let length = usize::try_from(envelope.length).unwrap_or_default();
        let mut transfer = NonblockingTransfer {
            bytes: vec![0; length],
            requests: Vec::new(),
        };
        let place: *mut [u8] = transfer.bytes.as_mut_slice();
        // SAFETY: the place is memory that this transfer keeps, even when it is dropped, and does
        // not use until the request is done.
        let request = unsafe { bindings.start_receive(place, envelope.from, envelope.tag) }?;
        transfer.requests.push(request);
        Ok(transfer)
    }

    /// Lets it get on; whether it is done.
    pub(crate) fn poll(&mut self, bindings: &Bindings) -> Result<bool, MpiError> {
        while let Some(request) = self.requests.first_mut() {
            // SAFETY: only requests that are not done are kept.
            if !unsafe { bindings.test(request) }? {
                return Ok(false);
            }
            self.requests.remove(0);
        }
        Ok(true)
    }

    /// Whether it is done, as far as is known.
    pub(crate) fn is_done(&self) -> bool {
        self.requests.is_empty()
    }

    /// What was received; nothing before it is done.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        if self.is_done() {
            return std::mem::take(&mut self.bytes);
        }
        Vec::new()
    }
}

impl Drop for NonblockingTransfer {
    fn drop(&mut self) {
        if !self.is_done() {
            // The library may still read or write it.
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}
