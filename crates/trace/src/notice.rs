//! Everything about a trace that its user should know, and that is no error.

use units::format::count;

use crate::error::{RowFault, TraceError};
use crate::names::TraceNames;

/// Number of invalid rows that are quoted.
const QUOTED_ROWS_MAX: u64 = 3;
/// Number of invalid rows that a trace may have, even if it has fewer valid ones.
const BAD_ROWS_MAX: u64 = 100;
/// Number of notices about single events, such as jumps of time.
const MESSAGES_MAX: usize = 32;

/// State that the readers of a trace's files share.
#[derive(Debug, Default)]
pub(crate) struct DecodeContext {
    pub(crate) names: TraceNames,
    messages: Vec<String>,
    /// Number of messages that were left out.
    omitted: u64,
    bad_rows: u64,
    pub(crate) rows: u64,
    first_bad: String,
    lost_events: u64,
    skipped: Vec<(&'static str, u64)>,
}

impl DecodeContext {
    /// Adds a notice; the same text is stored once.
    pub(crate) fn notice(&mut self, message: String) {
        if self.messages.contains(&message) {
            return;
        }
        match self.messages.len() < MESSAGES_MAX {
            true => self.messages.push(message),
            false => self.omitted += 1,
        }
    }

    /// Counts events that the recording program reports as lost.
    pub(crate) fn lost(&mut self, events: u64) {
        self.lost_events = self.lost_events.saturating_add(events);
    }

    /// Counts a row that is valid but no request; `why` completes "N rows are left out: ".
    pub(crate) fn skip(&mut self, why: &'static str) {
        match self.skipped.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((why, 1)),
        }
    }

    /// Counts an invalid row.
    ///
    /// # Errors
    /// Most rows are invalid.
    pub(crate) fn bad_row(&mut self, row: &str, fault: &RowFault) -> Result<(), TraceError> {
        let message = fault.message(row);
        self.bad_rows += 1;
        if self.bad_rows == 1 {
            self.first_bad.clone_from(&message);
        }
        if self.bad_rows <= QUOTED_ROWS_MAX {
            self.notice(format!("{message}; the row is left out"));
        }
        if self.bad_rows > BAD_ROWS_MAX && self.bad_rows > self.rows / 2 {
            return Err(TraceError::InvalidRows {
                bad: self.bad_rows,
                rows: self.rows,
                first: self.first_bad.clone(),
            });
        }
        Ok(())
    }

    /// Number of invalid rows.
    pub(crate) fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// Number of lost events.
    pub(crate) fn lost_events(&self) -> u64 {
        self.lost_events
    }

    /// All notices so far, most important first.
    pub(crate) fn notices(&self) -> Vec<String> {
        let mut all = Vec::new();
        if self.lost_events > 0 {
            let lost = count(self.lost_events);
            all.push(format!("the recording lost {lost} events"));
        }
        if self.bad_rows > QUOTED_ROWS_MAX {
            let (bad, rows) = (count(self.bad_rows), count(self.rows));
            all.push(format!(
                "{bad} of {rows} rows cannot be read and are left out"
            ));
        }
        all.extend(self.messages.iter().cloned());
        if self.omitted > 0 {
            all.push(format!(
                "{} more notices of these kinds",
                count(self.omitted)
            ));
        }
        let skipped = self.skipped.iter();
        all.extend(skipped.map(|(why, rows)| format!("rows left out: {} {why}", count(*rows))));
        if self.names.is_full() {
            all.push("the trace has too many names; further ones are counted together".to_owned());
        }
        all
    }
}
