//! Estimates the effect of a warning on the results, so that the most serious one comes first.

use crate::doubt::{cache_read_share, cache_write_share};
use crate::{CellRecord, RunRecord, Warning, WarningCode};

/// Relative error of the results that a warning implies, from the measurement if possible. 1 and
/// more means that hardly any result is left.
#[must_use]
pub fn effect(warning: &Warning, record: &RunRecord) -> f64 {
    let cells = record.cells.iter();
    let own = cells.filter(|cell| warning.cell.is_none_or(|index| cell.index == index));
    let measured = own.filter_map(|cell| measured(&warning.code, cell));
    measured
        // A rate of 0 gives a share without meaning, which must not come first.
        .filter(|share| share.is_finite())
        .max_by(f64::total_cmp)
        .unwrap_or_else(|| typical_effect(&warning.code))
}

/// The share that follows from the cell's results; `None` if they do not show it.
fn measured(code: &WarningCode, cell: &CellRecord) -> Option<f64> {
    let total = &cell.total;
    let done = (total.count.saturating_add(total.errors) as f64).max(1.0);
    match code {
        // Above 1, so that failed I/O comes before every warning about accuracy.
        WarningCode::IoErrors => Some(1.0 + total.errors as f64 / done),
        WarningCode::ShortTransfers => Some(total.short_count as f64 / done),
        WarningCode::CellCutShort => {
            let planned = (cell.planned_run_time_ns > 0).then_some(cell.planned_run_time_ns)?;
            Some((1.0 - cell.run_time_ns as f64 / planned as f64).max(0.0))
        }
        WarningCode::CacheServedReads => cache_read_share(cell),
        WarningCode::CacheAbsorbedWrites => cache_write_share(cell),
        WarningCode::OtherIoOnDevice => {
            let device = cell.device.as_ref()?;
            let device_bytes = device.read_bytes as f64 + device.write_bytes as f64;
            Some((1.0 - total.bytes as f64 / device_bytes).max(0.0))
        }
        WarningCode::StealTime => Some(cell.cpu.machine?.steal),
        WarningCode::WaitedForProcessor => cell.cpu.waiting,
        WarningCode::RateNotReached => {
            let figures = cell.open_loop.as_ref()?;
            Some(1.0 - figures.achieved_per_second / figures.asked_per_second)
        }
        WarningCode::WarmUp => {
            let within = cell.within.as_ref()?;
            let settled = within.significant_warm_up()?.settled_mean;
            Some((within.mean / settled - 1.0).abs())
        }
        // With rounds, the warning is about the rounds, not about a drift within the window.
        WarningCode::NotSteady if cell.steady.is_none() => {
            Some(cell.within.as_ref()?.drift?.change.abs())
        }
        _ => None,
    }
}

/// Typical effect if the measurement does not show it.
fn typical_effect(code: &WarningCode) -> f64 {
    match code {
        // Above every other effect, because the error explains what is missing.
        WarningCode::RunFailed => 3.0,
        WarningCode::NothingMeasured | WarningCode::VerifyMismatch | WarningCode::TargetLost => 2.0,
        WarningCode::IoErrors | WarningCode::GoalMissed => 1.0,
        WarningCode::DirectNotHonored
        | WarningCode::FileSmallerThanMemory
        | WarningCode::MemoryBacked => 0.9,
        WarningCode::BlankStorage => 0.7,
        WarningCode::ClockUnstable
        | WarningCode::WorkerCpuBound
        | WarningCode::ProcessorsSaturated
        | WarningCode::PoolDepleted => 0.5,
        WarningCode::DirectFallsBack | WarningCode::LimitInForce | WarningCode::NotSteady => 0.2,
        WarningCode::PrecisionNotReached | WarningCode::StoreOnTarget => 0.02,
        // The results are complete; they are only not kept.
        WarningCode::NotStored => 0.0,
        _ => 0.1,
    }
}
