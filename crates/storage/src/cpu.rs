//! CPU time of threads, of this process and of the machine.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::time::{ClockId, clock_getres, clock_gettime};

/// CPU time of a thread or process so far, or the sum of several threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuSample {
    /// Time of the sample, by `CLOCK_MONOTONIC`; for several threads, the sum.
    at_ns: u64,
    /// Exact CPU time, in nanoseconds.
    total_ns: u64,
    /// Time of threads that were runnable but waited for a CPU.
    waited_ns: u64,
    /// User and system time in clock ticks, as split by the kernel.
    user_ticks: u64,
    system_ticks: u64,
}

/// CPU time between two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuTime {
    /// In user mode, in nanoseconds.
    pub user_ns: u64,
    /// In the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Runnable without a CPU, in nanoseconds; only for threads.
    pub waited_ns: u64,
    /// Time between the samples, in nanoseconds; for several threads, the sum.
    pub elapsed_ns: u64,
}

impl CpuSample {
    /// Sample of this thread.
    #[must_use]
    pub fn of_thread() -> Self {
        Self::read(ClockId::ThreadCPUTime, "/proc/thread-self/stat")
    }

    /// Sample of this process, including threads that have ended.
    #[must_use]
    pub fn of_process() -> Self {
        Self::read(ClockId::ProcessCPUTime, "/proc/self/stat")
    }

    /// Sample of another thread of this process. `None` if it has ended, or without scheduler
    /// statistics in the kernel.
    #[must_use]
    pub fn of_thread_id(thread_id: i32) -> Option<Self> {
        let read = |name| std::fs::read_to_string(format!("/proc/self/task/{thread_id}/{name}"));
        let (total_ns, waited_ns) = schedule(&read("schedstat").ok()?)?;
        let (user_ticks, system_ticks) = ticks(&read("stat").ok()?)?;
        Some(Self {
            at_ns: nanoseconds(ClockId::Monotonic),
            total_ns,
            waited_ns,
            user_ticks,
            system_ticks,
        })
    }

    fn read(clock: ClockId, path: &str) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        let (user_ticks, system_ticks) = ticks(&String::from_utf8_lossy(&text)).unwrap_or((0, 0));
        Self {
            at_ns: nanoseconds(ClockId::Monotonic),
            total_ns: nanoseconds(clock),
            waited_ns: 0,
            user_ticks,
            system_ticks,
        }
    }

    /// Sum of two samples of threads. Their ticks are split together, which is more precise.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            at_ns: self.at_ns + other.at_ns,
            total_ns: self.total_ns + other.total_ns,
            waited_ns: self.waited_ns + other.waited_ns,
            user_ticks: self.user_ticks + other.user_ticks,
            system_ticks: self.system_ticks + other.system_ticks,
        }
    }

    /// Time that threads waited for a CPU, in nanoseconds.
    #[must_use]
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns
    }

    /// CPU time since an earlier sample. The sum is exact to a microsecond; the split into user and
    /// system time to a clock tick (10 ms).
    #[must_use]
    pub fn since(&self, earlier: &Self) -> CpuTime {
        let total_ns = self.total_ns.saturating_sub(earlier.total_ns);
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        // The ticks are samples and only give the ratio; the clock gives the exact sum.
        let system_ns = match user + system {
            0 => 0,
            both => (u128::from(total_ns) * u128::from(system) / u128::from(both)) as u64,
        };
        CpuTime {
            user_ns: total_ns - system_ns,
            system_ns,
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            elapsed_ns: self.at_ns.saturating_sub(earlier.at_ns),
        }
    }
}

/// Precision of the kernel's split of CPU time into user and system, in nanoseconds. Kernels
/// without exact accounting sample the CPU at each timer tick; others are more precise.
///
/// Source: Linux, `kernel/time/posix-timers.c`: the resolution of coarse clocks is a tick.
#[must_use]
pub fn tick_ns() -> u64 {
    let tick = clock_getres(ClockId::MonotonicCoarse);
    u64::try_from(tick.tv_nsec).unwrap_or(0)
}

/// CPU time of the calling thread so far, in nanoseconds.
#[must_use]
// Twice per worker; inlined, it would be in the program for each kind of stream and engine.
#[inline(never)]
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Running time and waiting time of a thread, from a line of `schedstat`.
///
/// Source: Linux, `Documentation/scheduler/sched-stats.rst`, `/proc/<pid>/schedstat`.
pub(crate) fn schedule(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_ascii_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// User and system ticks, from a line of `/proc/<pid>/stat`.
fn ticks(text: &str) -> Option<(u64, u64)> {
    // The second field is the program's name in parentheses, which may itself contain spaces and
    // `)`.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    // `utime` is field 14 of the line and so the twelfth after the name; `stime` follows.
    let user = fields.nth(11)?.parse().ok()?;
    Some((user, fields.next()?.parse().ok()?))
}

/// Usage of one CPU or of all, in clock ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessorTicks {
    /// In user mode, including low priority but not guests.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
    /// Idle without I/O in flight.
    pub idle: u64,
    /// Idle with I/O in flight.
    pub iowait: u64,
    /// In hardware interrupts.
    pub irq: u64,
    /// In software interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor for other virtual machines.
    pub steal: u64,
}

impl ProcessorTicks {
    /// Sum of all states.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.user + self.system + self.idle + self.iowait + self.irq + self.softirq + self.steal
    }

    /// Difference to an earlier reading; counters that decreased give 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            idle: self.idle.saturating_sub(earlier.idle),
            iowait: self.iowait.saturating_sub(earlier.iowait),
            irq: self.irq.saturating_sub(earlier.irq),
            softirq: self.softirq.saturating_sub(earlier.softirq),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// `ticks` as a share of the total, from 0 to 1.
    #[must_use]
    pub fn share(&self, ticks: u64) -> f64 {
        let total = self.total();
        if total == 0 {
            0.0
        } else {
            ticks as f64 / total as f64
        }
    }
}

/// Usage of all CPUs so far, or between two samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MachineSample {
    /// Sum over all CPUs.
    pub all: ProcessorTicks,
    /// Usage per CPU, with the kernel's CPU number.
    pub per_cpu: Vec<(u32, ProcessorTicks)>,
    /// Number of interrupts.
    pub interrupts: u64,
    /// Number of context switches.
    pub context_switches: u64,
}

impl MachineSample {
    /// Difference to an earlier sample.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |cpu: u32| earlier.per_cpu.iter().find(|(number, _)| *number == cpu);
        let none = (0, ProcessorTicks::default());
        Self {
            all: self.all.since(&earlier.all),
            per_cpu: self
                .per_cpu
                .iter()
                .map(|(cpu, ticks)| (*cpu, ticks.since(&before(*cpu).unwrap_or(&none).1)))
                .collect(),
            interrupts: self.interrupts.saturating_sub(earlier.interrupts),
            context_switches: self
                .context_switches
                .saturating_sub(earlier.context_switches),
        }
    }
}

/// Open counters of the machine.
#[derive(Debug)]
pub struct MachineCounters {
    stat: File,
}

impl MachineCounters {
    /// Opens `/proc/stat`.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            stat: File::open("/proc/stat")?,
        })
    }

    /// Reads all counters.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn sample(&self) -> io::Result<MachineSample> {
        let mut text = Vec::new();
        let mut chunk = [0; 16 << 10];
        loop {
            // Reading at an offset needs no seek, and the file is kept open from sample to sample.
            let length = self.stat.read_at(&mut chunk, text.len() as u64)?;
            if length == 0 {
                break;
            }
            text.extend_from_slice(&chunk[..length]);
        }
        Ok(parse(&String::from_utf8_lossy(&text)))
    }
}

/// Source: `proc_stat(5)`; guest time is part of user time.
fn parse(text: &str) -> MachineSample {
    let mut sample = MachineSample::default();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        let name = fields.next().unwrap_or_default();
        if name == "intr" || name == "ctxt" {
            let count = fields
                .next()
                .and_then(|field| field.parse().ok())
                .unwrap_or(0);
            let counter = if name == "intr" {
                &mut sample.interrupts
            } else {
                &mut sample.context_switches
            };
            *counter = count;
            continue;
        }
        let Some(number) = name.strip_prefix("cpu") else {
            continue;
        };
        let mut ticks = [0_u64; 8];
        for (value, field) in ticks.iter_mut().zip(fields) {
            *value = field.parse().unwrap_or(0);
        }
        // The fields `guest` and `guest_nice` follow; they are left out because `user` and `nice`
        // contain them.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
        let user = user.saturating_add(nice);
        let ticks = ProcessorTicks {
            user,
            system,
            idle,
            iowait,
            irq,
            softirq,
            steal,
        };
        match number.parse() {
            Ok(number) => sample.per_cpu.push((number, ticks)),
            Err(_) if number.is_empty() => sample.all = ticks,
            Err(_) => {}
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn cpu_time_is_charged_to_the_busy_thread_only() {
        let before = CpuSample::of_thread();
        let mut sum = 0_u64;
        // Of one sample: the kernel may split the next one's time otherwise.
        let used_ns = || {
            let used = CpuSample::of_thread().since(&before);
            used.user_ns + used.system_ns
        };
        while used_ns() < 20_000_000 {
            for value in 0..10_000_u64 {
                sum = black_box(sum.wrapping_add(value));
            }
        }
        let other = std::thread::spawn(CpuSample::of_thread)
            .join()
            .expect("a thread");
        assert!(other.total_ns < 20_000_000);
        assert!(CpuSample::of_process().total_ns >= 20_000_000);
    }

    #[test]
    fn a_thread_can_be_sampled_by_id_until_it_ends() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        assert!(CpuSample::of_thread_id(own).is_some());
        let id = || rustix::thread::gettid().as_raw_nonzero().get();
        let thread_id = std::thread::spawn(id).join().expect("a thread");
        // The kernel takes a moment to forget it.
        let has_ended = || CpuSample::of_thread_id(thread_id).is_none();
        assert!((0..6000).any(|_| has_ended() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }));
    }

    #[test]
    fn the_split_adds_up_to_the_exact_time() {
        let early = CpuSample {
            at_ns: 100,
            total_ns: 5,
            waited_ns: 7,
            user_ticks: 1,
            system_ticks: 1,
        };
        let late = CpuSample {
            at_ns: 2100,
            total_ns: 1005,
            waited_ns: 57,
            user_ticks: 4,
            system_ticks: 2,
        };
        assert_eq!(
            late.since(&early),
            CpuTime {
                user_ns: 750,
                system_ns: 250,
                waited_ns: 50,
                elapsed_ns: 2000,
            }
        );
        let both = late.with(&late).since(&early.with(&early));
        let wanted = (1500, 500, 100, 4000);
        let totals = (
            both.user_ns,
            both.system_ns,
            both.waited_ns,
            both.elapsed_ns,
        );
        assert_eq!(totals, wanted);
        assert_eq!(early.since(&late), CpuTime::default());
        let short = CpuSample {
            total_ns: 9,
            ..early
        };
        assert_eq!(
            short.since(&early),
            CpuTime {
                user_ns: 4,
                ..CpuTime::default()
            }
        );
    }

    #[test]
    fn a_name_with_blanks_and_parentheses_does_not_shift_the_columns() {
        let line = "7 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 111 222 0 0";
        assert_eq!(ticks(line), Some((111, 222)));
        assert_eq!(ticks("7 (x"), None);
    }

    #[test]
    fn cpu_counters_of_the_machine_are_parsed_from_their_lines() {
        let text =
            "cpu  10 5 20 100 7 1 2 3 9 9\ncpu0 1 1 1 1 1 1 1 1\ncpux 1\nintr 42 1 2\nctxt 99\n";
        let sample = parse(text);
        assert_eq!(sample.all.user, 15);
        assert_eq!(sample.all.total(), 148);
        assert_eq!(sample.all.steal, 3);
        assert_eq!(sample.per_cpu.len(), 1);
        assert_eq!((sample.interrupts, sample.context_switches), (42, 99));
        assert_eq!(sample.since(&sample), parse("cpu 0\ncpu0 0\n"));
    }

    #[test]
    fn this_machine_has_counters() {
        let counters = MachineCounters::open().expect("/proc/stat");
        let sample = counters.sample().expect("counters");
        assert!(sample.all.total() > 0 && !sample.per_cpu.is_empty());
        assert!(sample.context_switches > 0);
    }
}
