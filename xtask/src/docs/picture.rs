//! The README's picture: the page of a sample record in the browser that the tests use.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::Failure;
use crate::test;
use crate::workspace;

/// Path of the picture, relative to the workspace root.
pub const PICTURE: &str = "docs/images/page.png";
/// Maximum size, because every clone of the project downloads it.
const BYTES_MAX: u64 = 200_000;
/// The sample page that it shows.
const PAGE: &str = "sweep.html";
const BROWSER: &str = "chromium";

/// Takes the picture again; prints the reason if there is no browser.
pub fn write() -> Result<(), Failure> {
    if !test::is_on_path(BROWSER) {
        println!("left {PICTURE} as it is: `{BROWSER}` is not installed");
        return Ok(());
    }
    let pages = test::make_pages()?;
    let picture = workspace::root().join(PICTURE);
    let directory = picture.parent().unwrap_or(&picture);
    std::fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    take(&pages.join(PAGE), &picture)?;
    check()?;
    println!("wrote {PICTURE}");
    Ok(())
}

/// Checks only that it exists and is small, because browsers render the same page with small
/// differences.
pub fn check() -> Result<(), Failure> {
    let path = workspace::root().join(PICTURE);
    let bytes = std::fs::metadata(&path)
        .map_err(Failure::file(&path))?
        .len();
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    Err(Failure::ChecksFailed(format!(
        "`{PICTURE}` has {bytes} bytes, at most {BYTES_MAX}: show less of the page"
    )))
}

/// Takes a screenshot of the page after all scripts have drawn.
fn take(page: &Path, picture: &Path) -> Result<(), Failure> {
    let profile = PathBuf::from(format!("{}.profile", page.display()));
    let status = Command::new(BROWSER)
        .args([
            "--headless",
            // Chromium does not start as root with its sandbox.
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args([
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
        ])
        // The budget lets timers of the page run without waiting, before Chromium takes the
        // picture.
        .args(["--window-size=1200,1010", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Before the status is examined, so that a failure leaves no profile.
    let removed = std::fs::remove_dir_all(&profile);
    match status.map_err(Failure::start(BROWSER))? {
        status if status.success() && picture.is_file() => removed.map_err(Failure::file(&profile)),
        status => Err(Failure::Program {
            program: BROWSER.to_owned(),
            message: format!("{status}, and no picture"),
        }),
    }
}
