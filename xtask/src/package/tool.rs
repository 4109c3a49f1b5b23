//! The program `cargo-deb`, which creates the `.deb`.

use std::path::{Path, PathBuf};

use super::run_tool;
use crate::error::Failure;
use crate::workspace;

/// Version to build if the program is not installed.
const VERSION: &str = "3.8.0";

/// Path of the program: built earlier, installed by the user, or built now.
pub fn cargo_deb(target: &Path) -> Result<PathBuf, Failure> {
    let tools = target.join("tools");
    let built = tools.join("bin/cargo-deb");
    if built.is_file() {
        return Ok(built);
    }
    if crate::test::is_on_path("cargo-deb") {
        return Ok("cargo-deb".into());
    }
    println!("building cargo-deb {VERSION} into `{}`", tools.display());
    let mut install = workspace::cargo();
    install
        .args(["install", "cargo-deb", "--version", VERSION, "--locked"])
        .args(["--quiet", "--no-track", "--root"])
        .arg(&tools)
        // xz does the compression, so a quick build of this program is fast enough.
        .args(["--no-default-features", "--debug"])
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .env("CARGO_TARGET_DIR", tools.join("build"));
    match run_tool(&mut install) {
        Ok(_) => Ok(built),
        Err(failure) => Err(Failure::Missing(format!(
            "there is no cargo-deb: {failure}"
        ))),
    }
}
