//! Text that is longer than the screen, in the program that the user reads such texts with.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGINT;

use crate::document::Document;
use crate::failure::Failure;
use crate::terminal::{Stream, print_document, terminal_height};

/// Ends at once with text that fits the screen, passes styles, and leaves the text there.
const LESS_OPTIONS: &str = "FRX";

/// Prints text for people to standard output, through the pager where it is a terminal with fewer
/// lines.
pub(crate) fn print_paged(text: String) -> Result<(), Failure> {
    let line_count = text.lines().count();
    let document = Document::Prose(text.into());
    let is_longer = Stream::Output.is_terminal() && line_count >= terminal_height();
    if is_longer && let Some(pager) = pager(std::env::var_os("PAGER")) {
        let shown = show(pager, Stream::Output.shown(&document).as_bytes());
        if shown.is_ok_and(|status| !is_missing(status)) {
            return Ok(());
        }
    }
    print_document(&document)
}

/// The pager; none where the user wants none.
fn pager(wanted: Option<OsString>) -> Option<Command> {
    let Some(words) = wanted else {
        return Some(Command::new("less"));
    };
    if words.is_empty() || words == "cat" {
        return None;
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(words);
    Some(shell)
}

fn show(mut pager: Command, text: &[u8]) -> io::Result<ExitStatus> {
    // The pager has the keyboard, where Ctrl-C ends a search and not the pager.
    let heard = signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", LESS_OPTIONS);
    }
    let mut child = pager.stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // Whoever leaves early has read enough.
        let _ = input.write_all(text);
    }
    let status = child.wait();
    signal_hook::low_level::unregister(heard);
    status
}

/// Whether the shell found no such program, so that nobody has seen the text.
fn is_missing(status: ExitStatus) -> bool {
    matches!(status.code(), Some(126 | 127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_no_pager_has_none() {
        assert!(pager(Some("".into())).is_none());
        assert!(pager(Some("cat".into())).is_none());
        assert!(pager(None).is_some());
        assert!(pager(Some("most -s".into())).is_some());
    }
}
