//! The result of a comparison in one sentence.

use ::compare::{CellComparison, Comparison, Figure, FigureComparison, Scope, Verdict};

use super::sentences::{no_verdict_reason, other_letters};

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
    let rate = |cell| total(cell, Figure::PerSecond);
    let rates: Vec<&FigureComparison> = comparison.cells.iter().filter_map(rate).collect();
    let mut text = match rates.as_slice() {
        [] => format!("A and {letter} have no rate in common"),
        [rate] => rate_sentence(rate, letter),
        several => rates_sentence(several, letter),
    };
    text.push_str(&latencies_sentence(comparison));
    text
}

fn total(cell: &CellComparison, figure: Figure) -> Option<&FigureComparison> {
    let mut figures = cell.figures.iter();
    figures.find(|it| it.scope == Scope::Total && it.figure == figure)
}

fn rate_sentence(rate: &FigureComparison, letter: &str) -> String {
    let change = match share(rate.effect.abs()) {
        // The text is compared, so that `0 % faster` is never printed.
        same if same == "0" => format!("{letter} is as fast as A"),
        percent if rate.effect < 0.0 => format!("{letter} is {percent} % slower"),
        percent => format!("{letter} is {percent} % faster"),
    };
    let margin = match (rate.ci95_low, rate.ci95_high) {
        (Some(low), Some(high)) => format!(", ±{} %", share((high - low) / 2.0)),
        _ => String::new(),
    };
    match rate.verdict {
        Verdict::Better | Verdict::Worse => format!("{change}{margin}"),
        Verdict::NoDifferenceShown => {
            let unseen = match rate.smallest_difference {
                Some(least) => {
                    let least = share(least);
                    format!("differences below about {least} % would go undetected")
                }
                None => "even a tenfold difference would go undetected".to_owned(),
            };
            format!("{change}{margin}: not significant; {unseen}")
        }
        Verdict::CannotTell => {
            format!(
                "{change}, but the difference may be due to chance: {}",
                no_verdict_reason(rate)
            )
        }
    }
}

fn rates_sentence(rates: &[&FigureComparison], letter: &str) -> String {
    let of = |verdict: Verdict| -> Vec<&FigureComparison> {
        let rates = rates.iter().copied();
        rates.filter(|rate| rate.verdict == verdict).collect()
    };
    let count = rates.len();
    let mut total = format!(" of {count} cells");
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
        parts.push(format!("{letter} is {}", significant.join(" and ")));
    }
    let unshown = of(Verdict::NoDifferenceShown).len();
    if unshown > 0 {
        let total = std::mem::take(&mut total);
        parts.push(format!("no significant difference in {unshown}{total}"));
    }
    let undecided = of(Verdict::CannotTell);
    if let Some(first) = undecided.first() {
        let why = no_verdict_reason(first);
        let number = undecided.len();
        let differ = if number == 1 { "differs" } else { "differ" };
        parts.push(format!(
            "it is unknown whether {number}{total} {differ}: {why}"
        ));
    }
    match significant.is_empty() {
        true => format!("{letter} against A: {}", parts.join("; ")),
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
    let is_judged = |it: &FigureComparison| matches!(it.verdict, Verdict::Better | Verdict::Worse);
    let has_rate = |cell: &&CellComparison| total(cell, Figure::PerSecond).is_some_and(is_judged);
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

/// Formats a share in percent, with the digits that suit a sentence.
fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        10.0.. => format!("{percent:.0}"),
        _ => format!("{percent:.1}").trim_end_matches(".0").to_owned(),
    }
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
            "smallest_difference": half.map(|_| 0.41), "same_as": null, "verdict": verdict,
        });
        serde_json::from_value(serde_json::json!({
            "workload": "w", "phase": "measure", "engine": "null", "cache": "direct",
            "iodepth": 1, "workers": 1, "ranks": 1, "target_a": "a", "target_b": "b",
            "errors_a": 0, "errors_b": 0, "figures": [figure],
        }))
        .unwrap()
    }

    fn said(cells: &[CellComparison]) -> String {
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
                "B is 4 % slower, ±17 %: not significant; differences below about 41 % would go \
                 undetected",
            ),
            (0.125, Some(0.02), Verdict::Better, "B is 12 % faster, ±2 %"),
            (
                0.32,
                None,
                Verdict::CannotTell,
                "B is 32 % faster, but the difference may be due to chance: one repetition",
            ),
        ] {
            assert_eq!(said(&[cell(effect, half, verdict)]), wanted);
        }
    }

    #[test]
    fn several_cells_are_summed_up() {
        let worse = |effect| cell(effect, Some(0.01), Verdict::Worse);
        let same = || cell(0.0, Some(0.1), Verdict::NoDifferenceShown);
        let undecided = || cell(0.3, None, Verdict::CannotTell);
        assert_eq!(
            said(&[worse(-0.1), worse(-0.2), same(), same(), undecided()]),
            "B is slower in 2 of 5 cells (by 10 % to 20 %); no significant difference in 2; \
             it is unknown whether 1 differs: one repetition"
        );
        assert_eq!(
            said(&[same(), same()]),
            "B against A: no significant difference in 2 of 2 cells"
        );
    }
}
