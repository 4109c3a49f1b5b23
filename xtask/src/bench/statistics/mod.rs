//! Whether the statistics hold on this machine: rates that are reached, a thing that does not
//! differ from itself, a slowdown that is found, intervals that hold the truth, a warm-up that is
//! told.

mod coverage;
mod rates;
mod side;
mod verdicts;

use super::programs::Pgmeter;
use super::{Effort, Interrupt};
use crate::error::Failure;

/// Runs all parts and returns how many asks were missed.
pub fn run(effort: &Effort, interrupt: &Interrupt) -> Result<usize, Failure> {
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
