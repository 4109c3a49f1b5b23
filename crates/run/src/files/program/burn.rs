//! Measures the speed of computation for programs that compute.

use std::time::Instant;

use generate::program::Interpreter;
use plan::program::{Act, ProgramPart};

/// Rounds of computation per trial.
const TRIAL_ROUNDS: u64 = 2_000_000;

/// `true` if any part computes.
pub(super) fn computes(parts: &[ProgramPart]) -> bool {
    parts.iter().any(|part| match part {
        ProgramPart::Rounds { parts, .. } => computes(parts),
        ProgramPart::Phase(phase) => {
            let mut groups = phase.groups.iter();
            groups.any(|group| group.any_act(&|act| matches!(act, Act::Burn(_))))
        }
    })
}

/// Rounds of computation per microsecond on an idle machine: the fastest of three trials.
pub(super) fn rounds_per_us() -> f64 {
    let trial = |_| {
        let begun = Instant::now();
        Interpreter::compute(TRIAL_ROUNDS);
        TRIAL_ROUNDS as f64 / begun.elapsed().as_secs_f64() / 1e6
    };
    // Other programs can only make a trial slower.
    (0..3).map(trial).fold(0.0, f64::max)
}
