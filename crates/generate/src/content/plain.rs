//! Contents without verification; the kind is selected once, when the worker is created.

use std::sync::Arc;

use engine::Request;
use plan::ContentPlan;

use super::repeats::WrittenRequests;
use super::{BLOCK_BYTES, Tables};
use crate::{Content, Rng};

/// Content of a worker that does not verify its reads.
#[derive(Debug, Clone)]
pub struct PlainContent {
    fill: fn(&mut PlainState, &mut [u8]),
    prepare: fn(&mut PlainState, &mut [u8]),
    state: PlainState,
}

#[derive(Debug, Clone)]
struct PlainState {
    tables: Arc<Tables>,
    rng: Rng,
    /// Earlier requests, as sources of copies.
    written: WrittenRequests,
}

impl PlainContent {
    pub(super) fn new(tables: Arc<Tables>, worker_seed: u64) -> Self {
        type Fill = fn(&mut PlainState, &mut [u8]);
        let (prepare, fill): (Fill, Fill) = match tables.kind {
            ContentPlan::Incompressible => (PlainState::noise, PlainState::noise),
            ContentPlan::Repeating => (PlainState::repeating, PlainState::repeating),
            ContentPlan::PseudoRandom => (PlainState::pseudo_random, PlainState::pseudo_random),
            ContentPlan::FullRandom => (PlainState::full_random, PlainState::full_random),
            ContentPlan::Zero => (PlainState::zero, PlainState::zero),
            ContentPlan::Constant => (PlainState::noise, PlainState::unchanged),
            ContentPlan::Reducible { .. } => (PlainState::reducible, PlainState::reducible),
        };
        // `contents` in ASCII. Positions come from the same seed and must not depend on the
        // content.
        let rng = Rng::new(worker_seed ^ 0x636f_6e74_656e_7473);
        Self {
            fill,
            prepare,
            state: PlainState {
                tables,
                rng,
                written: WrittenRequests::default(),
            },
        }
    }

    /// Skips the fill of each write if it would write the same bytes to the buffer again.
    ///
    /// This applies to zeros and patterns, if no request of the worker reads other bytes into its
    /// buffers. Other contents are still renewed for each write.
    #[must_use]
    pub fn without_repeated_fills(mut self) -> Self {
        let kind = self.state.tables.kind;
        if matches!(kind, ContentPlan::Zero | ContentPlan::PseudoRandom) {
            self.fill = PlainState::unchanged;
        }
        self
    }

    /// Fills a slot's whole buffer before the first request.
    ///
    /// `fill` relies on this: it renews only what must differ between writes.
    pub fn prepare_buffer(&mut self, buffer: &mut [u8]) {
        (self.prepare)(&mut self.state, buffer);
        // Prepared bytes are not written, so they are no sources of copies.
        self.state.written = WrittenRequests::default();
    }
}

impl Content for PlainContent {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], _request: &Request) {
        (self.fill)(&mut self.state, buffer);
    }
}

/// Sends the slots' buffers as they are: the receiver does not store the data, so repeated content
/// has no effect.
#[derive(Debug, Clone, Copy)]
pub struct UnchangedContent;

impl Content for UnchangedContent {
    #[inline]
    fn fill(&mut self, _buffer: &mut [u8], _request: &Request) {}
}

impl PlainState {
    /// Renews the whole buffer. With stamps alone, neighboring blocks of a sequential stream would
    /// be nearly equal, and some file systems compress more than one block at a time.
    fn noise(&mut self, buffer: &mut [u8]) {
        self.tables.noise.write_all(buffer, &mut self.rng);
    }

    fn unchanged(&mut self, _buffer: &mut [u8]) {}

    fn repeating(&mut self, buffer: &mut [u8]) {
        buffer.fill(self.rng.next_u64() as u8);
    }

    /// Copied each time, because a read may have overwritten the buffer.
    fn pseudo_random(&mut self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(self.tables.pattern.len()) {
            part.copy_from_slice(&self.tables.pattern[..part.len()]);
        }
    }

    /// Copies a window that starts at any multiple of 4 bytes, so that the buffer itself stays
    /// aligned for direct I/O.
    fn full_random(&mut self, buffer: &mut [u8]) {
        let pattern = &self.tables.pattern;
        for part in buffer.chunks_mut(pattern.len()) {
            let starts = (pattern.len() - part.len()) / 4 + 1;
            let start = self.rng.below(starts as u64) as usize * 4;
            part.copy_from_slice(&pattern[start..start + part.len()]);
        }
    }

    fn zero(&mut self, buffer: &mut [u8]) {
        buffer.fill(0);
    }

    /// Fills a request with entirely new content or with copies of earlier requests.
    fn reducible(&mut self, buffer: &mut [u8]) {
        if self.tables.is_repeat(self.rng.next_u64()) && !self.written.is_empty() {
            let mut rest = buffer;
            while !rest.is_empty() {
                let (key, length) = self.written.pick(&mut self.rng);
                let (copy, behind) = rest.split_at_mut(length.min(rest.len()));
                self.reducible_blocks(copy, key);
                rest = behind;
            }
        } else if !buffer.is_empty() {
            // Copying a request of 0 bytes would never end, so none is remembered.
            let key = self.rng.next_u64();
            self.written.note(key, buffer.len());
            self.reducible_blocks(buffer, key);
        }
    }

    fn reducible_blocks(&self, buffer: &mut [u8], key: u64) {
        for (number, block) in (0..).zip(buffer.chunks_mut(BLOCK_BYTES)) {
            self.tables.write_reducible(block, key.wrapping_add(number));
        }
    }
}
