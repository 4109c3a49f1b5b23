//! A submission: who measured which system, and the result.

use std::collections::BTreeMap;

use results::{ImportRecord, RunRecord, Timestamp};
use serde::{Deserialize, Serialize};
use units::printable;

use crate::toml_text;
use crate::{BoardError, SubmittedFigures};

/// Format of `submission.toml`.
pub const SUBMISSION_FORMAT: &str = "pgmeter-submission/1";
/// Maximum length of the name of a submission's directory.
const SLUG_CHARS_MAX: usize = 80;

/// Questions that a submission may answer in its table `answers`, with the meaning of each key.
///
/// Source: the questionnaire of IO500, in other words.
pub const ANSWERS: [(&str, &str); 9] = [
    ("purpose", "What is the system used for?"),
    ("availability", "Who can buy or use it, and since when?"),
    (
        "software",
        "Which file system in which version, with which options?",
    ),
    ("environment", "What else ran on the machine?"),
    (
        "faults",
        "Which failures does it survive without losing data?",
    ),
    ("execution", "How was the run started, and how often?"),
    ("caching", "Which caches could hold the data?"),
    ("data", "What did the written data contain?"),
    (
        "trust",
        "How was it verified that the data was stored, and that the rate is possible?",
    ),
];

/// The contents of `submission.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmissionDescription {
    /// [`SUBMISSION_FORMAT`].
    pub format: String,
    /// Name of the system.
    pub title: String,
    /// Name of the person or organization that submits it.
    pub submitter: String,
    /// License of the data, such as `CC0-1.0`.
    pub license: String,
    /// Date of the submission, such as `2026-11-30`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitted: Option<String>,
    /// Year of the measurement, such as `1999` or `about 2005`; by default that of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<String>,
    /// Place of the data.
    pub kind: SystemKind,
    /// Machine, storage and file system in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Publication that the figures come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Remark of the submitter or of the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Facts that a record cannot show.
    #[serde(default, skip_serializing_if = "DeclaredFacts::is_empty")]
    pub declared: DeclaredFacts,
    /// Facts about the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordFacts>,
    /// Answers to [`ANSWERS`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}

/// Facts that a record cannot show.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeclaredFacts {
    /// Reason for failed operations in the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<String>,
    /// Cache that served the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// Sum of the maximum rates of all links to the storage, in bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<f64>,
    /// Server, network and cache of a network file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
}

impl DeclaredFacts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Facts about a record, written by `pgmeter board add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordFacts {
    /// Id of the run.
    pub id: String,
    /// SHA-256 of `record.json`.
    pub sha256: String,
    /// SHA-256 of the record before names and paths were removed.
    pub original_sha256: String,
    /// Hashes of the work of its cells.
    pub works: Vec<String>,
    /// Kinds of text that were replaced.
    #[serde(default)]
    pub stripped: Vec<String>,
}

/// Place of the data of a system.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SystemKind {
    /// A device of the machine.
    Local,
    /// The memory of the machine.
    Memory,
    /// Another machine, over a network.
    Network,
    /// Unknown.
    Unknown,
}

impl SystemKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Local, Self::Memory, Self::Network, Self::Unknown];

    /// Returns the name as in `submission.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Unknown => "unknown",
        }
    }
}

/// Texts of the files of one submission.
#[derive(Debug, Clone, Copy)]
pub struct SubmissionTexts<'a> {
    /// Name of the directory.
    pub slug: &'a str,
    /// `submission.toml`.
    pub info: &'a str,
    /// `record.json`.
    pub record: Option<&'a str>,
    /// `figures.toml`.
    pub figures: Option<&'a str>,
}

/// A submission.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Name of its directory.
    pub slug: String,
    /// Contents of `submission.toml`.
    pub info: SubmissionDescription,
    /// The result.
    pub result: SubmittedResult,
}

/// The result of a submission.
#[derive(Debug, Clone)]
pub enum SubmittedResult {
    /// The record of a run.
    Record {
        /// The record.
        record: Box<RunRecord>,
        /// SHA-256 of its text.
        sha256: String,
    },
    /// Figures of a publication.
    Figures(SubmittedFigures),
}

impl SubmissionDescription {
    /// Reads `submission.toml`.
    ///
    /// # Errors
    /// If the text is not TOML, lacks a key or has an unknown one.
    pub fn read(file: &str, text: &str) -> Result<Self, BoardError> {
        let info: Self = toml_text::read(file, text)?;
        if info.format != SUBMISSION_FORMAT {
            let seen = printable(&info.format);
            let message =
                format!("`format` is `{seen}`, but this version reads `{SUBMISSION_FORMAT}`");
            return Err(BoardError::in_file(
                file,
                message,
                "use a version that reads it",
            ));
        }
        let is_known = |key: &&String| ANSWERS.iter().any(|(known, _)| known == key);
        if let Some(key) = info.answers.keys().find(|key| !is_known(key)) {
            let keys: Vec<&str> = ANSWERS.iter().map(|(key, _)| *key).collect();
            let help = format!("use {}", keys.join(", "));
            let message = format!("`answers` has no key `{}`", printable(key));
            return Err(BoardError::in_file(file, message, &help));
        }
        Ok(info)
    }

    /// Serializes to the text of `submission.toml`.
    #[must_use]
    pub fn text(&self) -> String {
        toml_text::write(self)
    }
}

impl Submission {
    /// Reads the files of a submission.
    ///
    /// # Errors
    /// If a file cannot be read, or there is not exactly one result.
    pub fn read(texts: SubmissionTexts) -> Result<Self, BoardError> {
        let slug = texts.slug;
        let name = |file: &str| format!("submissions/{slug}/{file}");
        let info = SubmissionDescription::read(&name("submission.toml"), texts.info)?;
        let result = match (texts.record, texts.figures) {
            (Some(text), None) => SubmittedResult::Record {
                record: RunRecord::from_json(text).map(Box::new).map_err(|error| {
                    BoardError::Record {
                        file: name("record.json"),
                        message: error.to_string(),
                    }
                })?,
                sha256: crate::hash::sha256(text.as_bytes()),
            },
            (None, Some(text)) => {
                SubmittedResult::Figures(SubmittedFigures::read(&name("figures.toml"), text)?)
            }
            (record, _) => {
                return Err(BoardError::Results {
                    slug: slug.to_owned(),
                    is_double: record.is_some(),
                });
            }
        };
        Ok(Self {
            slug: slug.to_owned(),
            info,
            result,
        })
    }

    /// Returns the record; `None` if only figures were published.
    #[must_use]
    pub fn record(&self) -> Option<&RunRecord> {
        match &self.result {
            SubmittedResult::Record { record, .. } => Some(record),
            SubmittedResult::Figures(_) => None,
        }
    }

    /// Returns the imported results; `None` if pgmeter measured, or figures were published.
    #[must_use]
    pub fn import(&self) -> Option<&ImportRecord> {
        self.record()?.import.as_ref()
    }

    /// Returns the year of the measurement as text; empty if unknown.
    #[must_use]
    pub fn year(&self) -> String {
        match (&self.info.year, self.record()) {
            (Some(year), _) => year.clone(),
            (None, Some(record)) => match &record.import {
                // Without a time in its source, an import starts when it was imported.
                Some(import) => import
                    .origin
                    .time
                    .as_ref()
                    .map_or_else(String::new, year_of),
                None => year_of(&record.started_at),
            },
            (None, None) => String::new(),
        }
    }
}

fn year_of(time: &Timestamp) -> String {
    time.strftime("%Y").to_string()
}

/// Returns `true` if a text can name a submission or a table: small letters, digits and hyphens.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty()
        && text.len() <= SLUG_CHARS_MAX
        && text.bytes().all(is_allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Makes a name for a directory or a table from a title.
#[must_use]
pub fn slug_of(title: &str) -> String {
    let mut slug = String::new();
    for character in title.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() >= SLUG_CHARS_MAX {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    // A title without any letter or digit still needs a directory.
    if slug.is_empty() { "system" } else { slug }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_have_only_safe_characters() {
        for (title, slug) in [
            ("2xP3+SOFT", "2xp3-soft"),
            (
                "ext3 (hash b-tree directories)",
                "ext3-hash-b-tree-directories",
            ),
            ("../../etc/passwd", "etc-passwd"),
            ("\u{202e}<script>", "script"),
            ("", "system"),
        ] {
            assert_eq!(slug_of(title), slug);
            assert!(is_slug(slug), "{slug}");
        }
        assert!(is_slug(&slug_of(&"+a".repeat(10_000))));
        assert!(!is_slug("a/b") && !is_slug("-a") && !is_slug("A") && !is_slug(".."));
    }
}
