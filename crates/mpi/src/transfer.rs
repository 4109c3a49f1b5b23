//! Messages in transfer, each with its memory.

use std::ffi::c_int;

use crate::bindings::{Bindings, Envelope, Handle};
use crate::error::MpiError;
use crate::pieces::{PIECE_BYTES, pieces};

/// A message that is being sent, or a piece that is being received.
pub(crate) struct NonblockingTransfer {
    /// Owned by the library until all requests are done: neither read, changed nor freed before.
    bytes: Vec<u8>,
    /// Requests that are not done.
    requests: Vec<Handle>,
}

impl NonblockingTransfer {
    /// Starts to send a message.
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
            // SAFETY: the piece is in memory that this transfer keeps until the request is done,
            // even if the transfer is dropped.
            let request = unsafe { bindings.start_send(piece, to, tag) }?;
            transfer.requests.push(request);
        }
        Ok(transfer)
    }

    /// Starts to receive the message of an envelope.
    pub(crate) fn receive(
        bindings: &Bindings,
        envelope: Envelope,
    ) -> Result<NonblockingTransfer, MpiError> {
        // `check_envelope` rejects negative lengths.
        let length = usize::try_from(envelope.length).unwrap_or_default();
        let mut transfer = NonblockingTransfer {
            bytes: vec![0; length],
            requests: Vec::new(),
        };
        let buffer: *mut [u8] = transfer.bytes.as_mut_slice();
        // SAFETY: this transfer keeps the memory until the request is done, even if the transfer is
        // dropped, and does not use it before.
        let request = unsafe { bindings.start_receive(buffer, envelope.from, envelope.tag) }?;
        transfer.requests.push(request);
        Ok(transfer)
    }

    /// Advances the transfer and returns `true` if it is done.
    pub(crate) fn poll(&mut self, bindings: &Bindings) -> Result<bool, MpiError> {
        while let Some(request) = self.requests.first_mut() {
            // SAFETY: `requests` holds only requests that are not done.
            if !unsafe { bindings.test(request) }? {
                return Ok(false);
            }
            // A message has one request per GiB, so the vector is short.
            self.requests.remove(0);
        }
        Ok(true)
    }

    /// `true` if the last [`NonblockingTransfer::poll`] found no request in progress.
    pub(crate) fn is_done(&self) -> bool {
        self.requests.is_empty()
    }

    /// Takes the received bytes; empty before the transfer is done.
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
            // The library may still read or write the memory, so it is leaked.
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}
