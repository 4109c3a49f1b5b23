//! Estimates the remaining time of a run from its plan and its completed cells.

use crate::row::CellRow;
use crate::state::RunState;

const S: u64 = 1_000_000_000;

/// Estimated remaining time of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLeft {
    /// Nanoseconds.
    pub ns: u64,
    /// `true` if the run may end sooner because it can skip optional cells.
    pub is_at_most: bool,
}

impl TimeLeft {
    /// Formats the time no more precisely than it is known: `~4 min left`.
    #[must_use]
    pub fn text(self) -> String {
        let sign = if self.is_at_most { "≤" } else { "~" };
        format!("{sign}{} left", about(self.ns))
    }
}

/// Formats a time with one or two digits.
fn about(ns: u64) -> String {
    let seconds = ns.div_ceil(S);
    let (minutes, hours) = ((seconds + 30) / 60, seconds as f64 / 3600.0);
    match seconds {
        0..10 => format!("{seconds} s"),
        10..90 => format!("{} s", seconds.div_ceil(5) * 5),
        90..5400 => format!("{minutes} min"),
        5400..36_000 => format!("{hours:.1} h"),
        36_000..129_600 => format!("{hours:.0} h"),
        _ => format!("{:.1} days", hours / 24.0),
    }
}

/// Estimated remaining time of a run; `None` while a cell's duration is unknown and no cell is
/// done.
#[must_use]
pub fn time_left(state: &RunState) -> Option<TimeLeft> {
    let (current, preparation) = (state.current.as_ref(), state.preparation.as_ref());
    // A run that stops soon does not measure the other cells any more.
    if state.finished.is_some() || state.stopping || state.cells.is_empty() {
        return None;
    }
    let next = current.map_or(0, |it| it.index as usize);
    let mut ns = match preparation {
        // Unknown until data is written, and with it the time of the whole run.
        Some(preparation) => preparation.left_ns(state.now_ns)?,
        None => 0,
    };
    let mut is_at_most = false;
    for (index, row) in state.cells.iter().enumerate().skip(next) {
        // A search may not need all of its planned trials, so it is estimated separately below.
        if row.done.is_some() || row.part.is_some_and(|_| state.search(index).is_some()) {
            continue;
        }
        let expected_ns = expected_ns(state, row)?;
        is_at_most |= row.is_optional;
        ns += match current.filter(|it| it.index as usize == index) {
            Some(current) => current.left_ns(expected_ns, state.now_ns),
            None => expected_ns,
        };
    }
    ns += searches_left_ns(state, next)?;
    if let Some(end_ns) = current.and_then(|it| it.budget_end_ns) {
        // The run adds repetitions until its time budget ends.
        let budget_ns = end_ns.saturating_sub(state.now_ns);
        (ns, is_at_most) = (ns.max(budget_ns), budget_ns > ns);
    }
    Some(TimeLeft { ns, is_at_most })
}

/// Remaining time of rate searches, including the current trial.
fn searches_left_ns(state: &RunState, next: usize) -> Option<u64> {
    let mut ns = 0;
    let mut previous = None;
    for (index, row) in state.cells.iter().enumerate().skip(next) {
        let Some(search) = state.search(index) else {
            continue;
        };
        let group = (row.first_index, row.repetition);
        // The cells of a search follow each other; all of them report the same open trials.
        if previous.replace(group) == Some(group) {
            continue;
        }
        let each_ns = expected_ns(state, row)?;
        let is_now = state.current.as_ref().map(|it| it.index as usize) == Some(index);
        let spent_ns = match (&state.current, is_now) {
            (Some(current), true) => state.now_ns.saturating_sub(current.since_ns),
            _ => 0,
        };
        ns += (each_ns * search.open_count as u64).saturating_sub(spent_ns.min(each_ns));
    }
    Some(ns)
}

/// Expected duration of a cell, including the time before it. With a planned duration, adds the
/// mean overhead of completed cells; without one, uses the mean of similar cells.
fn expected_ns(state: &RunState, row: &CellRow) -> Option<u64> {
    if let Some(planned_ns) = row.planned_ns {
        // The first cell is left out: it includes the setup, which happens only once.
        let overhead = |it: &CellRow| it.took_ns?.checked_sub(it.planned_ns?);
        let overheads = state.cells.iter().skip(1).filter_map(overhead);
        return Some(planned_ns + mean(overheads).unwrap_or(0));
    }
    let took = |is_like: &dyn Fn(&CellRow) -> bool| {
        let like = state.cells.iter().filter(|it| is_like(it));
        mean(like.filter_map(|it| it.took_ns))
    };
    // Repetitions of the cell predict best, then its other depths, then any cell.
    took(&|it| it.first_index == row.first_index)
        .or_else(|| took(&|it| it.name == row.name))
        .or_else(|| took(&|_| true))
}

fn mean(values: impl Iterator<Item = u64>) -> Option<u64> {
    let (sum, count) = values.fold((0_u64, 0_u64), |(sum, count), value| {
        (sum.saturating_add(value), count + 1)
    });
    sum.checked_div(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_shown_no_more_precisely_than_it_is_known() {
        for (seconds, wanted) in [
            (0, "~0 s left"),
            (7, "~7 s left"),
            (41, "~45 s left"),
            (90, "~2 min left"),
            (250, "~4 min left"),
            (5_400, "~1.5 h left"),
            (40_000, "~11 h left"),
            (200_000, "~2.3 days left"),
        ] {
            let left = TimeLeft {
                ns: seconds * S,
                is_at_most: false,
            };
            assert_eq!(left.text(), wanted);
        }
    }
}
