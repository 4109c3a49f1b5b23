//! From counters to figures: rates from measured time, percentiles from histograms.

use plan::{Cell, Plan, WorkerPlan};
use stats::Interval;

use crate::flows::Flows;
use crate::title::{target_indexes, target_path};
use crate::{
    CellRecord, CpuFigures, EngineNotes, Latency, Names, OpenLoopFigures, OperationFigures, Phase,
    RESPONSE, Status, TargetFigures, WorkerFigures, share_of_time,
};

impl WorkerFigures {
    /// The figures of a worker over its own measured time; processor time and targets are left
    /// to be filled in.
    #[must_use]
    pub fn of(worker: &WorkerPlan, totals: &Interval, run_time_ns: u64, names: Names) -> Self {
        let flows = Flows::of(totals, names);
        // Those that were due say how late they were, too.
        let is_paced = worker.job.as_ref().is_some_and(|job| job.is_paced());
        let are_operations =
            !is_paced && flows.transactions.count() == names.headline(totals).count();
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
        self.utilization = share_of_time(user_ns.saturating_add(system_ns), self.run_time_ns);
        self
    }

    /// Fills in how long so many threads of the worker, which were looked at for `elapsed_ns` all
    /// together, waited for a processor; the processor time is a share of the same time then.
    #[must_use]
    pub fn with_waits(mut self, threads: u32, waited_ns: u64, elapsed_ns: u64) -> Self {
        self.threads = threads;
        if elapsed_ns > 0 {
            let used_ns = self.user_ns.saturating_add(self.system_ns);
            self.utilization = share_of_time(used_ns, elapsed_ns) * f64::from(threads);
            self.waited_ns = Some(waited_ns);
            self.waiting = Some(share_of_time(waited_ns, elapsed_ns).min(1.0));
        }
        self
    }
}

impl CpuFigures {
    /// Processor time of the process in `run_time_ns` of measured time.
    #[must_use]
    pub fn of_process(user_ns: u64, system_ns: u64, run_time_ns: u64) -> Self {
        let utilization = share_of_time(user_ns.saturating_add(system_ns), run_time_ns);
        Self {
            user_ns,
            system_ns,
            utilization,
            ..Self::default()
        }
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
            phase_figures: None,
            crew: None,
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
        self.cpu.waiting = Some(share_of_time(waited_ns, elapsed_ns).min(1.0));
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
