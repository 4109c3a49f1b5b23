//! Measures two sides alternately, and merges the runs of each.

use std::path::PathBuf;

use serde_json::Value;

use crate::bench::Interrupt;
use crate::bench::programs::Pgmeter;
use crate::error::Failure;

/// Measures both sides alternately, A B B A A B ..., and returns the records of each.
pub fn in_turn(
    rounds_count: usize,
    interrupt: &Interrupt,
    mut measure: impl FnMut(usize) -> Result<Value, Failure>,
) -> Result<[Vec<Value>; 2], Failure> {
    let mut sides = [Vec::new(), Vec::new()];
    for round in 0..rounds_count {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            interrupt.check()?;
            sides[side].push(measure(side)?);
        }
    }
    Ok(sides)
}

/// Verdict of a comparison on one value.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureVerdict {
    /// Name such as `per_second`, after the name of the operation if it has one.
    pub figure: String,
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// `better`, `worse` or `no-difference-shown`.
    pub verdict: String,
}

impl FigureVerdict {
    pub fn shows_difference(&self) -> bool {
        self.verdict != "no-difference-shown"
    }
}

/// Compares both sides with paired runs, and returns the verdict on each value.
pub fn compare(pgmeter: &Pgmeter, sides: [Vec<Value>; 2]) -> Result<Vec<FigureVerdict>, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    for (name, runs) in ["a.json", "b.json"].into_iter().zip(sides) {
        files.push(pgmeter.keep(name, &merge(runs))?);
    }
    Ok(verdicts(&pgmeter.compare(&files)?))
}

/// Merges several runs into one record, with their cells as repetitions.
fn merge(runs: Vec<Value>) -> Value {
    let mut runs = runs.into_iter();
    let mut first = runs.next().unwrap_or_default();
    for (repetition, mut run) in (1_usize..).zip(runs) {
        let cells = run.get_mut("cells").and_then(Value::as_array_mut);
        for mut cell in cells.into_iter().flat_map(std::mem::take) {
            // Each run is a single first repetition, so the numbers would be equal.
            cell["repetition"] = Value::from(repetition);
            if let Some(all) = first.get_mut("cells").and_then(Value::as_array_mut) {
                all.push(cell);
            }
        }
    }
    first
}

fn verdicts(comparison: &Value) -> Vec<FigureVerdict> {
    let array = |value: &Value, key: &str| {
        let items = value.get(key).and_then(Value::as_array);
        items.cloned().unwrap_or_default()
    };
    let cells = array(comparison, "cells");
    let figures = cells.iter().flat_map(|cell| array(cell, "figures"));
    figures.map(|figure| of_figure(&figure)).collect()
}

fn of_figure(figure: &Value) -> FigureVerdict {
    let text = |path: &str| figure.pointer(path).and_then(Value::as_str);
    let number = |path: &str| figure.pointer(path).and_then(Value::as_f64);
    let operation = text("/scope/name").map(|name| format!("{name} "));
    FigureVerdict {
        figure: operation.unwrap_or_default() + text("/figure").unwrap_or("?"),
        ratio: number("/ratio").unwrap_or(f64::NAN),
        low: number("/ci95_low").unwrap_or(f64::NAN),
        high: number("/ci95_high").unwrap_or(f64::NAN),
        // An empty verdict proves nothing.
        verdict: text("/verdict").unwrap_or("nothing").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sides_run_alternately() {
        let mut order = Vec::new();
        let sides = in_turn(3, &Interrupt::default(), |side| {
            order.push(side);
            Ok(Value::from(side))
        });
        assert_eq!(order, [0, 1, 1, 0, 0, 1]);
        assert_eq!(sides.unwrap(), [vec![json!(0); 3], vec![json!(1); 3]]);
    }

    #[test]
    fn merged_runs_become_repetitions() {
        let run = |rate: u32| json!({"cells": [{"repetition": 0, "rate": rate}]});
        let merged = merge(vec![run(5), run(6)]);
        let wanted = json!([{"repetition": 0, "rate": 5}, {"repetition": 1, "rate": 6}]);
        assert_eq!(merged["cells"], wanted);
    }

    #[test]
    fn verdicts_are_read_from_a_comparison() {
        let figures = json!([
            {"scope": {"of": "total"}, "figure": "per_second", "ratio": 0.9,
             "ci95_low": 0.8, "ci95_high": 0.95, "verdict": "worse"},
            {"scope": {"of": "operation", "name": "read"}, "figure": "latency_mean",
             "ratio": 1.0, "verdict": "no-difference-shown"},
        ]);
        let verdicts = verdicts(&json!({"cells": [{"figures": figures}]}));
        assert_eq!(verdicts[0].figure, "per_second");
        assert_eq!(
            (verdicts[0].ratio, verdicts[0].low, verdicts[0].high),
            (0.9, 0.8, 0.95)
        );
        assert!(verdicts[0].shows_difference() && !verdicts[1].shows_difference());
        assert_eq!(verdicts[1].figure, "read latency_mean");
    }
}
