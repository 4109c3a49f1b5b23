//! Until when repetitions are added to those of the plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Percent;

use super::{Cell, Plan};
use crate::order_of_repetition;

/// Until when repetitions are added to those of the plan, which are always measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepetitionRule {
    /// Half the width of the 95 % confidence interval of every cell's principal figure at the
    /// end, as a share of its mean, above 0.
    pub precision: f64,
    /// No repetition is begun that would not end within so many nanoseconds from the beginning
    /// of the first cell.
    pub budget_ns: u64,
    /// Most repetitions.
    pub repetitions_max: u32,
}

impl RepetitionRule {
    /// The precision as people write it.
    #[must_use]
    pub fn precision_percent(&self) -> Percent {
        // A share times 100 may be off in its last digit.
        Percent((self.precision * 1e10).round() / 1e8)
    }
}

impl Plan {
    /// The cells of one repetition, in the order of the workload files.
    pub fn first_repetition(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| cell.repetition == 0)
    }

    /// The order in which the cells of the first repetition are measured in another one, which
    /// has all of them.
    #[must_use]
    pub fn order_of_repetition(&self, repetition: u32) -> Vec<usize> {
        order_of_repetition(self.first_repetition().count(), self.seed, repetition)
    }

    /// The cells of a further repetition, each with its place in the first one; those of which
    /// `is_wanted` does not want the place are left out. They are numbered from the plan's last
    /// cell on.
    #[must_use]
    pub fn further_repetition(
        &self,
        repetition: u32,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(usize, Cell)> {
        let first: Vec<&Cell> = self.first_repetition().collect();
        let order = self.order_of_repetition(repetition).into_iter();
        let places = order.filter(|place| is_wanted(*place));
        let next_index = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        (next_index..)
            .zip(places)
            .map(|(index, place)| {
                let cell = Cell {
                    index,
                    repetition,
                    ..first[place].clone()
                };
                (place, cell)
            })
            .collect()
    }
}
