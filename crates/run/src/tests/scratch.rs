//! Directories for tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A directory that goes when the test ends.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// A new one; the name is that of the test.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pgmeter-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Names of its entries, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
