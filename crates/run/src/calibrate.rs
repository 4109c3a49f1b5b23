//! What pgmeter itself spends on an operation.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::{Null, TscClock};

use crate::RunError;
use crate::cell::shape;
use crate::lane::Lane;
use crate::recorder::{Counting, Recorder, Schedule, exchange};
use crate::spans::{Contents, Parts, with_requests};

/// How long the `null` engine is run, in nanoseconds.
const CALIBRATION_NS: u64 = 20_000_000;

/// Nanoseconds for one operation of the lane on an engine that does nothing: generator, content,
/// loop and recorder at the lane's depth, without its delays, connections and due times. `None`
/// when nothing was done.
pub(crate) fn own_cost_ns(
    lane: &Lane,
    contents: &Contents,
    batch: u32,
    clock: &TscClock,
) -> Result<Option<f64>, RunError> {
    let mut lane = lane.clone();
    lane.plan
        .lines
        .iter_mut()
        .for_each(|line| line.delay_ns = 0);
    lane.plan.transactions_per_connection = None;
    lane.pace = None;
    let requests = lane.requests()?;
    let shape = shape(
        &lane,
        requests.operations(),
        requests.transaction_kinds().len(),
    );
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
    let engine = Null::new(lane.slot_count(), lane.buffer_bytes())?;
    let parts = Parts {
        engine,
        recorder,
        clock: clock.clone(),
        batch,
    };
    // Nothing was ever written here, so there is nothing to check; stamping is calibrated.
    let contents = Contents {
        verify: None,
        ..contents.clone()
    };
    let outcome = with_requests(parts, requests, &lane, &contents)?;
    let count: u64 = outcome
        .rest
        .spans
        .iter()
        .map(|span| span.total().count())
        .sum();
    Ok((count > 0).then(|| outcome.measured_ns as f64 / count as f64))
}
