//! Where a display goes: nowhere, to a pipe, to one line of a terminal, or to all of it.

use std::io;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use results::RunEvent;
use units::printable;

use crate::done::done_line;
use crate::keys::Key;
use crate::line::live_line;
use crate::plain::PlainLines;
use crate::screen::Screen;
use crate::state::State;
use crate::terminal::{self, Terminal};
use crate::{Asked, Kind, Surroundings};

/// The line is redrawn so many times a second at most.
const REDRAWS_PER_SECOND: u8 = 10;
/// The full screen is redrawn after so much time at the earliest.
const REDRAW_PERIOD_NS: u64 = 100_000_000;
/// What is said where the full screen was.
const LEFT: &str = "the run goes on; Ctrl-C stops it and keeps what was measured";

/// Where a display goes.
#[derive(Debug)]
pub enum Output {
    /// Nowhere.
    None,
    /// Lines to standard error.
    Plain(Box<PlainLines>),
    /// One line of the terminal, kept up to date.
    Line {
        /// What is known.
        state: Box<State>,
        /// Draws and erases the line.
        bar: ProgressBar,
    },
    /// All of the terminal.
    Full {
        /// What is shown.
        screen: Box<Screen>,
        /// Gives the terminal back when it is dropped.
        terminal: Box<Terminal>,
        /// When it was drawn last.
        drawn_ns: Option<u64>,
    },
}

impl Output {
    /// Lines to standard error.
    pub fn plain() -> Self {
        Self::Plain(Box::default())
    }

    /// One line of the terminal.
    pub fn line() -> Self {
        Self::line_of(State::default())
    }

    fn line_of(state: State) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_PER_SECOND);
        Self::Line {
            state: Box::new(state),
            bar: line_bar(target),
        }
    }

    /// All of the terminal.
    pub fn full(no_color: bool) -> io::Result<Self> {
        let terminal = Box::new(Terminal::enter()?);
        Ok(Self::Full {
            screen: Box::new(Screen::new(no_color)),
            terminal,
            drawn_ns: None,
        })
    }

    /// Takes note that the run was asked to end.
    pub fn note_stopping(&mut self) {
        match self {
            Self::Line { state, .. } => state.stopping = true,
            Self::Full { screen, .. } => screen.note_stopping(),
            Self::None | Self::Plain(_) => {}
        }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &RunEvent, now_ns: u64) -> Asked {
        match self {
            Self::None => Asked::Nothing,
            Self::Plain(lines) => {
                if let Some(line) = lines.line(event, now_ns) {
                    terminal::say(&line);
                }
                Asked::Nothing
            }
            Self::Line { state, bar } => {
                state.apply(event, now_ns);
                let width = terminal::width();
                if let RunEvent::CellDone { record } = event
                    && let Some(line) = done_line(state, record, width)
                {
                    stay(bar, &line);
                }
                keep_up(bar, &live_line(state, width));
                Asked::Nothing
            }
            Self::Full {
                screen,
                terminal,
                drawn_ns,
            } => {
                let asked = screen.apply(event, now_ns, &terminal.keys());
                let due = drawn_ns.is_none_or(|last| now_ns - last >= REDRAW_PERIOD_NS);
                if due || asked != Asked::Nothing || screen.state().finished.is_some() {
                    terminal.draw(screen);
                    *drawn_ns = Some(now_ns);
                }
                if screen.is_left() {
                    let state = screen.take_state();
                    self.leave(state);
                }
                asked
            }
        }
    }

    /// Goes on with one line where the full screen was.
    fn leave(&mut self, state: State) {
        // The terminal is given back before the line is drawn.
        *self = Self::None;
        *self = Self::line_of(state);
        if let Self::Line { bar, state } = self {
            stay(bar, LEFT);
            keep_up(bar, &live_line(state, terminal::width()));
        }
    }
}

/// The line of what is no run, where one is asked for and can be kept up to date.
pub fn bar_of(kind: Kind, surroundings: Surroundings) -> Option<ProgressBar> {
    let has_bar = surroundings.can_redraw() && kind != Kind::None;
    has_bar.then(|| line_bar(ProgressDrawTarget::stderr()))
}

/// A line of the terminal that holds a message and nothing else.
fn line_bar(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{wide_msg}");
    bar.set_style(style.expect("the template has only a known key"));
    bar
}

/// Puts a line above the one that is kept up to date.
pub fn stay(bar: &ProgressBar, line: &str) {
    bar.println(printable(line));
}

/// Shows this in the line that is kept up to date.
pub fn keep_up(bar: &ProgressBar, line: &str) {
    bar.set_message(printable(line).into_owned());
    bar.tick();
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Self::Line { bar, .. } = self {
            bar.finish_and_clear();
        }
    }
}

impl Screen {
    /// Takes note of an event and of the keys pressed since the last one.
    pub fn apply(&mut self, event: &RunEvent, now_ns: u64, keys: &[Key]) -> Asked {
        let mut asked = Asked::Nothing;
        for key in keys {
            let now = self.press(*key);
            if now != Asked::Nothing {
                asked = now;
            }
        }
        self.take(event, now_ns);
        asked
    }
}
