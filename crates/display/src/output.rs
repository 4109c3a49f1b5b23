//! The destination of a display: none, a pipe, one line of a terminal, or the full screen.

use std::io;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::RunEvent;
use units::printable;

use crate::done::done_lines;
use crate::keys::PressedKey;
use crate::line::live_lines;
use crate::plain::PlainLines;
use crate::screen::Screen;
use crate::state::RunState;
use crate::terminal::{self, Terminal};
use crate::{DisplayKind, TerminalFacts, UserRequest};

/// Maximum redraws of the line per second.
const REDRAWS_PER_SECOND: u8 = 10;
/// Minimum time between two redraws of the full screen.
const REDRAW_PERIOD_NS: u64 = 100_000_000;
/// Message after the user leaves the full screen.
const LEFT_MESSAGE: &str = "the run continues; Ctrl-C stops it and keeps the results so far";

/// Destination of a display.
#[derive(Debug)]
pub enum Output {
    /// No output.
    None,
    /// Plain lines on standard error.
    Plain(Box<PlainLines>),
    /// One line of the terminal, updated in place.
    Line {
        /// State of the run.
        state: Box<RunState>,
        /// Draws and erases the line.
        bar: ProgressBar,
    },
    /// The full screen of the terminal.
    Full {
        /// The screen's contents.
        screen: Box<Screen>,
        /// Restores the terminal when dropped.
        terminal: Box<Terminal>,
        /// Time of the last redraw.
        drawn_ns: Option<u64>,
    },
}

impl Output {
    /// Plain lines on standard error.
    pub fn plain() -> Self {
        Self::Plain(Box::default())
    }

    /// One line of the terminal, updated in place.
    pub fn line() -> Self {
        Self::line_of(RunState::default())
    }

    fn line_of(state: RunState) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
        Self::Line {
            state: Box::new(state),
            bar: line_bar(target),
        }
    }

    /// The full screen of the terminal.
    pub fn full(no_color: bool) -> io::Result<Self> {
        let terminal = Box::new(Terminal::enter()?);
        Ok(Self::Full {
            screen: Box::new(Screen::new(no_color)),
            terminal,
            drawn_ns: None,
        })
    }

    /// Records that a stop of the run was requested.
    pub fn note_stopping(&mut self) {
        match self {
            Self::Line { state, .. } => state.stopping = true,
            Self::Full { screen, .. } => screen.note_stopping(),
            Self::None | Self::Plain(_) => {}
        }
    }

    /// Shows an event and returns the user's request, if any.
    pub fn show(&mut self, event: &RunEvent, now_ns: u64) -> UserRequest {
        match self {
            Self::None => UserRequest::None,
            Self::Plain(lines) => {
                if let Some(line) = lines.line(event, now_ns) {
                    terminal::say(&line);
                }
                UserRequest::None
            }
            Self::Line { state, bar } => {
                state.apply(event, now_ns);
                let width = terminal::width();
                if let RunEvent::CellDone { record } = event {
                    for line in done_lines(state, record, width) {
                        print_permanent_line(bar, &line);
                    }
                }
                update_progress_line(bar, &live_lines(state, width));
                UserRequest::None
            }
            Self::Full {
                screen,
                terminal,
                drawn_ns,
            } => {
                let request = screen.apply(event, now_ns, &terminal.keys());
                // Every event redraws the whole screen, and a busy run has many events in a second.
                let due = drawn_ns.is_none_or(|last| now_ns - last >= REDRAW_PERIOD_NS);
                // An event can be the last one for a while, so a request and the end are always
                // shown.
                if due || request != UserRequest::None || screen.state().finished.is_some() {
                    terminal.draw(screen);
                    *drawn_ns = Some(now_ns);
                }
                if screen.is_left() {
                    let state = screen.take_state();
                    self.leave(state);
                }
                request
            }
        }
    }

    /// Switches from the full screen to the progress line.
    fn leave(&mut self, state: RunState) {
        // Dropping the old output restores the terminal before the line is drawn.
        *self = Self::None;
        *self = Self::line_of(state);
        if let Self::Line { bar, state } = self {
            print_permanent_line(bar, LEFT_MESSAGE);
            update_progress_line(bar, &live_lines(state, terminal::width()));
        }
    }
}

/// A progress line for activities other than runs; `None` if none is wanted or possible.
pub fn bar_of(kind: DisplayKind, surroundings: TerminalFacts) -> Option<ProgressBar> {
    let has_bar = surroundings.can_redraw() && kind != DisplayKind::None;
    has_bar.then(|| line_bar(ProgressDrawTarget::stderr()))
}

/// A bar that shows only a message.
fn line_bar(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{msg}");
    bar.set_style(style.expect("the template has only a known key"));
    bar
}

/// Prints a permanent line above the progress line.
pub fn print_permanent_line(bar: &ProgressBar, line: &str) {
    bar.println(printable(line));
}

/// Updates the text of the progress line, which may take several lines.
pub fn update_progress_line(bar: &ProgressBar, lines: &[String]) {
    let lines: Vec<_> = lines.iter().map(|line| printable(line)).collect();
    bar.set_message(lines.join("\n"));
    bar.tick();
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Self::Line { bar, .. } = self {
            // The last state of the line would otherwise stay above the report.
            bar.finish_and_clear();
        }
    }
}

impl Screen {
    /// Processes an event and the keys pressed since the last one.
    pub fn apply(&mut self, event: &RunEvent, now_ns: u64, keys: &[PressedKey]) -> UserRequest {
        let mut request = UserRequest::None;
        // Keys first: they were pressed while the screen showed the state before this event.
        for key in keys {
            request = request.max(self.press(*key));
        }
        self.take(event, now_ns);
        request
    }
}
