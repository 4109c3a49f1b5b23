//! `cargo xtask package` and `cargo xtask release`: all packages of the program.
//!
//! All packaged files are laid out once in a tree per platform. All packages are created from it,
//! so their contents cannot differ. `package` builds for this machine; `release` builds for all
//! platforms and old systems, and the same commit always gives the same bytes. Published packages
//! use full optimization; tests package the release program that they run. Debug symbols are in a
//! separate file.

mod archive;
mod elf;
mod image;
mod licenses;
mod platform;
mod portable;
mod sbom;
mod tree;
mod version;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;
use platform::Platform;
use portable::ZigToolchain;
use tree::PackageTree;
pub use version::prepare;

/// Version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// One sentence for people who search for packages.
const SUMMARY: &str =
    "Benchmarks file systems and storage, and shows how far the results can be trusted.";
/// Maximum size of the published program. If it exceeds this, other parts must become smaller.
const PROGRAM_BYTES_MAX: u64 = 20_000_000;
/// Maximum size of the program that tests package. Not optimized across crates, it is larger than
/// the published one, whose build would double the time of the tests: of one commit, the two had
/// 23.2 and 16.6 MB.
const TESTED_BYTES_MAX: u64 = PROGRAM_BYTES_MAX / 5 * 7;
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

/// The program and files of one platform, and the directory of its packages.
struct PackageSet {
    platform: Platform,
    /// `true` if the program is built for old systems instead of this machine.
    is_portable: bool,
    effort: PackageCompression,
    tree: PackageTree,
    /// Cargo's target directory.
    target: PathBuf,
    /// Directory of the finished packages.
    packages: PathBuf,
}

/// Builds the packages of this machine for publication, and lists them.
pub fn run() -> Result<(), Failure> {
    list(&build(PackageCompression::Publish)?)
}

/// Builds the packages of this machine and returns the directory that contains only them.
pub fn build(effort: PackageCompression) -> Result<PathBuf, Failure> {
    let program = program(effort)?;
    // This program is `<target>/<profile>/pgmeter`.
    let target = program.ancestors().nth(2).unwrap_or(&program);
    let platform = Platform::host()?;
    let set = PackageSet {
        platform,
        is_portable: false,
        effort,
        // The lists of files in `crates/cli/Cargo.toml` name this directory, whatever the profile.
        tree: PackageTree::new(workspace::emptied(&target.join("release/package"))?),
        target: target.to_path_buf(),
        packages: workspace::emptied(&target.join("package"))?,
    };
    let packaged = set.strip(&program)?;
    set.tree.fill(&packaged, platform)?;
    archive::debian(&set)?;
    archive::tarball(&set)?;
    wheel::write(&set, elf::system_needs(&packaged)?.glibc)?;
    checksums(&set.packages)?;
    check_size(&packaged, effort)?;
    report_start(&packaged)?;
    Ok(set.packages)
}

/// Builds the packages of all platforms from a commit, and lists them.
pub fn release() -> Result<(), Failure> {
    version::check()?;
    let target = workspace::target_directory()?;
    let zig = ZigToolchain::new(&target)?;
    let packages = workspace::emptied(&target.join("release-packages"))?;
    let mut sets: Vec<PackageSet> = Vec::new();
    for platform in Platform::all()? {
        if !platform.is_installed()? {
            println!(
                "note: no packages for {0}, because the compiler cannot build for it; `rustup \
                 target add {0}` adds it",
                platform.triple
            );
            continue;
        }
        // Only cargo-deb and cargo-generate-rpm know these directories by the name of the target.
        let tree = target.join(platform.triple).join("release/package");
        let set = PackageSet {
            platform,
            is_portable: true,
            effort: PackageCompression::Publish,
            tree: PackageTree::new(workspace::emptied(&tree)?),
            target: target.clone(),
            packages: packages.clone(),
        };
        set.strip(&zig.build(platform)?)?;
        // The first platform is that of this machine, which cannot run the programs of the others.
        let runnable = sets.first().unwrap_or(&set);
        set.tree.fill(&runnable.program(), platform)?;
        archive::debian(&set)?;
        archive::rpm(&set)?;
        archive::tarball(&set)?;
        wheel::write(&set, portable::GLIBC_MAX)?;
        sbom::write(&set)?;
        sets.push(set);
    }
    image::write(&sets)?;
    checksums(&packages)?;
    list(&packages)?;
    // Last, so that the packages can be examined if one is too large.
    let mut programs = sets.iter().map(PackageSet::program);
    programs.try_for_each(|program| check_size(&program, PackageCompression::Publish))
}

impl PackageSet {
    /// Path of the packaged program.
    fn program(&self) -> PathBuf {
        self.tree.root().join("usr/bin/pgmeter")
    }

    /// Adds the program to the tree, and its symbols to the packages.
    fn strip(&self, program: &Path) -> Result<PathBuf, Failure> {
        let packaged = self.tree.path("usr/bin/pgmeter")?;
        let symbols = format!("pgmeter-{VERSION}-{}-linux.debug", self.platform.arch);
        elf::strip(program, &packaged, &self.packages.join(symbols))?;
        Ok(packaged)
    }
}

/// Prints the sizes and names of all packages.
fn list(packages: &Path) -> Result<(), Failure> {
    for name in sorted_names(packages)? {
        let path = packages.join(name);
        println!("{:>10} {}", megabytes(size(&path)?), path.display());
    }
    Ok(())
}

fn program(effort: PackageCompression) -> Result<PathBuf, Failure> {
    let selection = [&["--locked"], &workspace::PROGRAM[..]].concat();
    match effort {
        PackageCompression::Publish => workspace::published_program(&selection, "pgmeter"),
        // The other tests have built this one already.
        PackageCompression::Test => workspace::release_program(&selection, "pgmeter"),
    }
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

/// Checks the size of the program.
fn check_size(packaged: &Path, effort: PackageCompression) -> Result<(), Failure> {
    let bytes_max = match effort {
        PackageCompression::Publish => PROGRAM_BYTES_MAX,
        PackageCompression::Test => TESTED_BYTES_MAX,
    };
    let bytes = size(packaged)?;
    println!("pgmeter: {}", megabytes(bytes));
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

/// Prints the time that the program takes to start.
fn report_start(packaged: &Path) -> Result<(), Failure> {
    let start = fastest_start(packaged)?;
    println!("starts in {:.1} ms", start.as_secs_f64() * 1e3);
    Ok(())
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
