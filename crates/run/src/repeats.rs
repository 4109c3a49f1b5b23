//! Which cells need another repetition, where they are repeated until they are precise.

use std::collections::BTreeMap;
use std::time::Duration;

use plan::{Plan, RepetitionRule};
use results::{CellRecord, PrecisionVerdict, Status, Warning, WarningCode, principal_phases};
use stats::{Stopping, StoppingVerdict};
use units::Span;

/// Which cells need another repetition. Pure: time is passed in.
#[derive(Debug)]
pub(crate) struct Repeats {
    rule: RepetitionRule,
    groups: Vec<Group>,
    /// The place in the first repetition of each cell of the plan, by the cell's index.
    places: Vec<usize>,
}

/// The repetitions of one cell, on every side.
#[derive(Debug, Default)]
struct Group {
    figures: BTreeMap<Figure, Progress>,
    /// What the repetitions took, all sides together.
    took: Duration,
    repetitions: u32,
}

/// A figure that is to be precise: which side's, and the phase it belongs to.
type Figure = (usize, String);

#[derive(Debug)]
struct Progress {
    stopping: Stopping,
    verdict: StoppingVerdict,
}

/// What became of a figure that was to be precise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conclusion {
    /// Of its cell in the first repetition.
    pub cell_index: u32,
    /// The name of its phase.
    pub phase: String,
    pub verdict: PrecisionVerdict,
    /// How often it was measured, and what is to be said where it is not as precise as asked.
    repetitions: u32,
    relative_error: Option<f64>,
    rule: RepetitionRule,
}

impl Repeats {
    /// None where the plan has all repetitions.
    pub fn of(plan: &Plan) -> Option<Self> {
        let rule = plan.repetition_rule?;
        let last = plan.cells.iter().map(|cell| cell.repetition).max()?;
        let places = (0..=last).flat_map(|it| plan.order_of_repetition(it));
        Some(Self {
            rule,
            places: places.collect(),
            groups: plan.first_repetition().map(|_| Group::default()).collect(),
        })
    }

    /// Takes note of the cells that a further repetition has, in their order.
    pub fn add(&mut self, places: impl IntoIterator<Item = usize>) {
        self.places.extend(places);
    }

    /// Takes the records of one cell of a side, which took so long.
    pub fn take(&mut self, cell_index: u32, side: usize, records: &[CellRecord], took: Duration) {
        let place = self.places[cell_index as usize];
        let group = &mut self.groups[place];
        group.took += took;
        if side == 0 {
            group.repetitions += 1;
        }
        for record in principal_phases(records) {
            // What does nothing, or never succeeds, will not become precise by being repeated.
            if record.status != Status::Complete || record.total.count == 0 {
                continue;
            }
            let figure = (side, record.phase.name().to_owned());
            let progress = group.figures.entry(figure).or_insert_with(|| Progress {
                // The budget is that of all cells together, which only the repeats know.
                stopping: Stopping::new(
                    self.rule.precision,
                    Duration::MAX,
                    self.rule.repetitions_max,
                ),
                verdict: StoppingVerdict::Continue,
            });
            progress.verdict = progress
                .stopping
                .push(record.total.per_second, Duration::ZERO);
        }
    }

    /// The places of the cells that are measured once more; none when all are precise, or when so
    /// many more would not fit into the budget. `elapsed` counts from the first cell's beginning.
    pub fn next(&mut self, elapsed: Duration) -> Option<Vec<usize>> {
        let is_open = |group: &Group| {
            let mut progress = group.figures.values();
            progress.any(|it| it.verdict == StoppingVerdict::Continue)
        };
        let open = (0..self.groups.len()).filter(|place| is_open(&self.groups[*place]));
        let open: Vec<usize> = open.collect();
        if open.is_empty() {
            return None;
        }
        let cost: Duration = open
            .iter()
            .map(|place| &self.groups[*place])
            .map(|group| group.took / group.repetitions.max(1))
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

    /// Time until no more repetitions are begun, in nanoseconds.
    pub fn left_ns(&self, elapsed: Duration) -> u64 {
        let spent = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.rule.budget_ns.saturating_sub(spent)
    }

    /// What became of every figure of a side.
    pub fn conclusions(&self, side: usize) -> Vec<Conclusion> {
        let mut conclusions = Vec::new();
        for (cell_index, group) in (0..).zip(&self.groups) {
            let own = group.figures.iter().filter(|((of, _), _)| *of == side);
            conclusions.extend(own.map(|((_, phase), progress)| Conclusion {
                // The first repetition keeps the order of the file, so places are indexes.
                cell_index,
                phase: phase.clone(),
                verdict: match progress.verdict {
                    StoppingVerdict::Continue => PrecisionVerdict::Interrupted,
                    StoppingVerdict::PrecisionReached => PrecisionVerdict::PrecisionReached,
                    StoppingVerdict::BudgetSpent => PrecisionVerdict::BudgetSpent,
                    StoppingVerdict::RepetitionsSpent => PrecisionVerdict::RepetitionsSpent,
                },
                repetitions: progress.stopping.count(),
                relative_error: progress.stopping.relative_error(),
                rule: self.rule,
            }));
        }
        conclusions
    }
}

impl Conclusion {
    /// The warning that the figure is not as precise as asked for; none where it is.
    pub fn warning(&self) -> Option<Warning> {
        let spent = match self.verdict {
            PrecisionVerdict::BudgetSpent => {
                format!("the budget of {} is spent", Span(self.rule.budget_ns))
            }
            PrecisionVerdict::RepetitionsSpent => "no more are allowed".to_owned(),
            PrecisionVerdict::PrecisionReached | PrecisionVerdict::Interrupted => return None,
        };
        let known = match self.relative_error {
            Some(share) if share < 0.1 => format!("known to ±{:.1} %", share * 100.0),
            Some(share) => format!("known to ±{:.0} %", share * 100.0),
            None => "not known to any precision".to_owned(),
        };
        let message = format!(
            "after {} repetitions the rate is {known}, not to ±{} %; {spent}",
            self.repetitions,
            self.rule.precision_percent().0
        );
        let code = WarningCode::PrecisionNotReached;
        Some(Warning::of_cell(code, self.cell_index, message))
    }
}

#[cfg(test)]
mod tests;
