//! Summary of a whole table in one paragraph.

use results::BetterDirection;
use stats::RatioConfidence;

use super::judge::SIGNIFICANCE_LEVEL;
use super::rows::{FigureRow, ratio};
use super::{SideBySide, WorkloadSection};
use crate::names::listed;
use crate::numbers::{self, share};

/// Maximum number of workloads in the summary.
const SECTIONS_MAX: usize = 6;

impl SideBySide {
    /// Summarizes the main rate of each workload, comparing the columns with the best one. `None`
    /// if nothing is ranked.
    pub(super) fn summary(&self) -> Option<String> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let sentences = self
            .sections
            .iter()
            .filter_map(|section| summarize_section(section, main_rate(section)?, &names));
        let sentences: Vec<String> = sentences.collect();
        let more = match sentences.len().saturating_sub(SECTIONS_MAX) {
            0 => String::new(),
            more => format!(" {more} more workloads are below."),
        };
        let shown = &sentences[..sentences.len().min(SECTIONS_MAX)];
        (!shown.is_empty()).then(|| format!("{}{more}", shown.join(" ")))
    }
}

/// Returns the main rate of a workload: transactions if it has phases, as PostMark does, or else
/// the first rate.
fn main_rate(section: &WorkloadSection) -> Option<&FigureRow> {
    let rates = || section.rows.iter().filter(|row| row.is_rate);
    let transactions = rates().find(|row| row.label.starts_with("transactions"));
    transactions.or(rates().next())
}

/// Compares the columns of a row with the best one, in a sentence.
fn summarize_section(section: &WorkloadSection, row: &FigureRow, names: &[&str]) -> Option<String> {
    let rates = section.rows.iter().filter(|row| row.is_rate);
    let heading = match rates.count() {
        0 | 1 => section.heading.clone(),
        _ => format!("{} ({})", section.heading, row.label),
    };
    if !section.failures.is_empty() {
        return Some(format!(
            "{heading}: not the same work in all columns, so nothing is ranked."
        ));
    }
    let values = row.ranked();
    let ((first, best), others) = values.split_first()?;
    if others.is_empty() || row.better != BetterDirection::Higher {
        return None;
    }
    let (mut shown, mut unshown, mut once) = (Vec::new(), Vec::new(), Vec::new());
    for (column, other) in others {
        let name = names[*column];
        let of = row.ratio_of(&best.estimate?, &other.estimate?)?;
        let by = ratio(of.value);
        match of.certainty {
            None => once.push(format!("{by} × {name}")),
            Some(sure) if row.differ(*first, *column) => {
                let ends = format!("{} to {}", ratio(sure.ci95_low), ratio(sure.ci95_high));
                shown.push(format!("{by} × {name} (95 % {ends})"));
            }
            Some(sure) => unshown.push(Undecided {
                name,
                effect: of.value - 1.0,
                sure,
                repetitions: other.estimate?.n,
            }),
        }
    }
    let name = names[*first];
    let mut parts = Vec::new();
    if !shown.is_empty() {
        parts.push(format!("{name} is {}", listed(&shown)));
    }
    parts.extend(no_winner(name, &unshown));
    if !once.is_empty() {
        let by = listed(&once);
        parts.push(format!(
            "{name} reached {by}, measured once, so this may be chance"
        ));
    }
    Some(format!("{heading}: {}.", parts.join("; ")))
}

/// A column that is not significantly worse than the best one.
struct Undecided<'a> {
    name: &'a str,
    /// By how much the best column is ahead, as a share of this column.
    effect: f64,
    sure: RatioConfidence,
    repetitions: u64,
}

/// Says that there is no winner, which differences this may hide, and how many repetitions would
/// decide between the best column and the next one.
fn no_winner(best: &str, others: &[Undecided<'_>]) -> Option<String> {
    let next = others.first()?;
    let names: Vec<&str> = [best]
        .into_iter()
        .chain(others.iter().map(|it| it.name))
        .collect();
    // Without this, the reader would take the columns for equal.
    let least = others
        .iter()
        .map(|it| it.sure.smallest_difference(SIGNIFICANCE_LEVEL));
    let least = least.max_by(|a, b| f64::total_cmp(&a.unwrap_or(f64::MAX), &b.unwrap_or(f64::MAX)));
    let mut text = format!(
        "no winner among {}, and {}",
        listed(&names),
        numbers::unseen(least?)
    );
    let effect = share(next.effect);
    let needed = next.sure;
    let needed = needed.repetitions_for(next.effect, next.repetitions, SIGNIFICANCE_LEVEL);
    if let Some(count) = needed.filter(|_| effect != "0") {
        text += &format!(
            "; {count} repetitions of each, instead of {}, would detect the {effect} % between \
             {best} and {}",
            next.repetitions, next.name
        );
    }
    Some(text)
}
