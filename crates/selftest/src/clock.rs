//! The clock of all figures against the kernel's own timer, and between processors.

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

/// The timer would go off after so long; nobody waits for it.
const TIMER_S: i64 = 1 << 30;
/// So many readings are taken, of which the quickest counts.
const READINGS: u32 = 20;
/// Exchanges between two processors, and the time after which there are no more.
const EXCHANGES: u32 = 200;
const EXCHANGE_TIME: Duration = Duration::from_millis(40);
/// More processors are not tried.
const PROCESSORS_MAX: usize = 64;

/// The kernel's time, asked for by a system call of its own: neither a preloaded library nor what
/// makes the processor's counter run otherwise for this process changes it.
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

    /// Nanoseconds since it was started.
    pub fn elapsed_ns(&self) -> io::Result<u64> {
        let left = timerfd_gettime(&self.timer)?.it_value;
        let left_ns = left.tv_sec * 1_000_000_000 + left.tv_nsec;
        Ok((TIMER_S * 1_000_000_000).saturating_sub(left_ns).max(0) as u64)
    }
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    own_ns: u64,
    kernel_ns: u64,
}

/// The clock of all figures beside the kernel's.
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

    /// Reads both; of several readings the one that was interrupted least.
    pub fn read(&self) -> io::Result<Moment> {
        let mut best: Option<(u64, Moment)> = None;
        for _ in 0..READINGS {
            let before_ns = self.clock.now_ns();
            let kernel_ns = self.timer.elapsed_ns()?;
            let after_ns = self.clock.now_ns();
            let width_ns = after_ns.saturating_sub(before_ns);
            let moment = Moment {
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

impl Moment {
    /// What passed since an earlier moment, by pgmeter's clock and by the kernel's.
    pub fn since(self, earlier: Self) -> (u64, u64) {
        (
            self.own_ns.saturating_sub(earlier.own_ns),
            self.kernel_ns.saturating_sub(earlier.kernel_ns),
        )
    }
}

/// By how much the clocks of any two processors contradict each other, in nanoseconds: 0 where
/// messages between them never arrive before they were sent. `None` with one processor.
pub(crate) fn apart_ns() -> io::Result<Option<u64>> {
    let allowed = sched_getaffinity(None)?;
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|cpu| allowed.is_set(*cpu))
        .collect();
    let Some((first, others)) = usable.split_first() else {
        return Ok(None);
    };
    let others = others.iter().take(PROCESSORS_MAX);
    let found = thread::scope(|scope| {
        // A thread of its own, so that the caller may go on wherever it likes.
        let work = || -> io::Result<Option<u64>> {
            bind(*first)?;
            let clock = TscClock::new();
            let apart = others.map(|other| apart_from(*other, &clock));
            Ok(apart.collect::<io::Result<Vec<u64>>>()?.into_iter().max())
        };
        scope.spawn(work).join()
    });
    found.unwrap_or_else(|_| Err(io::Error::other("a thread ended early")))
}

/// One of two threads that take turns to write down what their clocks say.
#[derive(Default)]
struct Exchange {
    asked: AtomicU64,
    answered: AtomicU64,
    answer_ns: AtomicU64,
    is_over: AtomicBool,
}

/// The contradiction between this thread's processor and another: its clock's offset is at most
/// what it says when answered, less what was read before asking, and at least that less what was
/// read behind.
fn apart_from(other: usize, clock: &TscClock) -> io::Result<u64> {
    let exchange = Exchange::default();
    thread::scope(|scope| {
        let answers = scope.spawn(|| answer(other, clock, &exchange));
        let begin = Instant::now();
        let (mut low_ns, mut high_ns) = (i64::MIN, i64::MAX);
        for number in 1..=u64::from(EXCHANGES) {
            let before_ns = clock.now_ns();
            exchange.asked.store(number, Ordering::Release);
            while exchange.answered.load(Ordering::Acquire) != number && !answers.is_finished() {
                std::hint::spin_loop();
            }
            let after_ns = clock.now_ns();
            let answer_ns = exchange.answer_ns.load(Ordering::Acquire);
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
        Ok(low_ns.max(high_ns.saturating_neg()).max(0) as u64)
    })
}

fn answer(cpu: usize, clock: &TscClock, exchange: &Exchange) -> io::Result<()> {
    bind(cpu)?;
    let mut last = 0;
    while !exchange.is_over.load(Ordering::Acquire) {
        let asked = exchange.asked.load(Ordering::Acquire);
        if asked == last {
            std::hint::spin_loop();
            continue;
        }
        last = asked;
        exchange.answer_ns.store(clock.now_ns(), Ordering::Release);
        exchange.answered.store(asked, Ordering::Release);
    }
    Ok(())
}

/// Keeps the calling thread on one processor.
fn bind(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_timer_and_the_clock_go_together() {
        let pair = ClockPair::start().unwrap();
        let begin = pair.read().unwrap();
        thread::sleep(Duration::from_millis(200));
        let (own_ns, kernel_ns) = pair.read().unwrap().since(begin);
        assert!(kernel_ns >= 200_000_000, "{kernel_ns}");
        let share = own_ns as f64 / kernel_ns as f64;
        assert!((0.99..1.01).contains(&share), "{own_ns} {kernel_ns}");
    }

    #[test]
    fn processors_do_not_contradict_each_other() {
        if let Some(apart_ns) = apart_ns().unwrap() {
            assert!(apart_ns < 100_000, "{apart_ns}");
        }
    }
}
