//! A line that shows the current step of an activity.

use indicatif::ProgressBar;

use crate::line::LiveLine;
use crate::output::{bar_of, update_progress_line};
use crate::{DisplayKind, TerminalFacts, terminal};

/// Shows the current step on standard error: in one line that is updated, or in plain lines without
/// a terminal.
#[derive(Debug)]
pub struct StepLine {
    bar: Option<ProgressBar>,
    is_silent: bool,
}

impl StepLine {
    /// Creates a line of the requested kind, or of the nearest kind that standard error supports.
    #[must_use]
    pub fn new(kind: DisplayKind, surroundings: TerminalFacts) -> Self {
        Self {
            bar: bar_of(kind, surroundings),
            is_silent: kind == DisplayKind::None,
        }
    }

    /// Shows the current step.
    pub fn show(&self, step: &str) {
        match &self.bar {
            _ if self.is_silent => {}
            Some(bar) => update_progress_line(bar, &LiveLine::of(step).fit(terminal::width())),
            None => terminal::say(step),
        }
    }
}

impl Drop for StepLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
