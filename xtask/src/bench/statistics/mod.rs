//! Checks the statistics on this machine: rates reached, comparisons of a target with itself,
//! detection of a slowdown, coverage of confidence intervals, and detection of a warm-up.

mod coverage;
mod rates;
mod side;
mod verdicts;

use super::programs::Pgmeter;
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

/// Runs all parts and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let pgmeter = Pgmeter::of(effort)?;
    let mut missed_count = 0;
    if effort.wants("arrivals") {
        missed_count += rates::arrivals()?;
    }
    if effort.wants("rates") {
        missed_count += rates::rates(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("same") {
        missed_count += verdicts::same(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("slower") {
        missed_count += verdicts::slower(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("coverage") {
        missed_count += coverage::coverage(&pgmeter, effort, interrupt)?;
    }
    if effort.wants("warm-up") {
        missed_count += coverage::warm_up(&pgmeter, effort, interrupt)?;
    }
    Ok(missed_count)
}
