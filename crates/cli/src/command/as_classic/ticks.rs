//! A clock for tests of whole programs: it moves by being read.

use std::sync::atomic::{AtomicU64, Ordering};

use engine::Clock;
use units::Span;

/// Each reading is so much later than the one before, the first one at 0.
#[derive(Debug)]
pub(super) struct Ticks {
    now_ns: AtomicU64,
    tick_ns: u64,
}

impl Ticks {
    pub(super) const fn new(tick: Span) -> Self {
        Self {
            now_ns: AtomicU64::new(0),
            tick_ns: tick.0,
        }
    }
}

impl Clock for Ticks {
    fn now_ns(&self) -> u64 {
        self.now_ns.fetch_add(self.tick_ns, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_is_a_tick_later() {
        let clock = Ticks::new(Span::from_secs(2));
        let readings = [(); 3].map(|()| clock.now_ns());
        assert_eq!(readings, [0, 2_000_000_000, 4_000_000_000]);
    }
}
