//! What a worker has counted, and how it gets to the reader without either waiting.

use stats::Interval;

/// What a worker has counted since the last hand-over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    /// When counting began, in nanoseconds of the clock.
    pub at_ns: u64,
    /// How long it lasted, in nanoseconds.
    pub length_ns: u64,
    /// Whether this is ramp, which is shown but never kept.
    pub ramp: bool,
    /// One a span of the worker's plan.
    pub spans: Vec<Interval>,
}

impl Sample {
    /// When counting ended, in nanoseconds of the clock.
    pub const fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }

    /// Begins to count anew.
    pub fn clear(&mut self, at_ns: u64, ramp: bool) {
        self.at_ns = at_ns;
        self.length_ns = 0;
        self.ramp = ramp;
        self.spans.iter_mut().for_each(Interval::clear);
    }
}

/// A worker's side of the hand-over.
pub(crate) struct Outbox {
    pub full: rtrb::Producer<Box<Sample>>,
    pub empty: rtrb::Consumer<Box<Sample>>,
}

impl Outbox {
    /// An empty sample, for which what is counted can be given.
    pub fn take_empty(&mut self) -> Option<Box<Sample>> {
        if self.full.is_full() || self.full.is_abandoned() {
            return None;
        }
        self.empty.pop().ok()
    }

    pub fn give(&mut self, full: Box<Sample>) {
        // Fullness was asked for before, and nobody else pushes.
        let _ = self.full.push(full);
    }
}

/// The reader's side of the hand-over.
pub(crate) struct Inbox {
    pub full: rtrb::Consumer<Box<Sample>>,
    pub empty: rtrb::Producer<Box<Sample>>,
}

/// Makes both sides and the sample to begin with, all of the shape of `like`.
pub(crate) fn exchange(like: Sample) -> (Box<Sample>, Outbox, Inbox) {
    let (full_in, full_out) = rtrb::RingBuffer::new(2);
    let (mut empty_in, empty_out) = rtrb::RingBuffer::new(2);
    for _ in 0..2 {
        // The ring was made for two, so it takes two.
        let _ = empty_in.push(Box::new(like.clone()));
    }
    let outbox = Outbox {
        full: full_in,
        empty: empty_out,
    };
    (
        Box::new(like),
        outbox,
        Inbox {
            full: full_out,
            empty: empty_in,
        },
    )
}
