//! Builds of the program that run on other systems than the one that built them.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::elf::{self, GlibcVersion};
use super::platform::Platform;
use crate::error::Failure;
use crate::tool::{run_tool, zig};
use crate::workspace;

/// The oldest C library that released programs run with: that of the distributions of 2014.
pub const GLIBC_MAX: GlibcVersion = GlibcVersion(2, 17);

/// Zig, which links with stubs of any version of the C library, and its cargo command.
pub struct ZigToolchain {
    directory: PathBuf,
    /// Cargo's target directory.
    target: PathBuf,
}

impl ZigToolchain {
    /// Installs the toolchain below the target directory, unless it is there.
    ///
    /// # Errors
    /// `Missing` with the packages to install.
    pub fn new(target: &Path) -> Result<ZigToolchain, Failure> {
        Ok(ZigToolchain {
            directory: zig(target)?,
            target: target.to_path_buf(),
        })
    }

    /// Builds the published program for a platform.
    ///
    /// # Errors
    /// `ChecksFailed` if the program would not run with the C library of [`GLIBC_MAX`] alone.
    pub fn build(&self, platform: Platform) -> Result<PathBuf, Failure> {
        println!("building `{}` for glibc {GLIBC_MAX}", platform.triple);
        let remapped = self.remapped()?;
        let flags = |option: &str, separator: &str| {
            let flags = remapped.iter().map(|pair| format!("{option}={pair}"));
            flags.collect::<Vec<_>>().join(separator)
        };
        let mut command = Command::new(self.directory.join("bin/cargo-zigbuild"));
        command
            .current_dir(workspace::root())
            .args([
                "zigbuild",
                "--profile",
                workspace::PUBLISHED_PROFILE,
                "--locked",
            ])
            .args(workspace::PROGRAM)
            .arg("--target")
            .arg(format!("{}.{GLIBC_MAX}", platform.triple))
            .env("CARGO_TARGET_DIR", &self.target)
            .env(
                "CARGO_ZIGBUILD_ZIG_PATH",
                self.directory.join("ziglang/zig"),
            )
            // Cargo separates these flags by this character, so paths may contain spaces.
            .env(
                "CARGO_ENCODED_RUSTFLAGS",
                flags("--remap-path-prefix", "\u{1f}"),
            )
            // For the C code of SQLite.
            .env(
                format!("CFLAGS_{}", platform.triple.replace('-', "_")),
                flags("-ffile-prefix-map", " "),
            )
            // Zig writes its own path into the debug information of its runtime, and no option
            // replaces it. So the symbols have the names of functions, but no lines of sources.
            .env("CARGO_PROFILE_DIST_DEBUG", "false")
            .env("SOURCE_DATE_EPOCH", super::tree::source_date().to_string());
        run_tool(&mut command)?;
        let directory = self.target.join(platform.triple);
        let program = directory.join(workspace::PUBLISHED_PROFILE).join("pgmeter");
        check(&program)?;
        Ok(program)
    }

    /// Directories of this machine with the names that replace them, because paths in panic
    /// messages and debug information would make each machine's program another one.
    fn remapped(&self) -> Result<Vec<String>, Failure> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let user = || std::env::home_dir().map(|home| home.join(".cargo"));
        let home = home
            .or_else(user)
            .ok_or_else(|| Failure::Missing("`CARGO_HOME` and `HOME` are not set".to_owned()))?;
        // The compiler uses the last prefix that matches, so the directory in another comes last.
        let pairs = [
            (home, "/cargo"),
            (workspace::root(), "/pgmeter"),
            (self.target.clone(), "/pgmeter/target"),
        ];
        let pairs = pairs.iter();
        Ok(pairs
            .map(|(path, name)| format!("{}={name}", path.display()))
            .collect())
    }
}

/// Checks that a program runs with the C library of [`GLIBC_MAX`] alone.
fn check(program: &Path) -> Result<(), Failure> {
    let needs = elf::system_needs(program)?;
    if needs.glibc > GLIBC_MAX {
        return Err(Failure::ChecksFailed(format!(
            "`{}` needs glibc {}, and {GLIBC_MAX} is the limit; `readelf --dyn-syms` shows the \
             symbols",
            program.display(),
            needs.glibc
        )));
    }
    if let Some(library) = needs.other_libraries.first() {
        return Err(Failure::ChecksFailed(format!(
            "`{}` needs `{library}`, which some systems lack",
            program.display()
        )));
    }
    Ok(())
}
