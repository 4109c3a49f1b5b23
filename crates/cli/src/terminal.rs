//! The only way from this program to standard output and standard error: nothing that could control
//! a terminal passes, but for styles.
//!
//! `cargo xtask tidy` refuses writing to them anywhere else.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::{self, IsTerminal};

use display::Surroundings;
use report::{Page, Styled};
use units::{excerpts, printable, printable_bytes};

use crate::document::Document;
use crate::failure::Failure;

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Results.
    Output,
    /// What is said beside them.
    Error,
}

/// Whether standard output may take a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandardOutput {
    /// It has nothing but text for people.
    Free,
    /// A document was asked for there, and nothing may come after it.
    Taken,
}

impl Stream {
    /// Whether somebody looks at it.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Output => io::stdout().is_terminal(),
            Self::Error => io::stderr().is_terminal(),
        }
    }

    /// What text is laid out for.
    pub fn page(self) -> Page {
        match self.is_terminal() {
            true => Page::terminal(self.width(), no_color() || is_dumb()),
            false => Page::PLAIN,
        }
    }

    /// How wide the terminal is, in columns.
    fn width(self) -> usize {
        let size = match self {
            Self::Output => rustix::termios::tcgetwinsize(io::stdout()),
            Self::Error => rustix::termios::tcgetwinsize(io::stderr()),
        };
        let of_terminal = size.ok().map(|size| usize::from(size.ws_col));
        let of_columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        of_terminal
            .filter(|width| *width > 0)
            .or_else(of_columns)
            .unwrap_or(80)
    }

    /// Writes text that need not be UTF-8, in one piece.
    pub fn write_bytes(self, bytes: &[u8]) -> io::Result<()> {
        self.write_safe(&printable_bytes(bytes))
    }

    pub fn write_document(self, document: &Document) -> io::Result<()> {
        self.write_safe(self.shown(document).as_bytes())
    }

    /// The text of a document as this stream gets it.
    pub fn shown(self, document: &Document) -> Cow<'_, str> {
        document.on(self.is_terminal().then(|| self.page().width))
    }

    /// Writes in as few pieces as the system takes, where the language's own streams cut at lines.
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

impl Failure {
    /// Prints the message to standard error.
    pub fn print(&self) {
        tell_text(format_args!("{}\n", self.text()));
    }
}

/// Prints text for people to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: impl Into<Styled>) -> Result<(), Failure> {
    print_document(&Document::Prose(text.into()))
}

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn print_document(document: &Document) -> Result<(), Failure> {
    match Stream::Output.write_document(document) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::system("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Says a document on standard error. There is no other place to complain in.
pub(crate) fn tell_document(document: &Document) {
    let _ = Stream::Error.write_document(document);
}

/// Says a line. Where nobody reads it any more, nothing is said, and what is done goes on.
macro_rules! tell {
    ($($part:tt)*) => { $crate::terminal::tell_line(format_args!($($part)*)) };
}

/// As `tell!`, but line breaks in what is said stay, and none is added.
macro_rules! tell_text {
    ($($part:tt)*) => { $crate::terminal::tell_text(format_args!($($part)*)) };
}

pub(crate) fn tell_line(line: Arguments) {
    let line = format!("{}\n", printable(&excerpts(&line.to_string())));
    tell_document(&Document::Prose(line.into()));
}

pub(crate) fn tell_text(text: Arguments) {
    tell_document(&Document::Prose(text.to_string().into()));
}

/// A name or a sentence that must not break the line that it stands in.
pub(crate) fn one_line(text: &dyn std::fmt::Display) -> String {
    printable(&text.to_string()).into_owned()
}

/// Lets panics be told as everything else is.
pub(crate) fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tell_text!("{panic}\n");
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            tell_text!("{backtrace}\n");
        }
    }));
}

/// Prints help, in which nothing comes from outside, with clap's own styles.
pub(crate) fn print_help(help: &clap::Error) {
    let stream = match help.use_stderr() {
        true => Stream::Error,
        false => Stream::Output,
    };
    let text = Styled::from(help.render().to_string());
    let folded = text.folded(stream.page().width);
    // Clap breaks all but usages.
    let _ = match stream.is_terminal() && folded != text {
        true => stream.write_document(&Document::Prose(text)),
        false => help.print(),
    };
}

/// Whether the user wants no colors.
///
/// Source: no-color.org.
pub(crate) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// So many lines fit the screen.
pub(crate) fn terminal_height() -> usize {
    let of_lines = || std::env::var("LINES").ok()?.parse().ok();
    let of_terminal = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_row > 0).then_some(usize::from(size.ws_row))
    };
    of_terminal().or_else(of_lines).unwrap_or(24)
}

/// Whether the terminal can do nothing but print.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

/// What live figures are shown on.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        is_terminal: Stream::Error.is_terminal(),
        is_dumb: is_dumb(),
        no_color: no_color(),
    }
}
