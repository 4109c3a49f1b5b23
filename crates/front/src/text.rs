//! What other programs print, from records.

use results::{RunEvent, RunRecord};

/// What another program prints of a run.
pub trait ClassicText {
    /// What is printed when that happens; mostly nothing.
    fn event(&mut self, _event: &RunEvent) -> String {
        String::new()
    }

    /// What is printed at the end: all that was not printed as it happened, from the record alone.
    fn end(&mut self, record: &RunRecord) -> String;

    /// Files that are written at the end, each with its text; those that are there are replaced.
    fn documents(&mut self, _record: &RunRecord) -> Vec<(String, String)> {
        Vec::new()
    }
}
