//! JSON documents of `doctor` and `clean`.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use units::{JsonDocument, path_as_text};

use crate::{CleanReport, Finding};

/// What a machine can measure in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The directory to measure.
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    /// Results of all checks.
    pub findings: Vec<Finding>,
}

impl JsonDocument for Diagnosis {
    const FORMAT: &'static str = "pgmeter-doctor/1";
}

/// Result of cleaning a target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CleanedTarget<'a> {
    /// The target.
    #[serde(serialize_with = "path_as_text")]
    pub path: &'a Path,
    /// Removed and remaining files.
    #[serde(flatten)]
    pub report: &'a CleanReport,
}

impl JsonDocument for CleanedTarget<'_> {
    const FORMAT: &'static str = "pgmeter-clean/1";
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_path_that_is_not_utf8_leaves_the_document_valid() {
        let path = Path::new(OsStr::from_bytes(b"/a\xff"));
        let report = CleanReport {
            removed: vec![path.to_owned()],
            ..CleanReport::default()
        };
        let text = CleanedTarget {
            path,
            report: &report,
        }
        .to_document();
        assert!(text.contains("\"/a\u{fffd}\""), "{text}");
    }
}
