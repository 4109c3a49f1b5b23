//! One live display for two alternating runs: merges their events into one stream.

use plan::{Cell, Plan};
use results::{CellNames, RunEvent, RunRecord, cell_title};

/// Names of the two sides on the display.
const SIDE_NAMES: [&str; 2] = ["A", "B"];

/// Merges the events of two runs into the events of one run.
#[derive(Debug, Default)]
pub(super) struct MergedRuns {
    /// The record of the first run, with the cells of both sides in the order of execution.
    record: Option<RunRecord>,
    /// Names of the cells of each side.
    names: CellNames,
    /// Cells of the first side, until the second run starts.
    first_cells: Vec<Cell>,
    finished_count: usize,
}

impl MergedRuns {
    /// Converts an event for the shared display; `None` if the display does not need it.
    pub fn translate(&mut self, side: usize, event: &RunEvent) -> Option<RunEvent> {
        let mut event = event.clone();
        match &mut event {
            RunEvent::Started { record } => {
                if side == 0 {
                    // The display needs the cells of both sides, so the start of A is held back
                    // until B starts.
                    self.names = CellNames::of(&record.plan);
                    self.first_cells = std::mem::take(&mut record.plan.cells);
                    self.record = Some((**record).clone());
                    return None;
                }
                let added = self.added(&record.plan.cells);
                let merged = self.record.as_mut()?;
                merged.plan.cells = added;
                **record = merged.clone();
            }
            RunEvent::CellsAdded { cells, whats } => {
                if side == 0 {
                    self.first_cells = std::mem::take(cells);
                    return None;
                }
                let added = self.added(cells);
                let plan = &mut self.record.as_mut()?.plan;
                plan.cells.extend(added.iter().cloned());
                *whats = added.iter().map(|cell| cell_title(cell, plan)).collect();
                *cells = added;
            }
            RunEvent::CellStarted {
                index, count, what, ..
            } => {
                let plan = &self.record.as_ref()?.plan;
                *index = place(plan, side, *index)?;
                // The event counts the cells of one side only.
                *count = u32::try_from(plan.cells.len()).unwrap_or(u32::MAX);
                *what = cell_title(plan.cells.get(*index as usize)?, plan);
            }
            RunEvent::Progress { cell, .. } | RunEvent::Interval { cell, .. } => {
                *cell = place(&self.record.as_ref()?.plan, side, *cell)?;
            }
            RunEvent::CellDone { record } => {
                record.index = place(&self.record.as_ref()?.plan, side, record.index)?;
            }
            RunEvent::Finished { .. } => {
                // The display ends at this event, and the other side still has to finish.
                self.finished_count += 1;
                if self.finished_count < SIDE_NAMES.len() {
                    return None;
                }
            }
            _ => {}
        }
        Some(event)
    }

    /// Interleaves the cells of both sides in the order of execution, with the side's letter in
    /// their names.
    fn added(&mut self, second: &[Cell]) -> Vec<Cell> {
        let first = std::mem::take(&mut self.first_cells);
        let mut all = Vec::with_capacity(first.len() + second.len());
        // Both plans have the same cells, and the run adds cells to both at the same time.
        for (a, b) in first.iter().zip(second) {
            let mut pair = [self.named(a, SIDE_NAMES[0]), self.named(b, SIDE_NAMES[1])];
            if is_b_first(a) {
                pair.reverse();
            }
            all.extend(pair);
        }
        all
    }

    /// Gives a cell a name that is unique among the cells of both sides.
    fn named(&self, cell: &Cell, letter: &str) -> Cell {
        Cell {
            access_spec: Some(format!("{letter}: {}", self.names.planned(cell))),
            // It refers to the cells of one side, which have other indexes in the merged list.
            first_index: None,
            ..cell.clone()
        }
    }
}

fn is_b_first(cell: &Cell) -> bool {
    // A B B A: a drift in time adds to one pair what it takes from the next.
    cell.repetition % 2 == 1
}

/// Converts the index of a cell of one side to its index among the cells of both.
fn place(plan: &Plan, side: usize, index: u32) -> Option<u32> {
    let pair = index.checked_mul(2)?;
    let is_second = (side == 1) != is_b_first(plan.cells.get(pair as usize)?);
    Some(pair + u32::from(is_second))
}
