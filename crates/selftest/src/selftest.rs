//! The record of a self-test.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::JsonDocument;

use crate::check::{Check, CheckVerdict, Outcome};
use crate::load::OtherLoad;

/// Name and version number of the self-test's format.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
pub const SELFTEST_FORMAT: &str = "pgmeter-selftest/1";

/// Findings of a self-test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// Name and version number of the format: [`SELFTEST_FORMAT`].
    pub format: String,
    /// Version of pgmeter.
    pub version: String,
    /// Start time.
    pub started_at: Timestamp,
    /// Duration, in nanoseconds.
    pub took_ns: u64,
    /// `true` if the self-test was interrupted.
    pub is_interrupted: bool,
    /// Other load on the machine during the self-test.
    pub load: OtherLoad,
    /// Overall verdict: the worst of all outcomes.
    pub verdict: CheckVerdict,
    /// All checks, including skipped ones.
    pub checks: Vec<Check>,
}

impl JsonDocument for SelfTest {
    const FORMAT: &'static str = SELFTEST_FORMAT;

    fn to_document(&self) -> String {
        units::json_page(self).unwrap_or_default()
    }
}

impl SelfTest {
    /// All outcomes, each with its check.
    pub fn outcomes(&self) -> impl Iterator<Item = (&Check, &Outcome)> {
        let outcomes = |check| {
            let check: &Check = check;
            check.outcomes.iter().map(move |outcome| (check, outcome))
        };
        self.checks.iter().flat_map(outcomes)
    }

    /// Number of outcomes with a verdict.
    #[must_use]
    pub fn count(&self, verdict: CheckVerdict) -> usize {
        let outcomes = self.outcomes();
        outcomes.filter(|(_, it)| it.verdict == verdict).count()
    }

    /// Sets the overall verdict: wrong before disturbed, disturbed before right.
    pub(crate) fn conclude(&mut self) {
        self.verdict = [
            CheckVerdict::Wrong,
            CheckVerdict::Disturbed,
            CheckVerdict::Right,
        ]
        .into_iter()
        .find(|verdict| self.count(*verdict) > 0)
        .unwrap_or(CheckVerdict::Skipped);
    }
}
