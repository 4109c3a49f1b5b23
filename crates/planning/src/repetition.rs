//! Repetitions of the cells: their number, or the rule that ends them.

use units::{Percent, Span};

use description::model::{Repetitions, Workload};
use plan::Diagnostic;
use plan::{Cell, RepetitionRule};

use super::resolver::Resolver;
use super::{CELLS_MAX, WEIGHT_MAX, weight};

/// Repetitions that are always measured; fewer do not show the scatter.
// `stats::StoppingRule` decides nothing before this number, either.
pub(super) const REPETITIONS_MIN: u32 = 3;
/// Maximum number of repetitions, as for a fixed number.
const REPETITIONS_MAX: u32 = 1000;

const PRECISION_DEFAULT: Percent = Percent(2.0);
const BUDGET_DEFAULT: Span = Span::from_secs(600);

/// Repetitions of a workload's cells, from its keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RepetitionMode {
    /// A fixed number.
    Fixed(u32),
    /// Until a precision or a budget is reached.
    Until {
        /// As a fraction of the mean.
        precision: f64,
        budget_ns: u64,
    },
}

impl RepetitionMode {
    /// Resolves the keys and notes them as settings.
    pub fn resolve(workload: &Workload, r: &mut Resolver) -> Self {
        match r.shown("repetitions", workload.repetitions, Repetitions::Count(1)) {
            Repetitions::Count(times) => Self::Fixed(times),
            Repetitions::Auto => Self::Until {
                precision: r
                    .shown("precision", workload.precision, PRECISION_DEFAULT)
                    .0
                    / 100.0,
                budget_ns: r.shown("budget", workload.budget, BUDGET_DEFAULT).0,
            },
        }
    }

    /// Number of repetitions in the plan itself.
    pub fn times(self) -> u32 {
        match self {
            Self::Fixed(times) => times,
            // The run adds the others, because only results show how many are needed.
            Self::Until { .. } => REPETITIONS_MIN,
        }
    }
}

/// The rule for the whole plan; `None` for a fixed number of repetitions.
///
/// # Errors
/// If the workloads of a run are repeated in different ways.
pub(super) fn rule(
    series: &[(RepetitionMode, Vec<Cell>)],
) -> Result<Option<RepetitionRule>, Diagnostic> {
    let mut all = series.iter().map(|(often, _)| *often);
    let Some(first) = all.find(|often| matches!(often, RepetitionMode::Until { .. })) else {
        return Ok(None);
    };
    if series.iter().any(|(often, _)| *often != first) {
        let message = "`repetitions = \"auto\"` needs all workloads of a run to have it, with the \
                       same `precision` and `budget`";
        let help = "add `--repetitions auto`, `--precision` and `--budget`, or run them one by one";
        return Err(Diagnostic::error("", message).help(help));
    }
    let RepetitionMode::Until {
        precision,
        budget_ns,
    } = first
    else {
        return Ok(None);
    };
    let cells = || series.iter().flat_map(|(_, cells)| cells);
    let count = cells().count().max(1);
    let heaviness = cells().map(|it| weight(&it.workers)).sum::<usize>().max(1);
    // Repetitions that the run adds must stay within the limits of a plan, too.
    let most = (CELLS_MAX / count).min(WEIGHT_MAX / heaviness);
    let most = u32::try_from(most).unwrap_or(REPETITIONS_MAX);
    Ok(Some(RepetitionRule {
        precision,
        budget_ns,
        repetitions_max: most.clamp(REPETITIONS_MIN, REPETITIONS_MAX),
    }))
}

/// Warns if the minimum number of repetitions does not fit into the budget.
pub(super) fn doubt(rule: RepetitionRule, cells: &[Cell]) -> Option<Diagnostic> {
    // Cells without a planned time count as 0, so this is a lower bound.
    let least_ns = cells.iter().fold(0_u64, |sum, cell| {
        sum.saturating_add(cell.ramp_time_ns)
            .saturating_add(cell.run_time_ns)
    });
    if least_ns <= rule.budget_ns {
        return None;
    }
    let message = format!(
        "the {REPETITIONS_MIN} repetitions that are always measured take {}, longer than the \
         budget of {}",
        Span(least_ns),
        Span(rule.budget_ns)
    );
    let help = format!("add `--budget {}` or more", Span(least_ns));
    Some(Diagnostic::warning("", message).help(help))
}
