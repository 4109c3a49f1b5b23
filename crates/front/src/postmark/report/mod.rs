//! PostMark's report, byte for byte, from counts and four readings of a clock.

mod number;
mod terse;
#[cfg(test)]
mod tests;
mod times;
mod verbose;

use description::classics::postmark::{Clock, Compat, ReportForm};
use results::PoolFigures;

pub use times::Times;

/// The report in that form, as that version prints it, with its last line break.
pub fn report(form: ReportForm, compat: Compat, figures: &PoolFigures, times: &Times) -> String {
    match (form, compat.clock()) {
        (ReportForm::Verbose, Clock::Seconds) => verbose::seconds(compat, figures, times),
        (ReportForm::Verbose, Clock::Microseconds) => verbose::microseconds(compat, figures, times),
        (ReportForm::Terse, Clock::Seconds) => terse::seconds(compat, figures, times),
        (ReportForm::Terse, Clock::Microseconds) => terse::microseconds(figures, times),
    }
}
