//! The result of a comparison in one sentence.

use ::compare::{Basis, CellComparison, Comparison, Figure, FigureComparison, Scope, Verdict};

use super::sentences::{labeled, no_verdict_reason, other_letters};
use crate::numbers::{self, share};

/// Returns the result in one sentence; `None` without comparisons.
pub(super) fn summary(comparisons: &[Comparison]) -> Option<String> {
    let letters = other_letters();
    let parts: Vec<String> = letters
        .zip(comparisons)
        .map(|(letter, it)| comparison_sentence(it, &letter))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn comparison_sentence(comparison: &Comparison, letter: &str) -> String {
    let (a, b) = (&comparison.a, &comparison.b);
    let letters = [labeled("A", a, b), labeled(letter, b, a)];
    let rate = |cell| total(cell, Figure::PerSecond);
    let rates: Vec<&FigureComparison> = comparison.cells.iter().filter_map(rate).collect();
    let mut text = match rates.as_slice() {
        [] => format!("{} and {} have no rate in common", letters[0], letters[1]),
        [rate] => rate_sentence(rate, &letters),
        several => rates_sentence(several, &letters),
    };
    text.push_str(&latencies_sentence(comparison));
    text.push_str(single_runs_note(&rates));
    text
}

/// Qualifies a difference between runs that were measured once each; empty for other comparisons.
fn single_runs_note(rates: &[&FigureComparison]) -> &'static str {
    let is_single =
        |it: &&FigureComparison| it.verdict.is_significant() && it.basis == Basis::WithinRun;
    match rates.iter().any(is_single) {
        true => "; measured once each, so repeat both before you rely on this",
        false => "",
    }
}

fn total(cell: &CellComparison, figure: Figure) -> Option<&FigureComparison> {
    let mut figures = cell.figures.iter();
    figures.find(|it| it.scope == Scope::Total && it.figure == figure)
}

fn rate_sentence(rate: &FigureComparison, [a, b]: &[String; 2]) -> String {
    let change = match share(rate.effect.abs()) {
        // The text is compared, so that `0 % faster` is never printed.
        same if same == "0" => format!("{b} is as fast as {a}"),
        percent if rate.effect < 0.0 => format!("{b} is {percent} % slower than {a}"),
        percent => format!("{b} is {percent} % faster than {a}"),
    };
    let interval = match (rate.ci95_low, rate.ci95_high) {
        (Some(low), Some(high)) => {
            format!(
                "95 % interval {} to {}",
                signed(low - 1.0),
                signed(high - 1.0)
            )
        }
        _ => String::new(),
    };
    match rate.verdict {
        Verdict::Better | Verdict::Worse => format!("{change}, {interval}"),
        Verdict::NoDifferenceShown => {
            let unseen = numbers::unseen(rate.smallest_difference);
            let needed = needed(rate).map_or_else(String::new, |it| format!("; {it}"));
            format!(
                "no significant difference: {b} {}, {interval}; {unseen}{needed}",
                signed(rate.effect)
            )
        }
        Verdict::CannotTell => {
            let reason = no_verdict_reason(rate);
            format!("cannot tell ({reason}): {change}, but chance alone may be the cause")
        }
    }
}

fn rates_sentence(rates: &[&FigureComparison], [a, b]: &[String; 2]) -> String {
    let of = |verdict: Verdict| -> Vec<&FigureComparison> {
        let rates = rates.iter().copied();
        rates.filter(|rate| rate.verdict == verdict).collect()
    };
    let count = rates.len();
    let mut total = format!(" of {count} rates");
    let significant: Vec<String> = [(Verdict::Worse, "slower"), (Verdict::Better, "faster")]
        .into_iter()
        .filter_map(|(verdict, word)| {
            let found = of(verdict);
            let range = range(&found)?;
            // Only the first part of the sentence names the total.
            let total = std::mem::take(&mut total);
            Some(format!("{word} in {}{total} ({range})", found.len()))
        })
        .collect();
    let mut parts = Vec::new();
    if !significant.is_empty() {
        parts.push(format!("{b} is {}", significant.join(" and ")));
    }
    let unshown = of(Verdict::NoDifferenceShown).len();
    if unshown > 0 {
        let total = std::mem::take(&mut total);
        let largest = of(Verdict::NoDifferenceShown).into_iter();
        let largest = largest.max_by(|a, b| a.effect.abs().total_cmp(&b.effect.abs()));
        let largest = largest.map_or_else(String::new, |rate| {
            let needed = needed(rate).map_or_else(String::new, |it| format!("; {it}"));
            format!(" (largest: {}{needed})", signed(rate.effect))
        });
        parts.push(format!(
            "no significant difference in {unshown}{total}{largest}"
        ));
    }
    let undecided = of(Verdict::CannotTell);
    if let Some(first) = undecided.first() {
        let why = no_verdict_reason(first);
        let number = undecided.len();
        parts.push(format!("cannot tell for {number}{total}: {why}"));
    }
    match significant.is_empty() {
        true => format!("{b} against {a}: {}", parts.join("; ")),
        false => parts.join("; "),
    }
}

/// Describes the range of the differences between rates.
fn range(rates: &[&FigureComparison]) -> Option<String> {
    let effects = || rates.iter().map(|rate| rate.effect.abs());
    let least = share(effects().min_by(f64::total_cmp)?);
    let most = share(effects().max_by(f64::total_cmp)?);
    Some(match least == most {
        true => format!("by {most} %"),
        false => format!("by {least} % to {most} %"),
    })
}

/// Summarizes the latencies of cells without a verdict on the rate; empty if latencies have no
/// verdict either.
fn latencies_sentence(comparison: &Comparison) -> String {
    let has_rate = |cell: &&CellComparison| {
        total(cell, Figure::PerSecond).is_some_and(|it| it.verdict.is_significant())
    };
    // In a closed loop, the mean latency follows from rate and depth (Little's law). A verdict on
    // the rate therefore covers it.
    let open = comparison.cells.iter().filter(|cell| !has_rate(cell));
    let figures: Vec<&FigureComparison> = open
        .flat_map(|cell| [Figure::LatencyMean, Figure::LatencyP99].map(|it| total(cell, it)))
        .flatten()
        .collect();
    let count = |verdict| figures.iter().filter(|it| it.verdict == verdict).count();
    let counts = [(Verdict::Worse, "worse"), (Verdict::Better, "better")];
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(verdict, word)| (count(verdict), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("; of the latencies there, {}", parts.join(" and ")),
    }
}

/// Says how many repetitions would detect a difference as large as this one; `None` if that is
/// unknown, or if there is none.
fn needed(rate: &FigureComparison) -> Option<String> {
    let effect = share(rate.effect.abs());
    match rate.repetitions_needed {
        _ if effect == "0" || !rate.has_equal_repetitions() => None,
        Some(count) => Some(format!(
            "{count} repetitions of each side, instead of {}, would detect {effect} %",
            rate.a.n
        )),
        None if rate.smallest_difference.is_some() => Some(format!(
            "more than 1000 repetitions would be needed to detect {effect} %"
        )),
        None => None,
    }
}

/// Formats a share in percent with its sign.
fn signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{} %", share(value.abs()))
}

#[cfg(test)]
mod tests {
    use stats::Estimate;

    use super::*;

    fn cell(effect: f64, half: Option<f64>, verdict: Verdict) -> CellComparison {
        let estimate = Estimate::from_samples(&[1.0]).unwrap();
        let figure = serde_json::json!({
            "scope": {"of": "total"}, "figure": "per_second", "unit": "1/s",
            "higher_is_better": true, "a": estimate, "b": estimate, "ratio": 1.0 + effect,
            "ci95_low": half.map(|it| 1.0 + effect - it),
            "ci95_high": half.map(|it| 1.0 + effect + it),
            "effect": effect, "basis": "repetitions", "p_value": null, "p_corrected": null,
            "smallest_difference": half.map(|_| 0.41),
            "repetitions_needed": (verdict == Verdict::NoDifferenceShown).then_some(12),
            "same_as": null, "verdict": verdict,
        });
        serde_json::from_value(serde_json::json!({
            "workload": "w", "phase": "measure", "engine": "null", "cache": "direct",
            "iodepth": 1, "workers": 1, "ranks": 1, "target_a": "a", "target_b": "b",
            "errors_a": 0, "errors_b": 0, "figures": [figure],
        }))
        .unwrap()
    }

    fn summary_of(cells: &[CellComparison]) -> String {
        let side = serde_json::json!({
            "runs": [], "started_at": null, "targets": [], "incomplete_count": 0,
        });
        let comparison: Comparison = serde_json::from_value(serde_json::json!({
            "a": side, "b": side, "plan_differences": [], "environment_differences": [],
            "forced": false, "cells": cells, "only_a": [], "only_b": [], "test_count": 1,
        }))
        .unwrap();
        summary(&[comparison]).unwrap()
    }

    #[test]
    fn a_single_cell_states_its_detectable_difference() {
        for (effect, half, verdict, wanted) in [
            (
                -0.04,
                Some(0.17),
                Verdict::NoDifferenceShown,
                "no significant difference: B -4 %, 95 % interval -21 % to +13 %; a difference \
                 under 41 % may go unnoticed; 12 repetitions of each side, instead of 1, would \
                 detect 4 %",
            ),
            (
                0.125,
                Some(0.02),
                Verdict::Better,
                "B is 12 % faster than A, 95 % interval +10 % to +15 %",
            ),
            (
                0.32,
                None,
                Verdict::CannotTell,
                "cannot tell (one repetition): B is 32 % faster than A, but chance alone may be \
                 the cause",
            ),
        ] {
            assert_eq!(summary_of(&[cell(effect, half, verdict)]), wanted);
        }
    }

    #[test]
    fn several_cells_are_summed_up() {
        let worse = |effect| cell(effect, Some(0.01), Verdict::Worse);
        let same = || cell(0.0, Some(0.1), Verdict::NoDifferenceShown);
        let undecided = || cell(0.3, None, Verdict::CannotTell);
        assert_eq!(
            summary_of(&[worse(-0.1), worse(-0.2), same(), same(), undecided()]),
            "B is slower in 2 of 5 rates (by 10 % to 20 %); no significant difference in 2 \
             (largest: +0 %); cannot tell for 1: one repetition"
        );
        assert_eq!(
            summary_of(&[same(), same()]),
            "B against A: no significant difference in 2 of 2 rates (largest: +0 %)"
        );
    }
}
