//! Position from which sequential requests continue: one per worker, or shared by all workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plan::WorkerPlan;

/// The last request on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRequest {
    /// Start of the request, in bytes from the beginning of the target.
    pub start_bytes: u64,
    /// Distance from this start to the start of the next sequential request, in bytes.
    pub length_bytes: u64,
}

/// Current position on a target.
pub trait Cursor {
    /// Moves to the start that `choose` returns for the last request (`None` before the first) and
    /// returns it.
    ///
    /// `choose` is called again if another worker moved in between. `kind` is twice the number of
    /// the line, plus one for its reply.
    fn move_to(
        &mut self,
        kind: u16,
        length_bytes: u32,
        choose: impl FnMut(Option<LastRequest>) -> u64,
    ) -> u64;

    /// Number of previous calls for `kind`: the index in an order without repetition.
    fn turn(&mut self, kind: u16) -> u64;

    /// Seed of orders without repetition; `own_seed` is the worker's.
    fn order_seed(&self, own_seed: u64) -> u64;

    /// Exclusive upper limit for the end of a span, in bytes.
    fn limit_bytes(&self) -> u64;
}

/// A worker's own position on one target, as in Iometer: the next sequential request starts at the
/// end of the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnCursor {
    last: Option<LastRequest>,
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

    /// One position per span of the plan.
    #[must_use]
    pub fn one_per_span(plan: &WorkerPlan) -> Vec<Self> {
        vec![Self::new(plan); plan.spans.len()]
    }
}

impl Cursor for OwnCursor {
    #[inline]
    fn move_to(
        &mut self,
        _kind: u16,
        length_bytes: u32,
        mut choose: impl FnMut(Option<LastRequest>) -> u64,
    ) -> u64 {
        let start_bytes = choose(self.last);
        self.last = Some(LastRequest {
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
        // Larger offsets are codes to the engines; see `Request::OFFSET_MAX`.
        1 << 62
    }
}

/// One position on one target, shared by several threads; clones share it.
///
/// A thread reads the current address, chooses the next one, and swaps it in atomically. If another
/// thread was faster, it chooses again.
#[derive(Debug, Clone)]
pub struct SharedCursor {
    shared: Arc<SharedAddress>,
}

#[derive(Debug)]
struct SharedAddress {
    /// Start (48 bits) and kind (16 bits) of the last request; all ones before the first.
    packed: AtomicU64,
    /// Lengths by kind if the next request starts at the end of the last one. Empty if it starts
    /// its own length after the last one's start.
    lengths_bytes: Vec<u32>,
    turns: Vec<AtomicU64>,
    seed: u64,
}

/// Value before the first request. No request has it, because kinds are below 65535.
const NO_REQUEST: u64 = u64::MAX;

impl SharedCursor {
    /// pgmeter's current sector address, shared by all workers of a target.
    ///
    /// A sequential request starts its own size after the start of the last request of any worker.
    /// It starts at the beginning of the span if it would pass the end. A random request sets the
    /// address to its position. `line_count` is that of the longest access specification. Before
    /// the first request there is no address, so the first sequential request starts at the
    /// beginning of the span.
    ///
    /// Source: the pgmeter paper, section 4, steps 1 to 7.
    #[must_use]
    pub fn current_sector_address(seed: u64, line_count: usize) -> Self {
        Self::build(seed, line_count, Vec::new())
    }

    /// Position on one target, shared by the lanes of one worker. A sequential request starts at
    /// the end of the last one, as with [`OwnCursor`].
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
            shared: Arc::new(SharedAddress {
                packed: AtomicU64::new(NO_REQUEST),
                lengths_bytes,
                turns: turns.collect(),
                seed,
            }),
        }
    }
}

impl SharedAddress {
    fn unpack(&self, packed: u64, own_length_bytes: u32) -> Option<LastRequest> {
        let kind = (packed & 0xffff) as usize;
        let length_bytes = *self.lengths_bytes.get(kind).unwrap_or(&own_length_bytes);
        (packed != NO_REQUEST).then_some(LastRequest {
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
        mut choose: impl FnMut(Option<LastRequest>) -> u64,
    ) -> u64 {
        let mut current = self.shared.packed.load(Ordering::Relaxed);
        loop {
            let start_bytes = choose(self.shared.unpack(current, length_bytes));
            let next = start_bytes << 16 | u64::from(kind);
            // Relaxed, because the address does not guard other memory.
            match self.shared.packed.compare_exchange_weak(
                current,
                next,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return start_bytes,
                Err(now) => current = now,
            }
        }
    }

    #[inline]
    fn turn(&mut self, kind: u16) -> u64 {
        // If a worker has more lines than expected, they share the last line's counter.
        let index = usize::from(kind).min(self.shared.turns.len() - 1);
        self.shared.turns[index].fetch_add(1, Ordering::Relaxed)
    }

    fn order_seed(&self, _own_seed: u64) -> u64 {
        self.shared.seed
    }

    fn limit_bytes(&self) -> u64 {
        // `packed` has 48 bits for an address.
        1 << 48
    }
}

/// Number of kinds: a request and a reply per line.
const fn kind_count(line_count: usize) -> usize {
    2 * line_count
}
