//! Lines for pipes and log files: one when something changes, and one every few seconds.

use results::{CellRecord, Phase, RateTrial, RunEvent};
use units::format;

use crate::line::live_line;
use crate::state::{DoneCell, State};

/// At least so much time passes between two lines that tell nothing new but figures.
const PERIOD_NS: u64 = 5_000_000_000;
/// Lines for pipes are not cut: nobody knows how wide they will be read.
const WIDTH: usize = 1000;

/// Decides which lines a pipe gets. Pure: time is passed in.
#[derive(Debug, Clone, Default)]
pub struct PlainLines {
    state: State,
    last_line_ns: Option<u64>,
    last_phase: Option<Phase>,
}

impl PlainLines {
    /// Takes note of an event at a time in nanoseconds and gives the line to print, if any.
    #[must_use]
    pub fn line(&mut self, event: &RunEvent, now_ns: u64) -> Option<String> {
        self.state.apply(event, now_ns);
        match event {
            RunEvent::Started { record } => {
                let cells = record.plan.cells.len();
                let noun = if cells == 1 { "cell" } else { "cells" };
                let least = match self.state.is_open_ended {
                    true => "at least ",
                    false => "",
                };
                let id = units::printable(&record.id);
                self.say(format!("run {id}: {least}{cells} {noun}"))
            }
            RunEvent::CellStarted { .. } => {
                self.last_phase = None;
                self.say(live_line(&self.state, WIDTH))
            }
            RunEvent::Prepare {
                done_bytes,
                total_bytes,
                ..
            } => {
                let changed = self.last_phase.replace(Phase::Prepare) != Some(Phase::Prepare);
                let done = done_bytes >= total_bytes;
                if changed || done {
                    self.say(live_line(&self.state, WIDTH))
                } else {
                    self.now_and_then()
                }
            }
            RunEvent::Progress { phase, .. } => {
                let changed = self.last_phase.as_ref() != Some(phase);
                self.last_phase = Some(phase.clone());
                // The first figures of a phase cover next to nothing.
                if changed {
                    self.last_line_ns = Some(now_ns);
                    return None;
                }
                self.now_and_then()
            }
            RunEvent::CellDone { record } => self.done(record),
            RunEvent::Finished { status } => {
                let how = format!("{status:?}").to_lowercase();
                self.say(format!("run {how}"))
            }
            _ => None,
        }
    }

    fn done(&mut self, record: &CellRecord) -> Option<String> {
        let index = record.index as usize;
        let row = self.state.cells.get(index)?;
        let figures = DoneCell::of(record);
        let p99 = figures
            .p99_ns
            .map_or_else(|| "-".to_owned(), format::latency_ns);
        let (what, unit) = match &record.phase {
            Phase::Classic(phase) => (format!("{}: {phase}", row.what), "files/s"),
            _ => (row.what.clone(), "IOPS"),
        };
        let place = match self.state.is_open_ended {
            true => format!("{}", index + 1),
            false => format!("{}/{}", index + 1, self.state.cells.len()),
        };
        let line = format!(
            "[{place}] {}  done  {} {unit}  {}  p99 {p99}  {} errors{}",
            what,
            format::iops(figures.iops),
            format::bandwidth(figures.bytes_per_second),
            format::count(figures.errors),
            trial(record),
        );
        self.say(line)
    }

    fn now_and_then(&mut self) -> Option<String> {
        let since_ns = self
            .state
            .now_ns
            .saturating_sub(self.last_line_ns.unwrap_or(0));
        if since_ns < PERIOD_NS {
            return None;
        }
        self.say(live_line(&self.state, WIDTH))
    }

    fn say(&mut self, line: String) -> Option<String> {
        self.last_line_ns = Some(self.state.now_ns);
        Some(line)
    }
}

/// What became of a trial of a search, to be appended; nothing elsewhere.
fn trial(record: &CellRecord) -> String {
    let told = RateTrial::of(record).map(|trial| {
        let rate = format::iops(trial.per_second);
        let response = trial.response_ns;
        let response = response.map_or_else(|| "-".to_owned(), format::latency_ns);
        let holds = if trial.holds {
            "holds"
        } else {
            "does not hold"
        };
        format!("  {rate}/s due, response {response}: {holds}")
    });
    told.unwrap_or_default()
}
