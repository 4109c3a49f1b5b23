//! The files of the package, laid out as they are installed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::{Compression, GzBuilder};

use super::licenses;
use super::platform::Platform;
use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;

/// Directory of the documents, as in Debian.
const DOCUMENTS: &str = "usr/share/doc/pgmeter";
/// Licenses of the linked packages.
pub const THIRD_PARTY_LICENSES: &str = "usr/share/doc/pgmeter/third-party-licenses.gz";
/// Each shell, with its path for completions of `pgmeter`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/pgmeter"),
    ("zsh", "usr/share/zsh/vendor-completions/_pgmeter"),
    ("fish", "usr/share/fish/vendor_completions.d/pgmeter.fish"),
];

/// A directory that represents the root of a system.
pub struct PackageTree {
    root: PathBuf,
}

impl PackageTree {
    /// An empty tree in an empty directory.
    pub fn new(root: PathBuf) -> PackageTree {
        PackageTree { root }
    }

    /// Path of the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the tree; creates its directory.
    pub fn path(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.root.join(name);
        let directory = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(directory).map_err(Failure::file(directory))?;
        Ok(path)
    }

    /// Adds all files that belong to the program of a platform. This machine must be able to run
    /// `program`, which prints some of them.
    pub fn fill(&self, program: &Path, platform: Platform) -> Result<(), Failure> {
        // Run under its installed name, because completion scripts call that name.
        let printed = |words: &[&str]| run_tool(Command::new(program).arg0("pgmeter").args(words));
        for page in String::from_utf8_lossy(&printed(&["man", "--list"])?).lines() {
            let manual = match page.strip_prefix("pgmeter-") {
                Some(command) => printed(&["man", command])?,
                None => printed(&["man"])?,
            };
            // Debian's policy wants manual pages compressed with `gzip -9n`.
            let path = self.path(&format!("usr/share/man/man1/{page}.1.gz"))?;
            write(&path, &compressed(&manual))?;
        }
        for (shell, place) in COMPLETIONS {
            write(&self.path(place)?, &printed(&["completions", shell])?)?;
        }
        self.documents()?;
        let changes = fs::read(workspace::root().join("CHANGELOG.md"));
        let changes = changes.map_err(Failure::file(Path::new("CHANGELOG.md")))?;
        let path = self.path(&format!("{DOCUMENTS}/changelog.gz"))?;
        write(&path, &compressed(&changes))?;
        let path = self.path(&format!("{DOCUMENTS}/copyright"))?;
        write(&path, licenses::own()?.as_bytes())?;
        let licenses = licenses::of_dependencies(platform)?;
        let path = self.path(THIRD_PARTY_LICENSES)?;
        write(&path, &compressed(licenses.as_bytes()))
    }

    /// Adds the user documentation, with its pictures and examples.
    fn documents(&self) -> Result<(), Failure> {
        let root = workspace::root();
        let mut names = vec![PathBuf::from("README.md")];
        for (directory, suffixes) in [
            ("docs", &[".md", ".json", ".png"][..]),
            ("examples", &[""][..]),
        ] {
            let directory = Path::new(directory);
            let files = workspace::files(&root.join(directory), suffixes)?;
            names.extend(files.into_iter().map(|name| directory.join(name)));
        }
        for name in names {
            let path = self.path(&format!("{DOCUMENTS}/{}", name.display()))?;
            let from = root.join(name);
            let content = fs::read(&from).map_err(Failure::file(&from))?;
            write(&path, &content)?;
        }
        Ok(())
    }
}

/// Writes a file that everyone may read.
pub fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    fs::write(path, content).map_err(Failure::file(path))?;
    set_mode(path, 0o644)
}

/// Sets a file's permissions regardless of the umask.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), Failure> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(Failure::file(path))
}

/// Time of the newest commit in seconds, so that the same sources give the same archive.
pub fn source_date() -> u64 {
    // The variable comes first: builders of distributions set it (reproducible-builds.org).
    let variable = std::env::var("SOURCE_DATE_EPOCH").ok();
    let commit_date = || {
        let output = Command::new("git")
            .current_dir(workspace::root())
            .args(["log", "-1", "--format=%ct"])
            .output();
        String::from_utf8(output.ok()?.stdout).ok()
    };
    variable
        .or_else(commit_date)
        .and_then(|seconds| seconds.trim().parse().ok())
        .unwrap_or(0)
}

/// Like `gzip -9n`: without name and time.
pub fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    // Writing to a vector does not fail.
    let _ = encoder.write_all(content);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_reproducible_and_gzip_can_read_it() {
        let text = b"a manual page\n".repeat(100);
        let packed = compressed(&text);
        assert_eq!(packed, compressed(&text));
        assert_eq!(packed[..2], [0x1f, 0x8b]);
        assert!(packed.len() < text.len());
    }
}
