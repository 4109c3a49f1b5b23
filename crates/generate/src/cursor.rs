//! The position from which sequential requests continue: one worker's own, or shared by all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plan::WorkerPlan;

/// The last request on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    /// Where it started, in bytes from byte 0 of the target.
    pub start_bytes: u64,
    /// How far behind its start the next sequential request starts, in bytes.
    pub length_bytes: u64,
}

/// Where a target stands.
pub trait Cursor {
    /// Moves to the start that `choose` gives for the last request (`None` before the first) and
    /// returns it.
    ///
    /// `choose` is asked again when another worker moved in between. `kind` is the line's number,
    /// twice, plus one for its reply.
    fn move_to(
        &mut self,
        kind: u16,
        length_bytes: u32,
        choose: impl FnMut(Option<Last>) -> u64,
    ) -> u64;

    /// How many times this was asked before for `kind`: the place in an order without repetition.
    fn turn(&mut self, kind: u16) -> u64;

    /// The seed of orders without repetition, given the worker's own.
    fn order_seed(&self, own_seed: u64) -> u64;

    /// The largest end of a span that the cursor can hold, in bytes.
    fn limit_bytes(&self) -> u64;
}

/// A worker's own position on one target, as in Iometer: the next sequential request starts
/// behind the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCursor {
    last: Option<Last>,
    turns: Vec<u64>,
}

impl OwnCursor {
    /// A position before the first request.
    #[must_use]
    pub fn new(plan: &WorkerPlan) -> Self {
        Self {
            last: None,
            turns: vec![0; kind_count(plan.lines.len())],
        }
    }

    /// One position for each span of the plan.
    #[must_use]
    pub fn for_each_span(plan: &WorkerPlan) -> Vec<Self> {
        vec![Self::new(plan); plan.spans.len()]
    }
}

impl Cursor for OwnCursor {
    #[inline]
    fn move_to(
        &mut self,
        _kind: u16,
        length_bytes: u32,
        mut choose: impl FnMut(Option<Last>) -> u64,
    ) -> u64 {
        let start_bytes = choose(self.last);
        self.last = Some(Last {
            start_bytes,
            length_bytes: length_bytes.into(),
        });
        start_bytes
    }

    #[inline]
    fn turn(&mut self, kind: u16) -> u64 {
        let turn = self.turns[usize::from(kind)];
        self.turns[usize::from(kind)] += 1;
        turn
    }

    fn order_seed(&self, own_seed: u64) -> u64 {
        own_seed
    }

    fn limit_bytes(&self) -> u64 {
        1 << 62
    }
}

/// One position on one target for several threads; clones share it.
///
/// The current address is read, the next one chosen and exchanged against it; when another thread
/// was faster, the choice is made again.
#[derive(Debug, Clone)]
pub struct SharedCursor {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The last request's start, 48 bits, and its kind, 16 bits; all ones before the first.
    packed: AtomicU64,
    /// Lengths by kind where the next request starts behind the last one; empty where it starts
    /// its own length behind the last one's start.
    lengths_bytes: Vec<u32>,
    turns: Vec<AtomicU64>,
    seed: u64,
}

/// Before the first request; no request has it, as kinds stay below 65535.
const NOWHERE: u64 = u64::MAX;

impl SharedCursor {
    /// pgmeter's current sector address, shared by all workers of a target.
    ///
    /// A sequential request starts its own size behind the start of the last request of any
    /// worker, and at the start of the span when it would pass the end; a random request leaves
    /// its position as the address. `line_count` is that of the longest access specification.
    /// Before the first request there is no address, so the first sequential request starts at
    /// the start of the span.
    ///
    /// Source: the pgmeter paper, section 4, steps 1 to 7.
    #[must_use]
    pub fn current_sector_address(seed: u64, line_count: usize) -> Self {
        Self::build(seed, line_count, Vec::new())
    }

    /// The position that the lanes of one worker share on one target: a sequential request starts
    /// behind the last one, as with [`OwnCursor`].
    #[must_use]
    pub fn between_lanes(plan: &WorkerPlan) -> Self {
        let lengths_bytes = plan
            .lines
            .iter()
            .flat_map(|line| [line.size_bytes, line.reply_bytes])
            .collect();
        Self::build(plan.seed, plan.lines.len(), lengths_bytes)
    }

    fn build(seed: u64, line_count: usize, lengths_bytes: Vec<u32>) -> Self {
        let turns = (0..kind_count(line_count.max(1))).map(|_| AtomicU64::new(0));
        Self {
            shared: Arc::new(Shared {
                packed: AtomicU64::new(NOWHERE),
                lengths_bytes,
                turns: turns.collect(),
                seed,
            }),
        }
    }
}

impl Shared {
    fn unpack(&self, packed: u64, own_length_bytes: u32) -> Option<Last> {
        let kind = (packed & 0xffff) as usize;
        let length_bytes = *self.lengths_bytes.get(kind).unwrap_or(&own_length_bytes);
        (packed != NOWHERE).then_some(Last {
            start_bytes: packed >> 16,
            length_bytes: length_bytes.into(),
        })
    }
}

impl Cursor for SharedCursor {
    #[inline]
    fn move_to(
        &mut self,
        kind: u16,
        length_bytes: u32,
        mut choose: impl FnMut(Option<Last>) -> u64,
    ) -> u64 {
        let mut seen = self.shared.packed.load(Ordering::Relaxed);
        loop {
            let start_bytes = choose(self.shared.unpack(seen, length_bytes));
            let next = start_bytes << 16 | u64::from(kind);
            // Relaxed: the address guards no other memory.
            match self.shared.packed.compare_exchange_weak(
                seen,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return start_bytes,
                Err(now) => seen = now,
            }
        }
    }

    #[inline]
    fn turn(&mut self, kind: u16) -> u64 {
        // A worker with more lines than the cursor was made for shares the last one's turns.
        let index = usize::from(kind).min(self.shared.turns.len() - 1);
        self.shared.turns[index].fetch_add(1, Ordering::Relaxed)
    }

    fn order_seed(&self, _own_seed: u64) -> u64 {
        self.shared.seed
    }

    fn limit_bytes(&self) -> u64 {
        1 << 48
    }
}

/// Requests and replies of each line.
const fn kind_count(line_count: usize) -> usize {
    2 * line_count
}
