//! The best rates of a run, for lists.

use results::{CellRecord, OperationFigures};

/// The best rates among a run's cells, not always of the same cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Best {
    /// None when nothing was measured.
    pub per_second_max: Option<f64>,
    /// None when nothing was measured.
    pub bytes_per_second_max: Option<f64>,
}

impl Best {
    /// Of all cells.
    pub(crate) fn of(cells: &[CellRecord]) -> Self {
        let mut best = Self::default();
        cells.iter().for_each(|cell| best.add(&cell.total));
        best
    }

    /// Takes note of a cell's figures.
    pub(crate) fn add(&mut self, total: &OperationFigures) {
        let larger = |one: Option<f64>, other: f64| {
            let other = Some(other).filter(|rate| rate.is_finite());
            [one, other].into_iter().flatten().reduce(f64::max)
        };
        self.per_second_max = larger(self.per_second_max, total.per_second);
        self.bytes_per_second_max = larger(self.bytes_per_second_max, total.bytes_per_second);
    }
}
