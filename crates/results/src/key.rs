//! Identifies repetitions of the same cell: by the plan, or by names in old records.

use plan::CurvePart;

use crate::{CellRecord, EstimateRecord, Phase, RunRecord};

/// Identifies a measurement, independent of the repetition. Names are not enough because several
/// workloads of a run may have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellKey<'a> {
    /// Index in the plan of the cell's first repetition. All parts of a response-time curve share
    /// it.
    pub first_index: Option<u32>,
    /// The phase that was measured.
    pub phase: &'a Phase,
    /// Part of a response-time curve that was measured.
    pub curve: Option<CurvePart>,
}

impl CellRecord {
    /// Key of the measurement, the same for all repetitions.
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
    /// Key of the repeated cell.
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
    /// Fills in the keys that older records lack. Cells with the same names and settings are
    /// treated as repetitions of one cell.
    pub fn fill_in_keys(&mut self) {
        for place in 0..self.cells.len() {
            let (before, rest) = self.cells.split_at_mut(place);
            let [cell, ..] = rest else { continue };
            if cell.first_index.is_none() {
                // The first of them gives its number to all repetitions.
                let like = before.iter().find(|it| has_same_description(it, cell));
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
                // Estimates without a key may lack the part of a curve as well.
                estimate.curve = cell.curve;
            }
        }
    }
}

/// `true` if both have the same names and settings, in any phase. The parts of a response-time
/// curve may differ in their rates.
fn has_same_description(one: &CellRecord, other: &CellRecord) -> bool {
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
