//! Programs of other projects that developer commands run, built by cargo when they are missing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Failure;
use crate::workspace;

/// A program that cargo can install.
pub struct CargoTool {
    /// Name of the package and of its program.
    pub name: &'static str,
    /// Version to build if the program is not installed.
    pub version: &'static str,
    /// Options of `cargo install`, which leave out unneeded parts.
    pub options: &'static [&'static str],
}

/// Creates the `.deb`.
pub const CARGO_DEB: CargoTool = CargoTool {
    name: "cargo-deb",
    version: "3.8.0",
    // The program `xz` does the compression.
    options: &["--no-default-features"],
};

/// Creates the `.rpm`.
pub const CARGO_GENERATE_RPM: CargoTool = CargoTool {
    name: "cargo-generate-rpm",
    version: "0.21.1",
    options: &[],
};

/// Creates the documentation site: the Rust project's own generator, in one program that needs no
/// network and includes search.
pub const MDBOOK: CargoTool = CargoTool {
    name: "mdbook",
    version: "0.5.4",
    // Without its server and the file watcher, which have most of the dependencies.
    options: &["--no-default-features", "--features", "search"],
};

/// Packages of Python's index: the compiler that links with stubs of old C libraries, and the
/// command that makes cargo use it.
const ZIG: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.1"];

impl CargoTool {
    /// Path of the program: built earlier, installed by the user, or built now.
    pub fn path(&self, target: &Path) -> Result<PathBuf, Failure> {
        match self.found(target) {
            Some(path) => Ok(path),
            None => self.build(target),
        }
    }

    /// Path of the program if it was built earlier, or installed by the user.
    pub fn found(&self, target: &Path) -> Option<PathBuf> {
        let built = self.built(target);
        if built.is_file() {
            return Some(built);
        }
        crate::test::is_on_path(self.name).then(|| self.name.into())
    }

    fn built(&self, target: &Path) -> PathBuf {
        target.join("tools/bin").join(self.name)
    }

    fn build(&self, target: &Path) -> Result<PathBuf, Failure> {
        let CargoTool { name, version, .. } = self;
        let tools = target.join("tools");
        println!("building {name} {version} into `{}`", tools.display());
        let mut install = workspace::cargo();
        install
            .args(["install", name, "--version", version, "--locked"])
            .args(["--quiet", "--no-track", "--root"])
            .arg(&tools)
            .args(self.options)
            // A quick build of these programs is fast enough.
            .arg("--debug")
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env("CARGO_TARGET_DIR", tools.join("build"));
        match run_tool(&mut install) {
            Ok(_) => Ok(self.built(target)),
            Err(failure) => Err(Failure::Missing(format!("there is no {name}: {failure}"))),
        }
    }
}

/// Directory with `ziglang/zig` and `bin/cargo-zigbuild`: installed earlier or now.
pub fn zig(target: &Path) -> Result<PathBuf, Failure> {
    let directory = target.join("tools/zig");
    if directory.join("bin/cargo-zigbuild").is_file() {
        return Ok(directory);
    }
    println!(
        "installing {} into `{}`",
        ZIG.join(" "),
        directory.display()
    );
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps"])
        .args(["--disable-pip-version-check", "--upgrade", "--target"])
        .arg(&directory)
        .args(ZIG);
    match run_tool(&mut pip) {
        Ok(_) => Ok(directory),
        Err(failure) => Err(Failure::Missing(format!(
            "no compiler for old systems ({failure}); install Python with pip, and make {} \
             available to it",
            ZIG.join(" and ")
        ))),
    }
}

/// Runs a program; returns its standard output and passes on its standard error.
pub fn run_tool(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
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
