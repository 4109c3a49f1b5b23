//! The record of a self-test.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::JsonDocument;

use crate::check::{Check, Outcome, Verdict};
use crate::load::Load;

/// Name and number of the format that self-tests are written in.
///
/// | number | since | what changed |
/// |---|---|---|
/// | 1 | 0.1.0 | first form |
pub const SELFTEST_FORMAT: &str = "pgmeter-selftest/1";

/// What a self-test found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelfTest {
    /// Name and number of the format: [`SELFTEST_FORMAT`].
    pub format: String,
    /// Version of pgmeter.
    pub version: String,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in nanoseconds.
    pub took_ns: u64,
    /// Whether it was ended from outside.
    pub is_interrupted: bool,
    /// What else the machine had to do meanwhile.
    pub load: Load,
    /// What all outcomes come to: the worst of them.
    pub verdict: Verdict,
    /// Everything that was checked or skipped.
    pub checks: Vec<Check>,
}

impl JsonDocument for SelfTest {
    const FORMAT: &'static str = SELFTEST_FORMAT;

    fn to_document(&self) -> String {
        units::json_page(self).unwrap_or_default()
    }
}

impl SelfTest {
    /// Every outcome with its check.
    pub fn outcomes(&self) -> impl Iterator<Item = (&Check, &Outcome)> {
        let each = |check| {
            let check: &Check = check;
            check.outcomes.iter().map(move |outcome| (check, outcome))
        };
        self.checks.iter().flat_map(each)
    }

    /// How many outcomes have a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        let outcomes = self.outcomes();
        outcomes.filter(|(_, it)| it.verdict == verdict).count()
    }

    /// Wrong where anything is, else disturbed where anything was.
    pub(crate) fn conclude(&mut self) {
        self.verdict = [Verdict::Wrong, Verdict::Disturbed, Verdict::Right]
            .into_iter()
            .find(|verdict| self.count(*verdict) > 0)
            .unwrap_or(Verdict::Skipped);
    }
}
