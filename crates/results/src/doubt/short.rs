//! Warnings about measurements that were too short.

use plan::{Cell, EngineKind, Plan};

use super::is_idle;
use crate::title::CellNames;
use crate::{CellRecord, Phase, Status, Warning, WarningCode};

/// Minimum measured time for a meaningful rate. Threads start and end up to a tick apart (4 ms to
/// 10 ms), which is 1 % of a second. Journals and writeback run every 5 s, so a shorter time
/// contains them by chance.
pub const MEASURED_NS_MIN: u64 = 1_000_000_000;
/// Maximum number of names in the warning.
const NAMES_MAX: usize = 4;

impl CellRecord {
    /// `true` if its rates come from less than [`MEASURED_NS_MIN`]. Cells that were cut short or
    /// did no I/O are excluded.
    #[must_use]
    pub fn is_too_short(&self) -> bool {
        // The `null` engine measures pgmeter itself, not the rate of a target.
        let is_candidate = self.engine != EngineKind::Null
            && self.status == Status::Complete
            && !is_idle(self)
            && self.total.count > 0;
        // A measurement that ends by time may end a moment early.
        let moment_ns = if self.planned_run_time_ns >= MEASURED_NS_MIN {
            MEASURED_NS_MIN / 100
        } else {
            0
        };
        is_candidate && self.run_time_ns < MEASURED_NS_MIN - moment_ns
    }
}

/// Options that make a cell's measurement longer, as words to follow `use`.
#[must_use]
pub fn lengthening_options(planned: &Cell) -> &'static str {
    match planned.program() {
        Some(program) if program.pool.is_some() => match planned.run_time_ns {
            0 => "larger `number` and `transactions` (`--set`)",
            _ => "a longer `--run-time`",
        },
        // The number of files ends such a program, so more files make it longer.
        Some(program) if program.ends_with_its_files() => "a larger `count`",
        Some(program) if program.has_representative_rounds() => {
            "a larger `budget` or more `repetitions`"
        }
        Some(program) if program.has_no_time_limit() => "more files or rounds",
        Some(_) => "more `rounds` or a longer `run_time`",
        None if planned.new_file => "a larger `--size`",
        None if planned.operations.is_some() => "more `--operations`",
        None => "a longer `--run-time`",
    }
}

/// One warning about all phases and cells of a run that were too short.
#[must_use]
pub fn short_run_warning(plan: &Plan, cells: &[CellRecord]) -> Option<Warning> {
    let names = CellNames::of(plan);
    let mut short: Vec<(String, u64)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.is_too_short()) {
        let name = match &cell.phase {
            Phase::Classic(phase) => phase.clone(),
            _ => names.name(cell),
        };
        match short.iter_mut().find(|(known, _)| *known == name) {
            // Repetitions share a name; the shortest one stands for them.
            Some((_, ns)) => *ns = cell.run_time_ns.min(*ns),
            None => short.push((name, cell.run_time_ns)),
        }
    }
    let shown = short.iter().take(NAMES_MAX);
    let shown: Vec<String> = shown
        .map(|(name, ns)| match *ns < 10_000_000 {
            true => format!("{name} ({})", units::format::latency(*ns as f64)),
            false => format!("{name} ({:.2} s)", *ns as f64 / 1e9),
        })
        .collect();
    let more = match short.len().saturating_sub(NAMES_MAX) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let verb = if short.len() == 1 { "was" } else { "were" };
    let message = format!(
        "{}{more} {verb} measured for less than {} s, which is too short for rates",
        shown.join(", "),
        MEASURED_NS_MIN / 1_000_000_000
    );
    (!short.is_empty()).then(|| Warning::of_run(WarningCode::TooShort, message))
}
