//! Checks submissions by numbered rules. Each check continues after a broken rule.

mod figures;
mod files;
mod histograms;
mod imports;
mod intervals;
mod physics;
mod pool;
mod record;
mod reports;
mod rule;
mod sessions;
mod statistics;
mod terse;
#[cfg(test)]
mod tests;
mod times;
mod together;

pub use pool::{PoolGeneration, PoolVerdict};
pub use rule::{BoardRule, RuleFinding, RuleLevel};
pub use together::check_together;

use results::{CellRecord, Phase, RunRecord, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::entry::{TrustLevel, Values};
use crate::{BoardConfig, BoardError, DeclaredFacts, Submission, SubmittedResult};
use pool::PoolModel;
use rule::FindingList;

/// A submission with all that later steps need of it. It does not contain the record.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckedSubmission {
    /// Name of its directory.
    pub slug: String,
    /// Name of the system.
    pub title: String,
    /// Who submitted it.
    pub submitter: String,
    /// Level of trust.
    pub trust: TrustLevel,
    /// `true` if a signature of the record was verified.
    pub is_signed: bool,
    /// Rules that it does not follow, those that refuse it first.
    pub findings: Vec<RuleFinding>,
    /// Rules, by name, that the output of another program leaves unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<&'static str>,
    /// Verdicts on published figures of PostMark.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolVerdict>,
    /// Id of the run; none for figures.
    pub run: Option<String>,
    /// Hash of all counts and latencies of the record.
    #[serde(skip)]
    pub fingerprint: Option<String>,
    /// Class of the hardware, for records of others to agree with; none for figures.
    #[serde(skip)]
    pub hardware: Option<String>,
    /// Effect if another submission has the same results.
    #[serde(skip)]
    pub copy_level: RuleLevel,
    /// Values by table.
    #[serde(skip)]
    pub values: Vec<Values>,
}

impl CheckedSubmission {
    /// Returns the verdict on a submission whose files cannot be read.
    #[must_use]
    pub fn unreadable(slug: &str, error: &BoardError) -> Self {
        let mut found = FindingList::default();
        let expected = "files that this version can read".to_owned();
        found.add(BoardRule::Format, "files", expected, error.to_string());
        Self {
            slug: slug.to_owned(),
            title: String::new(),
            submitter: String::new(),
            trust: TrustLevel::Published,
            is_signed: false,
            findings: found.into_sorted(),
            unknown: Vec::new(),
            pools: Vec::new(),
            run: None,
            fingerprint: None,
            hardware: None,
            copy_level: RuleLevel::Error,
            values: Vec::new(),
        }
    }

    /// Adds a finding of a check that needs more than the texts, such as of a signature.
    pub fn add(&mut self, rule: BoardRule, place: &str, expected: &str, actual: String) {
        self.findings.push(RuleFinding {
            rule: rule.id(),
            name: rule.name(),
            level: rule.level(),
            place: place.to_owned(),
            expected: expected.to_owned(),
            actual,
        });
        self.findings.sort_by_key(|it| it.level);
    }

    /// Returns `true` if a rule refuses it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.any(|it| it.level == RuleLevel::Error)
    }
}

/// Checks submissions one at a time.
pub struct Checker<'a> {
    config: &'a BoardConfig,
    now: Timestamp,
    model: PoolModel,
}

impl<'a> Checker<'a> {
    /// Checks submissions of a board. `now` is the latest possible time of a run.
    #[must_use]
    pub fn new(config: &'a BoardConfig, now: Timestamp) -> Self {
        Self {
            config,
            now,
            model: PoolModel::default(),
        }
    }

    /// Checks a single submission; [`check_together`] compares it with others.
    pub fn check(&mut self, submission: &Submission) -> CheckedSubmission {
        let mut found = FindingList::default();
        files::check(submission, self.config, &mut found);
        let mut pools = Vec::new();
        match &submission.result {
            SubmittedResult::Record { record, .. } => {
                self.check_record(&submission.info.declared, record, &mut found);
            }
            SubmittedResult::Figures(it) => {
                pools = figures::check(it, self.config, &mut self.model, &mut found);
            }
        }
        let record = submission.record();
        let values = Values::of(submission, self.config);
        if values.is_empty() {
            let tables: Vec<&str> = self
                .config
                .tables
                .iter()
                .map(|it| it.name.as_str())
                .collect();
            found.add(
                BoardRule::Table,
                "result",
                format!("the full work of one of the tables {}", tables.join(", ")),
                "no such work".to_owned(),
            );
        }
        CheckedSubmission {
            slug: submission.slug.clone(),
            title: submission.info.title.clone(),
            submitter: submission.info.submitter.clone(),
            trust: TrustLevel::of(submission, &values),
            is_signed: false,
            findings: found.into_sorted(),
            unknown: record.map(unknown).unwrap_or_default(),
            pools,
            run: record.map(|record| record.id.clone()),
            fingerprint: record.map(together::fingerprint),
            hardware: record.and_then(together::hardware),
            copy_level: record.map_or(RuleLevel::Error, together::copy_level),
            values,
        }
    }

    /// Checks a record that is not a submission yet.
    pub fn check_alone(&mut self, name: &str, record: &RunRecord) -> CheckedSubmission {
        let mut found = FindingList::default();
        self.check_record(&DeclaredFacts::default(), record, &mut found);
        CheckedSubmission {
            slug: name.to_owned(),
            title: name.to_owned(),
            submitter: String::new(),
            trust: TrustLevel::Record,
            is_signed: false,
            findings: found.into_sorted(),
            unknown: unknown(record),
            pools: Vec::new(),
            run: Some(record.id.clone()),
            fingerprint: Some(together::fingerprint(record)),
            hardware: None,
            copy_level: RuleLevel::Error,
            values: Vec::new(),
        }
    }

    fn check_record(
        &mut self,
        declared: &DeclaredFacts,
        record: &RunRecord,
        found: &mut FindingList,
    ) {
        if let Some(import) = &record.import {
            // Rules about cells have nothing to check: the page says what is unknown.
            imports::check(record, import, (declared, self.now), found);
            sessions::check(import, self.config, &mut self.model, found);
            return;
        }
        record::check(record, declared, found);
        times::check(record, self.now, found);
        for cell in &record.cells {
            histograms::check(cell, found);
            intervals::check(cell, record, found);
            physics::check(cell, record, declared, found);
            pool::check(cell, record, &mut self.model, found);
        }
        physics::check_run(record, declared, found);
        statistics::check(record, found);
    }
}

/// Returns the rules that need facts which a record does not have.
fn unknown(record: &RunRecord) -> Vec<&'static str> {
    let rules = imports::UNKNOWN_RULES.iter();
    let rules = rules.filter(|_| record.import.is_some());
    rules.map(|it| it.name()).collect()
}

/// Names a cell in findings.
fn place(cell: &CellRecord) -> String {
    match &cell.phase {
        Phase::Classic(phase) => format!("cell {}, phase {phase}", cell.index),
        _ => format!("cell {}", cell.index),
    }
}

/// Returns `true` if two values are equal up to rounding of a few operations.
fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs())
}
