//! The table of rates.

use std::fmt::Write as _;

use results::RunRecord;

use crate::{ClassicText, FrontOrigin};

/// The text of a run.
pub(super) fn of(_origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Table)
}

struct Table;

impl ClassicText for Table {
    fn end(&mut self, record: &RunRecord) -> String {
        let mut text = "SUMMARY rate (in ops/sec):\n".to_owned();
        for cell in &record.cells {
            let rate = cell.total.per_second;
            // Writing to a string does not fail.
            let _ = writeln!(text, "   {:<18}  {rate:14.3}", cell.phase.name());
        }
        text
    }
}
