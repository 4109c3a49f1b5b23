//! Packages of systems: `.deb`, `.rpm` and a tarball, all from the tree of files.

use std::path::Path;
use std::process::Command;

use super::{PackageCompression, PackageSet, VERSION, tree};
use crate::error::Failure;
use crate::tool::{CARGO_DEB, CARGO_GENERATE_RPM, run_tool};
use crate::workspace;

/// Creates the `.deb`. Its metadata and file list are in `crates/cli/Cargo.toml`.
pub fn debian(set: &PackageSet) -> Result<(), Failure> {
    let mut command = Command::new(CARGO_DEB.path(&set.target)?);
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
        .arg(&set.packages)
        .env("CARGO_TARGET_DIR", &set.target)
        .env("SOURCE_DATE_EPOCH", tree::source_date().to_string());
    if set.effort == PackageCompression::Test {
        command.arg("--fast");
    }
    if set.is_portable {
        // The system's own tools would find the dependencies of this machine's architecture only.
        command.args(["--variant", "portable", "--target", set.platform.triple]);
    }
    run_tool(&mut command).map(drop)
}

/// Creates the `.rpm`. Its metadata and file list are in `crates/cli/Cargo.toml`.
pub fn rpm(set: &PackageSet) -> Result<(), Failure> {
    let mut command = Command::new(CARGO_GENERATE_RPM.path(&set.target)?);
    command
        .current_dir(workspace::root())
        .args(["--package", "crates/cli", "--target", set.platform.triple])
        // The system's own tools would look for the libraries of this machine's architecture.
        .args(["--auto-req", "disabled"])
        // The oldest systems that the program runs on cannot unpack zstd.
        .args(["--payload-compress", "xz"])
        .arg("--source-date")
        .arg(tree::source_date().to_string())
        .arg("--target-dir")
        .arg(&set.target)
        .arg("--output")
        .arg(&set.packages)
        .env("CARGO_TARGET_DIR", &set.target);
    run_tool(&mut command).map(drop)
}

/// Creates the tarball. It is installed by `tar -C /usr/local --strip-components=1 -xzf`.
pub fn tarball(set: &PackageSet) -> Result<(), Failure> {
    let name = format!("pgmeter-{VERSION}");
    let file = format!("{name}-{}-linux.tar.gz", set.platform.arch);
    let level = match set.effort {
        PackageCompression::Publish => "-9n",
        PackageCompression::Test => "-1n",
    };
    let mut command = packing(set.tree.root());
    command
        .arg(format!("--use-compress-program=gzip {level}"))
        .arg(format!("--transform=s,^usr,{name},"))
        .arg("--file")
        .arg(set.packages.join(file))
        .arg("usr");
    run_tool(&mut command).map(drop)
}

/// The command that creates an archive of files below a directory.
pub fn packing(directory: &Path) -> Command {
    let mut command = Command::new("tar");
    command
        .arg("--create")
        // The same files give the same archive on every machine.
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .arg(format!("--mtime=@{}", tree::source_date()))
        .args(["--format=gnu", "--directory"])
        .arg(directory);
    command
}
