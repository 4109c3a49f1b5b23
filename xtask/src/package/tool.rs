//! `cargo-deb`, which makes the `.deb`.

use std::path::{Path, PathBuf};

use super::run_tool;
use crate::error::Failure;
use crate::workspace;

/// The version that is built where there is none.
const VERSION: &str = "3.8.0";

/// The program: what an earlier call has built, else the user's own, else one that is built now.
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
        // Compressing is xz's work; what is left is done soon by a program that is built soon.
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
