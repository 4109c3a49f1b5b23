//! One display for two runs in turn: their events as those of one run with the cells of both.

use plan::{Cell, Plan};
use results::{CellNames, RunEvent, RunRecord, cell_title};

/// How displays call the two sides.
const LETTERS: [&str; 2] = ["A", "B"];

/// Turns the events of two runs into those of one.
#[derive(Debug, Default)]
pub(super) struct Both {
    /// The first run's record with the cells of both, in the order of running.
    record: Option<RunRecord>,
    /// What the cells of either are called.
    names: CellNames,
    /// Cells that the first side has told.
    told: Vec<Cell>,
    finished_count: usize,
}

impl Both {
    /// The event as a display of both is to hear it, if at all.
    pub fn heard(&mut self, side: usize, event: &RunEvent) -> Option<RunEvent> {
        let mut event = event.clone();
        match &mut event {
            RunEvent::Started { record } => {
                if side == 0 {
                    self.names = CellNames::of(&record.plan);
                    self.told = std::mem::take(&mut record.plan.cells);
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
                    self.told = std::mem::take(cells);
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
                self.finished_count += 1;
                if self.finished_count < LETTERS.len() {
                    return None;
                }
            }
            _ => {}
        }
        Some(event)
    }

    /// The cells of both sides, in the order of running, with the side's letter in their names.
    fn added(&mut self, second: &[Cell]) -> Vec<Cell> {
        let first = std::mem::take(&mut self.told);
        let mut all = Vec::with_capacity(first.len() + second.len());
        for (a, b) in first.iter().zip(second) {
            let mut pair = [self.named(a, LETTERS[0]), self.named(b, LETTERS[1])];
            if begins_with_b(a) {
                pair.reverse();
            }
            all.extend(pair);
        }
        all
    }

    /// The cell with a name that tells it from all of both sides.
    fn named(&self, cell: &Cell, letter: &str) -> Cell {
        Cell {
            access_spec: Some(format!("{letter}: {}", self.names.planned(cell))),
            first_index: None,
            ..cell.clone()
        }
    }
}

fn begins_with_b(cell: &Cell) -> bool {
    cell.repetition % 2 == 1
}

/// The place of a side's cell among the cells of both.
fn place(plan: &Plan, side: usize, index: u32) -> Option<u32> {
    let pair = index.checked_mul(2)?;
    let is_second = (side == 1) != begins_with_b(plan.cells.get(pair as usize)?);
    Some(pair + u32::from(is_second))
}
