//! The clock that all results use, compared with the kernel's timer and between CPUs.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Clock, TscClock};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_gettime, timerfd_settime,
};

/// Time until the timer would expire, in seconds; the self-test ends long before.
const TIMER_S: i64 = 1 << 30;
/// Number of readings; the quickest one is used.
const READINGS: u32 = 20;
/// Maximum number of exchanges between two CPUs.
const EXCHANGES: u32 = 200;
/// Maximum duration of these exchanges.
// With `PROCESSORS_MAX`, this limits the whole check to less than 3 s.
const EXCHANGE_TIME: Duration = Duration::from_millis(40);
/// Maximum number of CPUs compared with the first one.
const PROCESSORS_MAX: usize = 64;

/// The kernel's time, read by a direct system call. Neither a preloaded library nor a change of the
/// CPU's counter for this process affects it.
pub(crate) struct KernelTimer {
    timer: OwnedFd,
}

impl KernelTimer {
    pub fn start() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let at = Itimerspec {
            it_interval: zero,
            it_value: Timespec {
                tv_sec: TIMER_S,
                tv_nsec: 0,
            },
        };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &at)?;
        Ok(Self { timer })
    }

    /// Nanoseconds since the timer was started.
    pub fn elapsed_ns(&self) -> io::Result<u64> {
        let left = timerfd_gettime(&self.timer)?.it_value;
        let left_ns = left.tv_sec * 1_000_000_000 + left.tv_nsec;
        Ok((TIMER_S * 1_000_000_000).saturating_sub(left_ns).max(0) as u64)
    }
}

/// Both clocks, read at the same moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockMoment {
    own_ns: u64,
    kernel_ns: u64,
}

/// The clock that all results use, and the kernel's timer.
pub(crate) struct ClockPair {
    clock: TscClock,
    timer: KernelTimer,
}

impl ClockPair {
    pub fn start() -> io::Result<Self> {
        Ok(Self {
            clock: TscClock::new(),
            timer: KernelTimer::start()?,
        })
    }

    /// Reads both clocks. Of several readings, returns the one with the least delay.
    pub fn read(&self) -> io::Result<ClockMoment> {
        let mut best: Option<(u64, ClockMoment)> = None;
        // A reading that was interrupted tells least about when the timer was read, so only the
        // quickest one counts.
        for _ in 0..READINGS {
            let before_ns = self.clock.now_ns();
            let kernel_ns = self.timer.elapsed_ns()?;
            let after_ns = self.clock.now_ns();
            let width_ns = after_ns.saturating_sub(before_ns);
            let moment = ClockMoment {
                // The timer was read somewhere between both readings; the middle is off by at most
                // half of their distance.
                own_ns: before_ns + width_ns / 2,
                kernel_ns,
            };
            if best.is_none_or(|(least_ns, _)| width_ns < least_ns) {
                best = Some((width_ns, moment));
            }
        }
        best.map(|(_, moment)| moment)
            .ok_or_else(|| io::ErrorKind::Other.into())
    }
}

impl ClockMoment {
    /// Time since an earlier moment, in nanoseconds by pgmeter's clock and by the kernel's timer.
    pub fn since(self, earlier: Self) -> (u64, u64) {
        (
            self.own_ns.saturating_sub(earlier.own_ns),
            self.kernel_ns.saturating_sub(earlier.kernel_ns),
        )
    }
}

/// Largest contradiction between the first CPU's clock and another one, in nanoseconds. It is 0 if
/// no message between them arrives before it was sent. `None` with only one CPU.
pub(crate) fn max_skew_ns() -> io::Result<Option<u64>> {
    let allowed = sched_getaffinity(None)?;
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let Some((first, others)) = usable.split_first() else {
        return Ok(None);
    };
    let others = others.iter().take(PROCESSORS_MAX);
    let found = thread::scope(|scope| {
        // A separate thread, because binding would otherwise keep the caller on one CPU.
        let work = || -> io::Result<Option<u64>> {
            bind(*first)?;
            let clock = TscClock::new();
            let apart = others.map(|other| skew_from(*other, &clock));
            Ok(apart.collect::<io::Result<Vec<u64>>>()?.into_iter().max())
        };
        scope.spawn(work).join()
    });
    found.unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
}

/// Messages between two threads that alternate in reading their clocks.
#[derive(Default)]
struct Exchange {
    requested: AtomicU64,
    answered: AtomicU64,
    answer_ns: AtomicU64,
    is_over: AtomicBool,
}

/// Contradiction between the clock of this thread's CPU and another one, in nanoseconds. The other
/// clock's offset is at most its answer minus the time read before the question. It is at least its
/// answer minus the time read after it.
fn skew_from(other: usize, clock: &TscClock) -> io::Result<u64> {
    let exchange = Exchange::default();
    thread::scope(|scope| {
        let answers = scope.spawn(|| answer(other, clock, &exchange));
        let begin = Instant::now();
        let (mut low_ns, mut high_ns) = (i64::MIN, i64::MAX);
        for number in 1..=u64::from(EXCHANGES) {
            let before_ns = clock.now_ns();
            exchange.requested.store(number, Ordering::Release);
            // If the other thread could not bind, it ends without an answer, and waiting for one
            // would never end.
            while exchange.answered.load(Ordering::Acquire) != number && !answers.is_finished() {
                std::hint::spin_loop();
            }
            let after_ns = clock.now_ns();
            let answer_ns = exchange.answer_ns.load(Ordering::Acquire);
            // The values are signed, because the other CPU's clock may be late.
            low_ns = low_ns.max(answer_ns.wrapping_sub(after_ns) as i64);
            high_ns = high_ns.min(answer_ns.wrapping_sub(before_ns) as i64);
            if begin.elapsed() > EXCHANGE_TIME || answers.is_finished() {
                break;
            }
        }
        exchange.is_over.store(true, Ordering::Release);
        match answers.join() {
            Ok(done) => done?,
            Err(_) => return Err(io::Error::other("a thread ended early")),
        }
        // Equal clocks have an offset of 0, which must lie between both limits. The contradiction
        // is its distance from them.
        Ok(low_ns.max(high_ns.saturating_neg()).max(0) as u64)
    })
}

fn answer(cpu: usize, clock: &TscClock, exchange: &Exchange) -> io::Result<()> {
    bind(cpu)?;
    let mut last = 0;
    while !exchange.is_over.load(Ordering::Acquire) {
        let requested = exchange.requested.load(Ordering::Acquire);
        if requested == last {
            std::hint::spin_loop();
            continue;
        }
        last = requested;
        exchange.answer_ns.store(clock.now_ns(), Ordering::Release);
        // Stored last: who sees this number also sees the time that belongs to it.
        exchange.answered.store(requested, Ordering::Release);
    }
    Ok(())
}

/// Binds the calling thread to one CPU.
fn bind(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_timer_and_our_clock_agree() {
        let pair = ClockPair::start().unwrap();
        let begin = pair.read().unwrap();
        thread::sleep(Duration::from_millis(200));
        let (own_ns, kernel_ns) = pair.read().unwrap().since(begin);
        assert!(kernel_ns >= 200_000_000, "{kernel_ns}");
        let share = own_ns as f64 / kernel_ns as f64;
        assert!((0.99..1.01).contains(&share), "{own_ns} {kernel_ns}");
    }

    #[test]
    fn clocks_of_different_cpus_agree() {
        if let Some(apart_ns) = max_skew_ns().unwrap() {
            assert!(apart_ns < 100_000, "{apart_ns}");
        }
    }
}
