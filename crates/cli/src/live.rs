//! Live results of a run, and requests of the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use display::{Display, DisplayKind, UserRequest};
use results::RunEvent;
use run::RunOptions;

use crate::args::DisplayArg;
use crate::failure::CliError;
use crate::terminal::surroundings;

/// Live display whose keys can end cells and runs.
#[derive(Debug)]
pub(crate) struct LiveDisplay {
    display: Display,
    stop: Arc<AtomicBool>,
    skip: Arc<AtomicBool>,
    on_second_interrupt: fn() -> !,
}

impl LiveDisplay {
    /// Starts the display. A second request to stop calls `at_once`.
    pub fn begin(
        (is_quiet, asked): (bool, DisplayArg),
        options: &RunOptions,
        at_once: fn() -> !,
    ) -> Result<Self, CliError> {
        let kind = match asked {
            _ if is_quiet => DisplayKind::None,
            DisplayArg::Line => DisplayKind::Line,
            DisplayArg::Full => DisplayKind::Full,
            DisplayArg::None => DisplayKind::None,
        };
        let display = Display::new(kind, surroundings()).map_err(|error| {
            CliError::system("cannot use the terminal for live results", &error)
        })?;
        Ok(Self {
            display,
            stop: Arc::clone(&options.stop),
            skip: Arc::clone(&options.skip),
            on_second_interrupt: at_once,
        })
    }

    /// Shows an event, and carries out requests of the user.
    pub fn on_event(&mut self, event: &RunEvent) {
        // A signal may have set this flag, which the display does not see.
        if self.stop.load(Ordering::Relaxed) {
            self.display.note_stopping();
        }
        match self.display.on_event(event) {
            UserRequest::None => {}
            UserRequest::Next => self.skip.store(true, Ordering::Relaxed),
            UserRequest::Stop => self.stop.store(true, Ordering::Relaxed),
            UserRequest::StopNow => (self.on_second_interrupt)(),
        }
    }

    /// Restores the terminal.
    pub fn finish(self) {
        self.display.finish();
    }
}
