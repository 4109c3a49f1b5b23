//! CPU and device usage during a measurement, observed from outside the workers.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use engine::TscClock;
use engine::clock::Clock;
use results::{
    CellRecord, CpuFigures, DeviceFigures, MachineCpu, ProcessorFigures, Timestamp, WorkerFigures,
};
use storage::{
    CpuSample, CpuTime, DeviceCounters, DeviceSample, MachineCounters, MachineSample, OwnIo,
    OwnIoCounters, Pressure, ProcessorTicks, QuotaCounters, QuotaSample,
};

use crate::context::CellMark;
use crate::measured::{MeasuredCell, MeasuredLane};

/// Counters of the machine and of the devices under the targets, kept open.
pub(crate) struct Counters {
    devices: Option<Rc<DeviceCounters>>,
    own_io: Option<OwnIoCounters>,
    machine: Option<MachineCounters>,
    pressure: Pressure,
    quota: Option<QuotaCounters>,
}

impl Counters {
    /// Opens the counters of the machine and of the devices under `paths`. Finding the devices
    /// reads hundreds of small files, so the stages of a cell share the result.
    pub fn open(paths: impl Iterator<Item = PathBuf>) -> Rc<Self> {
        let paths: Vec<PathBuf> = paths.collect();
        let devices = match paths.is_empty() {
            true => None,
            false => DeviceCounters::open(paths.iter().map(PathBuf::as_path)),
        };
        Rc::new(Self {
            devices: devices.map(Rc::new),
            own_io: OwnIoCounters::open(),
            machine: MachineCounters::open().ok(),
            pressure: Pressure::open(),
            quota: QuotaCounters::open(),
        })
    }

    /// Counters of the devices.
    pub fn devices(&self) -> Option<Rc<DeviceCounters>> {
        self.devices.clone()
    }
}

/// Samples counters at both ends of a measurement.
pub(crate) struct Observer {
    counters: Rc<Counters>,
    /// Own I/O before the ramp, when the targets had no data waiting to be written.
    own_before: Option<OwnIo>,
    begin: Option<ObservedSample>,
    end: Option<ObservedSample>,
    /// Samples at the end of each round.
    rounds: Vec<ObservedSample>,
}

struct ObservedSample {
    at: Instant,
    /// Time before the first counter was read and after the last one, in nanoseconds of the clock.
    read_ns: [u64; 2],
    time: Timestamp,
    process: CpuSample,
    machine: Option<MachineSample>,
    pressure_ns: Option<u64>,
    quota: Option<QuotaSample>,
    device: Option<DeviceSample>,
    own_io: Option<OwnIo>,
    /// Threads of the lanes, in the order of lanes; empty at the end, when the threads are gone.
    threads: Vec<Option<CpuSample>>,
}

impl Observer {
    /// Creates an observer that reads these counters.
    pub fn new(counters: Rc<Counters>) -> Self {
        Self {
            own_before: counters.own_io.as_ref().and_then(OwnIoCounters::sample),
            counters,
            begin: None,
            end: None,
            rounds: Vec::new(),
        }
    }

    /// Takes a sample; `threads` are the IDs of the lanes' threads.
    pub fn look(&mut self, mark: CellMark, threads: &[i32], clock: &TscClock) {
        let before_ns = clock.now_ns();
        let Counters {
            devices,
            own_io,
            machine,
            pressure,
            quota,
        } = &*self.counters;
        let mut sample = ObservedSample {
            device: devices.as_ref().and_then(|devices| devices.sample().ok()),
            own_io: own_io.as_ref().and_then(OwnIoCounters::sample),
            machine: machine.as_ref().and_then(|machine| machine.sample().ok()),
            pressure_ns: pressure.sample_ns(),
            quota: quota.as_ref().and_then(|quota| quota.sample().ok()),
            process: CpuSample::of_process(),
            at: Instant::now(),
            read_ns: [before_ns; 2],
            time: Timestamp::now(),
            threads: match mark {
                CellMark::Begin | CellMark::Round => {
                    let ids = threads.iter();
                    ids.map(|id| CpuSample::of_thread_id(*id)).collect()
                }
                CellMark::End => Vec::new(),
            },
        };
        sample.read_ns[1] = clock.now_ns();
        match mark {
            CellMark::Begin => self.begin = Some(sample),
            CellMark::Round => self.rounds.push(sample),
            CellMark::End => self.end = Some(sample),
        }
    }

    /// Adds the observations to the cell's record.
    pub fn complete(&self, record: &mut CellRecord, measured: &MeasuredCell) {
        let Some((begin, end)) = self.ends(measured) else {
            return;
        };
        record.started_at = Some(begin.time);
        let observed_ns = end.at.duration_since(begin.at).as_nanos().max(1) as u64;
        let process = end.process.since(&begin.process);
        record.cpu = CpuFigures::of_process(process.user_ns, process.system_ns, observed_ns);
        record.cpu.usable = usable(measured);
        if let (Some(before), Some(after)) = (begin.pressure_ns, end.pressure_ns) {
            let waited_ns = after.saturating_sub(before) as f64;
            record.cpu.pressure = Some((waited_ns / observed_ns as f64).min(1.0));
        }
        if let (Some(before), Some(after)) = (&begin.machine, &end.machine) {
            // The share of other programs is the machine's busy time minus the process's CPU time,
            // so both must cover the same time.
            let machine = after.since(before);
            let interrupts = machine.interrupts as f64 * 1e9 / observed_ns as f64;
            record.cpu.machine = Some(MachineCpu {
                interrupts_per_second: Some(interrupts),
                ..shares(&machine.all)
            });
            let processor = |(cpu, ticks): &(u32, ProcessorTicks)| ProcessorFigures {
                cpu: *cpu,
                shares: shares(ticks),
            };
            record.cpu.processors = machine.per_cpu.iter().map(processor).collect();
        }
        if let (Some(before), Some(after)) = (&begin.quota, &end.quota) {
            record.cpu.throttled = after.share_since(before);
        }
        // On a busy machine, the monitor may read counters late. Only the time between both
        // readings is covered for certain.
        let read_ns = [begin.read_ns[1], end.read_ns[0]];
        let window_ns = window_ns(measured, record.run_time_ns);
        record.device = self
            .device(begin, end, observed_ns)
            .map(|figures| DeviceFigures {
                covered_ns: Some(overlap_ns(read_ns, window_ns)),
                ..figures
            });
        let used =
            |is_wanted: &dyn Fn(usize) -> bool| LaneCpuTime::of(measured, (begin, end), is_wanted);
        let workers = std::mem::take(&mut record.worker_figures).into_iter();
        let with_cpu = |worker: WorkerFigures| {
            // Index among the workers of all processes.
            let index = worker.worker_index as usize;
            match used(&|it| it == index) {
                Some(used) => used.put_into(worker),
                None => worker,
            }
        };
        record.worker_figures = workers.map(with_cpu).collect();
        if let Some(all) = used(&|_| true) {
            record.set_threads(all.threads, all.time.waited_ns, all.time.elapsed_ns);
            let operations = record.operations.values();
            let count = operations.map(|it| it.count + it.errors).sum();
            record.user_cost_ns_per_operation = user_cost_ns(count, &all, storage::tick_ns());
        }
    }

    /// Samples at the ends of the measurement, or of the window if there were rounds.
    fn ends(&self, measured: &MeasuredCell) -> Option<(&ObservedSample, &ObservedSample)> {
        let (begin, end) = (self.begin.as_ref()?, self.end.as_ref()?);
        let window = measured.steady.as_ref().and_then(|it| it.window);
        let after = |count: u64| self.rounds.get(count.checked_sub(1)? as usize);
        Some(window.map_or((begin, end), |(first, behind_last)| {
            let begin = after(first).unwrap_or(begin);
            (begin, after(behind_last).unwrap_or(end))
        }))
    }

    fn device(
        &self,
        begin: &ObservedSample,
        end: &ObservedSample,
        observed_ns: u64,
    ) -> Option<DeviceFigures> {
        let devices = self.counters.devices.as_ref()?;
        let moved = end.device?.since(&begin.device?);
        let read = end.own_io.zip(begin.own_io);
        // From before the ramp, because the kernel may write those bytes back during the
        // measurement.
        let written = end.own_io.zip(self.own_before);
        // `busy_ns` is the sum over all devices.
        let capacity_ns = observed_ns as f64 * devices.device_count().max(1) as f64;
        Some(DeviceFigures {
            read_bytes: moved.read_bytes,
            write_bytes: moved.write_bytes,
            reads: moved.reads,
            writes: moved.writes,
            own_read_bytes: read.map(|(end, begin)| end.since(&begin).read_bytes),
            own_write_bytes: written.map(|(end, before)| end.since(&before).write_bytes),
            utilization: Some((moved.busy_ns as f64 / capacity_ns).min(1.0)),
            source: devices.source(),
            covered_ns: None,
        })
    }
}

/// Start and end of the measurement, or of the window if there were rounds, in nanoseconds of the
/// clock.
fn window_ns(measured: &MeasuredCell, run_time_ns: u64) -> [u64; 2] {
    let at_ns = measured.steady.as_ref().and_then(|steady| {
        let (first, _) = steady.window?;
        let round = steady.record.rounds.get(usize::try_from(first).ok()?)?;
        Some(round.at_ns)
    });
    let begin_ns = measured.measure_ns.saturating_add(at_ns.unwrap_or(0));
    [begin_ns, begin_ns.saturating_add(run_time_ns)]
}

/// Length of the overlap of two time spans, each given by its ends.
fn overlap_ns(one: [u64; 2], other: [u64; 2]) -> u64 {
    let begin_ns = one[0].max(other[0]);
    one[1].min(other[1]).saturating_sub(begin_ns)
}

/// CPU time that several lanes used.
struct LaneCpuTime {
    threads: u32,
    time: CpuTime,
}

impl LaneCpuTime {
    /// CPU time of the lanes of selected workers; `None` unless it is known for all of them.
    fn of(
        measured: &MeasuredCell,
        (begin, end): (&ObservedSample, &ObservedSample),
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> Option<Self> {
        let ends = |(index, (lane, begin)): (usize, (&MeasuredLane, &Option<CpuSample>))| {
            // With rounds, the window may end while the threads still run. The sample at its end
            // has them.
            let at_end = end.threads.get(index).copied();
            Some(((*begin)?, at_end.unwrap_or(lane.outcome.cpu_at_end)?))
        };
        let lanes = measured.lanes.iter().zip(&begin.threads).enumerate();
        let wanted = lanes.filter(|(_, (lane, _))| is_wanted(lane.lane.worker_index));
        let ends: Option<Vec<(CpuSample, CpuSample)>> = wanted.map(ends).collect();
        let ends = ends.filter(|ends| !ends.is_empty())?;
        let none = (CpuSample::default(), CpuSample::default());
        let (begin, end) = ends
            .iter()
            .fold(none, |sum, it| (sum.0.with(&it.0), sum.1.with(&it.1)));
        Some(Self {
            threads: u32::try_from(ends.len()).unwrap_or(u32::MAX),
            time: end.since(&begin),
        })
    }

    fn put_into(&self, worker: WorkerFigures) -> WorkerFigures {
        let time = &self.time;
        worker.with_cpu(time.user_ns, time.system_ns).with_waits(
            self.threads,
            time.waited_ns,
            time.elapsed_ns,
        )
    }
}

/// Resolution of a thread's CPU time in `/proc`, in nanoseconds.
const CPU_TICK_NS: f64 = 1e7;
/// Maximum standard error of a reported user time, relative to that time.
const USER_ERROR_MAX: f64 = 0.15;

/// CPU time in user mode per operation, in nanoseconds; `None` if it is not known precisely enough.
///
/// The kernel charges a whole tick to the thread that it interrupts, so a sum of n ticks has an
/// error of √n ticks. The time of each thread is also rounded at both ends.
fn user_cost_ns(count: u64, used: &LaneCpuTime, tick_ns: u64) -> Option<f64> {
    let user_ns = used.time.user_ns as f64;
    // Rounding to a step has a variance of a twelfth of the step squared, here at two ends.
    let variance =
        user_ns * tick_ns as f64 + f64::from(used.threads) * CPU_TICK_NS * CPU_TICK_NS / 6.0;
    let is_fine = count > 0 && variance.sqrt() <= user_ns * USER_ERROR_MAX;
    is_fine.then(|| user_ns / count as f64)
}

/// CPUs that the workers may run on: those they are bound to, else all that the process may use.
fn usable(measured: &MeasuredCell) -> Vec<u32> {
    let bound = measured.lanes.iter().map(|lane| lane.lane.plan.cpu);
    let bound: Option<BTreeSet<u32>> = bound.collect();
    match bound.filter(|bound| !bound.is_empty()) {
        Some(bound) => bound.into_iter().collect(),
        None => match rustix::thread::sched_getaffinity(None) {
            Ok(set) => (0..rustix::thread::CpuSet::MAX_CPU)
                .filter(|cpu| set.is_set(*cpu))
                .filter_map(|cpu| u32::try_from(cpu).ok())
                .collect(),
            Err(_) => Vec::new(),
        },
    }
}

fn shares(ticks: &ProcessorTicks) -> MachineCpu {
    let idle = ticks.share(ticks.idle) + ticks.share(ticks.iowait);
    MachineCpu {
        busy: (1.0 - idle).max(0.0),
        user: ticks.share(ticks.user),
        system: ticks.share(ticks.system),
        iowait: ticks.share(ticks.iowait),
        irq: ticks.share(ticks.irq),
        softirq: ticks.share(ticks.softirq),
        steal: ticks.share(ticks.steal),
        interrupts_per_second: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_are_read_late_cover_less_of_the_measured_time() {
        let window = [1_000, 2_000];
        assert_eq!(overlap_ns([900, 2_300], window), 1_000);
        assert_eq!(overlap_ns([1_400, 2_300], window), 600);
        assert_eq!(overlap_ns([1_000, 1_900], window), 900);
        // The monitor got no processor until all was over.
        assert_eq!(overlap_ns([2_100, 2_200], window), 0);
    }

    #[test]
    fn user_time_is_known_if_there_are_enough_ticks() {
        let cost = |user_ms: u64, threads: u32| {
            let time = CpuTime {
                user_ns: user_ms * 1_000_000,
                ..CpuTime::default()
            };
            user_cost_ns(1_000_000, &LaneCpuTime { threads, time }, 4_000_000)
        };
        assert_eq!(cost(200, 1), Some(200.0));
        assert_eq!(cost(170, 1), None);
        assert_eq!(cost(200, 128), None);
        assert_eq!(cost(500, 128), Some(500.0));
    }
}
