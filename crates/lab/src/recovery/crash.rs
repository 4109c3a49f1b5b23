//! Time of the crash.

use std::time::Duration;

use super::plan::{FILES_END, ROUND};
use stats::{SplitMixRng, mix};

/// The crash is in one of these rounds.
const ROUND_MIN: u64 = 2;
const ROUND_COUNT: u64 = 6;
/// Longer than a step takes, so that crashes occur at every moment of a step.
const WAIT_MAX_US: u64 = 5000;

/// The time of a crash, derived from a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashPoint {
    /// Number of completed steps to wait for.
    pub done_count: u32,
    /// Additional delay.
    pub wait: Duration,
}

impl CrashPoint {
    /// The crash for this seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        // Inverted, so that the numbers differ from those for the plan with the same seed.
        let mut rng = SplitMixRng::new(!mix(seed));
        let rounds = ROUND_MIN + rng.next_u64() % ROUND_COUNT;
        // Half of the crashes are in the part that writes only logs, because recovery replays
        // these.
        let (from, length) = match rng.next_u64() % 2 {
            0 => (0, ROUND),
            _ => (FILES_END, ROUND - FILES_END),
        };
        let position = from + (rng.next_u64() % u64::from(length)) as u32;
        Self {
            done_count: rounds as u32 * ROUND + position,
            wait: Duration::from_micros(rng.next_u64() % WAIT_MAX_US),
        }
    }
}

/// The seed of a trial; the same for all file systems.
#[must_use]
pub fn trial_seed(seed: u64, trial_index: u32) -> u64 {
    mix(seed ^ mix(u64::from(trial_index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crashes_happen_in_the_middle_at_different_steps() {
        let crashes: Vec<CrashPoint> = (0..50)
            .map(|index| CrashPoint::of(trial_seed(1, index)))
            .collect();
        let mut counts: Vec<u32> = crashes.iter().map(|crash| crash.done_count).collect();
        assert!(counts.iter().all(|count| (128..512).contains(count)));
        let logs = counts.iter().filter(|count| **count % ROUND >= FILES_END);
        assert!((30..50).contains(&logs.count()), "{counts:?}");
        counts.sort_unstable();
        counts.dedup();
        assert!(counts.len() > 35, "{counts:?}");
        assert_eq!(
            CrashPoint::of(trial_seed(1, 7)),
            crashes[7],
            "a seed tells it again"
        );
    }
}
