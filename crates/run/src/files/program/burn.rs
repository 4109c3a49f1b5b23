//! How fast computing is, where a program computes.

use std::time::Instant;

use generate::program::Interpreter;
use plan::program::{Act, ProgramPart};

/// Computing that is timed to learn how fast it is, in rounds.
const TRIAL_ROUNDS: u64 = 2_000_000;

/// Whether anything in it computes.
pub(super) fn computes(parts: &[ProgramPart]) -> bool {
    parts.iter().any(|part| match part {
        ProgramPart::Rounds { parts, .. } => computes(parts),
        ProgramPart::Phase(phase) => {
            let mut groups = phase.groups.iter();
            groups.any(|group| group.any_act(&|act| matches!(act, Act::Burn(_))))
        }
    })
}

/// How much computing fits into a microsecond where nothing else runs: the fastest of three
/// trials.
pub(super) fn rounds_per_us() -> f64 {
    let trial = |_| {
        let begun = Instant::now();
        Interpreter::compute(TRIAL_ROUNDS);
        TRIAL_ROUNDS as f64 / begun.elapsed().as_secs_f64() / 1e6
    };
    (0..3).map(trial).fold(0.0, f64::max)
}
