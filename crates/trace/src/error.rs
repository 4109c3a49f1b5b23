//! Errors of traces as a whole; rows that cannot be read are [`RowFault`]s.

use std::io;

use units::printable;

/// Maximum number of bytes that an error quotes from a trace.
const QUOTED_BYTES_MAX: usize = 120;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The content has none of the known forms.
    #[error("the content is not a trace of a known format; it begins with `{seen}`")]
    Unknown {
        /// The first line, printable.
        seen: String,
    },
    /// The content is known, but it is not a trace of requests or calls that can be read.
    #[error("{what}")]
    Refused {
        /// Description of the content.
        what: &'static str,
        /// How to get a trace instead.
        help: &'static str,
    },
    /// The input failed.
    #[error("cannot read the trace: {0}")]
    Read(#[source] io::Error),
    /// More rows are invalid than valid.
    #[error("{bad} of the first {rows} rows cannot be read; {first}")]
    InvalidRows {
        /// Number of invalid rows.
        bad: u64,
        /// Number of rows so far.
        rows: u64,
        /// The first invalid row.
        first: String,
    },
    /// A line is longer than any line of a trace.
    #[error("line {line} has more than {} MiB", crate::lines::LINE_BYTES_MAX >> 20)]
    LongLine {
        /// Number of the line, from 1.
        line: u64,
    },
    /// More files than can be open at once.
    #[error("{count} files of one trace are more than {max}")]
    ManyInputs {
        /// Number of files.
        count: usize,
        /// Maximum number.
        max: usize,
    },
}

impl TraceError {
    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Unknown { .. } => Some("`docs/traces.md` lists the formats of traces"),
            Self::Refused { help, .. } => Some(help),
            Self::InvalidRows { .. } => Some("check that the file was not edited or mixed"),
            Self::Read(_) => Some("check that the file is complete: test the compressed file"),
            Self::LongLine { .. } => Some("check that the file is a trace in text form"),
            Self::ManyInputs { .. } => Some("merge them first with `blkparse -d FILE`"),
        }
    }
}

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowFault {
    /// The invalid part, printable.
    seen: String,
    wanted: &'static str,
}

impl RowFault {
    /// A fault in `seen`, a part of the row.
    pub(crate) fn new(seen: &[u8], wanted: &'static str) -> Self {
        Self {
            seen: quoted(seen),
            wanted,
        }
    }

    /// The fault as a sentence, with the name of the row, such as `line 7`.
    pub(crate) fn message(&self, row: &str) -> String {
        format!("{row}: `{}` is not {}", self.seen, self.wanted)
    }
}

/// Untrusted bytes as a short text for messages.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let kept = &bytes[..bytes.len().min(QUOTED_BYTES_MAX)];
    let mut text = printable(&String::from_utf8_lossy(kept)).into_owned();
    if kept.len() < bytes.len() {
        text.push('…');
    }
    text
}
