//! Contents that nobody checks; the kind is chosen once, when the worker is made.

use std::sync::Arc;

use engine::Request;
use plan::ContentPlan;

use super::repeats::WrittenRequests;
use super::{BLOCK_BYTES, Tables};
use crate::{Content, Rng};

/// What a worker writes without checking what it reads.
#[derive(Debug, Clone)]
pub struct PlainContent {
    fill: fn(&mut State, &mut [u8]),
    prepare: fn(&mut State, &mut [u8]),
    state: State,
}

#[derive(Debug, Clone)]
struct State {
    tables: Arc<Tables>,
    rng: Rng,
    /// Sources of copies.
    written: WrittenRequests,
}

impl PlainContent {
    pub(super) fn new(tables: Arc<Tables>, worker_seed: u64) -> Self {
        type Fill = fn(&mut State, &mut [u8]);
        let (prepare, fill): (Fill, Fill) = match tables.kind {
            ContentPlan::Incompressible => (State::noise, State::noise),
            ContentPlan::Repeating => (State::repeating, State::repeating),
            ContentPlan::PseudoRandom => (State::pseudo_random, State::pseudo_random),
            ContentPlan::FullRandom => (State::full_random, State::full_random),
            ContentPlan::Zero => (State::zero, State::zero),
            ContentPlan::Constant => (State::noise, State::unchanged),
            ContentPlan::Reducible { .. } => (State::reducible, State::reducible),
        };
        let rng = Rng::new(worker_seed ^ 0x636f_6e74_656e_7473);
        Self {
            fill,
            prepare,
            state: State {
                tables,
                rng,
                written: WrittenRequests::default(),
            },
        }
    }

    /// Leaves the prepared bytes in the buffers where a fill would write the same bytes again.
    ///
    /// That is so for zeros and patterns, if no request of the worker reads other bytes into its
    /// buffers. Other contents are renewed for each write as before.
    #[must_use]
    pub fn without_repeated_fills(mut self) -> Self {
        let kind = self.state.tables.kind;
        if matches!(kind, ContentPlan::Zero | ContentPlan::PseudoRandom) {
            self.fill = State::unchanged;
        }
        self
    }

    /// Fills a slot's whole buffer before the first request.
    ///
    /// `fill` relies on it: it renews only what must differ from write to write.
    pub fn prepare_buffer(&mut self, buffer: &mut [u8]) {
        (self.prepare)(&mut self.state, buffer);
        // Nothing of it is written.
        self.state.written = WrittenRequests::default();
    }
}

impl Content for PlainContent {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], _request: &Request) {
        (self.fill)(&mut self.state, buffer);
    }
}

/// Whatever is in the slots' buffers, which is sent as it is: nobody keeps what goes over a network
/// and finds the same in it again.
#[derive(Debug, Clone, Copy)]
pub struct Unchanged;

impl Content for Unchanged {
    #[inline]
    fn fill(&mut self, _buffer: &mut [u8], _request: &Request) {}
}

impl State {
    /// Renewed as a whole: stamps alone would leave neighboring blocks of a sequential stream
    /// nearly equal, and file systems compress more than a block at a time.
    fn noise(&mut self, buffer: &mut [u8]) {
        self.tables.noise.write_all(buffer, &mut self.rng);
    }

    fn unchanged(&mut self, _buffer: &mut [u8]) {}

    fn repeating(&mut self, buffer: &mut [u8]) {
        buffer.fill(self.rng.next_u64() as u8);
    }

    /// Copied each time, because a read may have been in the buffer since.
    fn pseudo_random(&mut self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(self.tables.pattern.len()) {
            part.copy_from_slice(&self.tables.pattern[..part.len()]);
        }
    }

    /// A window at any multiple of 4 bytes, copied, so that the buffer stays fit for direct I/O.
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

    /// A request is new as a whole, or a copy of earlier ones.
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
