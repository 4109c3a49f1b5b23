//! Builds records from counters: rates from the measured time, percentiles from histograms.

use plan::{Cell, Plan, WorkerPlan};
use stats::Interval;

use crate::flows::Flows;
use crate::title::{target_indexes, target_path};
use crate::{
    CellRecord, CounterNames, CpuFigures, EngineNotes, Latency, OpenLoopFigures, OperationFigures,
    Phase, RESPONSE, Status, TargetFigures, WorkerFigures, share_of_time,
};

impl WorkerFigures {
    /// Results of a worker over its own measured time. CPU time and targets are left empty.
    #[must_use]
    pub fn of(
        worker: &WorkerPlan,
        totals: &Interval,
        run_time_ns: u64,
        names: CounterNames,
    ) -> Self {
        let flows = Flows::of(totals, names);
        // A paced job keeps its transactions, because they show how late its requests were.
        let is_paced = worker.job.as_ref().is_some_and(|job| job.is_paced());
        let are_operations =
            // With as many transactions as requests, each one is a single request, and the
            // latencies are equal.
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

    /// Sets the CPU time of the worker's threads.
    #[must_use]
    pub fn with_cpu(mut self, user_ns: u64, system_ns: u64) -> Self {
        self.user_ns = user_ns;
        self.system_ns = system_ns;
        self.utilization = share_of_time(user_ns.saturating_add(system_ns), self.run_time_ns);
        self
    }

    /// Sets how long the worker's threads waited for a CPU. `elapsed_ns` is the observed time of
    /// all threads, added up; utilization is then a share of this time, too.
    #[must_use]
    pub fn with_waits(mut self, threads: u32, waited_ns: u64, elapsed_ns: u64) -> Self {
        self.threads = threads;
        if elapsed_ns > 0 {
            let used_ns = self.user_ns.saturating_add(self.system_ns);
            // The observed time of all threads, because threads are not observed for exactly the
            // measured time.
            self.utilization = share_of_time(used_ns, elapsed_ns) * f64::from(threads);
            self.waited_ns = Some(waited_ns);
            // The kernel counts a wait when it ends, also if it began before the observation.
            self.waiting = Some(share_of_time(waited_ns, elapsed_ns).min(1.0));
        }
        self
    }
}

impl CpuFigures {
    /// CPU time of the process in `run_time_ns` of measured time.
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
    /// Results of one target over `run_time_ns` of measured time.
    #[must_use]
    pub fn of(
        plan: &Plan,
        target_index: u32,
        totals: &Interval,
        run_time_ns: u64,
        names: CounterNames,
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
    /// The record of a measured cell: its description in the plan, and the results of all workers
    /// together over `run_time_ns` of measured time.
    ///
    /// Fields that counters do not provide (CPU, device, workers, intervals, ...) are left empty.
    #[must_use]
    pub fn of(
        cell: &Cell,
        plan: &Plan,
        totals: &Interval,
        run_time_ns: u64,
        names: CounterNames,
    ) -> Self {
        let targets: Vec<String> = target_indexes(cell)
            .into_iter()
            .map(|index| target_path(plan, index))
            .collect();
        let total = OperationFigures {
            // Counts every failure, also of operations outside the headline.
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
            // A process knows nothing of others; `merged` counts them.
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
            cluster: None,
        }
    }

    /// Sets the open-loop results. Responses are then no longer listed as a kind of transaction.
    pub fn set_open_loop(&mut self, figures: OpenLoopFigures) {
        // Counters know only kinds of transaction, so responses were counted as one.
        self.transactions.remove(RESPONSE);
        self.open_loop = Some(figures);
    }

    /// Sets how long the workers' threads waited for a CPU. `elapsed_ns` is the observed time of
    /// all threads, added up.
    pub fn set_threads(&mut self, threads: u32, waited_ns: u64, elapsed_ns: u64) {
        self.cpu.threads = threads;
        self.cpu.waited_ns = Some(waited_ns);
        self.cpu.waiting = Some(share_of_time(waited_ns, elapsed_ns).min(1.0));
    }

    /// `true` if the results contain no time in which the measurement stood still.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.standstills.iter().all(|it| it.is_left_out)
    }

    /// Requests due per second; `None` for a closed loop.
    #[must_use]
    pub fn rate_per_second(&self) -> Option<f64> {
        self.open_loop.as_ref().map(|it| it.asked_per_second)
    }

    /// Sets the workers' results and, from them, when the first and the last worker were done.
    pub fn set_workers(&mut self, workers: Vec<WorkerFigures>) {
        self.first_done_ns = workers.iter().filter_map(|worker| worker.done_ns).min();
        self.last_done_ns = workers.iter().filter_map(|worker| worker.done_ns).max();
        self.worker_figures = workers;
    }
}
