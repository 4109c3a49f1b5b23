//! Results of another program, imported from its output.
//!
//! A value that the source does not state is absent here. Nothing is derived from the usual
//! behavior of a program.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Start of the id of a run whose source does not state a time.
const NO_TIME: &str = "00000000-000000";

/// Results of another program, with their source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportRecord {
    /// The program and the format of its output.
    pub origin: ImportOrigin,
    /// Statements of the source about the whole run, such as its options, in its order.
    #[serde(default)]
    pub statements: Vec<ImportedStatement>,
    /// Results, in the order of the source.
    pub results: Vec<ImportedResult>,
    /// The original texts.
    pub sources: Vec<ImportedText>,
}

/// The program that measured, as far as its output says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportOrigin {
    /// Name of the program, such as `fio`.
    pub program: String,
    /// Its version; none if the source does not state it.
    pub version: Option<String>,
    /// Format of the source, such as `JSON`.
    pub format: String,
    /// Start of the run, or else its end; none if the source does not state a time with a time
    /// zone.
    pub time: Option<Timestamp>,
}

/// A name and a value, as the source states them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ImportedStatement {
    /// Name, as in the source.
    pub name: String,
    /// Value, as in the source.
    pub value: String,
}

/// Results of a job, test or phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportedResult {
    /// Name of the job, test or phase.
    pub name: String,
    /// Number of the repetition, 0-based. Results that are equal in name and settings and differ in
    /// this number are repetitions of each other.
    #[serde(default)]
    pub repetition: u32,
    /// Settings that apply to this result, as the source names them.
    #[serde(default)]
    pub settings: Vec<ImportedStatement>,
    /// File, directory or device; none if the source does not state it.
    pub target: Option<String>,
    /// Requests in flight per worker; none if the source does not state it.
    pub iodepth: Option<u32>,
    /// Number of processes or threads that worked in parallel; none if the source does not state
    /// it.
    pub workers: Option<u32>,
    /// The figures, in the order of the source.
    pub figures: Vec<ImportedFigure>,
}

/// One number of a source, in base units.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFigure {
    /// Name of the operation, or `total`.
    pub operation: String,
    /// Name of the quantity, as in estimates: `per_second`, `bytes_per_second`, `latency_mean`,
    /// `latency_p99`, `transactions_per_second`. Also `count`, `bytes`, `errors`, `time`, `cpu`,
    /// and names that only one program has.
    pub metric: String,
    /// Unit of the value: `1/s`, `B/s`, `ns`, `B`, `1`, or a unit of the source.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// Last printed digit of the source, in the unit of the value; none if the source is exact or
    /// the step is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
    /// Standard deviation over the repetitions that the value is a mean of; none if the source does
    /// not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev: Option<f64>,
    /// Number of repetitions that the value is a mean of; none if the source does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// Distribution, of latencies only: lowest and highest latency of each bucket in nanoseconds,
    /// both inclusive, and the number of latencies in it. Only nonempty buckets, in increasing
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets_ns: Vec<[u64; 3]>,
}

/// An original text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedText {
    /// Name of the file, without its directory.
    pub name: String,
    /// Its contents.
    pub text: String,
}

impl ImportOrigin {
    /// Program and version, such as `fio 3.36`.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.program),
            None => self.program.clone(),
        }
    }
}

impl ImportedResult {
    /// The value of a quantity of an operation; `None` if the source does not state it.
    #[must_use]
    pub fn value(&self, operation: &str, metric: &str) -> Option<f64> {
        let mut figures = self.figures.iter();
        let is_it = |it: &&ImportedFigure| it.operation == operation && it.metric == metric;
        figures.find(is_it).map(|it| it.value)
    }

    /// Names of the operations, without duplicates, in the order of the source.
    #[must_use]
    pub fn operations(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for figure in &self.figures {
            if !names.contains(&figure.operation.as_str()) {
                names.push(&figure.operation);
            }
        }
        names
    }
}

impl ImportRecord {
    /// Id of the run: its time, if known, and a checksum of the original texts. The same texts
    /// always get the same id, so that a second import finds the first one.
    #[must_use]
    pub fn id(&self) -> String {
        let time = self.origin.time;
        let time = time.map(|it| it.strftime("%Y%m%d-%H%M%S").to_string());
        let texts = self.sources.iter();
        let bytes = texts.flat_map(|it| it.text.bytes().chain([0]));
        let checksum = units::fnv_1a(bytes);
        format!("{}-{checksum:016x}", time.as_deref().unwrap_or(NO_TIME))
    }

    /// Names of the results, without duplicates.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for result in &self.results {
            if !names.contains(&result.name.as_str()) {
                names.push(&result.name);
            }
        }
        names
    }

    /// The value of a statement of the source.
    #[must_use]
    pub fn statement(&self, name: &str) -> Option<&str> {
        let mut statements = self.statements.iter();
        let found = statements.find(|it| it.name == name);
        found.map(|it| it.value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunRecord;

    fn import(text: &str, time: Option<&str>) -> ImportRecord {
        ImportRecord {
            origin: ImportOrigin {
                program: "fio".to_owned(),
                version: None,
                format: "JSON".to_owned(),
                time: time.map(|it| it.parse().unwrap()),
            },
            statements: Vec::new(),
            results: Vec::new(),
            sources: vec![ImportedText {
                name: "a.json".to_owned(),
                text: text.to_owned(),
            }],
        }
    }

    #[test]
    fn the_id_follows_from_the_text_and_its_time() {
        let id = |text, time| import(text, time).id();
        assert_eq!(id("a", None), id("a", None));
        assert_ne!(id("a", None), id("b", None));
        assert!(id("a", None).starts_with("00000000-000000-"));
        let known = id("a", Some("2023-11-14T22:13:30.25Z"));
        assert!(known.starts_with("20231114-221330-"), "{known}");
    }

    #[test]
    fn a_record_of_imported_results_is_read_back() {
        let now: Timestamp = "2026-11-30T21:00:00Z".parse().unwrap();
        let record = RunRecord::imported(import("a", None), now);
        assert_eq!(record.started_at, now);
        assert_eq!(record.finished_at, None);
        assert_eq!(RunRecord::from_json(&record.to_json()).unwrap(), record);
    }
}
