//! The lane that checks the HTML report and the page of `pgmeter serve` in a real browser.
//!
//! The browser must be installed. Its driver comes from npm, in the versions of
//! `tests/browser/package-lock.json`, and is installed into the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::output::{Show, TestTally, run_tests};
use super::setup::is_on_path;
use crate::error::Failure;
use crate::workspace;

/// Programs that the checks need.
const PROGRAMS: [&str; 3] = ["chromium", "node", "npm"];

/// Creates the pages of sample records and runs the checks on them.
pub fn run(show: Show<'_>) -> Result<TestTally, Failure> {
    if let Some(missing) = PROGRAMS.iter().find(|name| !is_on_path(name)) {
        return Ok(TestTally::skipped(
            &format!("`{missing}` is not installed"),
            show,
        ));
    }
    let bench = bench()?;
    copy_checks(&bench)?;
    if let Err(reason) = install(&bench) {
        return Ok(TestTally::skipped(&reason, show));
    }
    let pages = make_pages()?;
    let program = workspace::debug_program("pgmeter")?;
    let mut checks = Command::new("node");
    checks.current_dir(&bench).arg("check.mjs");
    checks.env("PGMETER", program);
    checks.args([&pages, &bench.join("screens")]);
    run_tests("browser", &mut checks, show)
}

/// Directory of the checks, next to the build output, so that the source tree stays unchanged.
fn bench() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe().map_err(Failure::file(Path::new("xtask")))?;
    // This program is `<target>/debug/xtask`.
    let target = own.ancestors().nth(2).unwrap_or(&own);
    let bench = target.join("browser");
    fs::create_dir_all(&bench).map_err(Failure::file(&bench))?;
    Ok(bench)
}

fn copy_checks(bench: &Path) -> Result<(), Failure> {
    let source = workspace::root().join("tests/browser");
    for entry in fs::read_dir(&source).map_err(Failure::file(&source))? {
        let path = entry.map_err(Failure::file(&source))?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, bench.join(name)).map_err(Failure::file(&path))?;
        }
    }
    Ok(())
}

/// Installs the browser's driver, unless it is already installed.
fn install(bench: &Path) -> Result<(), String> {
    let wanted = fs::read(bench.join("package-lock.json")).map_err(|error| error.to_string())?;
    let note = bench.join("node_modules/.installed-lock.json");
    // Without this, each run would need npm's registry.
    if fs::read(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let status = Command::new("npm")
        .current_dir(bench)
        // `ci` installs exactly the versions of the lock file, without scripts of the packages.
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args([
            "--fetch-retries=1",
            "--fetch-timeout=30000",
            "--loglevel=error",
        ])
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("npm's registry cannot be had (`npm ci`: {status})")),
        Err(error) => return Err(format!("`npm ci`: {error}")),
    }
    // The note is written last, so that an interrupted installation is repeated.
    fs::write(&note, wanted).map_err(|error| error.to_string())
}

/// Writes the sample pages, with the debug build that all tests use, and returns their directory.
pub fn make_pages() -> Result<PathBuf, Failure> {
    let directory = bench()?.join("pages");
    let program = workspace::debug_program("pages")?;
    let status = Command::new(program).arg(&directory).status();
    match status.map_err(Failure::start("pages"))? {
        status if status.success() => Ok(directory),
        status => Err(Failure::Program {
            program: "pages".to_owned(),
            message: status.to_string(),
        }),
    }
}
