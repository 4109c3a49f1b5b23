//! A line that says which step of something goes on.

use indicatif::ProgressBar;

use crate::line::cut;
use crate::output::{bar_of, keep_up};
use crate::{Kind, Surroundings, terminal};

/// Shows what goes on, on standard error: one line that is kept up to date, or plain lines where
/// there is no terminal.
#[derive(Debug)]
pub struct Steps {
    bar: Option<ProgressBar>,
    is_silent: bool,
}

impl Steps {
    /// A line of the asked kind, or of the nearest kind that standard error can show.
    #[must_use]
    pub fn new(kind: Kind, surroundings: Surroundings) -> Self {
        Self {
            bar: bar_of(kind, surroundings),
            is_silent: kind == Kind::None,
        }
    }

    /// Says what goes on now.
    pub fn show(&self, step: &str) {
        match &self.bar {
            _ if self.is_silent => {}
            Some(bar) => keep_up(bar, &cut(step, terminal::width())),
            None => terminal::say(step),
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
