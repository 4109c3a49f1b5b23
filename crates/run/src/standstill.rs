//! Detects standstills: the process was stopped or frozen, or the machine was suspended or paused.
//! Latencies of requests in flight meanwhile say nothing about the target.
//!
//! The monitor knows how long it meant to sleep. The time that it overslept without waiting for a
//! CPU is time in which it was not allowed to run. If no other thread ran either, this is a
//! standstill.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::clock::Clock;
use results::{Standstill, StandstillCause};
use rustix::time::{ClockId, clock_gettime};

/// Minimum length of a standstill. Shorter ones look like a busy machine or hypervisor.
const STOPPED_MIN_NS: u64 = 500_000_000;
/// Minimum length after `SIGCONT`, which shows that the process was stopped.
const CONTINUED_MIN_NS: u64 = 20_000_000;
/// Minimum length of a suspension. The two clocks that show it are read one after the other.
const SUSPENDED_MIN_NS: u64 = 50_000_000;
/// CPU time that threads may use in addition to what was possible before and after the standstill.
const EXTRA_CPU_MAX_NS: u64 = 100_000_000;
/// Requests that complete this soon after a standstill were in flight during it.
const GRACE_NS: u64 = 100_000_000;

/// Clocks and counters read before and after the monitor sleeps.
#[derive(Debug, Clone, Copy, Default)]
struct SleepSample {
    monotonic_ns: u64,
    /// As `monotonic_ns`, but it also counts while the machine is suspended.
    boot_ns: u64,
    /// Time that the monitor has waited for a CPU; `None` if the kernel does not count it.
    waited_ns: Option<u64>,
    /// CPU time of all threads.
    worked_ns: u64,
}

/// The monitor's sleep, which detects standstills.
pub(crate) struct MonitorSleep<'a> {
    /// `schedstat` of the thread that created this.
    schedstat: Option<File>,
    /// Number of threads that work while the monitor sleeps.
    thread_count: u64,
    /// Set by the handler of `SIGCONT`, after the process was stopped.
    continued: &'a AtomicBool,
    /// Time of the last look, and its result.
    last: (u64, SleepSample),
}

/// A standstill between two times of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StandstillSpan {
    pub from_ns: u64,
    pub until_ns: u64,
    length_ns: u64,
    cause: StandstillCause,
}

impl<'a> MonitorSleep<'a> {
    /// Creates the sleep of the calling thread.
    pub fn new(thread_count: usize, continued: &'a AtomicBool, clock: &impl Clock) -> Self {
        let mut sleep = Self {
            // Without this file, no stop is detected, because a wait for a CPU would look like one.
            schedstat: File::open("/proc/thread-self/schedstat").ok(),
            thread_count: thread_count as u64,
            continued,
            last: (0, SleepSample::default()),
        };
        // Stops before the start of this cell do not matter.
        continued.store(false, Ordering::Relaxed);
        sleep.last = (clock.now_ns(), sleep.look());
        sleep
    }

    /// Standstill since the last sleep, if `SIGCONT` shows one.
    pub fn check(&mut self, clock: &impl Clock) -> Option<StandstillSpan> {
        if !self.continued.swap(false, Ordering::Relaxed) {
            return None;
        }
        let last = self.last;
        self.still(last, 0, CONTINUED_MIN_NS, clock)
    }

    /// Calls `sleep` for at most `span_ns`; returns the standstill during it, if there was any.
    pub fn sleep(
        &mut self,
        span_ns: u64,
        clock: &impl Clock,
        sleep: impl Fn(u64),
    ) -> Option<StandstillSpan> {
        let (last, before) = (self.last, (clock.now_ns(), self.look()));
        sleep(span_ns);
        match self.continued.swap(false, Ordering::Relaxed) {
            // Without a signal, a long time before this sleep may have other causes.
            false => self.still(before, span_ns, STOPPED_MIN_NS, clock),
            true => self.still(last, span_ns, CONTINUED_MIN_NS, clock),
        }
    }

    fn still(
        &mut self,
        (from_ns, before): (u64, SleepSample),
        span_ns: u64,
        stopped_min_ns: u64,
        clock: &impl Clock,
    ) -> Option<StandstillSpan> {
        self.last = (clock.now_ns(), self.look());
        let limits = StandstillLimits {
            span_ns,
            stopped_min_ns,
            thread_count: self.thread_count,
        };
        let (cause, length_ns) = judge(&before, &self.last.1, &limits)?;
        Some(StandstillSpan {
            from_ns,
            until_ns: self.last.0 + GRACE_NS,
            length_ns,
            cause,
        })
    }

    fn look(&self) -> SleepSample {
        let time_ns = |clock| {
            let time = clock_gettime(clock);
            let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
            seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
        };
        SleepSample {
            monotonic_ns: time_ns(ClockId::Monotonic),
            boot_ns: time_ns(ClockId::Boottime),
            waited_ns: self.schedstat.as_ref().and_then(waited_ns),
            worked_ns: time_ns(ClockId::ProcessCPUTime),
        }
    }
}

/// Waiting time, the second number of `schedstat`.
///
/// Source: Linux, `Documentation/scheduler/sched-stats.rst`, `/proc/<pid>/schedstat`.
fn waited_ns(schedule: &File) -> Option<u64> {
    // Room for three numbers of at most 20 digits.
    let mut text = [0; 96];
    let length = schedule.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(&text[..length]).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Limits below which there is no standstill.
struct StandstillLimits {
    /// Planned sleep of the monitor, in nanoseconds.
    span_ns: u64,
    stopped_min_ns: u64,
    thread_count: u64,
}

/// Cause and minimum length of a standstill between two looks; `None` if there was none.
fn judge(
    before: &SleepSample,
    after: &SleepSample,
    limits: &StandstillLimits,
) -> Option<(StandstillCause, u64)> {
    let passed_ns = after.monotonic_ns.saturating_sub(before.monotonic_ns);
    let with_suspend_ns = after.boot_ns.saturating_sub(before.boot_ns);
    let suspended_ns = with_suspend_ns.saturating_sub(passed_ns);
    if suspended_ns >= SUSPENDED_MIN_NS {
        // Checked first: `CLOCK_MONOTONIC` does not count a suspension, so the check below cannot
        // see it.
        return Some((StandstillCause::Suspended, suspended_ns));
    }
    // Without this count, a wait for a CPU would look like a standstill.
    let waited_ns = after.waited_ns?.saturating_sub(before.waited_ns?);
    let absent_ns = passed_ns
        .saturating_sub(limits.span_ns)
        .saturating_sub(waited_ns);
    if absent_ns < limits.stopped_min_ns {
        return None;
    }
    let worked_ns = after.worked_ns.saturating_sub(before.worked_ns);
    // The monitor's own thread counts too.
    let could_ns = (passed_ns - absent_ns).saturating_mul(limits.thread_count + 1);
    let stood = worked_ns <= could_ns.saturating_add(EXTRA_CPU_MAX_NS);
    stood.then_some((StandstillCause::Stopped, absent_ns))
}

impl StandstillSpan {
    /// `true` if a sample between these times of the clock overlaps the standstill.
    pub fn touches(&self, at_ns: u64, end_ns: u64) -> bool {
        at_ns < self.until_ns && self.from_ns < end_ns
    }

    /// Record of the standstill; `None` if it was over before the measurement started.
    pub fn record(&self, measure_ns: u64, is_left_out: bool) -> Option<Standstill> {
        (self.until_ns > measure_ns).then(|| Standstill {
            at_ns: self.from_ns.saturating_sub(measure_ns),
            length_ns: self.length_ns,
            cause: self.cause,
            is_left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use engine::StepClock;

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const SPAN_NS: u64 = SECOND_NS / 10;

    /// The sample after a sleep of `passed_ns`. Of this time, the thread waited for a CPU and other
    /// threads worked; the suspended time comes in addition.
    fn after(passed_ns: u64, waited_ns: u64, suspended_ns: u64, worked_ns: u64) -> SleepSample {
        SleepSample {
            monotonic_ns: passed_ns,
            boot_ns: passed_ns + suspended_ns,
            waited_ns: Some(waited_ns),
            worked_ns,
        }
    }

    fn verdict(after: &SleepSample) -> Option<(StandstillCause, u64)> {
        let before = SleepSample {
            waited_ns: Some(0),
            ..SleepSample::default()
        };
        let limits = StandstillLimits {
            span_ns: SPAN_NS,
            stopped_min_ns: STOPPED_MIN_NS,
            thread_count: 2,
        };
        judge(&before, after, &limits)
    }

    #[test]
    fn an_unexplained_long_sleep_is_a_stop() {
        let sample = after(5 * SECOND_NS, 0, 0, SPAN_NS);
        let length_ns = 5 * SECOND_NS - SPAN_NS;
        assert_eq!(
            verdict(&sample),
            Some((StandstillCause::Stopped, length_ns))
        );
        assert_eq!(verdict(&after(SPAN_NS, 0, 0, SPAN_NS)), None);
        // Woken before its time.
        assert_eq!(verdict(&after(SPAN_NS / 2, 0, 0, SPAN_NS)), None);
    }

    #[test]
    fn load_on_the_machine_is_not_a_stop() {
        let waited = after(5 * SECOND_NS, 5 * SECOND_NS - SPAN_NS, 0, SPAN_NS);
        assert_eq!(verdict(&waited), None);
        let others_worked = after(5 * SECOND_NS, 0, 0, 4 * SECOND_NS);
        assert_eq!(verdict(&others_worked), None);
        let unknown = SleepSample {
            waited_ns: None,
            ..after(5 * SECOND_NS, 0, 0, SPAN_NS)
        };
        assert_eq!(verdict(&unknown), None);
    }

    #[test]
    fn a_suspended_machine_is_distinguished_from_a_stop() {
        let sample = after(SPAN_NS, 0, 60 * SECOND_NS, SPAN_NS);
        let wanted = (StandstillCause::Suspended, 60 * SECOND_NS);
        assert_eq!(verdict(&sample), Some(wanted));
    }

    #[test]
    fn a_sleep_of_the_requested_length_is_not_a_standstill() {
        let (clock, asked_ns) = (StepClock::new(), Cell::new(0));
        let note = |span_ns: u64| asked_ns.set(span_ns);
        let continued = AtomicBool::new(true);
        let mut sleep = MonitorSleep::new(1, &continued, &clock);
        assert_eq!(sleep.check(&clock), None);
        assert_eq!(sleep.sleep(SPAN_NS, &clock, note), None);
        assert_eq!(asked_ns.get(), SPAN_NS);
    }

    #[test]
    fn a_standstill_touches_the_spans_that_overlap_it() {
        let standstill = StandstillSpan {
            from_ns: 100,
            until_ns: 200,
            length_ns: 90,
            cause: StandstillCause::Stopped,
        };
        assert!(
            standstill.touches(50, 101)
                && standstill.touches(199, 300)
                && standstill.touches(0, 1000)
        );
        assert!(!standstill.touches(50, 100) && !standstill.touches(200, 300));
        assert_eq!(standstill.record(200, true), None);
        let record = standstill.record(150, true).expect("a record");
        assert_eq!((record.at_ns, record.length_ns), (0, 90));
    }
}
