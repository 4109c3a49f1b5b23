//! PostMark's report, identical byte for byte, from counts and four clock readings.

mod number;
mod terse;
#[cfg(test)]
mod tests;
mod times;
mod verbose;

use description::classics::postmark::{Compat, ReportClock, ReportForm};
use results::PoolFigures;

pub use times::SessionTimes;

/// The report in this form as this version prints it, including the last line break.
pub fn report(
    form: ReportForm,
    compat: Compat,
    figures: &PoolFigures,
    times: &SessionTimes,
) -> String {
    match (form, compat.clock()) {
        (ReportForm::Verbose, ReportClock::Seconds) => verbose::seconds(compat, figures, times),
        (ReportForm::Verbose, ReportClock::Microseconds) => {
            verbose::microseconds(compat, figures, times)
        }
        (ReportForm::Terse, ReportClock::Seconds) => terse::seconds(compat, figures, times),
        (ReportForm::Terse, ReportClock::Microseconds) => terse::microseconds(figures, times),
    }
}
