//! How fast computing is, where a program computes.

use std::time::Instant;

use generate::program::Interpreter;
use workload::program::{Act, ProgramPart};

/// Computing that is timed to learn how fast it is, in rounds.
const TRIAL_ROUNDS: u64 = 2_000_000;

/// Whether anything in it computes.
pub(super) fn computes(parts: &[ProgramPart]) -> bool {
    fn acts(all: &[Act]) -> bool {
        all.iter().any(|act| match act {
            Act::Burn(_) => true,
            Act::Times(_, inner) | Act::Step(_, inner) | Act::Transaction(_, inner) => acts(inner),
            Act::Mix(choices) => choices.iter().any(|(_, inner)| acts(inner)),
            Act::Call(_) | Act::Think(_) => false,
        })
    }
    parts.iter().any(|part| match part {
        ProgramPart::Rounds { parts, .. } => computes(parts),
        ProgramPart::Phase(phase) => phase.groups.iter().any(|group| {
            let sections = [
                &group.enter,
                &group.first,
                &group.body,
                &group.last,
                &group.leave,
            ];
            sections.into_iter().any(|section| acts(section))
        }),
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
