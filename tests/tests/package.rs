//! The packages: what is in them, and that they install, measure and go without a trace.
//!
//! `cargo xtask test package` makes them and says where they are.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use end_to_end::{FixtureError, Scratch, finish, need, run_tool, skip};
use lab::ENTRIES;

/// As in `xtask package`, for the program that tests package.
const PROGRAM_BYTES_MAX: u64 = 28_000_000;
const START_MAX: Duration = Duration::from_millis(20);
/// The user's home in the root of its own.
const HOME: &str = "home/user";

/// The directory of the packages.
fn packages() -> Result<PathBuf, FixtureError> {
    let directory = std::env::var_os("PGMETER_PACKAGES").map(PathBuf::from);
    directory.ok_or_else(|| {
        FixtureError::Unavailable("`cargo xtask test package` makes the packages".to_owned())
    })
}

/// The one package whose name ends so.
fn package(packages: &Path, end: &str) -> String {
    let entries = std::fs::read_dir(packages).unwrap();
    let names = entries.map(|entry| entry.unwrap().path().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|name| name.ends_with(end)).collect();
    assert_eq!(found.len(), 1, "packages that end in `{end}`: {found:?}");
    found.remove(0)
}

/// The files of the `.deb`, below a scratch directory.
fn unpacked(packages: &Path) -> Result<Scratch, FixtureError> {
    let scratch = Scratch::new()?;
    let to = scratch.path().to_string_lossy().into_owned();
    run_tool("dpkg-deb", &["--extract", &package(packages, ".deb"), &to])?;
    Ok(scratch)
}

/// All files and directories below a directory, with the files' contents.
fn files(root: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            if path.is_dir() {
                found.insert(name, None);
                pending.push(path);
            } else {
                found.insert(name, Some(std::fs::read(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn the_packaged_program_is_small_and_starts_at_once() {
    let root = need!(unpacked(&need!(packages())));
    let program = root.join("usr/bin/pgmeter");
    let bytes = std::fs::metadata(&program).unwrap().len();
    assert!(bytes < PROGRAM_BYTES_MAX, "{bytes} bytes");
    let start = || {
        let begun = Instant::now();
        let status = Command::new(&program).arg("--version").output().unwrap();
        assert!(status.status.success());
        begun.elapsed()
    };
    // The fastest of many: other programs may be busy at the same time.
    let fastest = (0..50).map(|_| start()).min().unwrap();
    println!("{bytes} bytes, {fastest:?}");
    assert!(fastest < START_MAX, "{fastest:?}");
}

#[test]
fn debug_symbols_are_packaged_next_to_the_program_and_linked() {
    let packages = need!(packages());
    let root = need!(unpacked(&packages));
    let program = root.join("usr/bin/pgmeter").to_string_lossy().into_owned();
    let link = need!(run_tool(
        "readelf",
        &["--string-dump=.gnu_debuglink", &program]
    ));
    let symbols = package(&packages, ".debug");
    let name = Path::new(&symbols).file_name().unwrap().to_string_lossy();
    assert!(link.contains(&*name), "{link}");
    let sections = need!(run_tool(
        "readelf",
        &["--section-headers", "--wide", &program]
    ));
    assert!(!sections.contains(".symtab"), "{sections}");
    let sections = need!(run_tool(
        "readelf",
        &["--section-headers", "--wide", &symbols]
    ));
    // The published program also has the lines of the sources, which take long to compile.
    assert!(sections.contains(".symtab"), "{sections}");
}

#[test]
fn the_tarball_has_the_files_of_the_debian_package_and_valid_checksums() {
    let packages = need!(packages());
    let debian = need!(unpacked(&packages));
    let tarball = need!(Scratch::new());
    let to = tarball
        .directory("usr")
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let from = package(&packages, ".tar.gz");
    run_tool("tar", &["-xzf", &from, "--strip-components=1", "-C", &to]).unwrap();
    let (debian, tarball) = (files(debian.path()), files(tarball.path()));
    let names = |files: &BTreeMap<PathBuf, _>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&debian), names(&tarball));
    assert!(debian == tarball, "contents differ");
    let mut sums = Command::new("sha256sum");
    sums.args(["--check", "SHA256SUMS"]).current_dir(&packages);
    let output = finish(&mut sums);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(
        output.stdout.matches(": OK").count(),
        4,
        "{}",
        output.text()
    );
}

#[test]
fn pip_installs_the_program_and_its_package_into_a_new_environment() {
    let wheel = package(&need!(packages()), ".whl");
    let scratch = need!(Scratch::new());
    let environment = scratch.join("environment");
    let directory = environment.to_string_lossy().into_owned();
    // Debian has a separate package for this module.
    if let Err(error) = run_tool("python3", &["-m", "venv", &directory]) {
        skip!("{error}");
    }
    let pip = environment.join("bin/pip").to_string_lossy().into_owned();
    run_tool(&pip, &["install", "--quiet", "--no-index", &wheel]).unwrap();
    let program = environment.join("bin/pgmeter");
    let output = finish(Command::new(&program).args(["--version", "-v"]));
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.starts_with("pgmeter "), "{}", output.text());
    assert!(environment.join("share/man/man1/pgmeter.1.gz").is_file());
    let python = environment
        .join("bin/python")
        .to_string_lossy()
        .into_owned();
    let import = "import pgmeter, importlib.resources as r; print(pgmeter.read_record.__name__, \
                  r.files(pgmeter).joinpath('py.typed').is_file())";
    let imported = run_tool(&python, &["-c", import]).unwrap();
    assert_eq!(imported, "read_record True\n");
    run_tool(&pip, &["uninstall", "--quiet", "--yes", "pgmeter"]).unwrap();
    assert!(!program.exists(), "left behind: {program:?}");
}

#[test]
fn released_programs_need_no_newer_c_library_than_glibc_2_17() {
    let released = need!(packages()).with_file_name("release-packages");
    let Ok(entries) = std::fs::read_dir(&released) else {
        skip!("`cargo xtask release` makes these packages");
    };
    let names = entries.map(|entry| entry.unwrap().path().to_string_lossy().into_owned());
    for tarball in names.filter(|name| name.ends_with(".tar.gz")) {
        let scratch = need!(Scratch::new());
        let to = scratch.path().to_string_lossy().into_owned();
        let options = ["--strip-components=1", "--wildcards", "*/bin/pgmeter"];
        let unpack = [&["-xzf", &tarball, "-C", &to][..], &options].concat();
        run_tool("tar", &unpack).unwrap();
        let program = scratch.join("bin/pgmeter").to_string_lossy().into_owned();
        let versions = need!(run_tool("readelf", &["--version-info", "--wide", &program]));
        let minor = |word: &str| {
            word.strip_prefix("GLIBC_2.")?
                .split('.')
                .next()?
                .parse()
                .ok()
        };
        let newest: Option<u32> = versions.split_whitespace().filter_map(minor).max();
        assert!(newest.is_some_and(|it| it <= 17), "{tarball}: {newest:?}");
    }
}

#[test]
fn the_package_declares_its_dependencies_and_the_tools_for_labs() {
    let file = package(&need!(packages()), ".deb");
    let field = |name| run_tool("dpkg-deb", &["--field", &file, name]).unwrap();
    let depends = field("Depends");
    assert!(depends.contains("libc6 (>= 2."), "{depends}");
    let mut named = BTreeSet::from(["user-mode-linux".to_owned()]);
    named.extend(ENTRIES.iter().map(|entry| entry.package.to_owned()));
    named.remove("");
    let declared = [field("Recommends"), field("Suggests")].join(",");
    let declared: BTreeSet<String> = declared
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect();
    let missing: Vec<_> = named.difference(&declared).collect();
    assert!(missing.is_empty(), "{missing:?} not in {declared:?}");
}

#[test]
fn manual_completions_documents_and_licenses_are_packaged() {
    let root = need!(unpacked(&need!(packages())));
    let unpack = |name: &str| {
        let path = root.join(name).to_string_lossy().into_owned();
        run_tool("gzip", &["--decompress", "--stdout", &path]).unwrap()
    };
    for page in ["pgmeter", "pgmeter-run", "pgmeter-lab", "pgmeter-compare"] {
        let text = unpack(&format!("usr/share/man/man1/{page}.1.gz"));
        assert!(text.contains(&format!(".TH {page} 1")), "{page}");
    }
    let licenses = unpack("usr/share/doc/pgmeter/third-party-licenses.gz");
    for part in ["\nserde ", "\nio-uring ", "Permission is hereby granted"] {
        assert!(licenses.contains(part), "no `{part}`");
    }
    assert!(!licenses.contains("\nproptest "), "a test is not linked");
    for name in [
        "usr/share/bash-completion/completions/pgmeter",
        "usr/share/zsh/vendor-completions/_pgmeter",
        "usr/share/fish/vendor_completions.d/pgmeter.fish",
    ] {
        let script = std::fs::read_to_string(root.join(name)).unwrap();
        // It calls the installed program, not the program that was built.
        assert!(script.contains(" pgmeter -- "), "{name}: {script}");
    }
    let documents = root.join("usr/share/doc/pgmeter");
    for name in [
        "README.md",
        "copyright",
        "changelog.gz",
        "docs/methodology.md",
    ] {
        assert!(documents.join(name).is_file(), "no `{name}`");
    }
}

/// A root of its own: the C library, and a list of packages with nothing on it.
struct Root {
    scratch: Scratch,
}

impl Root {
    /// A root in which `program` finds the libraries that it needs.
    ///
    /// # Errors
    /// `Unavailable` without root, or where mounts of one's own are not allowed.
    fn new(program: &Path) -> Result<Root, FixtureError> {
        if !rustix::process::geteuid().is_root() {
            return Err(FixtureError::Unavailable("needs root".to_owned()));
        }
        if let Err(error) = run_tool("unshare", &["--mount", "true"]) {
            return Err(FixtureError::Unavailable(error.to_string()));
        }
        let root = Root {
            scratch: Scratch::new()?,
        };
        for directory in ["proc", "sys", "dev", "tmp", "var/lib/dpkg/info", HOME] {
            std::fs::create_dir_all(root.path(directory)).unwrap();
        }
        for directory in ["var/lib/dpkg/updates", "var/lib/dpkg/triggers"] {
            std::fs::create_dir_all(root.path(directory)).unwrap();
        }
        std::fs::write(root.path("var/lib/dpkg/status"), "").unwrap();
        let needed = run_tool("ldd", &[&program.to_string_lossy()])?;
        for library in needed
            .split_whitespace()
            .filter(|word| word.starts_with('/'))
        {
            let destination = root.path(&library[1..]);
            std::fs::create_dir_all(destination.parent().unwrap()).unwrap();
            std::fs::copy(library, destination).unwrap();
        }
        Ok(root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.join(name)
    }

    /// Installs or removes; the C library is there but on no list.
    fn dpkg(&self, arguments: &[&str]) {
        let root = self.scratch.path().to_string_lossy().into_owned();
        let mut command = Command::new("dpkg");
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .arg(format!("--root={root}"))
            // Else it would be the log of the system.
            .arg(format!("--log={root}/var/lib/dpkg/log"))
            .arg("--force-depends")
            .args(arguments);
        let output = finish(&mut command);
        assert_eq!(output.code, 0, "{}", output.text());
    }

    /// Runs the installed program in the user's home, seeing this root and the machine's devices.
    fn pgmeter(&self, arguments: &[&str]) -> end_to_end::Finished {
        const ENTER: &str = "root=$1; shift; mount --bind \"$root\" \"$root\" && \
            for at in proc sys dev; do mount --rbind /$at \"$root/$at\" || exit; done; \
            exec unshare --root=\"$root\" --wd=/home/user /usr/bin/pgmeter \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args([
                "--mount",
                "--propagation",
                "private",
                "sh",
                "-c",
                ENTER,
                "sh",
            ])
            .arg(self.scratch.path())
            .args(arguments)
            .env("HOME", "/home/user")
            .env_remove("PGMETER_DB")
            .env_remove("XDG_DATA_HOME");
        finish(&mut command)
    }

    /// All that is there but for dpkg's own notes.
    fn names(&self) -> BTreeSet<PathBuf> {
        let mut names: BTreeSet<PathBuf> = files(self.scratch.path()).into_keys().collect();
        names.retain(|name| !name.starts_with("var/lib/dpkg"));
        names
    }
}

#[test]
fn the_package_installs_measures_and_leaves_only_the_store_when_removed() {
    let packages = need!(packages());
    let unpacked = need!(unpacked(&packages));
    let root = need!(Root::new(&unpacked.join("usr/bin/pgmeter")));
    let before = root.names();
    root.dpkg(&["--install", &package(&packages, ".deb")]);
    assert!(root.path("usr/bin/pgmeter").is_file());
    let quick = [
        "run",
        "--run-time",
        "200ms",
        "--ramp-time",
        "50ms",
        "--size",
        "16m",
    ];
    let output = root.pgmeter(&quick);
    assert_eq!(output.code, 0, "{}", output.text());
    let listed = root.pgmeter(&["runs"]);
    assert!(listed.stdout.contains("quick"), "{}", listed.text());
    root.dpkg(&["--purge", "pgmeter"]);
    let after = root.names();
    let left: Vec<_> = after
        .difference(&before)
        .filter(|name| !name.starts_with(HOME))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    let lost: Vec<_> = before.difference(&after).collect();
    assert!(lost.is_empty(), "taken away: {lost:?}");
    let store = Path::new(HOME).join(".local/share/pgmeter/results.db");
    assert!(after.contains(&store), "{after:?}");
    let is_work = |name: &&PathBuf| name.to_string_lossy().contains("pgmeter-work");
    assert_eq!(after.iter().find(is_work), None);
}
