//! The user's browser.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Opens a file in the desktop's default program.
const OPENER: &str = "xdg-open";
/// Placeholder for the page in a command of `BROWSER`.
const PAGE_PLACEHOLDER: &str = "%s";

/// Why a page could not be shown, and a remedy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrowserError {
    pub reason: String,
    pub help: &'static str,
}

/// Shows a page. Waits for the browser command, because some browsers run in the terminal.
pub(crate) fn show(page: &Path) -> Result<(), BrowserError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(browsers) = variable("BROWSER") {
        return try_browsers(&browsers, page);
    }
    // Under WSL, Windows can show the page without a display of Linux.
    let displays = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    if !displays.iter().any(|name| variable(name).is_some()) {
        return Err(BrowserError {
            reason: "there is no display for a browser".to_owned(),
            help: "open the page on a machine with a display, or set `BROWSER` to a browser",
        });
    }
    let reason = match Command::new(OPENER).arg(page).status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("`{OPENER}` could not show the page: {status}"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("`{OPENER}` (package `xdg-utils`) is not installed")
        }
        Err(error) => format!("cannot start `{OPENER}`: {error}"),
    };
    Err(BrowserError {
        reason,
        help: "name a browser in `BROWSER`",
    })
}

/// Tries the browsers in turn. They are separated by colons.
fn try_browsers(browsers: &OsStr, page: &Path) -> Result<(), BrowserError> {
    // As in `xdg-open`, colons separate the commands, and `%s` stands for the address.
    let browsers = browsers.to_string_lossy();
    let mut last = String::from("it names none");
    for words in browsers.split(':').filter(|words| !words.trim().is_empty()) {
        match start(words, page) {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => last = status.to_string(),
            Err(error) => last = error.to_string(),
        }
    }
    Err(BrowserError {
        reason: format!("`BROWSER` (`{browsers}`) could not show the page: {last}"),
        help: "set `BROWSER` to an installed browser",
    })
}

fn start(words: &str, page: &Path) -> io::Result<ExitStatus> {
    let mut command = browser_command(words, page).into_iter();
    // No shell is involved, because the path of a page may contain characters that a shell
    // interprets.
    let program = command.next().unwrap_or_default();
    Command::new(program).args(command).status()
}

/// Splits a browser command into words. The page replaces each `%s`, or is appended if there is
/// none.
fn browser_command(words: &str, page: &Path) -> Vec<OsString> {
    let page = page.as_os_str();
    let mut command: Vec<OsString> = words
        .split_whitespace()
        .map(|word| match word {
            PAGE_PLACEHOLDER => page.to_owned(),
            word => word.into(),
        })
        .collect();
    if !words
        .split_whitespace()
        .any(|word| word == PAGE_PLACEHOLDER)
    {
        command.push(page.to_owned());
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_replaces_the_placeholder_in_the_browser_command() {
        let page = Path::new("/a b.html");
        assert_eq!(browser_command("w3m", page), ["w3m", "/a b.html"]);
        assert_eq!(
            browser_command("firefox --new-tab %s --x", page),
            ["firefox", "--new-tab", "/a b.html", "--x"]
        );
    }
}
