//! Time for the measurement loop: passed in, so that a whole run can be made exact.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::counter::{Counter, system_ns};

/// Tells the time since some fixed moment.
pub trait Clock {
    /// Nanoseconds since the clock's own beginning; never less than an earlier answer to the
    /// same thread.
    fn now_ns(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}

/// The processor's invariant time stamp counter, scaled to `CLOCK_MONOTONIC`; where there is none
/// that the kernel trusts, that clock itself.
///
/// The first clock of a process calibrates for about 100 ms, to a few parts in a million; copies
/// share the beginning, so that their times can be compared across threads.
#[derive(Debug, Clone)]
pub struct TscClock {
    counter: Counter,
    beginning_raw: u64,
    /// Nanoseconds of a tick, times 2^32.
    scale: u64,
}

/// The span over which ticks are compared with nanoseconds.
const CALIBRATION: Duration = Duration::from_millis(100);

/// Readings of both clocks together, of which the closest counts.
const READINGS: u32 = 50;

impl TscClock {
    /// A clock that begins now.
    #[must_use]
    pub fn new() -> Self {
        static SCALE: OnceLock<u64> = OnceLock::new();
        let counter = Counter::new();
        let scale = *SCALE.get_or_init(|| calibrate(counter));
        let beginning_raw = counter.ticks();
        Self {
            counter,
            beginning_raw,
            scale,
        }
    }

    /// Whether clocks read the processor's counter, not the system's clock.
    #[must_use]
    pub fn reads_processor() -> bool {
        Counter::new().is_processors()
    }
}

/// Nanoseconds of a tick, times 2^32.
fn calibrate(counter: Counter) -> u64 {
    let (start_raw, start_ns) = both(counter);
    std::thread::sleep(CALIBRATION);
    let (end_raw, end_ns) = both(counter);
    let ticks = u128::from(end_raw.saturating_sub(start_raw).max(1));
    ((u128::from(end_ns - start_ns) << 32) / ticks) as u64
}

/// Both clocks at one moment: of some readings the one in which the least time passed.
fn both(counter: Counter) -> (u64, u64) {
    let read = || {
        let before_raw = counter.ticks();
        let ns = system_ns();
        let after_raw = counter.ticks();
        // A thread may have moved to a core that is behind; that reading is the widest then.
        let width = after_raw.wrapping_sub(before_raw);
        (width, before_raw / 2 + after_raw / 2, ns)
    };
    let closest = (0..READINGS)
        .map(|_| read())
        .min_by_key(|(width, ..)| *width);
    let (_, raw, ns) = closest.expect("there is at least one reading");
    (raw, ns)
}

impl Default for TscClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TscClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        let ticks = self.counter.ticks().saturating_sub(self.beginning_raw);
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }
}

/// A clock that moves only when it is told to; clones are the same clock.
#[derive(Debug, Clone, Default)]
pub struct StepClock {
    now_ns: Arc<AtomicU64>,
}

impl StepClock {
    /// A clock that stands at 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward by so many nanoseconds.
    pub fn advance(&self, by_ns: u64) {
        self.now_ns.fetch_add(by_ns, Ordering::Relaxed);
    }

    /// Moves the clock forward to that time, and never back.
    pub fn advance_to(&self, time_ns: u64) {
        self.now_ns.fetch_max(time_ns, Ordering::Relaxed);
    }
}

impl Clock for StepClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_tsc_clock_never_goes_back() {
        let clock = TscClock::new();
        let mut last_ns = clock.now_ns();
        for _ in 0..1_000_000 {
            let now_ns = clock.now_ns();
            assert!(now_ns >= last_ns);
            last_ns = now_ns;
        }
    }

    #[test]
    fn the_tsc_clock_agrees_with_the_system_to_some_millionths() {
        let clock = TscClock::new();
        let (start, start_ns) = (Instant::now(), clock.now_ns());
        std::thread::sleep(Duration::from_millis(200));
        // The thread can lose the processor between the two readings, so the best of some counts.
        let off_share = (0..20)
            .map(|_| {
                let tsc_ns = (clock.now_ns() - start_ns) as f64;
                let system_ns = start.elapsed().as_nanos() as f64;
                (tsc_ns / system_ns - 1.0).abs()
            })
            .fold(f64::INFINITY, f64::min);
        assert!(off_share < 2e-5, "off by {off_share}");
    }

    #[test]
    fn copies_of_a_tsc_clock_share_their_beginning() {
        let clock = TscClock::new();
        let copy = clock.clone();
        let before_ns = clock.now_ns();
        assert!(copy.now_ns() >= before_ns);
    }

    #[test]
    fn a_step_clock_moves_when_told_and_never_back() {
        let clock = StepClock::new();
        let same = clock.clone();
        clock.advance(5);
        same.advance_to(3);
        assert_eq!(clock.now_ns(), 5);
        same.advance_to(9);
        assert_eq!(clock.now_ns(), 9);
    }
}
