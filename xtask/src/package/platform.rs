//! Platforms that packages are made for.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Failure;
use crate::tool::run_tool;

/// A processor architecture, under the names that compilers and packages have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// Rust's name of the target.
    pub triple: &'static str,
    /// Architecture in Rust, RPM and Python.
    pub arch: &'static str,
    /// Architecture in Debian and in container images.
    pub image_arch: &'static str,
}

/// Platforms of a release.
const PLATFORMS: [Platform; 2] = [
    Platform {
        triple: "x86_64-unknown-linux-gnu",
        arch: "x86_64",
        image_arch: "amd64",
    },
    Platform {
        triple: "aarch64-unknown-linux-gnu",
        arch: "aarch64",
        image_arch: "arm64",
    },
];

impl Platform {
    /// All platforms, with that of this machine first.
    ///
    /// # Errors
    /// `Missing` on a machine whose programs are not released.
    pub fn all() -> Result<Vec<Platform>, Failure> {
        let own = Platform::host()?;
        let others = PLATFORMS.into_iter().filter(|it| *it != own);
        Ok([own].into_iter().chain(others).collect())
    }

    /// The platform of this machine.
    ///
    /// # Errors
    /// `Missing` on a machine whose programs are not released.
    pub fn host() -> Result<Platform, Failure> {
        let arch = std::env::consts::ARCH;
        let own = PLATFORMS.into_iter().find(|it| it.arch == arch);
        own.ok_or_else(|| Failure::Missing(format!("there are no packages for `{arch}`")))
    }

    /// `true` if the compiler has the platform's standard library, or rustup could add it.
    pub fn is_installed(&self) -> Result<bool, Failure> {
        let library = sysroot()?.join("lib/rustlib").join(self.triple);
        if library.is_dir() {
            return Ok(true);
        }
        let added = Command::new("rustup")
            .args(["target", "add", self.triple])
            .status();
        // Without rustup, as in a distribution's toolchain, the answer is the same.
        Ok(added.is_ok_and(|status| status.success()) && library.is_dir())
    }
}

/// Directory of the compiler's own files.
pub fn sysroot() -> Result<PathBuf, Failure> {
    let printed = run_tool(Command::new("rustc").args(["--print", "sysroot"]))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&printed).trim()))
}
