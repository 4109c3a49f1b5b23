//! Checks engines with a file whose reads take a known time.

use std::time::Duration;

use plan::EngineKind;
use results::CellRecord;

use crate::delay::{DelayTarget, ReadLog, Stall};
use crate::measure::{Measurer, MissingValue, first_cell};
use crate::reading::CheckReading;

/// Duration of a read in the latency check.
const LATENCY: Duration = Duration::from_millis(10);
/// Maximum additional latency compared with the server's log, as a share.
// Of 10 ms, this leaves 300 µs to pass on the read and to wake up.
const LATENCY_ERROR_MAX: f64 = 0.03;
/// Duration of a read in the rate checks.
pub(crate) const SERVICE: Duration = Duration::from_micros(2500);
/// Reads in flight in the closed loop.
const CLOSED_DEPTH: u32 = 4;
/// Maximum error of the closed loop's rate, as a share.
const CLOSED_ERROR_MAX: f64 = 0.01;
/// Requests due per second in an open loop.
const DUE_PER_SECOND: f64 = 400.0;
/// Maximum error of that rate, as a share. It allows four requests, because the number in flight
/// differs between the start and the end.
const DUE_ERROR_MAX: f64 = 0.01;
/// A stall in the middle of a run.
// 200 requests come due during the stall, more than can be in flight. The others start late, so
// their response times are right only if they count from when they were due.
const STALL: Stall = Stall {
    after: Duration::from_millis(700),
    length: Duration::from_millis(500),
};
const STALL_RUN: Duration = Duration::from_secs(2);
const STALL_ERROR_MAX: f64 = 0.03;

/// Checks the median latency at queue depth 1, in nanoseconds.
pub(crate) fn latency(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<CheckReading, MissingValue> {
    let settings = "ramp_time = 0\niodepth = 1\nrun_time = \"1200ms\"";
    let (cell, log) = run(measurer, target, (engine, settings), (LATENCY, None))?;
    let median_ns = cell.total.latency.percentiles_ns.p50.map(|it| it as f64);
    let truth_ns = log.service_median_ns(count(&cell));
    CheckReading::within(median_ns, truth_ns, LATENCY_ERROR_MAX)
}

/// Checks the reads per second of a closed loop.
pub(crate) fn closed_rate(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<CheckReading, MissingValue> {
    let settings = format!("ramp_time = 0\niodepth = {CLOSED_DEPTH}\nrun_time = 1");
    let (cell, log) = run(measurer, target, (engine, &settings), (SERVICE, None))?;
    CheckReading::within(
        Some(cell.total.per_second),
        log.per_second(count(&cell)),
        CLOSED_ERROR_MAX,
    )
}

/// Checks the reads per second of an open loop against the requested rate.
pub(crate) fn open_rate(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<CheckReading, MissingValue> {
    // Reads in flight at the end of the ramp time make up for those in flight at the end of the
    // run.
    let settings =
        format!("ramp_time = \"200ms\"\niodepth = 8\nrun_time = 1\nrate = \"{DUE_PER_SECOND}/s\"");
    let (cell, _) = run(measurer, target, (engine, &settings), (SERVICE, None))?;
    let achieved = cell.open_loop.map(|it| it.achieved_per_second);
    CheckReading::within(achieved, Some(DUE_PER_SECOND), DUE_ERROR_MAX)
}

/// Checks the mean and the 99th percentile of an open loop's response times during a stall, in
/// nanoseconds.
pub(crate) fn stall(
    measurer: &Measurer,
    target: &mut DelayTarget,
    engine: EngineKind,
) -> Result<[CheckReading; 2], MissingValue> {
    let settings = format!(
        "ramp_time = 0\niodepth = 32\nrun_time = \"{}ms\"\nrate = \"{DUE_PER_SECOND}/s\"",
        STALL_RUN.as_millis()
    );
    let (cell, log) = run(
        measurer,
        target,
        (engine, &settings),
        (SERVICE, Some(STALL)),
    )?;
    let response = cell.open_loop.map(|it| it.response);
    let response = response.unwrap_or_default();
    let truth = log.responses_ns(response.count as usize, DUE_PER_SECOND);
    let truth = truth.unwrap_or_default();
    let mean_ns = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    // The nearest rank, as in the histogram that measured the other value.
    let rank = (truth.len() as f64 * 0.99).ceil() as usize;
    let p99_ns = rank.checked_sub(1).and_then(|index| truth.get(index));
    let measured_p99_ns = response.percentiles_ns.p99.map(|it| it as f64);
    Ok([
        CheckReading::within(response.mean_ns, Some(mean_ns), STALL_ERROR_MAX)?,
        CheckReading::within(measured_p99_ns, p99_ns.copied(), STALL_ERROR_MAX)?,
    ])
}

fn count(cell: &CellRecord) -> usize {
    cell.total.count as usize
}

/// Runs one cell of reads; returns its record and the server's log.
fn run(
    measurer: &Measurer,
    target: &mut DelayTarget,
    (engine, how): (EngineKind, &str),
    (delay, stall): (Duration, Option<Stall>),
) -> Result<(CellRecord, ReadLog), MissingValue> {
    target.begin(delay, stall).map_err(MissingValue::Broken)?;
    let text = workload(engine, how);
    let record = measurer.run(&text, Some(&DelayTarget::path()))?;
    let log = target.log().map_err(MissingValue::Broken)?;
    Ok((first_cell(&record)?.clone(), log))
}

/// A workload of sequential reads, so that no read hits a page cached by another one.
pub(crate) fn workload(engine: EngineKind, settings: &str) -> String {
    let name = engine.name();
    // `mmap` works only through the page cache.
    let cache = match engine {
        EngineKind::Mmap => "buffered",
        _ => "direct",
    };
    // 16 MiB have 4,096 blocks, more than any check reads in a run, so no read begins again at a
    // block that is cached.
    format!(
        "engine = \"{name}\"\ncache = \"{cache}\"\nsize = \"16m\"\n\
         keep = true\n{settings}\n[[access_spec]]\nline = [{{ size = \"4k\" }}]\n"
    )
}
