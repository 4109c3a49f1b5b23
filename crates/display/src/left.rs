//! How long a run still takes, as far as its plan and what is done of it tell.

use crate::row::CellRow;
use crate::state::State;

const S: u64 = 1_000_000_000;

/// How long a run still takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLeft {
    /// In nanoseconds.
    pub ns: u64,
    /// Whether it may be over sooner, since cells are left out that tell nothing new.
    pub is_at_most: bool,
}

impl TimeLeft {
    /// In words, no finer than it is known: `~4 min left`.
    #[must_use]
    pub fn text(self) -> String {
        let sign = if self.is_at_most { "≤" } else { "~" };
        format!("{sign}{} left", about(self.ns))
    }
}

/// A span to one or two digits.
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

/// How long a run still takes; none where a cell ends by itself and none like it is done.
#[must_use]
pub fn time_left(state: &State) -> Option<TimeLeft> {
    let (current, preparation) = (state.current.as_ref(), state.preparation.as_ref());
    if state.finished.is_some() || state.stopping || state.cells.is_empty() {
        return None;
    }
    let next = current.map_or(0, |it| it.index as usize);
    let mut ns = match preparation {
        Some(preparation) => preparation.left_ns(state.now_ns)?,
        None => 0,
    };
    let mut is_at_most = false;
    for (index, row) in state.cells.iter().enumerate().skip(next) {
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
    ns += in_searches_ns(state, next)?;
    if let Some(end_ns) = current.and_then(|it| it.budget_end_ns) {
        // Repetitions are added until then.
        let budget_ns = end_ns.saturating_sub(state.now_ns);
        (ns, is_at_most) = (ns.max(budget_ns), budget_ns > ns);
    }
    Some(TimeLeft { ns, is_at_most })
}

/// What the trials of searches still take, that of now included.
fn in_searches_ns(state: &State, next: usize) -> Option<u64> {
    let mut ns = 0;
    let mut seen = None;
    for (index, row) in state.cells.iter().enumerate().skip(next) {
        let Some(search) = state.search(index) else {
            continue;
        };
        let group = (row.first, row.repetition);
        if seen.replace(group) == Some(group) {
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

/// What a cell takes with what comes before it: by its plan and what those before it took beside
/// theirs, or as long as those like it took.
fn expected_ns(state: &State, row: &CellRow) -> Option<u64> {
    if let Some(planned_ns) = row.planned_ns {
        // What came before the first cell does not come again.
        let beside = |it: &CellRow| it.took_ns?.checked_sub(it.planned_ns?);
        let beside = state.cells.iter().skip(1).filter_map(beside);
        return Some(planned_ns + mean(beside).unwrap_or(0));
    }
    let took = |is_like: &dyn Fn(&CellRow) -> bool| {
        let like = state.cells.iter().filter(|it| is_like(it));
        mean(like.filter_map(|it| it.took_ns))
    };
    took(&|it| it.first == row.first)
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
    fn time_left_is_told_no_finer_than_it_is_known() {
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
