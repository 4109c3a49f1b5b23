//! What pgmeter itself spends on an operation.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Null, TscClock};

use crate::RunError;
use crate::batch::Batch;
use crate::lane::Lane;
use crate::pace::Parts;
use crate::recorder::{Counting, Recorder, Schedule};
use crate::sample::exchange;
use crate::spans::{Contents, with_messages, with_requests};

/// How long the `null` engine is run at a time, in nanoseconds.
const CALIBRATION_NS: u64 = 10_000_000;
/// Processor time that is enough, in nanoseconds; on a busy machine it takes several times.
const ENOUGH_NS: u64 = 8_000_000;
const TIMES_MAX: u32 = 16;

/// What operations on an engine that does nothing took.
#[derive(Debug, Clone, Copy, Default)]
struct OwnCost {
    count: u64,
    /// Processor time of the thread.
    cpu_ns: u64,
    /// What passed meanwhile.
    wall_ns: u64,
}

/// Nanoseconds of processor time for one operation of the lane on an engine that does nothing:
/// generator, content, loop and recorder at the lane's depth, without its delays, connections and
/// due times. `None` when nothing was done.
pub(crate) fn own_cost_ns(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<Option<f64>, RunError> {
    let cost = own_cost(lane, contents, batch, clock)?;
    Ok((cost.count > 0).then(|| cost.cpu_ns as f64 / cost.count as f64))
}

fn own_cost(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<OwnCost, RunError> {
    let mut lane = lane.clone();
    lane.plan
        .lines
        .iter_mut()
        .for_each(|line| line.delay_ns = 0);
    lane.plan.transactions_per_connection = None;
    lane.pace = None;
    // Nothing was ever written here, so there is nothing to check; stamping is calibrated.
    let contents = Contents {
        verify: None,
        ..contents.clone()
    };
    let mut sum = OwnCost::default();
    for _ in 0..TIMES_MAX {
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
        interval_ns: CALIBRATION_NS * 2,
        operations: u64::MAX,
        grace_ns: 0,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let recorder = Recorder::new(sample, outbox, schedule, stop, Counting::BySpan);
    let parts = Parts {
        engine: Null::new(lane.slot_count(), lane.buffer_bytes())?,
        recorder,
        clock: clock.clone(),
        batch: Batch::fixed(batch),
    };
    let way = match lane.plan.network {
        true => with_messages,
        false => with_requests,
    };
    let outcome = way(parts, requests, lane, contents)?;
    let spans = outcome.rest.spans.iter();
    Ok(OwnCost {
        count: spans.map(|span| span.total().count()).sum(),
        cpu_ns: outcome.loop_cpu_ns,
        wall_ns: outcome.measured_ns,
    })
}

#[cfg(test)]
mod tests;
