//! Limits for the processes that the server starts. The server passes them in an environment
//! variable, and the process refuses everything else.

use std::path::{Path, PathBuf};

use front::AllowedDirectories;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Environment variable that contains the limits as JSON.
pub const BOUNDS_VARIABLE: &str = "PGMETER_BOUNDS";

/// Files and devices that work requested by a page may use.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Directories and files below which targets must be, with symbolic links resolved.
    roots: Vec<PathBuf>,
    /// Block devices that may be overwritten, with symbolic links resolved.
    devices: Vec<PathBuf>,
    /// TCP peers that may be measured, as `tcp://HOST:PORT`.
    peers: Vec<String>,
    /// `true` if the process only answers a question and measures nothing.
    pub is_question: bool,
    /// SHA-256 of the workload file for the process, in hexadecimal digits.
    text_sha256: Option<String>,
}

impl Bounds {
    /// Limits with these roots, devices and peers. Paths that are not UTF-8 are left out: requests
    /// are UTF-8 and cannot name them.
    pub(crate) fn new(roots: &[PathBuf], devices: &[PathBuf], peers: &[String]) -> Self {
        let texts = |paths: &[PathBuf]| {
            let paths = paths.iter().filter(|path| path.to_str().is_some());
            paths.cloned().collect()
        };
        Self {
            roots: texts(roots),
            devices: texts(devices),
            peers: peers.to_vec(),
            ..Self::default()
        }
    }

    /// Limits for a process that may read this workload file and no other.
    pub(crate) fn with_text(self, text: Option<&str>) -> Self {
        Self {
            text_sha256: text.map(|text| hash(text.as_bytes())),
            ..self
        }
    }

    /// `true` if the content is that of the permitted workload file.
    #[must_use]
    pub fn is_given(&self, bytes: &[u8]) -> bool {
        // Without a hash, no file is permitted.
        self.text_sha256.as_ref() == Some(&hash(bytes))
    }

    /// The limits as text for the environment variable.
    pub(crate) fn text(&self) -> String {
        // Cannot fail: UTF-8 paths can always be written as JSON.
        units::json_line(self).unwrap_or_default()
    }

    /// Parses the limits from the environment variable.
    ///
    /// # Errors
    /// If the text is invalid; the process must then refuse everything.
    pub fn of_text(text: &str) -> Result<Self, String> {
        units::parse_json(text)
            .map_err(|error| format!("`{BOUNDS_VARIABLE}` is not the expected JSON: {error}"))
    }

    /// `true` if the path leads to a permitted target.
    #[must_use]
    pub fn admits(&self, path: &Path) -> bool {
        let resolved = path.canonicalize().ok();
        resolved.is_some_and(|found| self.holds(&found))
    }

    /// `true` if a path without symbolic links is below a root or is a permitted device.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        // `Path::starts_with` compares whole components, so `/mnt/a` does not admit `/mnt/ab`.
        let is_beneath = self.roots.iter().any(|root| path.starts_with(root));
        is_beneath || self.devices.iter().any(|device| device == path)
    }

    /// TCP peers that may be measured.
    #[must_use]
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// Files that a workload may refer to.
    #[must_use]
    pub fn files(&self) -> AllowedDirectories {
        AllowedDirectories::new(self.roots.clone())
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
    fn bounds_passed_to_a_process_read_back_unchanged() {
        let site = tempfile::tempdir().unwrap();
        let root = site.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let bounds = Bounds::new(std::slice::from_ref(&root), &[], &[]).with_text(Some("a"));
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
