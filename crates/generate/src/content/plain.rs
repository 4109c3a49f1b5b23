//! Contents that nobody checks; the kind is chosen once, when the worker is made.

use std::sync::Arc;

use engine::Request;
use workload::plan::ContentPlan;

use super::{BLOCK_BYTES, Tables};
use crate::{Content, Mismatch, Rng};

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
    /// Half of each stamp, the worker's own.
    worker_mark: u64,
    /// Half of each stamp, the block's own.
    block_count: u64,
}

/// Odd, so that multiples of it differ for 2^64 blocks while no byte stays the same for long.
const BLOCK_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl PlainContent {
    /// With `stamps`, incompressible content is renewed by stamps alone; without, as a whole.
    pub(super) fn new(tables: Arc<Tables>, worker_seed: u64, stamps: bool) -> Self {
        type Fill = fn(&mut State, &mut [u8]);
        let (prepare, fill): (Fill, Fill) = match tables.kind {
            ContentPlan::Incompressible if stamps => (State::noise, State::incompressible),
            ContentPlan::Incompressible => (State::noise, State::noise),
            ContentPlan::Repeating => (State::repeating, State::repeating),
            ContentPlan::PseudoRandom => (State::pseudo_random, State::pseudo_random),
            ContentPlan::FullRandom => (State::full_random, State::full_random),
            ContentPlan::Zero => (State::zero, State::zero),
            ContentPlan::Reducible { .. } => (State::reducible, State::reducible),
        };
        let mut rng = Rng::new(worker_seed ^ 0x636f_6e74_656e_7473);
        let worker_mark = rng.next_u64();
        Self {
            fill,
            prepare,
            state: State {
                tables,
                rng,
                worker_mark,
                block_count: 0,
            },
        }
    }

    /// Fills a slot's whole buffer before the first request.
    ///
    /// `fill` relies on it: it renews only what must differ from write to write.
    pub fn prepare_buffer(&mut self, buffer: &mut [u8]) {
        (self.prepare)(&mut self.state, buffer);
    }
}

impl Content for PlainContent {
    #[inline]
    fn fill(&mut self, buffer: &mut [u8], _request: &Request) {
        (self.fill)(&mut self.state, buffer);
    }

    #[inline]
    fn check(&mut self, _buffer: &[u8], _request: &Request) -> Result<(), Mismatch> {
        Ok(())
    }
}

impl State {
    fn noise(&mut self, buffer: &mut [u8]) {
        self.tables.noise.write_all(buffer, &mut self.rng);
    }

    /// Stamps each block, so that no two written blocks are equal; consecutive writes of one slot
    /// have the rest in common.
    ///
    /// A buffer that a read left with a repeated pattern, such as the zeros of a hole, is filled
    /// afresh.
    fn incompressible(&mut self, buffer: &mut [u8]) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            self.block_count = self.block_count.wrapping_add(BLOCK_STEP);
            let Some((head, rest)) = block.split_first_chunk_mut::<16>() else {
                let stamp = self.block_count.to_le_bytes();
                block
                    .iter_mut()
                    .zip(stamp.iter().cycle())
                    .for_each(|(to, from)| *to = *from);
                continue;
            };
            head[..8].copy_from_slice(&self.block_count.to_le_bytes());
            head[8..].copy_from_slice(&self.worker_mark.to_le_bytes());
            if rest.first_chunk::<8>() == rest.last_chunk::<8>() {
                self.tables
                    .noise
                    .write(rest, self.block_count ^ self.worker_mark);
            }
        }
    }

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

    fn reducible(&mut self, buffer: &mut [u8]) {
        for block in buffer.chunks_mut(BLOCK_BYTES) {
            self.tables.write_reducible(block, self.rng.next_u64());
        }
    }
}
