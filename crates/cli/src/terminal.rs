//! The only access to standard output and standard error. It passes styles, but no other characters
//! that control a terminal.
//!
//! `cargo xtask tidy` refuses other code that writes to them.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, IsTerminal};

use display::TerminalFacts;
use report::{Page, Styled};
use units::{elide_long_words, printable, printable_bytes};

use crate::document::OutputText;
use crate::failure::CliError;

/// Destination of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    /// Standard output, for results.
    Output,
    /// Standard error, for everything else.
    Error,
}

/// Use of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardOutput {
    /// Text for people.
    Free,
    /// A requested document, and nothing after it.
    Taken,
}

impl OutputStream {
    /// Returns `true` if the stream is a terminal.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Output => io::stdout().is_terminal(),
            Self::Error => io::stderr().is_terminal(),
        }
    }

    /// Returns the layout for text on this stream.
    pub fn page(self) -> Page {
        match self.is_terminal() {
            true => Page::terminal(self.width(), no_color() || is_dumb()),
            false => Page::PLAIN,
        }
    }

    /// Returns the width of the terminal, in columns.
    fn width(self) -> usize {
        let size = match self {
            Self::Output => rustix::termios::tcgetwinsize(io::stdout()),
            Self::Error => rustix::termios::tcgetwinsize(io::stderr()),
        };
        let terminal_width = size.ok().map(|size| usize::from(size.ws_col));
        let env_width = || std::env::var("COLUMNS").ok()?.parse().ok();
        terminal_width
            // A terminal whose size was never set, such as a serial line, reports 0.
            .filter(|width| *width > 0)
            .or_else(env_width)
            .unwrap_or(80)
    }

    /// Writes text that may be invalid UTF-8, in one piece.
    pub fn write_bytes(self, bytes: &[u8]) -> io::Result<()> {
        self.write_safe(&printable_bytes(bytes))
    }

    pub fn write_document(self, document: &OutputText) -> io::Result<()> {
        self.write_safe(self.shown(document).as_bytes())
    }

    /// Returns the text of a document for this stream.
    pub fn shown(self, document: &OutputText) -> Cow<'_, str> {
        document.on(self.is_terminal().then(|| self.page().width))
    }

    /// Writes with as few system calls as possible. The streams of the standard library may split
    /// the text at line breaks.
    fn write_safe(self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = rustix::io::retry_on_intr(|| match self {
                Self::Output => rustix::io::write(io::stdout(), bytes),
                Self::Error => rustix::io::write(io::stderr(), bytes),
            });
            match written? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => bytes = &bytes[count..],
            }
        }
        Ok(())
    }
}

impl CliError {
    /// Prints the message to standard error.
    pub fn print(&self) {
        eprint_text(format_args!("{}\n", self.text()));
    }
}

/// Prints text for people to standard output. A reader that closed the pipe is not an error.
pub(crate) fn print(text: impl Into<Styled>) -> Result<(), CliError> {
    print_document(&OutputText::Prose(text.into()))
}

/// Prints to standard output. A reader that closed the pipe is not an error.
pub(crate) fn print_document(document: &OutputText) -> Result<(), CliError> {
    match OutputStream::Output.write_document(document) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::system("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Prints a document on standard error. Errors are ignored, because there is no other stream to
/// report them on.
pub(crate) fn eprint_document(document: &OutputText) {
    let _ = OutputStream::Error.write_document(document);
}

/// Prints a line on standard error. If standard error is closed, the program continues without it.
macro_rules! tell {
    ($($part:tt)*) => { $crate::terminal::eprint_line(format_args!($($part)*)) };
}

/// Same as `tell!`, but keeps line breaks in the text, and adds none.
macro_rules! tell_text {
    ($($part:tt)*) => { $crate::terminal::eprint_text(format_args!($($part)*)) };
}

pub(crate) fn eprint_line(line: Arguments) {
    // A line break in a name could otherwise forge a message.
    let line = format!("{}\n", printable(&elide_long_words(&line.to_string())));
    eprint_document(&OutputText::Prose(line.into()));
}

pub(crate) fn eprint_text(text: Arguments) {
    eprint_document(&OutputText::Prose(text.to_string().into()));
}

/// Formats a name or a sentence without line breaks.
pub(crate) fn one_line(text: &dyn std::fmt::Display) -> String {
    printable(&text.to_string()).into_owned()
}

/// Prints panics through this module, like all other messages.
pub(crate) fn print_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // `capture` takes one only if `RUST_BACKTRACE` asks for it, as the standard hook does.
        let backtrace = std::backtrace::Backtrace::capture();
        tell_text!("{panic}\n");
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            tell_text!("{backtrace}\n");
        }
    }));
}

/// Prints help with clap's styles. Help contains no text from outside the program.
pub(crate) fn print_help(help: &clap::Error) {
    let stream = match help.use_stderr() {
        true => OutputStream::Error,
        false => OutputStream::Output,
    };
    let text = Styled::from(help.render().to_string());
    let folded = text.folded(stream.page().width);
    // clap does not wrap usage lines.
    let _ = match stream.is_terminal() && folded != text {
        true => stream.write_document(&OutputText::Prose(text)),
        false => help.print(),
    };
}

/// Returns `true` if the user has disabled colors.
///
/// Source: no-color.org.
pub(crate) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns the height of the terminal, in lines.
pub(crate) fn terminal_height() -> usize {
    let env_height = || std::env::var("LINES").ok()?.parse().ok();
    let window_height = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_row > 0).then_some(usize::from(size.ws_row))
    };
    window_height().or_else(env_height).unwrap_or(24)
}

/// Returns `true` if the terminal supports no control sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// Returns the properties of the terminal for live displays.
pub(crate) fn surroundings() -> TerminalFacts {
    TerminalFacts {
        is_terminal: OutputStream::Error.is_terminal(),
        is_dumb: is_dumb(),
        no_color: no_color(),
    }
}
