//! Live display of a run: the progress line, plain lines, and the full screen.
//!
//! A display only consumes [`RunEvent`]s, so killing it changes no results. Pure state machines
//! decide what to show; only `output` and `terminal` touch a terminal.

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

pub use current::{CellHistory, CurrentCell, Preparation};
pub use done::done_lines;
pub use history::{History, HistoryPoint};
pub use keys::PressedKey;
pub use left::{TimeLeft, time_left};
pub use line::live_lines;
pub use parts::{ExpectedPart, PartsDisplay};
pub use place::SearchProgress;
pub use plain::PlainLines;
pub use row::{CellRow, DoneCell, DoneOperation};
pub use screen::{Screen, draw};
pub use state::{Cleanup, RunState};
pub use steps::StepLine;
pub use terminal::{release_while_stopped, restore_terminal, resume};

use std::io;
use std::time::Instant;

use results::RunEvent;

use output::Output;

/// The display that the user requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DisplayKind {
    /// A progress line, and one permanent line per completed cell. Without a terminal, only the
    /// permanent lines.
    #[default]
    Line,
    /// The whole terminal; like `Line` if there is no terminal.
    Full,
    /// No display.
    None,
}

/// Properties of standard error and its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalFacts {
    /// `true` if standard error is a terminal.
    pub is_terminal: bool,
    /// `true` if the terminal can only print lines: `TERM` is unset or `dumb`.
    pub is_dumb: bool,
    /// `true` if `NO_COLOR` is set and not empty.
    pub no_color: bool,
}

impl TerminalFacts {
    /// `true` if a line can be overwritten.
    fn can_redraw(self) -> bool {
        self.is_terminal && !self.is_dumb
    }
}

/// The user's request for the run, returned after each event.
///
/// Ordered by how much they end: of two requests at the same time, the greater one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[must_use]
pub enum UserRequest {
    /// No request.
    #[default]
    None,
    /// End the cell, keep its results so far, and continue with the next one.
    Next,
    /// End the cell and the run, and keep the results so far.
    Stop,
    /// End immediately: the user requested a stop a second time.
    StopNow,
}

/// Shows a running benchmark on standard error.
#[derive(Debug)]
pub struct Display {
    output: Output,
    start: Instant,
}

impl Display {
    /// Creates a display of the requested kind, or of the nearest kind that standard error
    /// supports.
    ///
    /// # Errors
    /// If the terminal cannot be switched to the full screen.
    pub fn new(kind: DisplayKind, surroundings: TerminalFacts) -> io::Result<Self> {
        if kind == DisplayKind::Full && surroundings.is_terminal && surroundings.is_dumb {
            terminal::say("note: this terminal (TERM) has no full screen; lines are shown instead");
        }
        let output = match (kind, surroundings.can_redraw()) {
            (DisplayKind::None, _) => Output::None,
            (DisplayKind::Line, true) => Output::line(),
            (DisplayKind::Full, true) => Output::full(surroundings.no_color)?,
            (DisplayKind::Line | DisplayKind::Full, false) => Output::plain(),
        };
        Ok(Self {
            output,
            start: Instant::now(),
        })
    }

    /// Shows an event and returns the user's request, if any.
    ///
    /// Write errors are ignored, so that a broken terminal or pipe does not disturb the run.
    pub fn on_event(&mut self, event: &RunEvent) -> UserRequest {
        let now_ns = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.output.show(event, now_ns)
    }

    /// Records a stop request that did not come from a key, such as a signal.
    pub fn note_stopping(&mut self) {
        self.output.note_stopping();
    }

    /// Restores the terminal; dropping the display does the same.
    pub fn finish(self) {
        drop(self);
    }
}
