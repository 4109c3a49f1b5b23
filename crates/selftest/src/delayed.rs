//! Engines on a file whose reads take a known time.

use std::time::Duration;

use plan::EngineKind;
use results::CellRecord;

use crate::delay::{DelayTarget, Log, Stall};
use crate::measure::{Measurer, Trouble, first_cell};
use crate::reading::Reading;

/// What a read takes where latency is measured.
const LATENCY: Duration = Duration::from_millis(10);
/// How much longer a read may take than its server worked on it, as a share.
const LATENCY_OFF_MAX: f64 = 0.03;
/// What a read takes where rates are measured, and how many are in flight.
pub(crate) const SERVICE: Duration = Duration::from_micros(2500);
const CLOSED_DEPTH: u32 = 4;
const CLOSED_OFF_MAX: f64 = 0.01;
/// Requests due each second, and the share by which the rate may be off: four of them, since what
/// is in flight differs between the two ends.
const DUE_PER_SECOND: f64 = 400.0;
const DUE_OFF_MAX: f64 = 0.01;
/// A stall in the middle of a run.
const STALL: Stall = Stall {
    after: Duration::from_millis(700),
    length: Duration::from_millis(500),
};
const STALL_RUN: Duration = Duration::from_secs(2);
const STALL_OFF_MAX: f64 = 0.03;

/// Median latency at depth 1, in nanoseconds.
pub(crate) fn latency(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<Reading, Trouble> {
    let how = "ramp_time = 0\niodepth = 1\nrun_time = \"1200ms\"";
    let (cell, log) = run(measurer, target, (engine, how), (LATENCY, None))?;
    let median_ns = cell.total.latency.percentiles_ns.p50.map(|it| it as f64);
    let truth_ns = log.service_median_ns(count(&cell));
    Reading::within(median_ns, truth_ns, LATENCY_OFF_MAX)
}

/// Reads a second with some in flight.
pub(crate) fn closed_rate(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<Reading, Trouble> {
    let how = format!("ramp_time = 0\niodepth = {CLOSED_DEPTH}\nrun_time = 1");
    let (cell, log) = run(measurer, target, (engine, &how), (SERVICE, None))?;
    Reading::within(
        Some(cell.total.per_second),
        log.per_second(count(&cell)),
        CLOSED_OFF_MAX,
    )
}

/// Reads a second of an open loop, beside what was asked for.
pub(crate) fn open_rate(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<Reading, Trouble> {
    // What is in flight when the ramp ends takes the place of what is at the end.
    let how =
        format!("ramp_time = \"200ms\"\niodepth = 8\nrun_time = 1\nrate = \"{DUE_PER_SECOND}/s\"");
    let (cell, _) = run(measurer, target, (engine, &how), (SERVICE, None))?;
    let achieved = cell.open_loop.map(|it| it.achieved_per_second);
    Reading::within(achieved, Some(DUE_PER_SECOND), DUE_OFF_MAX)
}

/// Mean and 99th percentile of the response times of an open loop during which nothing is answered
/// for a while, in nanoseconds.
pub(crate) fn stall(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<[Reading; 2], Trouble> {
    let how = format!(
        "ramp_time = 0\niodepth = 32\nrun_time = \"{}ms\"\nrate = \"{DUE_PER_SECOND}/s\"",
        STALL_RUN.as_millis()
    );
    let (cell, log) = run(measurer, target, (engine, &how), (SERVICE, Some(STALL)))?;
    let response = cell.open_loop.map(|it| it.response);
    let response = response.unwrap_or_default();
    let truth = log.responses_ns(response.count as usize, DUE_PER_SECOND);
    let truth = truth.unwrap_or_default();
    let mean_ns = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    let rank = (truth.len() as f64 * 0.99).ceil() as usize;
    let p99_ns = rank.checked_sub(1).and_then(|place| truth.get(place));
    let measured_p99_ns = response.percentiles_ns.p99.map(|it| it as f64);
    Ok([
        Reading::within(response.mean_ns, Some(mean_ns), STALL_OFF_MAX)?,
        Reading::within(measured_p99_ns, p99_ns.copied(), STALL_OFF_MAX)?,
    ])
}

fn count(cell: &CellRecord) -> usize {
    cell.total.count as usize
}

/// One cell of reads, and what the server saw of it.
fn run(
    measurer: &Measurer,
    target: &mut DelayTarget,
    (engine, how): (EngineKind, &str),
    (delay, stall): (Duration, Option<Stall>),
) -> Result<(CellRecord, Log), Trouble> {
    target.begin(delay, stall).map_err(Trouble::Broken)?;
    let text = workload(engine, how);
    let record = measurer.run(&text, Some(&DelayTarget::path()))?;
    let log = target.log().map_err(Trouble::Broken)?;
    Ok((first_cell(&record)?.clone(), log))
}

/// Reads in sequence, so that none finds the page of another one.
pub(crate) fn workload(engine: EngineKind, how: &str) -> String {
    let (name, cache) = match engine {
        EngineKind::Psync => ("psync", "direct"),
        EngineKind::IoUring => ("io_uring", "direct"),
        EngineKind::Mmap => ("mmap", "buffered"),
        EngineKind::Null => ("null", "direct"),
    };
    format!(
        "engine = \"{name}\"\ncache = \"{cache}\"\nsize = \"16m\"\n\
         keep = true\n{how}\n[[access_spec]]\nline = [{{ size = \"4k\" }}]\n"
    )
}
