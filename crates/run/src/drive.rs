//! Measures the cells of a run in order, or the cells of two runs in turn.

use std::time::{Duration, Instant};

use plan::Plan;

use crate::RunError;
use crate::repeats::{ReachedPrecision, Repeats};
use crate::session::Session;

/// Results of the sessions' cells.
pub(crate) struct SessionResults {
    /// Reason why each session ended early, or `Ok`.
    pub outcomes: Vec<Result<(), RunError>>,
    /// Precision reached by each session's repetitions.
    pub conclusions: Vec<Vec<ReachedPrecision>>,
}

/// Measures all cells of the sessions, which have the same cells, and as many more repetitions as
/// their plan's rule requires. Sessions take turns per cell. Odd repetitions start with the first
/// session and even ones with the last: A B B A.
pub(crate) fn drive(sessions: &mut [Session<'_>]) -> SessionResults {
    let mut repeats = Repeats::of(&sessions[0].record.plan);
    let mut outcomes: Vec<Result<(), RunError>> = sessions.iter().map(|_| Ok(())).collect();
    let mut turns = AlternatingSessions {
        sessions,
        repeats: repeats.as_mut(),
        start: Instant::now(),
    };
    if let Err((side, error)) = turns.all() {
        outcomes[side] = Err(error);
    }
    let conclusions = (0..outcomes.len()).map(|side| {
        let repeats = repeats.as_ref();
        repeats.map_or_else(Vec::new, |repeats| repeats.conclusions(side))
    });
    SessionResults {
        conclusions: conclusions.collect(),
        outcomes,
    }
}

struct AlternatingSessions<'a, 'b> {
    sessions: &'a mut [Session<'b>],
    repeats: Option<&'a mut Repeats>,
    start: Instant,
}

impl AlternatingSessions<'_, '_> {
    fn all(&mut self) -> Result<(), (usize, RunError)> {
        let mut next = 0;
        loop {
            let count = self.plan().cells.len();
            for cell_number in next..count {
                self.cell(cell_number)?;
            }
            next = count;
            // All sessions share the stop flag.
            if self.sessions[0].stopped() || !self.add_repetition() {
                return Ok(());
            }
        }
    }

    fn plan(&self) -> &Plan {
        &self.sessions[0].record.plan
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Adds the cells that need another repetition; `true` if there are any.
    fn add_repetition(&mut self) -> bool {
        let elapsed = self.elapsed();
        let Some(repeats) = self.repeats.as_deref_mut() else {
            return false;
        };
        let Some(wanted) = repeats.next(elapsed) else {
            return false;
        };
        let plan = &self.sessions[0].record.plan;
        let last = plan.cells.iter().map(|cell| cell.repetition).max();
        let repetition = last.map_or(0, |last| last + 1);
        for (side, session) in self.sessions.iter_mut().enumerate() {
            let plan = &session.record.plan;
            let added = plan.further_repetition(repetition, |index| wanted.contains(&index));
            // All sessions have the same cells, so the cells of the first one are enough.
            if side == 0 {
                repeats.add(added.iter().map(|(index, _)| *index));
            }
            session.add_cells(added.into_iter().map(|(_, cell)| cell).collect());
        }
        true
    }

    /// Measures one cell in every session.
    fn cell(&mut self, cell_number: usize) -> Result<(), (usize, RunError)> {
        let mut order: Vec<usize> = (0..self.sessions.len()).collect();
        // With A B B A, a steady drift adds to one pair what it takes from the next.
        if self.plan().cells[cell_number].repetition % 2 == 1 {
            order.reverse();
        }
        for side in order {
            if self.sessions[side].stopped() {
                return Ok(());
            }
            self.lend_targets(side);
            let elapsed = self.elapsed();
            let left_ns = self
                .repeats
                .as_deref()
                .map(|repeats| repeats.left_ns(elapsed));
            let session = &mut self.sessions[side];
            let cell = session.record.plan.cells[cell_number].clone();
            // A cell may have several records, one per phase.
            let (first, begun) = (session.record.cells.len(), Instant::now());
            session
                .measure_cell(&cell, left_ns)
                .map_err(|error| (side, error))?;
            if let Some(repeats) = self.repeats.as_deref_mut() {
                let records = &session.record.cells[first..];
                repeats.take(cell.index, side, records, begun.elapsed());
            }
        }
        Ok(())
    }

    /// Hands over the targets: sessions on the same targets prepare them only once.
    fn lend_targets(&mut self, side: usize) {
        if !self.sessions[side].borrows_targets {
            return;
        }
        for other in (0..self.sessions.len()).filter(|other| *other != side) {
            let targets = std::mem::take(&mut self.sessions[other].targets);
            if !targets.is_empty() {
                self.sessions[side].targets = targets;
                let trees = std::mem::take(&mut self.sessions[other].job_trees);
                self.sessions[side].job_trees = trees;
                // Otherwise the same targets would be preconditioned once more.
                let done = self.sessions[other].record.preconditions.clone();
                self.sessions[side].record.preconditions = done;
            }
        }
    }
}
