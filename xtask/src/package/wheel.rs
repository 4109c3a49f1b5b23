//! A Python wheel with the program and the package that reads its results, for `pip`, `pipx` and
//! `uvx`.
//!
//! pip copies the files below `data` to the directories of the environment, and the package next to
//! other packages. maturin would also write such a wheel, but it builds the program again, so the
//! wheel would not contain the program of the other packages.
//!
//! Source: the binary distribution format of the Python packaging specifications, and PEP 600 for
//! the platform tags.

use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use zip::ZipWriter;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;

use super::elf::GlibcVersion;
use super::{PackageSet, VERSION, tree};
use crate::error::Failure;
use crate::workspace;

/// The directory of the Python package, and the files of it that are installed. Tests and settings
/// of tools are next to it.
const PYTHON_PACKAGE: &str = "python/pgmeter";
const PYTHON_FILES: &[&str] = &[".py", "py.typed"];
/// The oldest C library for which wheels also have an older name of the tag, which old versions of
/// pip know.
const MANYLINUX_2014: GlibcVersion = GlibcVersion(2, 17);

/// Writes the wheel of a set's program and manual pages, and of the Python package.
pub fn write(set: &PackageSet, glibc: GlibcVersion) -> Result<(), Failure> {
    let tags = platform_tags(set.platform.arch, glibc);
    let data = format!("pgmeter-{VERSION}.data");
    let information = format!("pgmeter-{VERSION}.dist-info");
    let mut wheel = Wheel::new();
    let root = set.tree.root();
    let program = root.join("usr/bin/pgmeter");
    wheel.add(
        &format!("{data}/scripts/pgmeter"),
        &content(&program)?,
        0o755,
    )?;
    for directory in [
        "usr/share/man/man1",
        "usr/share/bash-completion/completions",
    ] {
        for name in workspace::files(&root.join(directory), &[""])? {
            let installed = directory.trim_start_matches("usr/");
            let path = format!("{data}/data/{installed}/{}", name.display());
            wheel.add(&path, &content(&root.join(directory).join(name))?, 0o644)?;
        }
    }
    wheel.add_python_package()?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let license = content(&workspace::root().join(name))?;
        wheel.add(&format!("{information}/licenses/{name}"), &license, 0o644)?;
    }
    let third_party = content(&root.join(tree::THIRD_PARTY_LICENSES))?;
    let path = format!("{information}/licenses/third-party-licenses.gz");
    wheel.add(&path, &third_party, 0o644)?;
    wheel.add(
        &format!("{information}/METADATA"),
        metadata()?.as_bytes(),
        0o644,
    )?;
    let path = format!("{information}/WHEEL");
    wheel.add(&path, wheel_file(&tags).as_bytes(), 0o644)?;
    let bytes = wheel.finish(&format!("{information}/RECORD"))?;
    let name = format!("pgmeter-{VERSION}-py3-none-{}.whl", tags.join("."));
    tree::write(&set.packages.join(name), &bytes)
}

/// Names of the systems that can run a program which needs this C library.
fn platform_tags(arch: &str, glibc: GlibcVersion) -> Vec<String> {
    // Older tags than the name of 2014 would promise systems that nobody tests.
    let glibc = glibc.max(MANYLINUX_2014);
    let mut tags = vec![format!("manylinux_{}_{}_{arch}", glibc.0, glibc.1)];
    if glibc == MANYLINUX_2014 {
        tags.push(format!("manylinux2014_{arch}"));
    }
    tags
}

fn wheel_file(tags: &[String]) -> String {
    let mut text =
        format!("Wheel-Version: 1.0\nGenerator: pgmeter-xtask {VERSION}\nRoot-Is-Purelib: false\n");
    for tag in tags {
        // Writing to a string does not fail.
        let _ = writeln!(text, "Tag: py3-none-{tag}");
    }
    text
}

fn metadata() -> Result<String, Failure> {
    let readme = workspace::read(&workspace::root(), Path::new("README.md"))?;
    Ok(format!(
        "Metadata-Version: 2.4\n\
         Name: pgmeter\n\
         Version: {VERSION}\n\
         Summary: {}\n\
         License-Expression: {}\n\
         License-File: LICENSE-APACHE\n\
         License-File: LICENSE-MIT\n\
         License-File: third-party-licenses.gz\n\
         Classifier: Environment :: Console\n\
         Classifier: Operating System :: POSIX :: Linux\n\
         Classifier: Topic :: System :: Benchmark\n\
         Classifier: Typing :: Typed\n\
         Requires-Python: >=3.8\n\
         Provides-Extra: pandas\n\
         Requires-Dist: pandas; extra == \"pandas\"\n\
         Description-Content-Type: text/markdown\n\n\
         {readme}",
        super::SUMMARY,
        env!("CARGO_PKG_LICENSE"),
    ))
}

/// A wheel that is being written.
struct Wheel {
    archive: ZipWriter<Cursor<Vec<u8>>>,
    /// Lines of the list of files.
    record: String,
}

impl Wheel {
    fn new() -> Wheel {
        Wheel {
            archive: ZipWriter::new(Cursor::new(Vec::new())),
            record: String::new(),
        }
    }

    fn add(&mut self, path: &str, content: &[u8], mode: u32) -> Result<(), Failure> {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(content));
        let _ = writeln!(self.record, "{path},sha256={sum},{}", content.len());
        self.put(path, content, mode)
    }

    fn add_python_package(&mut self) -> Result<(), Failure> {
        let package = workspace::root().join(PYTHON_PACKAGE);
        for name in workspace::files(&package, PYTHON_FILES)? {
            let path = format!("pgmeter/{}", name.display());
            self.add(&path, &content(&package.join(name))?, 0o644)?;
        }
        Ok(())
    }

    fn put(&mut self, path: &str, content: &[u8], mode: u32) -> Result<(), Failure> {
        // The default time is that of the oldest possible file, so it depends on nothing.
        let options = SimpleFileOptions::default().unix_permissions(mode);
        let started = self.archive.start_file(path, options);
        started
            .and_then(|()| Ok(self.archive.write_all(content)?))
            .map_err(failed)
    }

    /// Adds the list of files, which cannot have its own sum, and returns the archive.
    fn finish(mut self, path: &str) -> Result<Vec<u8>, Failure> {
        let record = format!("{}{path},,\n", self.record);
        self.put(path, record.as_bytes(), 0o644)?;
        Ok(self.archive.finish().map_err(failed)?.into_inner())
    }
}

fn failed(error: ZipError) -> Failure {
    Failure::ChecksFailed(format!("the wheel cannot be written: {error}"))
}

fn content(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(Failure::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_systems_get_both_names_of_their_tag() {
        assert_eq!(
            platform_tags("x86_64", GlibcVersion(2, 14)),
            ["manylinux_2_17_x86_64", "manylinux2014_x86_64"]
        );
        assert_eq!(
            platform_tags("aarch64", GlibcVersion(2, 34)),
            ["manylinux_2_34_aarch64"]
        );
    }

    #[test]
    fn the_python_package_is_a_typed_module_with_an_optional_dependency() {
        let mut wheel = Wheel::new();
        wheel.add_python_package().unwrap();
        let names = wheel
            .record
            .lines()
            .filter_map(|line| line.split(',').next());
        let names: Vec<&str> = names.collect();
        for name in ["pgmeter/__init__.py", "pgmeter/py.typed"] {
            assert!(names.contains(&name), "{names:?}");
        }
        // Compiled files of a developer's tests would make two builds of a commit differ.
        assert!(
            !names.iter().any(|name| name.contains("cache")),
            "{names:?}"
        );
        let metadata = metadata().unwrap();
        let (head, _) = metadata.split_once("\n\n").unwrap();
        let dependency = "Provides-Extra: pandas\nRequires-Dist: pandas; extra == \"pandas\"";
        assert!(head.contains(dependency), "{head}");
    }

    #[test]
    fn the_same_files_give_the_same_wheel_with_a_list_of_them() {
        let written = || {
            let mut wheel = Wheel::new();
            wheel.add("a/b", b"text", 0o755).unwrap();
            assert_eq!(
                wheel.record,
                "a/b,sha256=mC2ePrmW9VnmM_TRlN7zdh2Qn1o7ZH0ahR_q1nwyydE,4\n"
            );
            wheel.finish("a/RECORD").unwrap()
        };
        assert_eq!(written(), written());
    }
}
