//! Warnings about CPUs: workers that waited for one, used one up, or shared all of them.

use plan::EngineKind;

use super::stretch::{self, Stretch};
use super::{Finding, percent};
use crate::advice::Advice;
use crate::{CellRecord, Environment, WarningCode, WorkerFigures};

/// From this share of its time running or runnable on, a worker is limited by its CPU.
const WORKER_BUSY_SHARE: f64 = 0.95;
/// Above this share, stolen CPU time causes a warning.
const STEAL_SHARE_MAX: f64 = 0.01;
/// Above this share of the workers' time, waiting for a CPU causes a warning.
const WAITING_SHARE_MAX: f64 = 0.02;
/// A single stretch causes a warning from this share of the workers' time in it on ...
const STRETCH_WAITING_MIN: f64 = 0.1;
/// ... if its waiting is at least this share of the workers' whole time.
const STRETCH_TOTAL_MIN: f64 = 0.005;
/// Starting threads alone takes up to this much waiting, in nanoseconds.
const WAITED_MIN_NS: u64 = 10_000_000;
/// From this busy share on, the CPUs have no capacity left.
const SATURATED_SHARE: f64 = 0.95;
/// Below this busy share, CPUs are not scarce.
const SCARCE_SHARE: f64 = 0.8;
/// Usage below this share of the usable CPUs is ignored.
const USER_MIN: f64 = 0.1;

/// Usage of the CPUs that the workers may use, in CPUs.
struct ProcessorUsage {
    /// Number of CPUs that the workers may run on.
    usable: f64,
    /// Number of CPUs that they may use at the same time; the quota of a control group can be
    /// lower.
    allowed: f64,
    /// Busy share of the usable CPUs; `None` if the system does not report it.
    busy: Option<f64>,
    /// CPUs used by other processes and kernel threads.
    other_processes: f64,
    /// CPUs used by other threads of this process, such as kernel threads of a ring.
    other_threads: f64,
}

/// Why workers waited for a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contention {
    /// A control group allows fewer CPUs than there are.
    Quota,
    /// Other processes and kernel threads used CPUs, and this run has more threads than the rest
    /// allows if `shares_rest`.
    Others { shares_rest: bool },
    /// Kernel threads of the engine used CPUs.
    EngineThreads,
    /// The run has more threads than CPUs.
    OwnThreads,
    /// The averages show no reason.
    Unknown,
}

impl ProcessorUsage {
    fn of(cell: &CellRecord, environment: &Environment) -> Self {
        let cpu = &cell.cpu;
        let is_usable = |number| cpu.usable.is_empty() || cpu.usable.contains(&number);
        let processors = cpu.processors.iter().filter(|it| is_usable(it.cpu));
        let shares: Vec<f64> = processors.map(|it| it.shares.busy).collect();
        let count = shares.len() as f64;
        let busy_sum = shares.iter().sum::<f64>();
        let reported = f64::from(environment.cpu.usable_count);
        // Without values for each CPU, the number from before the run is the best that is known.
        let usable = if count > 0.0 { count } else { reported };
        let quota = environment.processor_limit().map(|limit| limit.value);
        let worker_shares = cell.worker_figures.iter().map(|it| it.utilization);
        Self {
            usable,
            allowed: usable.min(quota.unwrap_or(if reported > 0.0 { reported } else { usable })),
            busy: (count > 0.0).then_some(busy_sum / count.max(1.0)),
            // Not below 0: ticks and exact CPU times differ by rounding.
            other_processes: (busy_sum - cpu.utilization).max(0.0),
            other_threads: (cpu.utilization - worker_shares.sum::<f64>()).max(0.0),
        }
    }

    fn is_saturated(&self) -> bool {
        self.busy.is_some_and(|busy| busy >= SATURATED_SHARE)
    }

    /// `true` if `used` CPUs are enough to matter.
    fn counts(&self, used: f64) -> bool {
        used >= self.usable * USER_MIN
    }

    /// `true` if sleeping threads only wait for each other: they wake up together and run one after
    /// another, although the CPUs are mostly idle.
    fn is_wakeup_contention(&self, cell: &CellRecord) -> bool {
        // With a CPU for each thread, none would have to wait for another one.
        f64::from(cell.cpu.threads) > self.allowed
            // A quota makes threads wait although CPUs are idle, which has nothing to do with
            // wakeups.
            && self.allowed >= self.usable
            && self.busy.is_some_and(|busy| busy < SCARCE_SHARE)
            && !self.counts(self.other_processes)
    }

    /// `true` if more workers could use a CPU. `waiting` is the share of time that the busy workers
    /// waited for one.
    fn has_room(&self, cell: &CellRecord, waiting: f64) -> bool {
        // At least as many threads as CPUs, and they wait: more workers would only wait longer.
        let are_all_used = f64::from(cell.cpu.threads) >= self.allowed;
        !(self.is_saturated() || are_all_used && waiting > WAITING_SHARE_MAX)
    }

    /// The likely reason why workers waited.
    fn contention(&self, cell: &CellRecord) -> Contention {
        let shares_rest = f64::from(cell.cpu.threads) > self.allowed;
        // Idle CPUs that the quota does not allow are the clearest cause, so it comes first.
        if self.allowed < self.usable && !self.is_saturated() {
            Contention::Quota
        } else if self.counts(self.other_processes) {
            Contention::Others { shares_rest }
        } else if shares_rest {
            Contention::OwnThreads
        } else if self.counts(self.other_threads) {
            Contention::EngineThreads
        } else {
            Contention::Unknown
        }
    }

    /// Text such as `2 usable CPUs (99 % busy)`.
    fn in_words(&self) -> String {
        let noun = if self.usable == 1.0 { "CPU" } else { "CPUs" };
        let busy = self.busy.map(|busy| format!(" ({} busy)", percent(busy)));
        format!("{} usable {noun}{}", self.usable, busy.unwrap_or_default())
    }
}

/// CPUs that other processes and kernel threads used while the cell was measured, and the number of
/// CPUs that its workers may run on; `None` if the system does not report it.
#[must_use]
pub fn cpus_used_by_others(cell: &CellRecord, environment: &Environment) -> Option<(f64, f64)> {
    let usage = ProcessorUsage::of(cell, environment);
    usage.busy.map(|_| (usage.other_processes, usage.usable))
}

/// Warns if the workers waited for a CPU, over the whole time or in a single stretch.
pub(super) fn cpu_wait_warning(cell: &CellRecord, environment: &Environment) -> Finding {
    let waiting = cell.cpu.waiting?;
    if cell.cpu.waited_ns? < WAITED_MIN_NS {
        return None;
    }
    let usage = ProcessorUsage::of(cell, environment);
    let stretch = stretch::worst(cell);
    let is_grave =
        |it: &Stretch| it.waiting >= STRETCH_WAITING_MIN && it.share_of_run >= STRETCH_TOTAL_MIN;
    let is_alarm = waiting > WAITING_SHARE_MAX && !usage.is_wakeup_contention(cell);
    if !is_alarm && !stretch.as_ref().is_some_and(is_grave) {
        return None;
    }
    let when = stretch.map_or_else(String::new, |it| {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (from, until) = (seconds(it.from_ns), seconds(it.until_ns));
        format!(
            " ({} from {from:.1} s to {until:.1} s)",
            percent(it.waiting)
        )
    });
    let message = format!(
        "the workers were ready to run but waited for a CPU for {} of the time{when}: {}",
        percent(waiting),
        cause(cell, &usage),
    );
    Some((WarningCode::WaitedForProcessor, message))
}

/// The likely cause.
fn cause(cell: &CellRecord, usage: &ProcessorUsage) -> String {
    let (threads, processors) = (cell.cpu.threads, usage.in_words());
    match usage.contention(cell) {
        Contention::Quota => format!(
            "of {processors}, a quota allows this run {}",
            (usage.allowed * 100.0).round() / 100.0
        ),
        Contention::Unknown => format!("the averages of the {processors} show no cause"),
        Contention::Others { shares_rest } => {
            let share = match shares_rest {
                true => format!(", and {threads} threads of this run share the rest"),
                false => String::new(),
            };
            // The usage of others is known only together with that of the CPUs.
            let busy = percent(usage.busy.unwrap_or_default());
            let (are, them) = match usage.usable == 1.0 {
                true => ("usable CPU was".to_owned(), "it"),
                false => (format!("{} usable CPUs were", usage.usable), "them"),
            };
            format!(
                "the {are} {busy} busy; other processes and kernel threads used {:.1} of \
                 {them}{share}",
                usage.other_processes
            )
        }
        Contention::EngineThreads => format!(
            "of {processors}, threads that the kernel runs for the engine used {:.1}",
            usage.other_threads,
        ),
        Contention::OwnThreads => format!("{threads} threads of this run share {processors}"),
    }
}

/// What to do about a warning that the CPUs limit a cell; `None` if they do not limit it.
pub(crate) fn advice(cell: &CellRecord, environment: &Environment) -> Option<Advice> {
    let usage = ProcessorUsage::of(cell, environment);
    if cpu_wait_warning(cell, environment).is_none() {
        let is_bound = worker_cpu_bound(cell, environment).is_some();
        if !is_bound && saturated(cell, environment).is_none() {
            return None;
        }
        let waiting = mean(&bound_workers(cell), |it| it.waiting);
        return Some(match is_bound {
            true if usage.has_room(cell, waiting) => Advice::Do("use more `--workers`"),
            _ if usage.other_processes > cell.cpu.utilization => Advice::STOP_PROGRAMS,
            _ => less_load(cell),
        });
    }
    Some(match usage.contention(cell) {
        Contention::Quota => Advice::Do("raise `cpu.max` of the run's control group"),
        Contention::Unknown => Advice::Do(
            "look for load that comes and goes, such as a periodic job or another virtual machine",
        ),
        Contention::Others { .. } => Advice::STOP_PROGRAMS,
        Contention::EngineThreads => less_load(cell),
        Contention::OwnThreads => match cell.engine {
            _ if cell.workers > 1 && f64::from(cell.workers) > usage.allowed => {
                Advice::FewerWorkers(usage.allowed.floor().max(1.0) as u64)
            }
            // With fewer workers than CPUs, the surplus threads come from the queue depth.
            EngineKind::Psync if cell.iodepth > 1 => {
                Advice::Do("use `--engine io_uring`, which needs one thread per worker")
            }
            _ => less_load(cell),
        },
    })
}

/// Advice that reduces the CPU load.
fn less_load(cell: &CellRecord) -> Advice {
    Advice::Do(match (cell.workers, cell.iodepth) {
        (2.., _) => "use fewer `--workers`",
        (_, 2..) => "use a smaller `--iodepth`",
        _ => "use a machine with more or faster CPUs",
    })
}

/// A worker that was always running or runnable, with its shares of the time.
struct BoundWorker<'a> {
    worker: &'a WorkerFigures,
    running: f64,
    waiting: f64,
}

fn bound_workers(cell: &CellRecord) -> Vec<BoundWorker<'_>> {
    let bound = cell.worker_figures.iter().filter_map(|worker| {
        // Older records have 0 threads.
        let running = worker.utilization / f64::from(worker.threads.max(1));
        let waiting = worker.waiting.unwrap_or(0.0);
        (running + waiting >= WORKER_BUSY_SHARE).then_some(BoundWorker {
            worker,
            running,
            waiting,
        })
    });
    bound.collect()
}

fn mean(bound: &[BoundWorker], of: impl Fn(&BoundWorker) -> f64) -> f64 {
    bound.iter().map(of).sum::<f64>() / bound.len().max(1) as f64
}

/// Warns if a worker's thread was always running or runnable.
pub(super) fn worker_cpu_bound(cell: &CellRecord, environment: &Environment) -> Finding {
    if is_by_design(cell) {
        return None;
    }
    let bound = bound_workers(cell);
    let first = bound.first()?.worker;
    let (who, each) = match (bound.len(), first.threads) {
        (1, 0 | 1) => (format!("worker `{}`", first.name), ""),
        (1, _) => (format!("the threads of worker `{}`", first.name), " each"),
        (count, _) => {
            let of = cell.worker_figures.len();
            (format!("{count} of {of} workers"), " each")
        }
    };
    let running = percent(mean(&bound, |it| it.running).min(1.0));
    let waiting = mean(&bound, |it| it.waiting);
    let usage = ProcessorUsage::of(cell, environment);
    let waits = waiting > WAITING_SHARE_MAX;
    let did = match waits {
        true => format!(
            "ran for {running} of the time{each} and waited for a CPU for {}",
            percent(waiting)
        ),
        false => format!("used {running} of a CPU{each}"),
    };
    let message = match usage.has_room(cell, waiting) {
        true => format!("{who} {did}"),
        false => format!(
            "{who} {did}; the {} have no room for more workers",
            usage.in_words()
        ),
    };
    Some((WarningCode::WorkerCpuBound, message))
}

/// Warns if all CPUs were busy although no worker shows it.
pub(super) fn saturated(cell: &CellRecord, environment: &Environment) -> Finding {
    let usage = ProcessorUsage::of(cell, environment);
    if is_by_design(cell)
        || !usage.is_saturated()
        || cell.workers == 0
        // Each of these warnings already says that the CPUs limit the result.
        || cpu_wait_warning(cell, environment).is_some()
        || worker_cpu_bound(cell, environment).is_some()
    {
        return None;
    }
    let message = format!(
        "this run used {:.1} and others {:.1} of the {}; threads that serve the target may have \
         waited for a CPU",
        cell.cpu.utilization,
        usage.other_processes,
        usage.in_words(),
    );
    Some((WarningCode::ProcessorsSaturated, message))
}

/// `true` if CPU use is expected: with the `null` engine it is the result, and an open loop spins
/// until requests are due.
fn is_by_design(cell: &CellRecord) -> bool {
    cell.engine == EngineKind::Null || cell.open_loop.is_some()
}

pub(super) fn steal_time(cell: &CellRecord) -> Finding {
    let steal = cell.cpu.machine?.steal;
    (steal > STEAL_SHARE_MAX).then(|| {
        let message = format!(
            "the hypervisor withheld {} of the CPU time (steal)",
            percent(steal)
        );
        (WarningCode::StealTime, message)
    })
}
