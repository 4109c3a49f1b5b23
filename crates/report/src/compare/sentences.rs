//! Sentences of a comparison.

use std::collections::BTreeSet;

use ::compare::{
    Basis, CellComparison, CellName, Comparison, Figure, FigureComparison, Scope, Side, Verdict,
};
use results::WarningCode;

use crate::names::{cache_name, kind_name, letter, listed, workers};
use crate::numbers::{self, LatencyUnit, percent};
use crate::wrap::printable;

/// Returns the letters of the sides after the first: `B`, `C`, and so on.
pub(super) fn other_letters() -> impl Iterator<Item = String> {
    (1_usize..).map(letter)
}

/// Returns the common unit of all latencies of the comparisons.
pub(super) fn latency_unit(comparisons: &[Comparison]) -> LatencyUnit {
    let latencies = comparisons
        .iter()
        .flat_map(Comparison::figures)
        .filter(|figure| matches!(figure.figure, Figure::LatencyMean | Figure::LatencyP99))
        .flat_map(|figure| [figure.a.mean, figure.b.mean]);
    let smallest = latencies.min_by(f64::total_cmp);
    LatencyUnit::fitting(smallest.map(|ns| ns.max(0.0) as u64))
}

/// Returns the letter and the description of each side.
pub(super) fn sides(comparisons: &[Comparison]) -> Vec<(String, String)> {
    let letters = (0..).map(letter);
    letters.zip(in_order(comparisons).map(side)).collect()
}

fn side(side: &Side) -> String {
    let runs = match side.runs.as_slice() {
        [run] if !side.origins.is_empty() => format!(
            "run {}, imported from {}",
            printable(run),
            printable(&side.origins.join(", "))
        ),
        [run] => format!("run {}", printable(run)),
        [first, .., last] => format!(
            "{} runs, {} to {}",
            side.runs.len(),
            printable(first),
            printable(last)
        ),
        [] => "no run".to_owned(),
    };
    let start = side
        .started_at
        .map(|start| start.strftime(", %Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_else(|| ", time unknown".to_owned());
    let targets = match side.targets.is_empty() {
        true => "an unknown target".to_owned(),
        false => printable(&side.targets.join(", ")),
    };
    let omitted = match side.incomplete_count {
        0 => String::new(),
        count => format!("; {count} cells did not complete and are left out"),
    };
    let name = side.name.as_ref();
    let name = name.map_or_else(String::new, |it| format!("{}: ", printable(it)));
    format!("{name}{runs}{start}, on {targets}{omitted}")
}

/// Returns a letter with what distinguishes its side from the other: its name, or its target.
pub(super) fn labeled(letter: &str, side: &Side, other: &Side) -> String {
    let target = match (side.targets.as_slice(), other.targets.as_slice()) {
        ([one], [other]) if one != other => Some(one),
        _ => None,
    };
    match side.name.as_ref().or(target) {
        Some(name) => format!("{letter} ({})", printable(name)),
        None => letter.to_owned(),
    }
}

/// Returns warnings about the whole comparison.
pub(super) fn alarms(comparisons: &[Comparison]) -> Vec<String> {
    let mut alarms = Vec::new();
    let mut left_out = |letter: &str, cells: &[CellName]| {
        if !cells.is_empty() {
            let names: Vec<String> = cells.iter().map(cell_heading).collect();
            alarms.push(format!("only {letter} has {}", names.join("; ")));
        }
    };
    for (comparison, letter) in comparisons.iter().zip(other_letters()) {
        let not_in = format!("A (compared with {letter})");
        let first: &str = if comparisons.len() == 1 { "A" } else { &not_in };
        left_out(first, &comparison.only_a);
        left_out(&letter, &comparison.only_b);
    }
    for (comparison, letter) in comparisons.iter().zip(other_letters()) {
        let unpaired = comparison.cells.iter().filter(|cell| cell.is_unpaired);
        alarms.extend(unpaired.map(|cell| {
            let n = |of: fn(&FigureComparison) -> &stats::Estimate| {
                cell.figures.first().map_or(0, |figure| of(figure).n)
            };
            format!(
                "A has {} repetitions of {} and {letter} {}: these are compared without pairs, so \
                 a disturbance of both sides adds to the difference",
                n(|figure| &figure.a),
                cell_heading(&cell.name),
                n(|figure| &figure.b)
            )
        }));
    }
    alarms.extend(imports(comparisons));
    alarms.extend(waits(comparisons));
    alarms.extend(doubts(comparisons));
    alarms
}

/// Says which sides have imported results without repetitions.
fn imports(comparisons: &[Comparison]) -> Vec<String> {
    let is_single = |index: usize| {
        let figure = |comparison: &Comparison| match index {
            0 => comparison.figures().all(|it| it.a.n < 2),
            _ => comparison.figures().all(|it| it.b.n < 2),
        };
        comparisons.get(index.saturating_sub(1)).is_some_and(figure)
    };
    let sides = in_order(comparisons).enumerate();
    let imported = sides.filter(|(index, side)| !side.origins.is_empty() && is_single(*index));
    imported
        .map(|(index, side)| {
            format!(
                "{} has results of {} without repetitions, so they have no interval; its machine \
                 and plan are unknown",
                letter(index),
                printable(&side.origins.join(", "))
            )
        })
        .collect()
}

/// Returns the sides in order.
fn in_order(comparisons: &[Comparison]) -> impl Iterator<Item = &Side> {
    let first = comparisons.first().map(|comparison| &comparison.a);
    let others = comparisons.iter().map(|comparison| &comparison.b);
    first.into_iter().chain(others)
}

/// Lists the kinds of warnings of each side, in one sentence; `None` if there are no warnings.
fn doubts(comparisons: &[Comparison]) -> Option<String> {
    let of_side = |(index, side): (usize, &Side)| {
        let codes: Vec<&str> = side.doubts.iter().map(WarningCode::as_str).collect();
        (!codes.is_empty()).then(|| format!("{} in {}", codes.join(", "), letter(index)))
    };
    let sides: Vec<String> = in_order(comparisons)
        .enumerate()
        .filter_map(of_side)
        .collect();
    let listed = sides.join("; ");
    let hint = "`pgmeter report RUN` shows them";
    (!sides.is_empty()).then(|| format!("warnings: {listed} ({hint})"))
}

/// Lists the sides whose workers waited for a CPU; empty if the workers of all sides did.
fn waits(comparisons: &[Comparison]) -> Vec<String> {
    let letters = (0..).map(letter);
    let waits = in_order(comparisons).map(|side| side.waiting);
    let sides: Vec<(String, Option<f64>)> = letters.zip(waits).collect();
    // If the workers of all sides waited, the CPUs do not explain a difference between the sides.
    if sides.iter().all(|(_, waiting)| waiting.is_some()) {
        return Vec::new();
    }
    let waited = sides
        .iter()
        .filter_map(|(letter, waiting)| Some((letter, (*waiting)?)));
    waited
        .map(|(letter, waiting)| {
            format!(
                "the workers of {letter} waited for a CPU for up to {} % of their time, but the \
                 workers of another side did not: the difference may be due to the CPUs, not the \
                 target; repeat it on an idle machine",
                percent(waiting)
            )
        })
        .collect()
}

/// Describes the location of a difference: access lines in words, other keys as in records.
pub(super) fn difference(name: &str) -> String {
    let line = name.strip_prefix("workers[0].lines[");
    let line = line.and_then(|rest| rest.split_once("]."));
    let number = line.and_then(|(number, key)| Some((number.parse::<u64>().ok()?, key)));
    match number {
        Some((number, key)) => {
            let key = key.replace('_', " ");
            format!("{key} of access line {}", number.saturating_add(1))
        }
        None => name.to_owned(),
    }
}

/// Lists the sides that measured different things than the first.
pub(super) fn different_sides(comparisons: &[Comparison]) -> Vec<String> {
    let compared = comparisons.iter().zip(other_letters());
    compared
        .filter(|(comparison, _)| comparison.forced)
        .map(|(_, letter)| format!("A and {letter} measure different things"))
        .collect()
}

/// Explains why there is no verdict.
pub(super) fn no_verdict_reason(figure: &FigureComparison) -> &'static str {
    match (figure.a.n, figure.b.n) {
        (1, 1) => "one repetition",
        _ => "no interval",
    }
}

/// Formats the verdict for a table.
pub(super) fn verdict(figure: &FigureComparison) -> String {
    match figure.verdict {
        Verdict::CannotTell => format!("cannot tell: {}", no_verdict_reason(figure)),
        verdict => verdict.name().to_owned(),
    }
}

pub(super) fn has_several_targets(comparison: &Comparison) -> bool {
    comparison.a.targets.len() > 1 || comparison.b.targets.len() > 1
}

/// Describes the work of a cell.
pub(super) fn cell_heading(cell: &CellName) -> String {
    let mut name = printable(&cell.workload);
    if let Some(access_spec) = cell.access_spec.as_ref().filter(|it| **it != cell.workload) {
        name.push_str(&format!(", {}", printable(access_spec)));
    }
    if cell.number > 1 {
        name.push_str(&format!(" ({})", cell.number));
    }
    if cell.phase != "measure" {
        name.push_str(&format!(", {}", printable(&cell.phase)));
    }
    let ranks = cell.ranks.filter(|count| *count > 1);
    let parts = [
        ("engine", cell.engine.map(|it| it.name().to_owned())),
        ("cache", cell.cache.map(|it| cache_name(it).to_owned())),
        ("workers", cell.workers.map(workers)),
        ("ranks", ranks.map(|count| format!("{count} ranks"))),
        (
            "queue depth",
            cell.iodepth.map(|depth| format!("queue depth {depth}")),
        ),
    ];
    let known = parts.iter().filter_map(|(_, text)| text.clone());
    let known: Vec<String> = known.collect();
    // Ranks are left out of cells of a single process, too.
    let is_unknown = |(name, text): &&(&str, Option<String>)| text.is_none() && *name != "ranks";
    let unknown = parts.iter().filter(is_unknown).map(|(name, _)| *name);
    let unknown: Vec<&str> = unknown.collect();
    let unknown = match unknown.is_empty() {
        true => String::new(),
        false => format!("{} unknown", listed(&unknown)),
    };
    // A comma would make what is known look like a part of the list of what is not.
    let parts = [known.join(", "), unknown];
    let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    format!("{name}: {}", parts.join("; "))
}

/// Lists the targets of a cell.
pub(super) fn targets(sides: &[(String, &CellComparison)]) -> String {
    let first = sides.first().map(|(_, cell)| ("A", cell.target_a.as_str()));
    let others = sides
        .iter()
        .map(|(letter, cell)| (letter.as_str(), cell.target_b.as_str()));
    let parts: Vec<String> = first
        .into_iter()
        .chain(others)
        .map(|(letter, target)| match target {
            "" => format!("{letter} on an unknown target"),
            target => format!("{letter} on {}", printable(target)),
        })
        .collect();
    parts.join(", ")
}

/// Lists the numbers of failed operations; `None` if there are none.
pub(super) fn errors(sides: &[(String, &CellComparison)]) -> Option<String> {
    let first = sides.first().map(|(_, cell)| ("A", cell.errors_a));
    let others = sides
        .iter()
        .map(|(letter, cell)| (letter.as_str(), cell.errors_b));
    let counts: Vec<(&str, Option<u64>)> = first.into_iter().chain(others).collect();
    let has_failed = |(_, count): &(&str, Option<u64>)| count.is_some_and(|it| it > 0);
    counts.iter().any(has_failed).then(|| {
        let parts: Vec<String> = counts
            .iter()
            .map(|(letter, count)| match count {
                Some(count) => format!("{letter} {count}"),
                None => format!("{letter} unknown"),
            })
            .collect();
        format!("failed operations: {}", parts.join(", "))
    })
}

/// The phase whose program counts a pair of operations as a transaction.
const PAIRED_PHASE: &str = "transactions";

/// Returns the name of a metric with its unit.
pub(super) fn figure(cell: &CellName, figure: &FigureComparison, unit: LatencyUnit) -> String {
    // Imported results may count other operations than reads and writes.
    let is_measured = cell.engine.is_some() && cell.phase == "measure";
    let is_operation = is_measured && !matches!(figure.scope, Scope::Transaction(_));
    let name = match figure.figure {
        Figure::PerSecond if is_operation => "IOPS".to_owned(),
        // This counts single operations, but the original counts pairs as transactions.
        Figure::PerSecond if cell.phase == PAIRED_PHASE => "op/s".to_owned(),
        other => numbers::figure_name(other, unit),
    };
    match &figure.scope {
        Scope::Total => name,
        Scope::Operation(operation) => format!("{} {name}", printable(operation)),
        Scope::Transaction(kind) => {
            format!("{} {name}", printable(&kind_name(&cell.phase, kind)))
        }
    }
}

/// Describes a metric that became worse, in one line.
pub(super) fn regression(cell: &CellComparison, it: &FigureComparison) -> String {
    // This line stands alone, so its unit need not suit other metrics.
    let unit = LatencyUnit::fitting(Some(it.a.mean.min(it.b.mean).max(0.0) as u64));
    let value = |value| numbers::figure(it.figure, value, unit);
    format!(
        "{}: {} is {} % worse, {} against {}",
        cell_heading(&cell.name),
        figure(&cell.name, it, unit),
        percent(it.loss()),
        value(it.b.mean),
        value(it.a.mean)
    )
}

/// Returns notes on reading the tables.
pub(super) fn notes(comparisons: &[Comparison]) -> Vec<String> {
    let figures = || comparisons.iter().flat_map(Comparison::figures);
    let mut notes = Vec::new();
    if figures().any(|figure| {
        figure
            .a
            .relative_error()
            .or(figure.b.relative_error())
            .is_some()
    }) {
        notes.push(
            "±: half-width of the 95 % confidence interval of the mean (omitted in narrow \
             output)"
                .to_owned(),
        );
    }
    notes.extend(holm_note(comparisons));
    let is_open = |figure: &FigureComparison| figure.verdict == Verdict::NoDifferenceShown;
    if figures().any(|figure| is_open(figure) && figure.smallest_difference.is_some()) {
        notes.push(
            "detects: the smallest true difference, in percent, that 80 of 100 such comparisons \
             would detect; smaller ones may go unnoticed"
                .to_owned(),
        );
    }
    if figures().any(|figure| figure.repetitions_needed.is_some()) {
        notes.push(
            "needs: repetitions of each side with which 80 of 100 such comparisons would detect a \
             difference as large as this one (omitted in narrow output)"
                .to_owned(),
        );
    }
    let is_vague = |it: &FigureComparison| is_open(it) && it.smallest_difference.is_none();
    if figures().any(is_vague) {
        notes.push("-: too uncertain to detect any difference".to_owned());
    }
    // A set, because many cells have the same basis and each note appears once.
    let bases: BTreeSet<&str> = figures().filter_map(|figure| basis(figure.basis)).collect();
    notes.extend(bases.into_iter().map(str::to_owned));
    notes
}

/// Returns the note on Holm's correction; `None` if nothing was tested.
fn holm_note(comparisons: &[Comparison]) -> Option<String> {
    if comparisons
        .iter()
        .all(|comparison| comparison.test_count == 0)
    {
        return None;
    }
    let counts: Vec<String> = comparisons
        .iter()
        .map(|comparison| comparison.test_count.to_string())
        .collect();
    let of = match counts.as_slice() {
        [count] if count == "1" => "the one test of this comparison".to_owned(),
        [count] => format!("the {count} tests of this comparison"),
        several => format!(
            "the tests of each comparison with A ({})",
            several.join(", ")
        ),
    };
    Some(format!(
        "better, worse: p < 0.05 after Holm's correction for {of}; low and high are the \
         95 % confidence interval of each ratio, without that correction"
    ))
}

/// Returns a note on the basis of intervals, if one is needed.
fn basis(basis: Basis) -> Option<&'static str> {
    match basis {
        Basis::Repetitions => None,
        Basis::Pairs => Some(
            "compared in pairs that were measured one after the other: B/A is the geometric mean \
             of their ratios, not the ratio of the means",
        ),
        Basis::OneSide => Some(
            "one side was measured once: intervals reflect the scatter of the other's repetitions",
        ),
        Basis::WithinRun => Some(
            "measured once each: intervals reflect the scatter within each run, not from run to \
             run; add `--repetitions 5`",
        ),
        Basis::Nothing => {
            Some("no interval: too little was measured to judge; add `--repetitions 5`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarms_of(sides: [(Option<f64>, &[&str]); 2]) -> Vec<String> {
        let [a, b] = sides.map(|(waiting, doubts)| {
            serde_json::json!({
                "runs": [], "started_at": null, "targets": [], "incomplete_count": 0,
                "waiting": waiting, "doubts": doubts,
            })
        });
        let comparison = serde_json::json!({
            "a": a, "b": b, "plan_differences": [],
            "environment_differences": [], "forced": false, "cells": [], "only_a": [],
            "only_b": [], "test_count": 1,
        });
        alarms(&[serde_json::from_value(comparison).unwrap()])
    }

    fn alarms_for_waits(waits: [Option<f64>; 2]) -> Vec<String> {
        alarms_of(waits.map(|waiting| (waiting, &[][..])))
    }

    #[test]
    fn warnings_of_the_runs_are_named_by_side() {
        assert_eq!(
            alarms_of([
                (None, &["not-steady"]),
                (None, &["not-steady", "too-short"])
            ]),
            [
                "warnings: not-steady in A; not-steady, too-short in B (`pgmeter report RUN` \
                 shows them)"
            ]
        );
        assert_eq!(
            alarms_of([(None, &[]), (None, &["too-short"])]),
            ["warnings: too-short in B (`pgmeter report RUN` shows them)"]
        );
    }

    #[test]
    fn cpu_waiting_on_one_side_only_is_an_alarm() {
        assert_eq!(
            alarms_for_waits([None, Some(0.34)]),
            [
                "the workers of B waited for a CPU for up to 34.0 % of their time, but the \
                 workers of another side did not: the difference may be due to the CPUs, not \
                 the target; repeat it on an idle machine"
            ]
        );
        assert_eq!(alarms_for_waits([Some(0.3), Some(0.34)]), [""; 0]);
        assert_eq!(alarms_for_waits([None, None]), [""; 0]);
    }
}
