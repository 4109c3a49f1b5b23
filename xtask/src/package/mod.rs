//! `cargo xtask package`: a `.deb`, a tarball of the same files, debug symbols and checksums.
//!
//! Everything that is packaged is laid out once in a tree, of which `.deb` and tarball are made:
//! their contents cannot differ. What is published is optimized as a whole; tests package the
//! release program that they run. Symbols go into a file of their own.

mod licenses;
mod tool;
mod tree;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::workspace;
use tree::Tree;

/// What the packaged program may have: 15 MB, 2 for the web server, 3 for runs of several processes
/// and half a MB for forms of all kinds of work. One that grows beyond this has to become smaller
/// elsewhere.
const PROGRAM_BYTES_MAX: u64 = 20_500_000;
/// Starts of which the fastest is told; other programs may be busy beside some.
const STARTS: usize = 20;

/// How well the packages are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As well as possible.
    Publish,
    /// Soon.
    Test,
}

/// Builds the packages as they are published, and says what they are.
pub fn run() -> Result<(), Failure> {
    let packages = build(Effort::Publish)?;
    for entry in fs::read_dir(&packages).map_err(Failure::file(&packages))? {
        let path = entry.map_err(Failure::file(&packages))?.path();
        println!("{:>10} {}", megabytes(size(&path)?), path.display());
    }
    Ok(())
}

/// Builds the packages and returns the directory that has them and nothing else.
pub fn build(effort: Effort) -> Result<PathBuf, Failure> {
    let program = program(effort)?;
    // This program is `<target>/<profile>/pgmeter`.
    let target = program.ancestors().nth(2).unwrap_or(&program);
    let packages = emptied(&target.join("package"))?;
    let tree = Tree::new(emptied(&target.join("release/package"))?);
    let packaged = strip(&program, &tree, &packages)?;
    tree.fill(&packaged)?;
    debian(&tool::cargo_deb(target)?, effort, &packages)?;
    tarball(&tree, effort, &packages)?;
    checksums(&packages)?;
    check(&packaged)?;
    Ok(packages)
}

fn program(effort: Effort) -> Result<PathBuf, Failure> {
    let profile = match effort {
        Effort::Publish => "dist",
        // Other tests have it already.
        Effort::Test => "release",
    };
    workspace::optimized_program(profile, &["--locked", "--package", "pgmeter"], "pgmeter")
}

/// Moves the symbols out of the program: gdb and perf find them by the link that is left.
fn strip(program: &Path, tree: &Tree, packages: &Path) -> Result<PathBuf, Failure> {
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
            .current_dir(packages)
            .arg(link)
            .arg(&packaged),
    )?;
    // The symbols are no program.
    tree::set_mode(&packages.join(SYMBOLS), 0o644)?;
    Ok(packaged)
}

/// Its metadata and the list of its files stand in `crates/cli/Cargo.toml`.
fn debian(cargo_deb: &Path, effort: Effort, packages: &Path) -> Result<(), Failure> {
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
    if effort == Effort::Test {
        command.arg("--fast");
    }
    run_tool(&mut command).map(drop)
}

/// `tar -C /usr/local --strip-components=1 -xzf` installs it.
fn tarball(tree: &Tree, effort: Effort, packages: &Path) -> Result<(), Failure> {
    let name = format!("pgmeter-{}", env!("CARGO_PKG_VERSION"));
    let file = packages.join(format!("{name}-{}-linux.tar.gz", std::env::consts::ARCH));
    let level = match effort {
        Effort::Publish => "-9n",
        Effort::Test => "-1n",
    };
    run_tool(
        Command::new("tar")
            .arg(format!("--use-compress-program=gzip {level}"))
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

/// `sha256sum --check SHA256SUMS` in the directory of the packages.
fn checksums(packages: &Path) -> Result<(), Failure> {
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

/// Holds the program to its size, and says how soon it starts.
fn check(packaged: &Path) -> Result<(), Failure> {
    let bytes = size(packaged)?;
    let start = fastest_start(packaged)?;
    println!(
        "pgmeter: {}, starts in {:.1} ms",
        megabytes(bytes),
        start.as_secs_f64() * 1e3
    );
    if bytes < PROGRAM_BYTES_MAX {
        return Ok(());
    }
    Err(Failure::Found(format!(
        "the packaged program has {}, and {} is the limit; `cargo bloat --release -p pgmeter` \
         tells what is large",
        megabytes(bytes),
        megabytes(PROGRAM_BYTES_MAX)
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

/// Runs a program to its end and returns what it printed; what it complains of goes through.
fn run_tool(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(Failure::start(&name))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let arguments: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    Err(Failure::Program {
        program: format!("{name} {}", arguments.join(" ")),
        message: output.status.to_string(),
    })
}

/// The directory, with nothing in it.
fn emptied(directory: &Path) -> Result<PathBuf, Failure> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file(directory)(error));
        }
        _ => {}
    }
    fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    Ok(directory.to_path_buf())
}

fn size(path: &Path) -> Result<u64, Failure> {
    Ok(fs::metadata(path).map_err(Failure::file(path))?.len())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}
