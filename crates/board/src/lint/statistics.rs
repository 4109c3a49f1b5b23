//! Rules about repetitions.

use results::{CellRecord, RunRecord};
use stats::Estimate;

use super::rule::FindingList;
use super::{BoardRule, place};
use crate::entry::{PRECISION, REPETITIONS_MIN};
use crate::groups::groups_of;

/// Time between two repetitions that is not a gap, in nanoseconds.
const GAP_NS_MIN: i128 = 10_000_000_000;

/// Checks the repetitions of each cell.
pub(super) fn check(record: &RunRecord, found: &mut FindingList) {
    for group in groups_of(record) {
        enough(&group, found);
        missing(&group, record, found);
    }
    gaps(record, found);
}

fn enough(group: &[&CellRecord], found: &mut FindingList) {
    let rates: Vec<f64> = group.iter().map(|cell| cell.total.per_second).collect();
    let Some(estimate) = Estimate::from_samples(&rates) else {
        return;
    };
    let error = estimate.relative_error();
    if estimate.n < REPETITIONS_MIN || error.is_none_or(|it| it > PRECISION) {
        let expected = format!("at least {REPETITIONS_MIN} repetitions, within 5 %");
        let error = error.map_or_else(String::new, |it| format!(", within {:.1} %", it * 100.0));
        let actual = format!("{}{error}", estimate.n);
        found.add(BoardRule::Repetitions, &place(group[0]), expected, actual);
    }
}

/// Finds repetitions that the plan or the numbers of the others show, but the record lacks.
fn missing(group: &[&CellRecord], record: &RunRecord, found: &mut FindingList) {
    let mut numbers: Vec<u32> = group.iter().map(|cell| cell.repetition).collect();
    numbers.sort_unstable();
    let first_index = group[0].first_index;
    let is_planned = |it: &&plan::Cell| it.first_index == first_index && it.curve == group[0].curve;
    let planned = record.plan.cells.iter().filter(is_planned).count();
    let last = numbers.last().map_or(0, |last| *last as usize + 1);
    let expected = match record.plan.repetition_rule.is_some() {
        // Repeating stops once the precision is reached.
        true => last,
        false => planned.max(last),
    };
    let is_complete = numbers
        .iter()
        .enumerate()
        .all(|(index, number)| index == *number as usize);
    if !is_complete || group.len() < expected {
        let expected = format!("repetitions 0 to {}", expected.saturating_sub(1));
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        found.add(
            BoardRule::Picked,
            &place(group[0]),
            expected,
            numbers.join(", "),
        );
    }
}

/// Finds pauses between cells in which another repetition could have been measured.
fn gaps(record: &RunRecord, found: &mut FindingList) {
    let times = record.cells.iter().filter_map(|cell| {
        let begin_ns = cell.started_at?.as_nanosecond() - i128::from(cell.ramp_time_ns);
        let length_ns = i128::from(cell.run_time_ns) + i128::from(cell.ramp_time_ns);
        Some((begin_ns, length_ns, cell))
    });
    let mut times: Vec<(i128, i128, &CellRecord)> = times.collect();
    times.sort_by_key(|it| it.0);
    for pair in times.windows(2) {
        let (begin_ns, length_ns, _) = pair[0];
        let gap_ns = pair[1].0 - begin_ns - length_ns;
        let cell = pair[1].2;
        if cell.repetition > 0 && gap_ns > pair[1].1.max(GAP_NS_MIN) {
            let expected = format!(
                "a pause below {:.1} s",
                pair[1].1.max(GAP_NS_MIN) as f64 / 1e9
            );
            let actual = format!("{:.1} s before the cell", gap_ns as f64 / 1e9);
            found.add(BoardRule::Gaps, &place(cell), expected, actual);
        }
    }
}
