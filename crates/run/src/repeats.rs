//! Repetition until results are precise: decides which cells need another repetition.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::{Plan, RepetitionRule};
use results::{CellRecord, PrecisionVerdict, Status, Warning, WarningCode, principal_phases};
use stats::{StoppingRule, StoppingVerdict};
use units::Span;

/// Decides which cells need another repetition. Takes the time as an argument.
#[derive(Debug)]
pub(crate) struct Repeats {
    rule: RepetitionRule,
    groups: Vec<RepeatedFigures>,
    /// For each cell of the plan, by index, its position in the first repetition.
    positions: Vec<usize>,
}

/// Repetitions of one cell, in all sessions.
#[derive(Debug, Default)]
struct RepeatedFigures {
    figures: BTreeMap<Figure, StoppingState>,
    /// Duration of the repetitions, summed over all sessions.
    duration: Duration,
    repetitions: u32,
}

/// A result that must become precise: index of its session, and name of its phase.
type Figure = (usize, String);

#[derive(Debug)]
struct StoppingState {
    rule: StoppingRule,
    verdict: StoppingVerdict,
}

/// Precision that a result reached.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReachedPrecision {
    /// Index of its cell in the first repetition.
    pub cell_index: u32,
    /// Name of its phase.
    pub phase: String,
    pub verdict: PrecisionVerdict,
    /// Number of measurements; used with the fields below for the warning about missing precision.
    repetitions: u32,
    relative_error: Option<f64>,
    rule: RepetitionRule,
}

impl Repeats {
    /// Creates the state for a plan; `None` if the plan already contains all repetitions.
    pub fn of(plan: &Plan) -> Option<Self> {
        let rule = plan.repetition_rule?;
        let last = plan.cells.iter().map(|cell| cell.repetition).max()?;
        let group_indexes = (0..=last).flat_map(|it| plan.order_of_repetition(it));
        Some(Self {
            rule,
            positions: group_indexes.collect(),
            groups: plan
                .first_repetition()
                .map(|_| RepeatedFigures::default())
                .collect(),
        })
    }

    /// Adds the cells of a further repetition, in their order.
    pub fn add(&mut self, group_indexes: impl IntoIterator<Item = usize>) {
        self.positions.extend(group_indexes);
    }

    /// Adds the records of one cell of a session, and the time that the cell took.
    pub fn take(&mut self, cell_index: u32, side: usize, records: &[CellRecord], took: Duration) {
        let index = self.positions[cell_index as usize];
        let group = &mut self.groups[index];
        group.duration += took;
        // Each session measures the same repetition, which counts once.
        if side == 0 {
            group.repetitions += 1;
        }
        for record in principal_phases(records) {
            // Results without any successful operation do not become precise by repetition.
            if record.status != Status::Complete || record.total.count == 0 {
                continue;
            }
            let figure = (side, record.phase.name().to_owned());
            let progress = group
                .figures
                .entry(figure)
                .or_insert_with(|| StoppingState {
                    // The budget covers all cells together, so only `Repeats` can check it.
                    rule: StoppingRule::new(
                        self.rule.precision,
                        Duration::MAX,
                        self.rule.repetitions_max,
                    ),
                    verdict: StoppingVerdict::Continue,
                });
            progress.verdict = progress.rule.push(record.total.per_second, Duration::ZERO);
        }
    }

    /// Positions of the cells to measure once more. `None` if all are precise, or if another
    /// repetition does not fit into the budget. `elapsed` counts from the start of the first cell.
    pub fn next(&mut self, elapsed: Duration) -> Option<Vec<usize>> {
        let is_open = |group: &RepeatedFigures| {
            let mut progress = group.figures.values();
            progress.any(|it| it.verdict == StoppingVerdict::Continue)
        };
        let open = (0..self.groups.len()).filter(|index| is_open(&self.groups[*index]));
        let open: Vec<usize> = open.collect();
        if open.is_empty() {
            return None;
        }
        let cost: Duration = open
            .iter()
            .map(|index| &self.groups[*index])
            .map(|group| group.duration / group.repetitions.max(1))
            .sum();
        if elapsed + cost <= Duration::from_nanos(self.rule.budget_ns) {
            return Some(open);
        }
        for progress in self
            .groups
            .iter_mut()
            .flat_map(|it| it.figures.values_mut())
        {
            if progress.verdict == StoppingVerdict::Continue {
                progress.verdict = StoppingVerdict::BudgetSpent;
            }
        }
        None
    }

    /// Time left for starting further repetitions, in nanoseconds.
    pub fn left_ns(&self, elapsed: Duration) -> u64 {
        let spent = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.rule.budget_ns.saturating_sub(spent)
    }

    /// Conclusions for all results of a session.
    pub fn conclusions(&self, side: usize) -> Vec<ReachedPrecision> {
        let mut conclusions = Vec::new();
        for (cell_index, group) in (0..).zip(&self.groups) {
            let own = group.figures.iter().filter(|((of, _), _)| *of == side);
            conclusions.extend(own.map(|((_, phase), progress)| ReachedPrecision {
                // The first repetition has the order of the plan, so positions are indexes.
                cell_index,
                phase: phase.clone(),
                verdict: match progress.verdict {
                    StoppingVerdict::Continue => PrecisionVerdict::Interrupted,
                    StoppingVerdict::PrecisionReached => PrecisionVerdict::PrecisionReached,
                    StoppingVerdict::BudgetSpent => PrecisionVerdict::BudgetSpent,
                    StoppingVerdict::RepetitionsSpent => PrecisionVerdict::RepetitionsSpent,
                },
                repetitions: progress.rule.count(),
                relative_error: progress.rule.relative_error(),
                rule: self.rule,
            }));
        }
        conclusions
    }
}

impl ReachedPrecision {
    /// Warning that the result is less precise than requested; `None` if it is precise enough or
    /// the run was interrupted.
    pub fn warning(&self) -> Option<Warning> {
        let spent = match self.verdict {
            PrecisionVerdict::BudgetSpent => {
                format!("the budget of {} is spent", Span(self.rule.budget_ns))
            }
            PrecisionVerdict::RepetitionsSpent => "no more are allowed".to_owned(),
            PrecisionVerdict::PrecisionReached | PrecisionVerdict::Interrupted => return None,
        };
        let precision = match self.relative_error {
            Some(share) if share < 0.1 => format!("known to ±{:.1} %", share * 100.0),
            Some(share) => format!("known to ±{:.0} %", share * 100.0),
            None => "not known to any precision".to_owned(),
        };
        let message = format!(
            "after {} repetitions the rate is {precision}, not to ±{} %; {spent}",
            self.repetitions,
            self.rule.precision_percent().0
        );
        let code = WarningCode::PrecisionNotReached;
        Some(Warning::of_cell(code, self.cell_index, message))
    }
}

#[cfg(test)]
mod tests;
