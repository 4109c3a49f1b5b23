//! Counters of a worker, and their transfer to the reader without either side waiting.

use stats::Interval;

/// Counters of a worker since the last transfer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    /// Start of counting, in nanoseconds of the clock.
    pub at_ns: u64,
    /// Duration of counting, in nanoseconds.
    pub length_ns: u64,
    /// `true` for the ramp, which is displayed but never kept.
    pub ramp: bool,
    /// Counters, one per span of the worker's plan.
    pub spans: Vec<Interval>,
}

impl Sample {
    /// End of counting, in nanoseconds of the clock.
    pub const fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }

    /// Clears the counters and starts to count again.
    pub fn clear(&mut self, at_ns: u64, ramp: bool) {
        self.at_ns = at_ns;
        self.length_ns = 0;
        self.ramp = ramp;
        self.spans.iter_mut().for_each(Interval::clear);
    }
}

/// The worker's side of the transfer.
pub(crate) struct Outbox {
    pub full: rtrb::Producer<Box<Sample>>,
    pub empty: rtrb::Consumer<Box<Sample>>,
}

impl Outbox {
    /// Takes an empty sample; `None` if the full one could not be given away now.
    pub fn take_empty(&mut self) -> Option<Box<Sample>> {
        // Without a reader, a worker counts on in its current sample.
        if self.full.is_full() || self.full.is_abandoned() {
            return None;
        }
        self.empty.pop().ok()
    }

    pub fn give(&mut self, full: Box<Sample>) {
        // `take_empty` has checked that there is room, and only this side pushes.
        let _ = self.full.push(full);
    }
}

/// The reader's side of the transfer.
pub(crate) struct Inbox {
    pub full: rtrb::Consumer<Box<Sample>>,
    pub empty: rtrb::Producer<Box<Sample>>,
}

/// Creates both sides and the first sample, all with the shape of `like`.
pub(crate) fn exchange(like: Sample) -> (Box<Sample>, Outbox, Inbox) {
    // With two spare samples, a worker can end an interval while the monitor still reads the last
    // one.
    let (full_in, full_out) = rtrb::RingBuffer::new(2);
    let (mut empty_in, empty_out) = rtrb::RingBuffer::new(2);
    for _ in 0..2 {
        // The ring has a capacity of two.
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
