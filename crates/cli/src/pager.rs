//! Shows text that is longer than the screen in the user's pager.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

use crate::document::OutputText;
use crate::failure::CliError;
use crate::terminal::{OutputStream, print_document, terminal_height};

/// Options of `less`: exit if the text fits the screen, pass styles, and leave the text on the
/// screen.
const LESS_OPTIONS: &str = "FRX";

/// Prints to standard output. Uses the pager for text for people if standard output is a terminal
/// with fewer lines.
pub(crate) fn print_paged(document: &OutputText) -> Result<(), CliError> {
    let is_for_people = matches!(document, OutputText::Prose(_));
    if is_for_people && OutputStream::Output.is_terminal() {
        let text = OutputStream::Output.shown(document);
        // The shell's prompt needs a line, too.
        let is_longer = text.lines().count() >= terminal_height();
        if is_longer && let Some(pager) = pager(std::env::var_os("PAGER")) {
            let shown = show(pager, text.as_bytes());
            if shown.is_ok_and(|status| !is_missing(status)) {
                return Ok(());
            }
        }
    }
    print_document(document)
}

/// Returns the pager; `None` if the user does not want one.
fn pager(wanted: Option<OsString>) -> Option<Command> {
    let Some(words) = wanted else {
        return Some(Command::new("less"));
    };
    if words.is_empty() || words == "cat" {
        return None;
    }
    // `PAGER` may contain options and quotes, which only a shell splits correctly.
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(words);
    Some(shell)
}

fn show(mut pager: Command, text: &[u8]) -> io::Result<ExitStatus> {
    // In a pager, Ctrl-C ends a search, so it must not end this process.
    // A handler is needed, because the pager would inherit an ignored signal through execve(2).
    let registration = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
    // The user's own options take precedence.
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", LESS_OPTIONS);
    }
    let mut child = pager.stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // An error here means that the user has left the pager early.
        let _ = input.write_all(text);
    }
    let status = child.wait();
    signal_hook::low_level::unregister(registration);
    status
}

/// Returns `true` if the shell did not find the pager, so the text was not shown.
fn is_missing(status: ExitStatus) -> bool {
    // POSIX: 126 if the shell cannot execute the command, 127 if it does not find it.
    matches!(status.code(), Some(126 | 127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pager_and_cat_disable_paging() {
        assert!(pager(Some("".into())).is_none());
        assert!(pager(Some("cat".into())).is_none());
        assert!(pager(None).is_some());
        assert!(pager(Some("most -s".into())).is_some());
    }
}
