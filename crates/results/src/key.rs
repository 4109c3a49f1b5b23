//! Which cells are repetitions of each other: told by the plan, in old records by names.

use plan::CurvePart;

use crate::{CellRecord, EstimateRecord, Phase, RunRecord};

/// What was measured, whatever the repetition. Names do not tell: several workloads of a run may
/// have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellKey<'a> {
    /// Index in the plan of the cell's first repetition, which all parts of a curve share.
    pub first_index: Option<u32>,
    /// What the cell belongs to.
    pub phase: &'a Phase,
    /// Which part of a response-time curve it is.
    pub curve: Option<CurvePart>,
}

impl CellRecord {
    /// What was measured, whatever the repetition.
    #[must_use]
    pub fn key(&self) -> CellKey<'_> {
        CellKey {
            first_index: self.first_index,
            phase: &self.phase,
            curve: self.curve,
        }
    }
}

impl EstimateRecord {
    /// What was repeated.
    #[must_use]
    pub fn key(&self) -> CellKey<'_> {
        CellKey {
            first_index: self.first_index,
            phase: &self.phase,
            curve: self.curve,
        }
    }
}

impl RunRecord {
    /// Fills in the keys that a record from before they were told lacks: what has the same names
    /// and was measured in the same way is taken for the same cell.
    pub fn fill_in_keys(&mut self) {
        for place in 0..self.cells.len() {
            let (before, rest) = self.cells.split_at_mut(place);
            let [cell, ..] = rest else { continue };
            if cell.first_index.is_none() {
                let like = before.iter().find(|it| is_described_as(it, cell));
                let first_index = like.and_then(|it| it.first_index);
                cell.first_index = first_index.or(Some(cell.index));
            }
        }
        for estimate in &mut self.estimates {
            let mut cells = self.cells.iter();
            if estimate.first_index.is_none()
                && let Some(cell) = cells.find(|cell| is_of(estimate, cell))
            {
                estimate.first_index = cell.first_index;
                estimate.curve = cell.curve;
            }
        }
    }
}

/// Whether both are called alike and were measured in the same way, whatever the phase; the parts
/// of a curve share all but their rates.
fn is_described_as(one: &CellRecord, other: &CellRecord) -> bool {
    let is_of_curve = |cell: &CellRecord| cell.curve.is_some();
    one.workload == other.workload
        && one.access_spec == other.access_spec
        && one.target == other.target
        && one.engine == other.engine
        && one.cache == other.cache
        && one.iodepth == other.iodepth
        && one.workers == other.workers
        && is_of_curve(one) == is_of_curve(other)
        && (is_of_curve(one) || one.rate_per_second() == other.rate_per_second())
}

fn is_of(estimate: &EstimateRecord, cell: &CellRecord) -> bool {
    estimate.workload == cell.workload
        && estimate.access_spec == cell.access_spec
        && estimate.target == cell.target
        && estimate.engine == cell.engine
        && estimate.cache == cell.cache
        && estimate.iodepth == cell.iodepth
        && estimate.workers == cell.workers
        && estimate.rate_per_second == cell.rate_per_second()
        && estimate.phase == cell.phase
}
