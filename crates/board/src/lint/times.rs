//! Rules about times of day and durations.

use results::{CellRecord, RunRecord, Timestamp};

use super::rule::FindingList;
use super::{BoardRule, place};

/// Difference between two clocks that is not an error, in nanoseconds.
pub(super) const CLOCK_SKEW_NS: i128 = 600 * 1_000_000_000;
/// Rounding of times of day in a record, in nanoseconds.
const ROUNDING_NS: i128 = 1_000_000_000;
/// Share of the planned time that a complete cell lasts at least.
const PLANNED_SHARE_MIN: f64 = 0.99;

/// Checks the times of a run and its cells.
pub(super) fn check(record: &RunRecord, now: Timestamp, found: &mut FindingList) {
    let start_ns = record.started_at.as_nanosecond();
    let end_ns = record
        .finished_at
        .map_or(start_ns, Timestamp::as_nanosecond);
    let mut expect = |is_true: bool, at: &str, expected: String, actual: String| {
        if !is_true {
            found.add(BoardRule::Times, at, expected, actual);
        }
    };
    let end = record.finished_at.unwrap_or(record.started_at);
    expect(
        end_ns >= start_ns,
        "run",
        format!("an end after {}", record.started_at),
        end.to_string(),
    );
    expect(
        end_ns <= now.as_nanosecond() + CLOCK_SKEW_NS,
        "run",
        format!("an end before now, {now}"),
        end.to_string(),
    );
    expect(
        id_fits(record),
        "id of the run",
        format!("an id with the start time {}", record.started_at),
        record.id.clone(),
    );
    let measured_ns: i128 = record
        .cells
        .iter()
        .map(|it| i128::from(it.run_time_ns))
        .sum();
    // Cells run one after the other, also the phases of a program.
    expect(
        measured_ns <= end_ns - start_ns + ROUNDING_NS,
        "run",
        format!("at least {measured_ns} ns, the sum of its cells"),
        format!("{} ns", end_ns - start_ns),
    );
    for it in &record.cells {
        cell(it, record, (start_ns, end_ns), found);
    }
}

/// Checks the times of a cell. `run_ns` are the start and the end of the run.
fn cell(cell: &CellRecord, record: &RunRecord, run_ns: (i128, i128), found: &mut FindingList) {
    let at = place(cell);
    let mut expect = |is_true: bool, expected: String, actual: String| {
        if !is_true {
            found.add(BoardRule::Times, &at, expected, actual);
        }
    };
    if let Some(started) = cell.started_at {
        let begin_ns = started.as_nanosecond();
        let is_within = begin_ns >= run_ns.0 - ROUNDING_NS
            && begin_ns + i128::from(cell.run_time_ns) <= run_ns.1 + ROUNDING_NS;
        let expected = format!(
            "a start and an end within the run that began {}",
            record.started_at
        );
        expect(
            is_within,
            expected,
            format!("{started} and {} ns", cell.run_time_ns),
        );
    }
    let is_measured = cell.run_time_ns > 0 || cell.total.count == 0;
    expect(is_measured, "a measured time".to_owned(), "0 ns".to_owned());
    let planned = record.plan.cell(cell.index);
    // Other ends than the time may come first.
    let ends_by_time = planned.is_some_and(|it| {
        // Each block of a verified write is written once, so that work may end earlier.
        let verifies = it.workers.iter().any(|worker| worker.verify);
        it.work.is_access() && it.operations.is_none() && !verifies && !it.new_file
    });
    let planned_ns = cell.planned_run_time_ns;
    expect(
        !ends_by_time
            || cell.steady.is_some()
            || cell.run_time_ns as f64 >= planned_ns as f64 * PLANNED_SHARE_MIN,
        format!("at least 99 % of the planned {planned_ns} ns"),
        format!("{} ns", cell.run_time_ns),
    );
}

/// Returns `true` unless the id has a date that is not the start of the run.
fn id_fits(record: &RunRecord) -> bool {
    let start = record.started_at.strftime("%Y%m%d-%H%M%S").to_string();
    let is_date = |id: &str| {
        let digits = id.bytes().take(8).filter(u8::is_ascii_digit).count();
        digits == 8 && id.as_bytes().get(8) == Some(&b'-')
    };
    !is_date(&record.id) || record.id.starts_with(&start)
}
