//! From counters to figures: rates from measured time, percentiles from histograms.

use std::collections::BTreeMap;

use stats::{Counter, ERRNO_OTHER, Histogram, Interval};
use workload::plan::{Cell, Plan, WorkerPlan};

use crate::flows::Flows;
use crate::title::{target_indexes, target_path};
use crate::{
    CellRecord, CpuFigures, EngineNotes, ErrnoCount, HistogramRecord, IntervalFigures,
    IntervalRecord, Latency, OpenLoopFigures, OperationFigures, Operations, Percentiles, Phase,
    RESPONSE, Status, TargetFigures, TransactionFigures, WorkerFigures, per_second,
};

/// The operations that a workload is judged by, where it does any of them.
pub(crate) const MOVES_BYTES: [&str; 3] = ["read", "read_whole", "write"];

/// The names of what counters count, by their number.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// Of the operations.
    pub operations: &'a [&'a str],
    /// Of the kinds of transaction.
    pub transactions: &'a [&'a str],
}

impl Names<'_> {
    fn of(names: &[&str], index: usize) -> String {
        names
            .get(index)
            .map_or_else(|| format!("number {index}"), |name| (*name).to_owned())
    }

    /// Figures of the operations that were done, or tried, in `length_ns` of measured time.
    #[must_use]
    pub fn operations_of(self, totals: &Interval, length_ns: u64) -> Operations {
        totals
            .operations()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(index, counter)| {
                (
                    Self::of(self.operations, index),
                    OperationFigures::of(counter, length_ns),
                )
            })
            .collect()
    }

    /// Figures of the kinds of transaction that were done in `length_ns` of measured time.
    #[must_use]
    pub fn transactions_of(
        self,
        totals: &Interval,
        length_ns: u64,
    ) -> BTreeMap<String, TransactionFigures> {
        totals
            .transactions()
            .iter()
            .enumerate()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(kind, counter)| {
                (
                    Self::of(self.transactions, kind),
                    TransactionFigures::of(counter, length_ns),
                )
            })
            .collect()
    }

    /// What a workload is judged by: the operations that move bytes, `read` and `write`; all
    /// operations where none was to move any.
    ///
    /// Opening and closing a connection, for instance, are no requests that the workload asks for.
    #[must_use]
    pub fn headline(self, totals: &Interval) -> Counter {
        let mut moving = Counter::new();
        for (index, counter) in totals.operations() {
            let name = self.operations.get(index);
            if name.is_some_and(|name| MOVES_BYTES.contains(name)) {
                moving.merge(counter);
            }
        }
        if moving.is_empty() {
            totals.total()
        } else {
            moving
        }
    }

    /// The failures by operation and cause.
    #[must_use]
    pub fn errors_of(self, totals: &Interval) -> Vec<ErrnoCount> {
        let mut errors = Vec::new();
        for (index, counter) in totals.operations() {
            errors.extend(counter.errnos().map(|(errno, count)| ErrnoCount {
                operation: Self::of(self.operations, index),
                errno,
                message: errno_message(errno),
                count,
            }));
        }
        errors
    }
}

/// What the system calls an error number, without the number itself.
fn errno_message(errno: i32) -> String {
    if errno == ERRNO_OTHER {
        return "an error number that Linux does not have".to_owned();
    }
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(message, _)| message)
        .to_owned()
}

impl Latency {
    /// The figures of a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let at = |percent| histogram.percentile(percent);
        Self {
            count: histogram.count(),
            min_ns: histogram.min_ns(),
            mean_ns: histogram.mean_ns(),
            stddev_ns: histogram.stddev_ns(),
            max_ns: histogram.max_ns(),
            sum_ns: u64::try_from(histogram.sum_ns()).unwrap_or(u64::MAX),
            percentiles_ns: Percentiles {
                p50: at(50.0),
                p90: at(90.0),
                p95: at(95.0),
                p99: at(99.0),
                p99_9: at(99.9),
                p99_99: at(99.99),
                p99_999: at(99.999),
            },
            histogram: HistogramRecord {
                hdr_v2_base64: histogram.to_hdr_v2_base64(),
                buckets_ns: histogram
                    .buckets()
                    .map(|bucket| [bucket.low_ns, bucket.high_ns, bucket.count])
                    .collect(),
            },
        }
    }
}

impl OperationFigures {
    /// The figures of a counter over `length_ns` of measured time.
    #[must_use]
    pub fn of(counter: &Counter, length_ns: u64) -> Self {
        Self {
            count: counter.count(),
            errors: counter.errors(),
            bytes: counter.bytes(),
            short_count: counter.short_count(),
            per_second: per_second(counter.count(), length_ns),
            bytes_per_second: per_second(counter.bytes(), length_ns),
            latency: Latency::of(counter.latency()),
        }
    }
}

impl TransactionFigures {
    /// The figures of a counter over `length_ns` of measured time.
    #[must_use]
    pub fn of(counter: &Counter, length_ns: u64) -> Self {
        Self {
            count: counter.count(),
            errors: counter.errors(),
            per_second: per_second(counter.count(), length_ns),
            latency: Latency::of(counter.latency()),
        }
    }
}

impl IntervalRecord {
    /// The figures of an interval.
    #[must_use]
    pub fn of(interval: &Interval, names: Names) -> Self {
        let operations = interval
            .operations()
            .filter(|(_, counter)| !counter.is_empty())
            .map(|(index, counter)| {
                let latency = counter.latency();
                let figures = IntervalFigures {
                    count: counter.count(),
                    bytes: counter.bytes(),
                    errors: counter.errors(),
                    p50_ns: latency.percentile(50.0),
                    p99_ns: latency.percentile(99.0),
                    max_ns: latency.max_ns(),
                };
                (Names::of(names.operations, index), figures)
            })
            .collect();
        Self {
            at_ns: interval.at_ns,
            length_ns: interval.length_ns,
            operations,
            ..Self::default()
        }
    }
}

impl WorkerFigures {
    /// The figures of a worker over its own measured time; processor time and targets are left
    /// to be filled in.
    #[must_use]
    pub fn of(worker: &WorkerPlan, totals: &Interval, run_time_ns: u64, names: Names) -> Self {
        let flows = Flows::of(totals, names);
        let are_operations = flows.transactions.count() == names.headline(totals).count();
        Self {
            worker_index: worker.worker_index,
            name: worker.name.clone(),
            access_spec: worker.access_spec.clone(),
            run_time_ns,
            transactions: flows.transactions.count(),
            transaction_latency: (!are_operations)
                .then(|| Latency::of(flows.transactions.latency())),
            connections: flows.connections.count(),
            connection_latency: flows.connection_latency(),
            operations: names.operations_of(totals, run_time_ns),
            ..Self::default()
        }
    }

    /// Fills in the processor time of the worker's threads.
    #[must_use]
    pub fn with_cpu(mut self, user_ns: u64, system_ns: u64) -> Self {
        self.user_ns = user_ns;
        self.system_ns = system_ns;
        self.utilization = share(user_ns.saturating_add(system_ns), self.run_time_ns);
        self
    }

    /// Fills in how long so many threads of the worker, which were looked at for `elapsed_ns` all
    /// together, waited for a processor; the processor time is a share of the same time then.
    #[must_use]
    pub fn with_waits(mut self, threads: u32, waited_ns: u64, elapsed_ns: u64) -> Self {
        self.threads = threads;
        if elapsed_ns > 0 {
            let used_ns = self.user_ns.saturating_add(self.system_ns);
            self.utilization = share(used_ns, elapsed_ns) * f64::from(threads);
            self.waited_ns = Some(waited_ns);
            self.waiting = Some(share(waited_ns, elapsed_ns).min(1.0));
        }
        self
    }
}

impl CpuFigures {
    /// Processor time of the process in `run_time_ns` of measured time.
    #[must_use]
    pub fn of_process(user_ns: u64, system_ns: u64, run_time_ns: u64) -> Self {
        let utilization = share(user_ns.saturating_add(system_ns), run_time_ns);
        Self {
            user_ns,
            system_ns,
            utilization,
            ..Self::default()
        }
    }
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        part_ns as f64 / whole_ns as f64
    }
}

impl TargetFigures {
    /// The figures of one target, where they are kept, over `run_time_ns` of measured time.
    #[must_use]
    pub fn of(
        plan: &Plan,
        target_index: u32,
        totals: &Interval,
        run_time_ns: u64,
        names: Names,
    ) -> Self {
        let flows = Flows::of(totals, names);
        Self {
            target_index,
            target: target_path(plan, target_index),
            transactions: flows.transactions.count(),
            connections: flows.connections.count(),
            connection_latency: flows.connection_latency(),
            operations: names.operations_of(totals, run_time_ns),
            ..Self::default()
        }
    }
}

impl CellRecord {
    /// The record of a measured cell: what the plan says of it and the figures of all workers'
    /// counters together, over `run_time_ns` of measured time.
    ///
    /// What counters do not hold (processor, device, workers, intervals, ...) is left empty.
    #[must_use]
    pub fn of(cell: &Cell, plan: &Plan, totals: &Interval, run_time_ns: u64, names: Names) -> Self {
        let targets: Vec<String> = target_indexes(cell)
            .into_iter()
            .map(|index| target_path(plan, index))
            .collect();
        let total = OperationFigures {
            // No failure goes unseen, whatever failed.
            errors: totals.total().errors(),
            ..OperationFigures::of(&names.headline(totals), run_time_ns)
        };
        Self {
            index: cell.index,
            first_index: cell.first_index,
            workload: cell.workload.clone(),
            access_spec: cell.access_spec.clone(),
            target: targets.join(", "),
            engine: cell.engine,
            cache: cell.cache,
            iodepth: cell.iodepth,
            workers: u32::try_from(cell.workers.len()).unwrap_or(u32::MAX),
            ranks: 1,
            repetition: cell.repetition,
            phase: Phase::Measure,
            status: Status::Complete,
            started_at: None,
            run_time_ns,
            planned_run_time_ns: cell.run_time_ns,
            ramp_time_ns: cell.ramp_time_ns,
            operations: names.operations_of(totals, run_time_ns),
            transactions: names.transactions_of(totals, run_time_ns),
            total,
            open_loop: None,
            errors: names.errors_of(totals),
            standstills: Vec::new(),
            first_done_ns: None,
            last_done_ns: None,
            cpu: CpuFigures::default(),
            device: None,
            own_cost_ns_per_operation: None,
            user_cost_ns_per_operation: None,
            engine_notes: EngineNotes::default(),
            intervals: Vec::new(),
            within: None,
            curve: cell.curve,
            steady: None,
            worker_figures: Vec::new(),
            target_figures: Vec::new(),
            classic: None,
        }
    }

    /// Takes the figures of an open loop, whose responses are then no other kind of transaction.
    pub fn set_open_loop(&mut self, figures: OpenLoopFigures) {
        self.transactions.remove(RESPONSE);
        self.open_loop = Some(figures);
    }

    /// Takes how long the workers' threads, which were looked at for `elapsed_ns` all together,
    /// waited for a processor.
    pub fn set_threads(&mut self, threads: u32, waited_ns: u64, elapsed_ns: u64) {
        self.cpu.threads = threads;
        self.cpu.waited_ns = Some(waited_ns);
        self.cpu.waiting = Some(share(waited_ns, elapsed_ns).min(1.0));
    }

    /// Whether no time in which everything stood still is in its figures.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.standstills.iter().all(|still| still.is_left_out)
    }

    /// Requests due each second; none where each followed the one before.
    #[must_use]
    pub fn rate_per_second(&self) -> Option<f64> {
        self.open_loop.as_ref().map(|it| it.asked_per_second)
    }

    /// Takes the workers' figures, and from them when the first and the last were done.
    pub fn set_workers(&mut self, workers: Vec<WorkerFigures>) {
        self.first_done_ns = workers.iter().filter_map(|worker| worker.done_ns).min();
        self.last_done_ns = workers.iter().filter_map(|worker| worker.done_ns).max();
        self.worker_figures = workers;
    }
}
