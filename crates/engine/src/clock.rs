//! Time for the measurement loop. It is passed in, so that tests can control it exactly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::counter::{CycleCounter, system_ns};

/// A source of time since a fixed moment.
pub trait Clock {
    /// Nanoseconds since the clock started; never decreases within a thread.
    fn now_ns(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}

/// The processor's invariant time stamp counter, scaled to `CLOCK_MONOTONIC`. If the kernel does
/// not trust that counter, `CLOCK_MONOTONIC` itself.
///
/// The first clock of a process calibrates for about 20 ms, to a few parts per million. Clones
/// share the start, so their times can be compared across threads.
#[derive(Debug, Clone)]
pub struct TscClock {
    counter: CycleCounter,
    start_raw: u64,
    /// Nanoseconds per tick, times 2^32.
    scale: u64,
}

/// Duration of the calibration. The two clocks are read within some tens of nanoseconds of each
/// other, so this gives an accuracy of a few parts per million. The kernel may slew its clock by
/// more than that.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Number of paired readings; the closest pair counts.
const READINGS: u32 = 50;

impl TscClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        // Only the first clock of the process pays for the calibration.
        static SCALE: OnceLock<u64> = OnceLock::new();
        // The `quanta` crate would calibrate itself again and check the kind of clock at each
        // reading.
        let counter = CycleCounter::new();
        let calibrate = || {
            let pause = || std::thread::sleep(CALIBRATION);
            calibrate(&|| counter.ticks(), &system_ns, pause)
        };
        let scale = *SCALE.get_or_init(calibrate);
        let beginning_raw = counter.ticks();
        Self {
            counter,
            start_raw: beginning_raw,
            scale,
        }
    }

    /// `true` if clocks read the processor's counter, `false` if they use the system clock.
    #[must_use]
    pub fn uses_processor_counter() -> bool {
        CycleCounter::new().is_processor_counter()
    }
}

/// Nanoseconds per tick, times 2^32, from readings of both clocks before and after a pause.
fn calibrate(ticks: &impl Fn() -> u64, ns: &impl Fn() -> u64, pause: impl FnOnce()) -> u64 {
    let (start_raw, start_ns) = both(ticks, ns);
    pause();
    let (end_raw, end_ns) = both(ticks, ns);
    // At least 1, so that a stopped counter does not cause a division by zero.
    let ticks = u128::from(end_raw.saturating_sub(start_raw).max(1));
    ((u128::from(end_ns - start_ns) << 32) / ticks) as u64
}

/// Ticks and nanoseconds at the same moment: the reading that took the fewest ticks.
fn both(ticks: &impl Fn() -> u64, ns: &impl Fn() -> u64) -> (u64, u64) {
    let read = || {
        let before_raw = ticks();
        let ns = ns();
        let after_raw = ticks();
        // If the thread moved to a core with a lower counter, this wraps to the widest reading.
        let width = after_raw.wrapping_sub(before_raw);
        // Halved before they are added, because the sum of two counters can overflow.
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
        // The counter of another core can be slightly below the start.
        let ticks = self.counter.ticks().saturating_sub(self.start_raw);
        // A product of 64 bits would overflow after a few seconds.
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }
}

/// A clock that moves only on request; clones share the same time.
#[derive(Debug, Clone, Default)]
pub struct StepClock {
    now_ns: Arc<AtomicU64>,
}

impl StepClock {
    /// A clock at time 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward by `by_ns` nanoseconds.
    pub fn advance(&self, by_ns: u64) {
        self.now_ns.fetch_add(by_ns, Ordering::Relaxed);
    }

    /// Moves the clock forward to `time_ns`; never moves it back.
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
    use std::cell::Cell;

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
    fn calibration_is_accurate_to_a_millionth_despite_interruptions() {
        for ticks_per_ns in [0.024, 1.0, 2.5, 5.1] {
            let (time_ns, read_count) = (Cell::new(1e12), Cell::new(0_u32));
            // Each reading takes time, and the thread is often preempted right after it.
            let read = || {
                let now_ns = time_ns.get();
                read_count.set(read_count.get() + 1);
                let is_interrupted = read_count.get() % 7 < 3;
                time_ns.set(now_ns + if is_interrupted { 3e6 } else { 25.0 });
                now_ns
            };
            let ticks = || (read() * ticks_per_ns) as u64;
            let pause = || time_ns.set(time_ns.get() + 2e7);
            let scale = calibrate(&ticks, &|| read() as u64, pause) as f64;
            let wanted = 4_294_967_296.0 / ticks_per_ns;
            let off_share = (scale / wanted - 1.0).abs();
            assert!(off_share < 2e-6, "off by {off_share} at {ticks_per_ns}");
        }
    }

    #[test]
    fn the_tsc_clock_agrees_with_the_system() {
        let clock = TscClock::new();
        // However long the thread waits in between, the system's reading lies between the others.
        let read = || (clock.now_ns(), system_ns(), clock.now_ns());
        let start = read();
        std::thread::sleep(Duration::from_millis(200));
        let end = read();
        let system_ns = (end.1 - start.1) as f64;
        let (least_ns, most_ns) = ((end.0 - start.2) as f64, (end.2 - start.0) as f64);
        // The system's clock may be on its way to the right time, by 500 millionths.
        assert!(least_ns * 0.999 <= system_ns, "{least_ns} {system_ns}");
        assert!(system_ns <= most_ns * 1.001, "{system_ns} {most_ns}");
    }

    #[test]
    fn copies_of_a_tsc_clock_share_their_origin() {
        let clock = TscClock::new();
        let copy = clock.clone();
        let before_ns = clock.now_ns();
        assert!(copy.now_ns() >= before_ns);
    }

    #[test]
    fn a_step_clock_moves_only_on_request_and_never_back() {
        let clock = StepClock::new();
        let same = clock.clone();
        clock.advance(5);
        same.advance_to(3);
        assert_eq!(clock.now_ns(), 5);
        same.advance_to(9);
        assert_eq!(clock.now_ns(), 9);
    }
}
