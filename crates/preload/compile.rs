// Included by build scripts, here and in the end-to-end tests.

use std::env::{self, VarError};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a library for preloading with the compiler of this build. It needs a linker, but no C
/// compiler and no C library. Returns the path of the library, or `None` on targets that cannot use
/// it.
pub fn compile(root: &Path, name: &str, more: &[&str]) -> Result<Option<PathBuf>, String> {
    let has = |key: &str, wanted: &str| env::var(key).is_ok_and(|value| value == wanted);
    // The code depends on the XSAVE layout and system call numbers of x86-64.
    if !(has("CARGO_CFG_TARGET_ARCH", "x86_64")
        && has("CARGO_CFG_TARGET_OS", "linux")
        && has("CARGO_CFG_TARGET_POINTER_WIDTH", "64"))
    {
        return Ok(None);
    }
    let variable = |key: &str| env::var(key).map_err(|error: VarError| format!("{key}: {error}"));
    let output = PathBuf::from(variable("OUT_DIR")?).join(name);
    let (rustc, target) = (variable("RUSTC")?, variable("TARGET")?);
    // In a cross build, Rust's own linker may be the only one for the target.
    let linkers: [&[&str]; 2] = [
        &["-Clink-arg=-nostartfiles"],
        &["-Clinker=rust-lld", "-Clinker-flavor=ld.lld"],
    ];
    let mut refused = String::new();
    for (number, linker) in linkers.iter().enumerate() {
        let mut command = Command::new(&rustc);
        command
            .args([
                "--crate-type=cdylib",
                "--crate-name=preloaded",
                "--edition=2024",
            ])
            .args(["-Copt-level=s", "-Cpanic=abort", "-Cstrip=symbols"])
            // With musl, for example, libraries are static by default.
            .arg("-Ctarget-feature=-crt-static")
            .arg(format!("--target={target}"))
            .args(more);
        if let (0, Ok(configured)) = (number, env::var("RUSTC_LINKER")) {
            command.arg(format!("-Clinker={configured}"));
        }
        let done = command
            .args(*linker)
            .arg("-o")
            .arg(&output)
            .arg(root)
            .output();
        let done = done.map_err(|error| format!("cannot start `{rustc}`: {error}"))?;
        if done.status.success() {
            return Ok(Some(output));
        }
        refused.push_str(&String::from_utf8_lossy(&done.stderr));
    }
    Err(format!("`{}` cannot be built:\n{refused}", root.display()))
}
