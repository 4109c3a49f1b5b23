//! What else the machine had to do.

use std::fs;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use target::{CpuSample, MachineCounters, MachineSample};

/// Nanoseconds of a clock tick, in which the kernel counts the time of processors.
const TICK_NS: f64 = 1e7;
/// Others that use so much of all processors disturb whatever is measured.
pub(crate) const OTHERS_MAX: f64 = 0.20;
/// Others that use less disturb where threads had to wait for a processor.
const OTHERS_BESIDE_WAITING_MAX: f64 = 0.03;
/// Threads wait for each other by themselves for no more than this share of the time.
const WAITING_MAX: f64 = 0.10;
/// What a hypervisor may take.
const STOLEN_MAX: f64 = 0.02;

/// What else the machine had to do over some time; shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Time of all processors that other processes used.
    pub others: f64,
    /// Time of all processors that the hypervisor gave to others.
    pub stolen: f64,
    /// Time in which a thread of the machine waited for a processor; none where the kernel does
    /// not say.
    pub waiting: Option<f64>,
}

impl Load {
    /// Whether it may have changed what was measured meanwhile.
    #[must_use]
    pub fn disturbs(&self) -> bool {
        let waits = self.waiting.is_some_and(|share| share > WAITING_MAX);
        self.others > OTHERS_MAX
            || self.is_stolen_from()
            || (waits && self.others > OTHERS_BESIDE_WAITING_MAX)
    }

    /// Whether the hypervisor took so much that it may have changed what was measured meanwhile.
    #[must_use]
    pub fn is_stolen_from(&self) -> bool {
        self.stolen > STOLEN_MAX
    }
}

/// Counters of the machine and of this process at one moment.
pub(crate) struct LoadWatch {
    counters: Option<MachineCounters>,
    /// A process that is ours as well.
    also_own: Option<u32>,
    /// What such processes had used when they were no longer to be counted.
    also_own_before_ticks: u64,
}

pub(crate) struct LoadSample {
    at: Instant,
    machine: MachineSample,
    own: CpuSample,
    also_own_ticks: u64,
    waiting_us: Option<u64>,
}

impl LoadWatch {
    pub fn new() -> Self {
        Self {
            counters: MachineCounters::open().ok(),
            also_own: None,
            also_own_before_ticks: 0,
        }
    }

    /// Takes another process for a part of this one.
    pub fn count_as_own(&mut self, process: u32) {
        self.also_own = Some(process);
    }

    /// To be called before that process ends: what it has used stays counted.
    pub fn count_no_longer(&mut self) {
        self.also_own_before_ticks = self.also_own_ticks();
        self.also_own = None;
    }

    fn also_own_ticks(&self) -> u64 {
        self.also_own_before_ticks + self.also_own.and_then(ticks_of).unwrap_or(0)
    }

    pub fn look(&self) -> LoadSample {
        let machine = self.counters.as_ref().and_then(|it| it.sample().ok());
        LoadSample {
            at: Instant::now(),
            machine: machine.unwrap_or_default(),
            own: CpuSample::of_process(),
            also_own_ticks: self.also_own_ticks(),
            waiting_us: waiting_us(&fs::read_to_string("/proc/pressure/cpu").unwrap_or_default()),
        }
    }
}

impl LoadSample {
    /// What happened since an earlier sample.
    pub fn since(&self, earlier: &Self) -> Load {
        let machine = self.machine.since(&earlier.machine).all;
        let own = self.own.since(&earlier.own);
        let also_own_ticks = self.also_own_ticks.saturating_sub(earlier.also_own_ticks);
        let own_ticks = (own.user_ns + own.system_ns) as f64 / TICK_NS + also_own_ticks as f64;
        let idle = machine.idle + machine.iowait + machine.steal;
        let busy_ticks = (machine.total() - idle) as f64;
        let all_ticks = (machine.total() as f64).max(1.0);
        let elapsed_us = self.at.duration_since(earlier.at).as_secs_f64() * 1e6;
        let waiting = self.waiting_us.zip(earlier.waiting_us);
        Load {
            others: ((busy_ticks - own_ticks) / all_ticks).max(0.0),
            stolen: machine.share(machine.steal),
            waiting: waiting.map(|(now, then)| {
                (now.saturating_sub(then) as f64 / elapsed_us.max(1.0)).min(1.0)
            }),
        }
    }
}

/// Processor time that a process has used.
fn ticks_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// The total of the line `some` of a file of the kernel's pressure figures, in microseconds.
///
/// Source: Linux, `Documentation/accounting/psi.rst`.
fn waiting_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_read_from_the_kernels_line() {
        let text = "some avg10=1.00 avg60=2.00 avg300=3.00 total=456\nfull avg10=0.00 total=7\n";
        assert_eq!(waiting_us(text), Some(456));
        assert_eq!(waiting_us(""), None);
    }

    #[test]
    fn waiting_alone_is_no_disturbance_by_others() {
        let load = |others, stolen, waiting| Load {
            others,
            stolen,
            waiting,
        };
        assert!(!load(0.01, 0.0, Some(0.9)).disturbs());
        assert!(load(0.10, 0.0, Some(0.9)).disturbs());
        assert!(!load(0.10, 0.0, None).disturbs());
        assert!(load(0.5, 0.0, None).disturbs());
        assert!(load(0.0, 0.1, None).disturbs());
    }

    #[test]
    fn the_time_of_another_process_is_read_and_stays_counted() {
        assert!(ticks_of(std::process::id()).is_some());
        assert_eq!(ticks_of(u32::MAX), None);
        let mut watch = LoadWatch::new();
        watch.count_as_own(std::process::id());
        let begin = Instant::now();
        while begin.elapsed().as_millis() < 50 {}
        let used_ticks = watch.also_own_ticks();
        watch.count_no_longer();
        assert!(watch.also_own_ticks() >= used_ticks);
        assert_eq!(watch.also_own, None);
    }

    #[test]
    fn a_busy_thread_of_our_own_is_no_other_load() {
        let watch = LoadWatch::new();
        let (before, begin) = (watch.look(), Instant::now());
        while begin.elapsed().as_millis() < 300 {}
        let after = watch.look();
        let load = after.since(&before);
        let used_ns = after.own.since(&before.own);
        let used = (used_ns.user_ns + used_ns.system_ns) as f64;
        let ticks = after.machine.since(&before.machine).all;
        let idle = ticks.idle + ticks.iowait + ticks.steal;
        let all = ticks.total() as f64;
        let wanted = ((ticks.total() - idle) as f64 - used / TICK_NS) / all.max(1.0);
        assert!((load.others - wanted.max(0.0)).abs() < 1e-9);
        assert!(load.others <= 1.0 && used > 0.0);
    }
}
