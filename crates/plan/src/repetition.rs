//! When to stop adding repetitions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

use super::{Cell, Plan};
use crate::{PositionRule, order_of_repetition, worker_seed};

/// Separates the seeds of repetitions from the seeds of workers.
const REPETITION_SALT: u64 = 0x7265_7065_6174_2121;

/// When to stop adding repetitions to the ones of the plan, which are always measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepetitionRule {
    /// Target for every cell: half the width of the 95 % confidence interval of its main result, as
    /// a fraction of the mean; above 0.
    pub precision: f64,
    /// Time limit in nanoseconds from the start of the first cell; no repetition starts that would
    /// not end within it.
    pub budget_ns: u64,
    /// Maximum number of repetitions.
    pub repetitions_max: u32,
}

impl RepetitionRule {
    /// The precision in percent.
    #[must_use]
    pub fn precision_percent(&self) -> Percent {
        // A fraction times 100 may be off in its last digit.
        Percent((self.precision * 1e10).round() / 1e8)
    }
}

impl Cell {
    /// The cell as a repetition of itself, if it is one of the first repetition. Its workers have
    /// new seeds: if all repetitions made the same requests at the same times, their confidence
    /// intervals would not cover the variation between random streams. Classics and Iometer's rule
    /// must reproduce the original's requests exactly, so they keep their seeds.
    #[must_use]
    pub fn repeated(&self, repetition: u32) -> Self {
        let mut cell = Self {
            repetition,
            ..self.clone()
        };
        if repetition == 0 || cell.work.is_acts() {
            return cell;
        }
        for worker in &mut cell.workers {
            if worker.position != PositionRule::Iometer {
                worker.seed = worker_seed(worker.seed ^ REPETITION_SALT, repetition);
            }
        }
        cell
    }
}

impl Plan {
    /// The cells of one repetition, in the order of the workload files.
    pub fn first_repetition(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.repetition == 0)
    }

    /// The order in which another repetition measures the cells of the first one, if it has all of
    /// them.
    #[must_use]
    pub fn order_of_repetition(&self, repetition: u32) -> Vec<usize> {
        order_of_repetition(self.first_repetition().count(), self.seed, repetition)
    }

    /// The cells of a further repetition, each with its index in the first one. Cells whose index
    /// `is_wanted` rejects are left out. Numbering continues after the plan's last cell.
    #[must_use]
    pub fn further_repetition(
        &self,
        repetition: u32,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(usize, Cell)> {
        let first: Vec<&Cell> = self.first_repetition().collect();
        let order = self.order_of_repetition(repetition).into_iter();
        let positions = order.filter(|position| is_wanted(*position));
        let next_index = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        (next_index..)
            .zip(positions)
            .map(|(index, position)| {
                let cell = Cell {
                    index,
                    ..first[position].repeated(repetition)
                };
                (position, cell)
            })
            .collect()
    }
}
