//! Decides when a search for the best queue depth can stop.

use plan::{Cell, Plan};
use results::{CellRecord, per_second, target_indexes};

use crate::session::Session;

/// Minimum gain of two more depths, as a share; less is no gain.
const GAIN_MIN: f64 = 0.02;

impl Session<'_> {
    /// `true` in a search for the best depth if shallower depths show that this one gains nothing.
    pub fn is_too_deep(&self, cell: &Cell) -> bool {
        if !cell.find_depth {
            return false;
        }
        let (plan, records) = (&self.record.plan, &self.record.cells);
        match cell.repetition {
            0 => is_settled(&rates(cell, plan, records)),
            // Later repetitions leave out the same depths as the first one.
            _ => !records.iter().any(|it| it.first_index == cell.first_index),
        }
    }
}

/// Rates of the shallower depths, in ascending order: operations of all phases divided by their
/// total time.
fn rates(cell: &Cell, plan: &Plan, records: &[CellRecord]) -> Vec<f64> {
    let is_shallower = |record: &&CellRecord| {
        let planned = plan.cells.get(record.index as usize);
        planned.is_some_and(|it| differs_only_in_depth(it, cell) && it.iodepth < cell.iodepth)
    };
    let shallower: Vec<&CellRecord> = records.iter().filter(is_shallower).collect();
    let cells = shallower.chunk_by(|one, other| one.index == other.index);
    let rate = |phases: &[&CellRecord]| match phases {
        [only] => only.total.per_second,
        _ => per_second(
            phases.iter().map(|it| it.total.count).sum(),
            phases.iter().map(|it| it.run_time_ns).sum(),
        ),
    };
    cells.map(rate).collect()
}

/// `true` if the cells differ only in their queue depth.
fn differs_only_in_depth(one: &Cell, other: &Cell) -> bool {
    one.workload_index == other.workload_index
        && one.access_spec == other.access_spec
        && one.workers.len() / one.threads_per_worker() as usize
            == other.workers.len() / other.threads_per_worker() as usize
        && target_indexes(one) == target_indexes(other)
        && one.find_depth
        && one.repetition == 0
}

/// `true` if the last two rates gain almost nothing over the earlier ones.
fn is_settled(rates: &[f64]) -> bool {
    // Two depths in a row, because a single one may be slow by chance.
    let [before @ .., one, other] = rates else {
        return false;
    };
    let most = before.iter().copied().reduce(f64::max);
    most.is_some_and(|most| one.max(*other) < most * (1.0 + GAIN_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_depth_search_ends_after_two_depths_with_little_gain() {
        for (rates, wanted) in [
            (&[][..], false),
            (&[100.0, 101.0], false),
            (&[100.0, 101.0, 101.5], true),
            (&[100.0, 200.0, 203.0], false),
            (&[100.0, 200.0, 203.0, 205.0], false),
            (&[100.0, 200.0, 203.0, 203.5], true),
            (&[100.0, 200.0, 150.0, 210.0], false),
            (&[100.0, 200.0, 150.0, 120.0], true),
        ] {
            assert_eq!(is_settled(rates), wanted, "{rates:?}");
        }
    }
}
