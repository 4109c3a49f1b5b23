//! Other load on the machine.

use std::fs;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use storage::{CpuSample, MachineCounters, MachineSample};

/// Nanoseconds per clock tick, the unit in which the kernel counts CPU time.
// USER_HZ is 100 on x86 and ARM, whatever the frequency of the kernel's own timer.
const TICK_NS: f64 = 1e7;
/// Above this share of all CPUs, other processes disturb any measurement.
pub(crate) const OTHERS_SHARE_MAX: f64 = 0.20;
/// The same limit while threads wait for a CPU.
const OTHERS_WHILE_WAITING_MAX: f64 = 0.03;
/// Above this share of the time, waiting for a CPU is not only due to pgmeter's own threads.
const WAITING_SHARE_MAX: f64 = 0.10;
/// Maximum share of CPU time taken by the hypervisor.
const STOLEN_SHARE_MAX: f64 = 0.02;

/// Other load on the machine during a measurement; shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Load")]
pub struct OtherLoad {
    /// Share of the time of all CPUs used by other processes.
    pub others: f64,
    /// Share of the time of all CPUs that the hypervisor took (steal).
    pub stolen: f64,
    /// Share of the time in which some thread on the machine waited for a CPU; null if the kernel
    /// does not report it.
    pub waiting: Option<f64>,
}

impl OtherLoad {
    /// `true` if the load may have changed a measurement.
    #[must_use]
    pub fn disturbs(&self) -> bool {
        let waits = self.waiting.is_some_and(|share| share > WAITING_SHARE_MAX);
        // Waiting alone proves nothing: pgmeter's own threads can outnumber the CPUs.
        self.others > OTHERS_SHARE_MAX
            || self.has_excessive_steal_time()
            || (waits && self.others > OTHERS_WHILE_WAITING_MAX)
    }

    /// `true` if the hypervisor took enough time to change a measurement.
    #[must_use]
    pub fn has_excessive_steal_time(&self) -> bool {
        self.stolen > STOLEN_SHARE_MAX
    }
}

/// Samples the counters of the machine and of this process.
pub(crate) struct LoadWatch {
    counters: Option<MachineCounters>,
    /// Another process that counts as our own.
    extra_process: Option<u32>,
    /// CPU time, in clock ticks, of such processes up to the time when they stopped counting.
    past_extra_ticks: u64,
}

pub(crate) struct LoadSample {
    at: Instant,
    machine: MachineSample,
    own: CpuSample,
    extra_ticks: u64,
    waiting_us: Option<u64>,
}

impl LoadWatch {
    pub fn new() -> Self {
        Self {
            counters: MachineCounters::open().ok(),
            extra_process: None,
            past_extra_ticks: 0,
        }
    }

    /// Counts the CPU time of another process as our own.
    pub fn count_as_own(&mut self, process: u32) {
        self.extra_process = Some(process);
    }

    /// Stops counting that process; what it has used so far stays counted. Call this before it
    /// ends.
    pub fn stop_counting(&mut self) {
        self.past_extra_ticks = self.also_own_ticks();
        self.extra_process = None;
    }

    fn also_own_ticks(&self) -> u64 {
        self.past_extra_ticks + self.extra_process.and_then(ticks_of).unwrap_or(0)
    }

    pub fn look(&self) -> LoadSample {
        let machine = self.counters.as_ref().and_then(|it| it.sample().ok());
        LoadSample {
            at: Instant::now(),
            machine: machine.unwrap_or_default(),
            own: CpuSample::of_process(),
            extra_ticks: self.also_own_ticks(),
            waiting_us: waiting_us(&fs::read_to_string("/proc/pressure/cpu").unwrap_or_default()),
        }
    }
}

impl LoadSample {
    /// Load between an earlier sample and this one.
    pub fn since(&self, earlier: &Self) -> OtherLoad {
        let machine = self.machine.since(&earlier.machine).all;
        let own = self.own.since(&earlier.own);
        let also_own_ticks = self.extra_ticks.saturating_sub(earlier.extra_ticks);
        let own_ticks = (own.user_ns + own.system_ns) as f64 / TICK_NS + also_own_ticks as f64;
        // Stolen time is not used by a process of this machine; it has a separate limit.
        let idle = machine.idle + machine.iowait + machine.steal;
        let busy_ticks = (machine.total() - idle) as f64;
        // A measurement may be shorter than a tick.
        let all_ticks = (machine.total() as f64).max(1.0);
        let elapsed_us = self.at.duration_since(earlier.at).as_secs_f64() * 1e6;
        let waiting = self.waiting_us.zip(earlier.waiting_us);
        OtherLoad {
            // Ticks of 10 ms and nanoseconds do not agree exactly, so this may be negative.
            others: ((busy_ticks - own_ticks) / all_ticks).max(0.0),
            stolen: machine.share(machine.steal),
            waiting: waiting.map(|(now, then)| {
                (now.saturating_sub(then) as f64 / elapsed_us.max(1.0)).min(1.0)
            }),
        }
    }
}

/// CPU time that a process has used, in clock ticks.
fn ticks_of(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may contain blanks and parentheses, so fields are counted from its
    // end. Those 14 and 15 are the user and the system time (proc(5)).
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Total of the line `some` in a pressure file of the kernel, in microseconds.
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
    fn waiting_alone_is_not_a_disturbance() {
        let load = |others, stolen, waiting| OtherLoad {
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
    fn time_of_a_process_counted_as_own_stays_counted() {
        assert!(ticks_of(std::process::id()).is_some());
        assert_eq!(ticks_of(u32::MAX), None);
        let mut watch = LoadWatch::new();
        watch.count_as_own(std::process::id());
        let begin = Instant::now();
        while begin.elapsed().as_millis() < 50 {}
        let used_ticks = watch.also_own_ticks();
        watch.stop_counting();
        assert!(watch.also_own_ticks() >= used_ticks);
        assert_eq!(watch.extra_process, None);
    }

    #[test]
    fn our_own_busy_thread_is_not_load_of_others() {
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
