//! Live figures: the progress line, plain lines, and the full screen.
//!
//! A display consumes [`RunEvent`]s and owns nothing: killing it changes no number. What it shows
//! is decided by pure state machines; only `output` and `terminal` touch a terminal.

mod current;
mod done;
mod history;
mod keys;
mod left;
mod line;
mod output;
mod parts;
mod place;
mod plain;
mod printable;
mod row;
mod screen;
mod state;
mod steps;
mod terminal;

pub use current::{Current, Past, Preparation};
pub use done::done_line;
pub use history::{History, Point};
pub use keys::Key;
pub use left::{TimeLeft, time_left};
pub use line::live_line;
pub use parts::{ExpectedPart, Parts};
pub use place::SearchPlace;
pub use plain::PlainLines;
pub use row::{CellRow, DoneCell, DoneOperation};
pub use screen::{Screen, draw};
pub use state::{Cleanup, State};
pub use steps::Steps;
pub use terminal::{lend_while_stopped, restore_terminal, resume};

use std::io;
use std::time::Instant;

use results::RunEvent;

use output::Output;

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// One line that is kept up to date, and one that stays for each cell that is done; only those
    /// where there is no terminal.
    #[default]
    Line,
    /// The whole terminal; as `Line` where there is no terminal.
    Full,
    /// Nothing.
    None,
}

/// What standard error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// Whether standard error is a terminal.
    pub is_terminal: bool,
    /// Whether that terminal can do nothing but print: `TERM` is not set or is `dumb`.
    pub is_dumb: bool,
    /// Whether `NO_COLOR` is set to something.
    pub no_color: bool,
}

impl Surroundings {
    /// Whether a line can be written over.
    fn can_redraw(self) -> bool {
        self.is_terminal && !self.is_dumb
    }
}

/// What the user wants of the run, seen when an event is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// End the cell, keep what was measured of it, and go on with the next.
    Next,
    /// End the cell and the run, and keep what was measured.
    Stop,
    /// End at once: it was asked for twice.
    StopNow,
}

/// Shows a run while it goes on, on standard error.
#[derive(Debug)]
pub struct Display {
    output: Output,
    start: Instant,
}

impl Display {
    /// A display of the asked kind, or of the nearest kind that standard error can show.
    ///
    /// # Errors
    /// When the terminal cannot be switched to the full screen.
    pub fn new(kind: Kind, surroundings: Surroundings) -> io::Result<Self> {
        if kind == Kind::Full && surroundings.is_terminal && surroundings.is_dumb {
            terminal::say("note: this terminal has no full screen (TERM), so there are lines");
        }
        let output = match (kind, surroundings.can_redraw()) {
            (Kind::None, _) => Output::None,
            (Kind::Line, true) => Output::line(),
            (Kind::Full, true) => Output::full(surroundings.no_color)?,
            (Kind::Line | Kind::Full, false) => Output::plain(),
        };
        Ok(Self {
            output,
            start: Instant::now(),
        })
    }

    /// Shows an event, and looks what the user wants of the run.
    ///
    /// A display that cannot write shows nothing and disturbs nothing.
    pub fn on_event(&mut self, event: &RunEvent) -> Asked {
        let now_ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.output.show(event, now_ns)
    }

    /// Takes note that the run was asked to end otherwise than by a key.
    pub fn note_stopping(&mut self) {
        self.output.note_stopping();
    }

    /// Gives the terminal back; dropping the display does the same.
    pub fn finish(self) {
        drop(self);
    }
}
