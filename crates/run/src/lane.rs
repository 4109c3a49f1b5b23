//! Threads of a cell: one per worker, or one per slot if the engine has one request in flight.

use std::sync::Arc;

use engine::{Operation, OperationSet};
use generate::{
    Arrivals, DueTimes, GenerateError, Generator, Iometer, Messages, OwnCursor, RESPONSE_KINDS,
    RecordedTurns, SharedCursor, Transfer, named,
};
use plan::{ArrivalKind, Cell, CursorKind, OpenLoop, PositionRule, WorkerPlan};
use stats::Interval;

use crate::pace::OpenLoopPace;
use crate::sample::Sample;
use crate::times::{drain_max_ns, due_window_ns};

/// Work of one thread.
#[derive(Clone)]
pub(crate) struct Lane {
    /// Index of its worker in the cell, 0-based.
    pub worker_index: usize,
    /// For each span of `plan`, its index among the worker's spans.
    pub span_indexes: Vec<usize>,
    pub plan: WorkerPlan,
    pub cursors: Cursors,
    /// Due times of the requests; `None` in a closed loop.
    pub pace: Option<OpenLoopPace>,
    /// Requests of the trace that the lane's worker replays.
    pub recorded: Option<RecordedTurns>,
    /// Operations of this lane, if their number ends the cell.
    pub operations: Option<u64>,
}

/// Positions, one per span of the lane's plan.
#[derive(Clone)]
pub(crate) enum Cursors {
    Own(Vec<OwnCursor>),
    Shared(Vec<SharedCursor>),
}

/// Generator of a lane, chosen once.
pub(crate) enum Requests {
    Transfer(Transfer<OwnCursor>),
    SharedTransfer(Transfer<SharedCursor>),
    Iometer(Iometer<OwnCursor>),
    SharedIometer(Iometer<SharedCursor>),
    Messages(Messages),
}

impl Lane {
    /// Creates the lane's stream of requests.
    pub fn requests(&self) -> Result<Requests, GenerateError> {
        let plan = &self.plan;
        if plan.network {
            return Ok(Requests::Messages(Messages::new(plan)?));
        }
        Ok(match (plan.position, self.cursors.clone()) {
            (PositionRule::Uniform, Cursors::Own(own)) => {
                Requests::Transfer(Transfer::new(plan, own)?)
            }
            (PositionRule::Uniform, Cursors::Shared(shared)) => {
                Requests::SharedTransfer(Transfer::new(plan, shared)?)
            }
            (PositionRule::Iometer, Cursors::Own(own)) => {
                Requests::Iometer(Iometer::new(plan, own)?)
            }
            (PositionRule::Iometer, Cursors::Shared(shared)) => {
                Requests::SharedIometer(Iometer::new(plan, shared)?)
            }
        })
    }

    /// Operations that the requests may have, and names of the transaction kinds.
    pub fn announced(&self, requests: &Requests) -> (OperationSet, Vec<String>) {
        let operations = requests.operations();
        if self.pace.is_some() {
            return (operations, named(RESPONSE_KINDS));
        }
        if self.plan.transactions_per_connection.is_none() || self.plan.network {
            return (operations, requests.transaction_kinds());
        }
        // `Connections` opens and closes files around the stream, which does not announce this.
        let operations = operations.with(Operation::Open).with(Operation::Close);
        (operations, named(&["transaction", "connection"]))
    }

    /// Creates an empty sample with the counters that the lane uses.
    pub fn shape(&self, operations: OperationSet, kind_count: usize) -> Sample {
        let numbers = operations.iter().map(|operation| operation as usize);
        let span = Interval::with(numbers, kind_count);
        Sample {
            at_ns: 0,
            length_ns: 0,
            ramp: false,
            spans: vec![span; self.plan.spans.len()],
        }
    }

    /// Maximum number of requests in flight.
    pub fn slot_count(&self) -> u32 {
        match &self.plan.job {
            Some(job) => job.iodepth,
            None => self.plan.spans.iter().map(|span| span.iodepth).sum(),
        }
    }

    /// Size of the largest request, in bytes, at least 512.
    pub fn buffer_bytes(&self) -> u32 {
        if let Some(job) = &self.plan.job {
            return job.buffer_bytes().max(512);
        }
        let sizes = self
            .plan
            .lines
            .iter()
            .map(|line| line.size_bytes.max(line.reply_bytes));
        sizes.max().unwrap_or(0).max(512)
    }
}

impl Requests {
    /// Operations that the requests may have.
    pub fn operations(&self) -> OperationSet {
        match self {
            Self::Transfer(generator) => generator.operations(),
            Self::SharedTransfer(generator) => generator.operations(),
            Self::Iometer(generator) => generator.operations(),
            Self::SharedIometer(generator) => generator.operations(),
            Self::Messages(generator) => generator.operations(),
        }
    }

    /// Names of the transaction kinds.
    pub fn transaction_kinds(&self) -> Vec<String> {
        match self {
            Self::Transfer(generator) => generator.transaction_kinds(),
            Self::SharedTransfer(generator) => generator.transaction_kinds(),
            Self::Iometer(generator) => generator.transaction_kinds(),
            Self::SharedIometer(generator) => generator.transaction_kinds(),
            Self::Messages(generator) => generator.transaction_kinds(),
        }
    }
}

/// Lanes of a cell in this process.
pub(crate) fn lanes(
    cell: &Cell,
    seed: u64,
    target_count: usize,
) -> Result<Vec<Lane>, GenerateError> {
    let line_count = cell
        .workers
        .iter()
        .map(|worker| worker.lines.len())
        .max()
        .unwrap_or(0);
    // The rule of the Penguinometer paper: all workers move one current sector address per target.
    let addresses: Vec<SharedCursor> = (0..target_count as u64)
        .map(|target| SharedCursor::current_sector_address(seed ^ target, line_count))
        .collect();
    let mut lanes = Vec::new();
    for (worker_index, worker) in cell.workers.iter().enumerate() {
        if cell.engine.is_synchronous() {
            lanes.extend(split(worker_index, worker, &addresses));
        } else {
            lanes.push(whole(worker_index, worker, &addresses));
        }
    }
    finish(&mut lanes, cell)?;
    // Workers of other processes count for the shares but run there.
    lanes.retain(|lane| cell.is_own(&lane.plan));
    Ok(lanes)
}

/// Lanes of all jobs of a cell in this process.
pub(crate) fn job_lanes(cell: &Cell) -> Result<Vec<Lane>, GenerateError> {
    let workers = cell.workers.iter().enumerate();
    let threads = workers.flat_map(|(worker_index, worker)| {
        let threads = generate::job::threads(worker).into_iter();
        // The threads of a worker share the list of requests.
        let recorded = recorded_turns(worker);
        threads.map(move |plan| (worker_index, plan, recorded.clone()))
    });
    let lanes = threads.map(|(worker_index, plan, recorded)| Lane {
        worker_index,
        span_indexes: (0..plan.spans.len()).collect(),
        plan,
        cursors: Cursors::Own(Vec::new()),
        pace: None,
        recorded,
        operations: None,
    });
    let mut lanes: Vec<Lane> = lanes.collect();
    finish(&mut lanes, cell)?;
    lanes.retain(|lane| cell.is_own(&lane.plan));
    Ok(lanes)
}

/// The requests of the trace that a worker replays, if any.
fn recorded_turns(worker: &WorkerPlan) -> Option<RecordedTurns> {
    let recorded = worker.job.as_deref()?.recorded.as_ref()?;
    recorded.trace.as_ref()?;
    Some(RecordedTurns::new(Arc::clone(&recorded.acts)))
}

/// Sets the due times and the number of operations of all lanes of a cell.
fn finish(lanes: &mut [Lane], cell: &Cell) -> Result<(), GenerateError> {
    if let Some(rate) = cell.rate {
        set_paces(lanes, rate, cell, cell.workers.len() as u32)?;
    }
    if let Some(all) = cell.operations {
        // All lanes, also of other processes, so that the shares are the same everywhere.
        let count = lanes.len() as u64;
        for (index, lane) in (0..).zip(lanes) {
            lane.operations = Some(generate::share(all, count, index));
        }
    }
    Ok(())
}

/// Sets the due times of all lanes. The cell's first `worker_count` workers share the rate, and the
/// lanes of a worker share its due times.
pub(crate) fn set_paces(
    lanes: &mut [Lane],
    rate: OpenLoop,
    cell: &Cell,
    worker_count: u32,
) -> Result<(), GenerateError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // One CPU stays free for the kernel and for the process that serves the requests.
    let looks = lanes.len() < processors;
    for of_worker in lanes.chunk_by_mut(|a, b| a.worker_index == b.worker_index) {
        let worker = &cell.workers[of_worker[0].worker_index];
        let due_times = due_times(of_worker, rate, worker, worker_count)?;
        for (lane, due) in of_worker.iter_mut().zip(due_times) {
            lane.pace = Some(OpenLoopPace {
                due,
                polls_clock: looks,
                window_ns: due_window_ns(match &worker.job {
                    Some(job) => job.run_time_ns,
                    None => cell.run_time_ns,
                }),
                drain_max_ns: drain_max_ns(cell),
            });
        }
    }
    Ok(())
}

/// The due times of a worker's lanes, one per lane.
fn due_times(
    lanes: &[Lane],
    rate: OpenLoop,
    worker: &WorkerPlan,
    worker_count: u32,
) -> Result<Vec<DueTimes>, GenerateError> {
    let index = lanes[0].worker_index as u32;
    let arrivals = match rate.arrivals {
        ArrivalKind::Uniform => Arrivals::uniform(rate.per_second, index, worker_count)?,
        ArrivalKind::Poisson => Arrivals::poisson(rate.per_second, worker_count, worker.seed)?,
        ArrivalKind::Recorded => {
            let recorded = lanes.iter().filter_map(|lane| lane.recorded.clone());
            let due_times: Vec<DueTimes> = recorded.map(DueTimes::Recorded).collect();
            return match due_times.len() == lanes.len() {
                true => Ok(due_times),
                // Only a damaged plan requests recorded times without a trace.
                false => Err(GenerateError::JobNumber {
                    what: "the number of recorded requests",
                    value: 0,
                    wanted: "above 0",
                }),
            };
        }
    };
    Ok(match lanes.len() {
        1 => vec![DueTimes::Own(arrivals)],
        count => {
            let shared = arrivals.shared_by(count as u32).into_iter();
            shared.map(DueTimes::Shared).collect()
        }
    })
}

fn whole(worker_index: usize, worker: &WorkerPlan, addresses: &[SharedCursor]) -> Lane {
    let cursors = match worker.cursor {
        CursorKind::Worker => Cursors::Own(OwnCursor::one_per_span(worker)),
        CursorKind::Shared => {
            let cursor = |span: &plan::SpanPlan| addresses[span.target_index as usize].clone();
            Cursors::Shared(worker.spans.iter().map(cursor).collect())
        }
    };
    let span_indexes = (0..worker.spans.len()).collect();
    Lane {
        worker_index,
        span_indexes,
        plan: worker.clone(),
        cursors,
        pace: None,
        recorded: None,
        operations: None,
    }
}

fn split(worker_index: usize, worker: &WorkerPlan, addresses: &[SharedCursor]) -> Vec<Lane> {
    let spans = generate::slot_spans(&worker.spans);
    // A single thread needs no shared cursor.
    if spans.len() == 1 {
        return vec![whole(worker_index, worker, addresses)];
    }
    // The threads of a worker share its cursor, as the slots of a single thread do.
    let between: Vec<SharedCursor> = worker
        .spans
        .iter()
        .map(|_| SharedCursor::between_lanes(worker))
        .collect();
    let lane = |(lane_index, &span_index): (usize, &u32)| {
        let span = &worker.spans[span_index as usize];
        let cursor = match worker.cursor {
            CursorKind::Worker => between[span_index as usize].clone(),
            CursorKind::Shared => addresses[span.target_index as usize].clone(),
        };
        Lane {
            worker_index,
            span_indexes: vec![span_index as usize],
            plan: generate::lane(worker, lane_index as u32, span_index),
            cursors: Cursors::Shared(vec![cursor]),
            pace: None,
            recorded: None,
            operations: None,
        }
    };
    spans.iter().enumerate().map(lane).collect()
}

#[cfg(test)]
mod tests;
