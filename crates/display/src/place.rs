//! Position of the current cell in the run, as far as the number of cells is known.

use std::collections::BTreeSet;

use plan::CurvePart;
use results::RateSearch;
use unicode_width::UnicodeWidthStr;

use crate::state::RunState;

/// A placeholder for an unknown peak. The number of expected trials depends only on shares of the
/// peak, so any value works.
const PLACEHOLDER_PEAK: f64 = 1e6;

/// Position in a search for the highest rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchProgress {
    /// Number of the trial, from 1; `None` for the peak measurement.
    pub number: Option<usize>,
    /// Expected number of trials.
    pub trial_count: usize,
    /// Number of cells still to be measured, including this one.
    pub open_count: usize,
}

impl RunState {
    /// Position in the search that a cell belongs to; `None` if it belongs to none.
    #[must_use]
    pub fn search(&self, index: usize) -> Option<SearchProgress> {
        let row = self.cells.get(index)?;
        let own = || {
            let same = self
                .cells
                .iter()
                .filter(|it| it.first_index == row.first_index);
            same.filter(|it| it.repetition == row.repetition)
        };
        let limit = own().find_map(|it| match it.part {
            Some(CurvePart::Trial { limit, .. }) => Some(limit),
            _ => None,
        })?;
        let is_trial = |part: Option<CurvePart>| matches!(part, Some(CurvePart::Trial { .. }));
        let tried = own().filter(|it| is_trial(it.part) && it.done.is_some());
        let tried_count = tried.count();
        let is_first = row.repetition.is_none_or(|number| number == 1);
        let known = self.searches.get(&row.first_index);
        let open_count = match (known, is_first) {
            (Some(search), true) => search.expected_trials(),
            // Later repetitions use the rates that the first one tried, so their number is known.
            (Some(search), false) => search.trials.len().saturating_sub(tried_count),
            (None, _) => RateSearch {
                limit,
                peak_per_second: PLACEHOLDER_PEAK,
                trials: Vec::new(),
            }
            .expected_trials(),
        };
        let is_peak_open = own().any(|it| !is_trial(it.part) && it.done.is_none());
        Some(SearchProgress {
            number: is_trial(row.part).then_some(tried_count + 1),
            trial_count: tried_count + open_count,
            open_count: open_count + usize::from(is_peak_open),
        })
    }

    /// Position of a cell that is being measured: `3/12`, `7/12+`, `trial 3 of ~8`.
    #[must_use]
    pub fn place(&self, index: usize) -> String {
        let Some(search) = self.search(index) else {
            return self.place_of_all(index);
        };
        let step = match search.number {
            None => format!("peak, then ~{} trials", search.trial_count),
            Some(number) => format!("trial {number} of ~{}", search.trial_count),
        };
        match self.place_of_search(index) {
            (_, 1) => step,
            (number, count) => format!("{number}/{count}, {step}"),
        }
    }

    /// Like [`Self::place`], but short and without estimates: for a completed cell.
    #[must_use]
    pub fn place_of_done(&self, index: usize) -> String {
        let part = self.cells.get(index).and_then(|row| row.part);
        match (self.search(index), part) {
            (Some(_), Some(CurvePart::Trial { number, .. })) => format!("trial {number}"),
            (Some(_), _) => "peak".to_owned(),
            (None, _) => self.place_of_all(index),
        }
    }

    /// Width of the last cell's place if no cell is skipped; no other place is wider.
    pub(crate) fn place_width_max(&self) -> usize {
        self.numbered(self.cells.len().saturating_sub(1), 0).width()
    }

    fn place_of_all(&self, index: usize) -> String {
        let before = self.cells.iter().take(index);
        // Cells run in their order, so earlier ones without a result were skipped.
        self.numbered(index, before.filter(|row| row.done.is_none()).count())
    }

    fn numbered(&self, index: usize, left_out_count: usize) -> String {
        let number = index + 1 - left_out_count;
        let count = self.cells.len().max(self.count) - left_out_count;
        let after = self.cells.iter().skip(index);
        match after.clone().any(|row| row.is_optional) {
            _ if self.is_open_ended => format!("{number}/{count}+"),
            true => format!("{number}/≤{count}"),
            false => format!("{number}/{count}"),
        }
    }

    /// Position among the run's searches and other workloads: number and total.
    fn place_of_search(&self, index: usize) -> (usize, usize) {
        // All cells of a search, and all repetitions of a cell, count as one workload.
        let firsts: BTreeSet<u32> = self.cells.iter().map(|row| row.first_index).collect();
        let own = self.cells.get(index).map_or(0, |row| row.first_index);
        (firsts.range(..=own).count(), firsts.len())
    }
}
