//! Lines for pipes and log files: one per completed cell, and a periodic progress line in between.

use results::{Phase, RunEvent};

use crate::done::done_lines;
use crate::line::live_lines;
use crate::state::RunState;

/// Minimum time between the last line and a progress line.
// A log file keeps every line, so a run of a day must not fill it.
const PERIOD_NS: u64 = 60_000_000_000;
/// Lines for pipes are not broken: the width of the reader is unknown.
const WIDTH: usize = usize::MAX;

/// Decides which lines to print. Pure: time is passed in.
#[derive(Debug, Clone, Default)]
pub struct PlainLines {
    state: RunState,
    last_line_ns: Option<u64>,
    last_phase: Option<Phase>,
}

impl PlainLines {
    /// Processes an event at `now_ns` nanoseconds and returns the line to print, if any.
    #[must_use]
    pub fn line(&mut self, event: &RunEvent, now_ns: u64) -> Option<String> {
        self.state.apply(event, now_ns);
        match event {
            RunEvent::Started { record } => {
                let cells = record.plan.cells.len();
                let noun = if cells == 1 { "cell" } else { "cells" };
                // A search may not need all of its planned trials.
                let has_search = (0..cells).any(|index| self.state.search(index).is_some());
                let sure = match (self.state.is_open_ended, has_search) {
                    (true, _) => "at least ",
                    (false, true) => "at most ",
                    (false, false) => "",
                };
                let id = units::printable(&record.id);
                let by = self.state.cluster.as_ref().map(|it| format!(", {it}"));
                let by = by.unwrap_or_default();
                self.say(format!("run {id}: {sure}{cells} {noun}{by}"))
            }
            RunEvent::Prepare { .. } => self.periodic_line(),
            RunEvent::Progress { phase, .. } => {
                // The first results of a phase cover too short a time.
                match self.last_phase.replace(phase.clone()).as_ref() == Some(phase) {
                    true => self.periodic_line(),
                    false => None,
                }
            }
            RunEvent::CellDone { record } => {
                let line = done_lines(&self.state, record, WIDTH).pop()?;
                self.say(line)
            }
            RunEvent::Finished { status } => {
                let outcome = format!("{status:?}").to_lowercase();
                self.say(format!("run {outcome}"))
            }
            _ => None,
        }
    }

    fn periodic_line(&mut self) -> Option<String> {
        // Without an earlier line, this call only begins the period.
        let last_ns = *self.last_line_ns.get_or_insert(self.state.now_ns);
        if self.state.now_ns.saturating_sub(last_ns) < PERIOD_NS {
            return None;
        }
        self.say(live_lines(&self.state, WIDTH).concat())
    }

    fn say(&mut self, line: String) -> Option<String> {
        self.last_line_ns = Some(self.state.now_ns);
        Some(line)
    }
}
