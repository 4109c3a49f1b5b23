//! The program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::{FixtureError, Scratch};

/// The results store of [`pgmeter`], below its directory.
pub const STORE: &str = ".store/results.db";
/// Directory of pages without a path of their own, below the same directory.
pub const REPORTS: &str = ".store/reports";

/// A command that runs `pgmeter` in `directory`, without the caller's settings and ignored signals.
///
/// The program is that of `PGMETER_BIN` if set, otherwise a debug build of this tree.
///
/// # Panics
/// When the program cannot be built.
pub fn pgmeter(directory: &Path) -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let program = BUILT.get_or_init(|| match std::env::var_os("PGMETER_BIN") {
        Some(path) => PathBuf::from(path),
        None => build(),
    });
    reset_ignored_signals();
    let mut command = Command::new(program);
    command.current_dir(directory);
    command
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        // A pager would wait for a key.
        .env("PAGER", "cat");
    // Never the store of the user who runs the tests.
    command
        .env("PGMETER_DB", directory.join(STORE))
        .env("HOME", directory)
        .env_remove("XDG_DATA_HOME")
        .env_remove("PGMETER_REPORTS")
        .env_remove("PGMETER_COMPLETE")
        .env_remove("RUST_LOG");
    // Nor the user's browser and the like.
    for name in [
        "BROWSER",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "WSL_DISTRO_NAME",
        "LESS",
    ] {
        command.env_remove(name);
    }
    command
}

/// Lets started programs receive signals that the parent of the tests ignores, as shells do for
/// background jobs. A signal that this process catches has its default action again in a started
/// program.
fn reset_ignored_signals() {
    static RESET: OnceLock<()> = OnceLock::new();
    RESET.get_or_init(|| {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
            let ends = Arc::new(AtomicBool::new(true));
            let caught = signal_hook::flag::register_conditional_default(signal, ends);
            caught.expect("signals can be caught");
        }
    });
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--package", "pgmeter"])
        .current_dir(workspace())
        .status()
        .expect("cargo starts");
    assert!(status.success(), "pgmeter does not build");
    // This test's own path is `<target>/debug/deps/<name>`.
    let own = std::env::current_exe().expect("a running program has a path");
    let debug = own.ancestors().nth(2).expect("a test lies in `debug/deps`");
    debug.join("pgmeter")
}

/// The root of this workspace.
pub(crate) fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// A folder of the shared samples.
///
/// # Errors
/// `Unavailable` if they are not checked out next to this tree.
pub fn samples(folder: &str) -> Result<PathBuf, FixtureError> {
    let path = workspace().join("../shared/samples").join(folder);
    if path.is_dir() {
        return Ok(path);
    }
    Err(FixtureError::Unavailable(format!(
        "the shared samples are not here (`{folder}`)"
    )))
}

/// Writes a workload file into `scratch` and returns its path.
///
/// # Errors
/// The file cannot be written.
pub fn write_workload(scratch: &Scratch, name: &str, text: &str) -> Result<PathBuf, FixtureError> {
    let path = scratch.join(name);
    std::fs::write(&path, text).map_err(FixtureError::file(&path))?;
    Ok(path)
}
