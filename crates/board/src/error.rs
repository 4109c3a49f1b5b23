//! Reasons why a file of a board cannot be used.

use units::printable;

/// Reason why a file of a board cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoardError {
    /// The file is not TOML, or has a wrong key or value.
    #[error("{}{}: {message}", printable(.file), position(*.line))]
    Toml {
        /// Name of the file.
        file: String,
        /// Line of the mistake, from 1; `None` if it concerns the whole file.
        line: Option<usize>,
        /// The mistake, with the expected value.
        message: String,
        /// One action that resolves it.
        help: String,
    },
    /// The record cannot be read.
    #[error("{}: {message}", printable(.file))]
    Record {
        /// Name of the file.
        file: String,
        /// The mistake.
        message: String,
    },
    /// The text of an import has other figures without the private names.
    #[error("the text without private names has other figures than before")]
    Stripped,
    /// A submission has no result, or two.
    #[error("`{}` has {}", printable(.slug), results_text(*.is_double))]
    Results {
        /// Directory of the submission.
        slug: String,
        /// `true` if it has both a record and figures.
        is_double: bool,
    },
}

fn position(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(":{line}"))
}

const fn results_text(is_double: bool) -> &'static str {
    match is_double {
        true => "both `record.json` and `figures.toml`",
        false => "neither `record.json` nor `figures.toml`",
    }
}

impl BoardError {
    /// Returns one action that resolves the error.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Toml { help, .. } => help.clone(),
            Self::Record { .. } => "write the submission again with `pgmeter board add`".to_owned(),
            Self::Stripped => {
                "keep the kinds of names that are not private, with `--keep`".to_owned()
            }
            Self::Results { .. } => {
                "keep the record of a run, or the figures of a publication".to_owned()
            }
        }
    }

    /// Reports a mistake in a whole file.
    pub(crate) fn in_file(file: &str, message: impl Into<String>, help: &str) -> Self {
        Self::Toml {
            file: file.to_owned(),
            line: None,
            message: message.into(),
            help: help.to_owned(),
        }
    }
}
