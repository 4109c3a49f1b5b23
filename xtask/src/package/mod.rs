//! `cargo xtask package`: a `.deb`, a tarball of the same files, debug symbols and checksums.
//!
//! All packaged files are laid out once in a tree. Both the `.deb` and the tarball are created from
//! it, so their contents cannot differ. Published packages use full optimization; tests package the
//! release program that they run. Debug symbols are in a separate file.

mod licenses;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::tool::{CARGO_DEB, run_tool};
use crate::workspace;
use tree::PackageTree;

/// Maximum size of the published program. If it exceeds this, other parts must become smaller.
const PROGRAM_BYTES_MAX: u64 = 20_000_000;
/// Maximum size of the program that tests package. Less optimized, it is 1.25 times as large as the
/// published one (19.99 MB instead of 15.95 MB), whose build would double the time of the tests.
const TESTED_BYTES_MAX: u64 = PROGRAM_BYTES_MAX / 4 * 5;
/// Number of starts, of which the fastest is reported; other programs may disturb some of them.
const STARTS: usize = 20;

/// Compression of the packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageCompression {
    /// Best compression.
    Publish,
    /// Fast compression.
    Test,
}

/// Builds the packages for publication, and lists them.
pub fn run() -> Result<(), Failure> {
    let packages = build(PackageCompression::Publish)?;
    for entry in fs::read_dir(&packages).map_err(Failure::file(&packages))? {
        let path = entry.map_err(Failure::file(&packages))?.path();
        println!("{:>10} {}", megabytes(size(&path)?), path.display());
    }
    Ok(())
}

/// Builds the packages and returns the directory that contains only them.
pub fn build(effort: PackageCompression) -> Result<PathBuf, Failure> {
    let program = program(effort)?;
    // This program is `<target>/<profile>/pgmeter`.
    let target = program.ancestors().nth(2).unwrap_or(&program);
    let packages = workspace::emptied(&target.join("package"))?;
    // The list of files in `crates/cli/Cargo.toml` names this directory, whatever the profile.
    let tree = PackageTree::new(workspace::emptied(&target.join("release/package"))?);
    let packaged = strip(&program, &tree, &packages)?;
    tree.fill(&packaged)?;
    debian(&CARGO_DEB.path(target)?, effort, &packages)?;
    tarball(&tree, effort, &packages)?;
    checksums(&packages)?;
    check(&packaged, effort)?;
    Ok(packages)
}

fn program(effort: PackageCompression) -> Result<PathBuf, Failure> {
    let profile = match effort {
        PackageCompression::Publish => "dist",
        // The other tests have built this one already.
        PackageCompression::Test => "release",
    };
    workspace::optimized_program(profile, &["--locked", "--package", "pgmeter"], "pgmeter")
}

/// Moves the symbols out of the program; gdb and perf find them by the link.
fn strip(program: &Path, tree: &PackageTree, packages: &Path) -> Result<PathBuf, Failure> {
    const SYMBOLS: &str = "pgmeter.debug";
    let packaged = tree.path("usr/bin/pgmeter")?;
    run_tool(
        Command::new("objcopy")
            .args(["--only-keep-debug", "--compress-debug-sections=zlib"])
            .args([program, &packages.join(SYMBOLS)]),
    )?;
    run_tool(
        Command::new("strip")
            .args(["--strip-unneeded", "--remove-section=.comment", "-o"])
            .args([&packaged, program]),
    )?;
    let link = format!("--add-gnu-debuglink={SYMBOLS}");
    run_tool(
        Command::new("objcopy")
            // The link holds a name without a directory, and objcopy reads the file for its
            // checksum.
            .current_dir(packages)
            .arg(link)
            .arg(&packaged),
    )?;
    // The symbols file is not executable.
    tree::set_mode(&packages.join(SYMBOLS), 0o644)?;
    Ok(packaged)
}

/// Its metadata and file list are in `crates/cli/Cargo.toml`.
fn debian(cargo_deb: &Path, effort: PackageCompression, packages: &Path) -> Result<(), Failure> {
    let mut command = Command::new(cargo_deb);
    command
        .current_dir(workspace::root())
        .args([
            "--package",
            "pgmeter",
            "--no-build",
            "--no-strip",
            "--quiet",
        ])
        .arg("--output")
        .arg(packages);
    if effort == PackageCompression::Test {
        command.arg("--fast");
    }
    run_tool(&mut command).map(drop)
}

/// Installed by `tar -C /usr/local --strip-components=1 -xzf`.
fn tarball(tree: &PackageTree, effort: PackageCompression, packages: &Path) -> Result<(), Failure> {
    let name = format!("pgmeter-{}", env!("CARGO_PKG_VERSION"));
    let file = packages.join(format!("{name}-{}-linux.tar.gz", std::env::consts::ARCH));
    let level = match effort {
        PackageCompression::Publish => "-9n",
        PackageCompression::Test => "-1n",
    };
    run_tool(
        Command::new("tar")
            .arg(format!("--use-compress-program=gzip {level}"))
            // With the fixed time below, the same files give the same archive on every machine.
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .arg(format!("--mtime=@{}", tree::source_date()))
            .arg(format!("--transform=s,^usr,{name},"))
            .arg("--create")
            .arg("--file")
            .arg(file)
            .arg("--directory")
            .arg(tree.root())
            .arg("usr"),
    )
    .map(drop)
}

/// Verified by `sha256sum --check SHA256SUMS` in the directory of the packages.
fn checksums(packages: &Path) -> Result<(), Failure> {
    // Listed before the file of the sums exists, which cannot contain its own.
    let names = sorted_names(packages)?;
    let sums = run_tool(Command::new("sha256sum").current_dir(packages).args(&names))?;
    tree::write(&packages.join("SHA256SUMS"), &sums)
}

fn sorted_names(directory: &Path) -> Result<Vec<std::ffi::OsString>, Failure> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(Failure::file(directory))? {
        names.push(entry.map_err(Failure::file(directory))?.file_name());
    }
    names.sort();
    Ok(names)
}

/// Checks the size of the program, and prints its start time.
fn check(packaged: &Path, effort: PackageCompression) -> Result<(), Failure> {
    let bytes_max = match effort {
        PackageCompression::Publish => PROGRAM_BYTES_MAX,
        PackageCompression::Test => TESTED_BYTES_MAX,
    };
    let bytes = size(packaged)?;
    let start = fastest_start(packaged)?;
    println!(
        "pgmeter: {}, starts in {:.1} ms",
        megabytes(bytes),
        start.as_secs_f64() * 1e3
    );
    if bytes < bytes_max {
        return Ok(());
    }
    Err(Failure::ChecksFailed(format!(
        "the packaged program has {}, and {} is the limit; `cargo bloat --release -p pgmeter` \
         shows what is large",
        megabytes(bytes),
        megabytes(bytes_max)
    )))
}

fn fastest_start(packaged: &Path) -> Result<Duration, Failure> {
    let mut fastest = Duration::MAX;
    for _ in 0..STARTS {
        let begun = Instant::now();
        run_tool(Command::new(packaged).arg("--version"))?;
        fastest = fastest.min(begun.elapsed());
    }
    Ok(fastest)
}

fn size(path: &Path) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(Failure::file(path))?.len())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}
