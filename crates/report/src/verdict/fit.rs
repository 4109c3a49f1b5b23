//! Keeps the verdicts of a run within one screen of a terminal.

use super::RunVerdict;
use crate::wrap::wrap;

/// Lines and columns of a terminal, as of a VT100.
const LINES_MAX: usize = 24;
const COLUMNS: usize = 80;

/// Returns the verdicts with as many main results as fit on one screen; the tables have the others.
#[must_use]
pub fn shortened(verdicts: &[RunVerdict]) -> Vec<RunVerdict> {
    let mut verdicts = verdicts.to_vec();
    while lines_count(&verdicts) > LINES_MAX {
        let longest = verdicts.iter_mut().max_by_key(|it| it.figures.len());
        let Some(longest) = longest.filter(|it| it.figures.len() > 1) else {
            break;
        };
        longest.figures.pop();
        longest.more_count += 1;
    }
    verdicts
}

/// Number of lines that the verdicts take in a terminal.
pub fn lines_count(verdicts: &[RunVerdict]) -> usize {
    verdicts.iter().map(verdict_lines_count).sum()
}

fn verdict_lines_count(verdict: &RunVerdict) -> usize {
    let sentences = verdict.sentences.iter();
    // Continuation lines are indented by 2 columns.
    let sentences =
        sentences.map(|(name, text)| wrap(&format!("{name}: {text}"), COLUMNS - 2).len());
    let table = match verdict.figures.is_empty() {
        true => 0,
        false => verdict.table().lines(COLUMNS).len(),
    };
    // An empty line and the heading come first.
    2 + table + verdict.more().iter().count() + sentences.sum::<usize>()
}
