//! Calibration: CPU time that pgmeter itself spends per operation.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Null, TscClock};

use crate::RunError;
use crate::batch::Batch;
use crate::lane::Lane;
use crate::pace::LoopParts;
use crate::recorder::{Counting, Recorder};
use crate::sample::exchange;
use crate::schedule::Schedule;
use crate::spans::{Contents, with_messages, with_requests};

/// Duration of one run of the `null` engine, in nanoseconds.
// Short, because calibration delays the first request of a cell.
const CALIBRATION_NS: u64 = 10_000_000;
/// CPU time after which no further run is needed, in nanoseconds. On a busy machine, several runs
/// are.
const ENOUGH_NS: u64 = 8_000_000;
// At most 160 ms, because calibration delays every cell.
const RUNS_MAX: u32 = 16;

/// Cost of operations on an engine that does nothing.
#[derive(Debug, Clone, Copy, Default)]
struct OwnCost {
    count: u64,
    /// CPU time of the thread, in nanoseconds.
    cpu_ns: u64,
    /// Elapsed time, in nanoseconds.
    wall_ns: u64,
}

/// CPU time per operation of the lane on an engine that does nothing, in nanoseconds. It covers
/// generator, content, loop and recorder at the lane's depth, without delays, connections and due
/// times. `None` if no operation was done.
pub(crate) fn own_cost_ns(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<Option<f64>, RunError> {
    let cost = own_cost(lane, contents, batch, clock)?;
    // CPU time, because elapsed time is two to three times as long next to other load.
    Ok((cost.count > 0).then(|| cost.cpu_ns as f64 / cost.count as f64))
}

fn own_cost(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<OwnCost, RunError> {
    let mut lane = lane.clone();
    // Waiting would leave too few operations in a run of 10 ms.
    lane.plan
        .lines
        .iter_mut()
        .for_each(|line| line.delay_ns = 0);
    lane.plan.transactions_per_connection = None;
    lane.pace = None;
    // The null engine returns no written data to check, but stamping is part of the cost.
    let contents = Contents {
        verify: None,
        ..contents.clone()
    };
    let mut sum = OwnCost::default();
    for _ in 0..RUNS_MAX {
        let cost = once(&lane, &contents, batch, clock)?;
        sum.count += cost.count;
        sum.cpu_ns += cost.cpu_ns;
        sum.wall_ns += cost.wall_ns;
        if sum.cpu_ns >= ENOUGH_NS {
            break;
        }
    }
    Ok(sum)
}

fn once(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<OwnCost, RunError> {
    let requests = lane.requests()?;
    let shape = lane.shape(requests.operations(), requests.transaction_kinds().len());
    let (sample, outbox, _inbox) = exchange(shape);
    let schedule = Schedule {
        start_ns: 0,
        ramp_ns: 0,
        run_ns: CALIBRATION_NS,
        // Longer than the run, because no monitor would take a completed interval.
        interval_ns: CALIBRATION_NS * 2,
        operations: u64::MAX,
        grace_ns: 0,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let recorder = Recorder::new(sample, outbox, schedule, stop, Counting::BySpan);
    let parts = LoopParts {
        engine: Null::new(lane.slot_count(), lane.buffer_bytes())?,
        recorder,
        clock: clock.clone(),
        batch: Batch::fixed(batch),
    };
    let method = match lane.plan.network {
        true => with_messages,
        false => with_requests,
    };
    let outcome = method(parts, requests, lane, contents)?;
    let spans = outcome.last_sample.spans.iter();
    Ok(OwnCost {
        count: spans.map(|span| span.total().count()).sum(),
        cpu_ns: outcome.loop_cpu_ns,
        wall_ns: outcome.measured_ns,
    })
}

#[cfg(test)]
mod tests;
