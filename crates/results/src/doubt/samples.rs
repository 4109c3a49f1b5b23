//! Warnings about results from too few operations.

use plan::Cell;

use super::{Finding, SAMPLES_BEYOND_MIN, percent};
use crate::{CellRecord, OperationFigures, Phase, WarningCode, percentile_is_supported};

/// From this number of operations on, one more or less changes the rate by at most 1 %.
const OPERATIONS_MIN: u64 = 100;

/// Warns that a few operations give an inaccurate rate. A measurement that ends by time may include
/// or miss each operation in flight.
pub(super) fn few_operations(cell: &CellRecord, planned: Option<&Cell>) -> Finding {
    let count = cell.total.count;
    // A number of operations is exact: nothing is in flight at its end.
    let ends_by_count = planned.is_some_and(|it| it.operations.is_some());
    // With both limits, the time ended the cell only if it was used up.
    let was_long_enough = cell.run_time_ns >= cell.planned_run_time_ns;
    let ends_by_time = cell.phase == Phase::Measure
        && cell.planned_run_time_ns > 0
        && (was_long_enough || !ends_by_count);
    if !ends_by_time || cell.open_loop.is_some() || !(1..OPERATIONS_MIN).contains(&count) {
        return None;
    }
    let in_flight = u64::from(cell.iodepth) * u64::from(cell.workers);
    // Each request in flight at an end may be inside or outside of the measured time.
    let unsure = in_flight.clamp(1, count);
    let (noun, verb) = match count {
        1 => ("operation", "was"),
        _ => ("operations", "were"),
    };
    let at_a_time = match unsure {
        1 => String::new(),
        _ => format!(", {in_flight} at a time"),
    };
    let message = format!(
        "only {count} {noun} {verb} measured{at_a_time}, so the rate may be off by {}",
        percent(unsure as f64 / count as f64)
    );
    Some((WarningCode::FewOperations, message))
}

pub(super) fn few_samples(cell: &CellRecord) -> Finding {
    const SHOWN: [(&str, f64); 3] = [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)];
    let missing = |figures: &OperationFigures| -> Vec<&str> {
        SHOWN
            .iter()
            .filter(|(_, percent)| !percentile_is_supported(figures.latency.count, *percent))
            .map(|(name, _)| *name)
            .collect()
    };
    let count = cell.total.latency.count;
    let names = missing(&cell.total);
    (count > 0 && !names.is_empty()).then(|| {
        let noun = match &cell.phase {
            Phase::Classic(phase) => format!("operations of the phase {phase}"),
            _ => "operations".to_owned(),
        };
        let message = format!(
            "{count} {noun} are too few for {}; \
             a percentile needs {SAMPLES_BEYOND_MIN} beyond it",
            names.join(" and ")
        );
        (WarningCode::FewSamplesForPercentile, message)
    })
}
