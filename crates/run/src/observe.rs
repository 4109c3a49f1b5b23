//! What processors and devices did during a measurement, seen from outside the workers.

use std::path::PathBuf;
use std::time::Instant;

use results::{
    CellRecord, CpuFigures, DeviceFigures, MachineCpu, ProcessorFigures, Timestamp, WorkerFigures,
};
use target::{
    CpuSample, CpuTime, DeviceCounters, DeviceSample, MachineCounters, MachineSample, OwnIo,
    OwnIoCounters, ProcessorTicks,
};

use crate::cell::{Mark, Measured, MeasuredLane};

/// Samples counters at both ends of a measurement.
pub(crate) struct Observer {
    devices: Option<DeviceCounters>,
    own_io: Option<OwnIoCounters>,
    /// Before the ramp, when nothing of the targets was waiting to be written.
    own_before: Option<OwnIo>,
    machine: Option<MachineCounters>,
    begin: Option<Sample>,
    end: Option<Sample>,
    /// At the end of each round.
    rounds: Vec<Sample>,
}

struct Sample {
    at: Instant,
    time: Timestamp,
    process: CpuSample,
    machine: Option<MachineSample>,
    device: Option<DeviceSample>,
    own_io: Option<OwnIo>,
    /// Each lane's thread, in the order of lanes; none is looked at in the end, when it is gone.
    threads: Vec<Option<CpuSample>>,
}

impl Observer {
    /// Opens the counters of the devices under `paths`.
    pub fn new(paths: impl Iterator<Item = PathBuf>) -> Self {
        let paths: Vec<PathBuf> = paths.collect();
        let devices = match paths.is_empty() {
            true => None,
            false => DeviceCounters::open(paths.iter().map(PathBuf::as_path)),
        };
        let machine = MachineCounters::open().ok();
        let own_io = OwnIoCounters::open();
        Self {
            devices,
            own_before: own_io.as_ref().and_then(OwnIoCounters::sample),
            own_io,
            machine,
            begin: None,
            end: None,
            rounds: Vec::new(),
        }
    }

    /// Takes a sample; `threads` are the ids of the lanes' threads.
    pub fn look(&mut self, mark: Mark, threads: &[i32]) {
        let sample = Sample {
            device: self
                .devices
                .as_ref()
                .and_then(|devices| devices.sample().ok()),
            own_io: self.own_io.as_ref().and_then(OwnIoCounters::sample),
            machine: self
                .machine
                .as_ref()
                .and_then(|machine| machine.sample().ok()),
            process: CpuSample::of_process(),
            at: Instant::now(),
            time: Timestamp::now(),
            threads: match mark {
                Mark::Begin | Mark::Round => {
                    let ids = threads.iter();
                    ids.map(|id| CpuSample::of_thread_id(*id)).collect()
                }
                Mark::End => Vec::new(),
            },
        };
        match mark {
            Mark::Begin => self.begin = Some(sample),
            Mark::Round => self.rounds.push(sample),
            Mark::End => self.end = Some(sample),
        }
    }

    /// Puts what was observed into the cell's record.
    pub fn complete(&self, record: &mut CellRecord, measured: &Measured) {
        let Some((begin, end)) = self.ends(measured) else {
            return;
        };
        record.started_at = Some(begin.time);
        let observed_ns = end.at.duration_since(begin.at).as_nanos().max(1) as u64;
        let process = end.process.since(&begin.process);
        record.cpu = CpuFigures::of_process(process.user_ns, process.system_ns, observed_ns);
        if let (Some(before), Some(after)) = (&begin.machine, &end.machine) {
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
            record.cpu.processors = machine.each.iter().map(processor).collect();
        }
        record.device = self.device(begin, end, observed_ns);
        let workers = std::mem::take(&mut record.worker_figures);
        let with_cpu = |(index, worker)| of_worker(index, worker, measured, begin, end);
        record.worker_figures = workers.into_iter().enumerate().map(with_cpu).collect();
    }

    /// The samples at the ends of what was measured: of the window, where there were rounds.
    fn ends(&self, measured: &Measured) -> Option<(&Sample, &Sample)> {
        let (begin, end) = (self.begin.as_ref()?, self.end.as_ref()?);
        let window = measured.steady.as_ref().and_then(|it| it.window);
        let behind = |count: u64| self.rounds.get(count.checked_sub(1)? as usize);
        Some(window.map_or((begin, end), |(first, behind_last)| {
            let begin = behind(first).unwrap_or(begin);
            (begin, behind(behind_last).unwrap_or(end))
        }))
    }

    fn device(&self, begin: &Sample, end: &Sample, observed_ns: u64) -> Option<DeviceFigures> {
        let devices = self.devices.as_ref()?;
        let moved = end.device?.since(&begin.device?);
        let read = end.own_io.zip(begin.own_io);
        let written = end.own_io.zip(self.own_before);
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
        })
    }
}

/// A worker's processor time is that of its lanes; not known unless all are.
fn of_worker(
    index: usize,
    worker: WorkerFigures,
    measured: &Measured,
    begin: &Sample,
    end: &Sample,
) -> WorkerFigures {
    let time = |(place, (lane, begin)): (usize, (&MeasuredLane, &Option<CpuSample>))| {
        let at_end = end.threads.get(place).copied();
        let at_end = at_end.unwrap_or(lane.outcome.cpu_at_end)?;
        Some(at_end.since(&(*begin)?))
    };
    let lanes = measured.lanes.iter().zip(&begin.threads).enumerate();
    let of_worker = lanes.filter(|(_, (lane, _))| lane.lane.worker_index == index);
    let times: Option<Vec<CpuTime>> = of_worker.map(time).collect();
    match times {
        Some(times) => {
            let user_ns = times.iter().map(|time| time.user_ns).sum();
            let system_ns = times.iter().map(|time| time.system_ns).sum();
            worker.with_cpu(user_ns, system_ns)
        }
        None => worker,
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
