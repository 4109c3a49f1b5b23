//! The live figures of a run, and what the user wants of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use display::{Asked, Display, Kind};
use results::RunEvent;
use run::RunOptions;

use crate::args::DisplayArg;
use crate::failure::Failure;
use crate::terminal::surroundings;

/// Live figures that end cells and runs.
#[derive(Debug)]
pub(crate) struct Live {
    display: Display,
    stop: Arc<AtomicBool>,
    skip: Arc<AtomicBool>,
    at_once: fn() -> !,
}

impl Live {
    /// Shows a run with these options; `at_once` is called where the end is asked for twice.
    pub fn begin(
        (is_quiet, asked): (bool, DisplayArg),
        options: &RunOptions,
        at_once: fn() -> !,
    ) -> Result<Self, Failure> {
        let kind = match asked {
            _ if is_quiet => Kind::None,
            DisplayArg::Line => Kind::Line,
            DisplayArg::Full => Kind::Full,
            DisplayArg::None => Kind::None,
        };
        let display = Display::new(kind, surroundings())
            .map_err(|error| Failure::system("cannot use the terminal for live figures", &error))?;
        Ok(Self {
            display,
            stop: Arc::clone(&options.stop),
            skip: Arc::clone(&options.skip),
            at_once,
        })
    }

    /// Shows an event, and does what the user wants.
    pub fn hear(&mut self, event: &RunEvent) {
        if self.stop.load(Ordering::Relaxed) {
            self.display.note_stopping();
        }
        match self.display.on_event(event) {
            Asked::Nothing => {}
            Asked::Next => self.skip.store(true, Ordering::Relaxed),
            Asked::Stop => self.stop.store(true, Ordering::Relaxed),
            Asked::StopNow => (self.at_once)(),
        }
    }

    /// Gives the terminal back.
    pub fn finish(self) {
        self.display.finish();
    }
}
