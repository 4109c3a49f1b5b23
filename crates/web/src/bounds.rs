//! What a process that the server starts may use: the server tells it by a variable of the
//! environment, and the process refuses everything else.

use std::path::{Path, PathBuf};

use front::OfferedFiles;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The variable that holds the bounds as JSON.
pub const BOUNDS: &str = "PGMETER_BOUNDS";

/// What work that was asked for by a page may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Directories and files beneath which targets lie, without links.
    roots: Vec<PathBuf>,
    /// Block devices that may be overwritten, without links.
    devices: Vec<PathBuf>,
    /// `true` where the process answers a question and measures nothing.
    pub is_question: bool,
    /// SHA-256 of the file that it is given, in hexadecimal digits.
    text_sha256: Option<String>,
}

impl Bounds {
    /// With these roots and devices. Requests are UTF-8, so no other path can be asked for.
    pub(crate) fn new(roots: &[PathBuf], devices: &[PathBuf]) -> Self {
        let texts = |paths: &[PathBuf]| {
            let paths = paths.iter().filter(|path| path.to_str().is_some());
            paths.cloned().collect()
        };
        Self {
            roots: texts(roots),
            devices: texts(devices),
            ..Self::default()
        }
    }

    /// The same for a process that is given this file and no other.
    pub(crate) fn with_text(self, text: Option<&str>) -> Self {
        Self {
            text_sha256: text.map(|text| hash(text.as_bytes())),
            ..self
        }
    }

    /// `true` if the file is the one that was given.
    #[must_use]
    pub fn is_given(&self, bytes: &[u8]) -> bool {
        self.text_sha256.as_ref() == Some(&hash(bytes))
    }

    /// As the variable has them.
    pub(crate) fn text(&self) -> String {
        // Paths that are UTF-8 are always JSON.
        units::json_line(self).unwrap_or_default()
    }

    /// The bounds of a process with this variable.
    ///
    /// # Errors
    /// When the variable holds something else; nothing is allowed then.
    pub fn of_text(text: &str) -> Result<Self, String> {
        units::parse_json(text)
            .map_err(|error| format!("`{BOUNDS}` is not as it should be: {error}"))
    }

    /// `true` if the path leads to a target that may be measured.
    #[must_use]
    pub fn admits(&self, path: &Path) -> bool {
        let found = path.canonicalize().ok();
        found.is_some_and(|found| self.holds(&found))
    }

    /// `true` for a path without links that is beneath a root, or one of the devices.
    #[must_use]
    pub fn holds(&self, found: &Path) -> bool {
        let is_beneath = self.roots.iter().any(|root| found.starts_with(root));
        is_beneath || self.devices.iter().any(|device| device == found)
    }

    /// The files that the text of a workload may name.
    #[must_use]
    pub fn files(&self) -> OfferedFiles {
        OfferedFiles::new(self.roots.clone())
    }
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_the_bounds_that_it_is_given() {
        let site = tempfile::tempdir().unwrap();
        let root = site.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let bounds = Bounds::new(std::slice::from_ref(&root), &[]).with_text(Some("a"));
        let read = Bounds::of_text(&bounds.text()).unwrap();
        assert_eq!(read, bounds);
        assert!(read.admits(&root) && !read.admits(&root.join("link")));
        assert!(!read.admits(Path::new("/")) && !read.admits(Path::new("relative")));
        assert!(read.is_given(b"a") && !read.is_given(b"b"));
        assert!(!Bounds::default().is_given(b""));
        for text in ["", "{}", "null", "[]", "{\"roots\": [\"/\"]}"] {
            assert!(Bounds::of_text(text).is_err(), "{text}");
        }
    }
}
