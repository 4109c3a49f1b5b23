//! PostMark's report, byte for byte, from counts and four readings of a clock.

mod number;
mod terse;
#[cfg(test)]
mod tests;
mod times;
mod verbose;

use results::{PoolFigures, RunRecord};
use workload::plan::Cell;
use workload::postmark::{Clock, Compat, ReportForm};

pub use times::Times;

/// The report in that form, as that version prints it, with its last line break.
#[must_use]
pub fn report(form: ReportForm, compat: Compat, figures: &PoolFigures, times: &Times) -> String {
    match (form, compat.clock()) {
        (ReportForm::Verbose, Clock::Seconds) => verbose::seconds(compat, figures, times),
        (ReportForm::Verbose, Clock::Microseconds) => verbose::microseconds(compat, figures, times),
        (ReportForm::Terse, Clock::Seconds) => terse::seconds(compat, figures, times),
        (ReportForm::Terse, Clock::Microseconds) => terse::microseconds(figures, times),
    }
}

/// The version and the form that a workload's table asks for; none where it has no such table.
pub(crate) fn asked(record: &RunRecord, cell: &Cell) -> Option<(Compat, ReportForm)> {
    let value = |key: &str| {
        let mut settings = record.plan.settings.iter();
        let setting = settings.find(|it| it.workload == cell.workload && it.key == key);
        setting.map(|it| it.value.as_str())
    };
    let form = match value("postmark.report")? {
        "terse" => ReportForm::Terse,
        _ => ReportForm::Verbose,
    };
    Some((value("postmark.compat")?.parse().ok()?, form))
}

/// What the report's megabytes leave out: the exact bytes beside its 32-bit sums.
///
/// Not a text of the original: it is for our own reports.
#[must_use]
pub fn exact_bytes(compat: Compat, figures: &PoolFigures) -> String {
    let megabyte = f64::from(compat.megabyte_bytes());
    let line = |verb: &str, exact_bytes: u64, float_bytes: f64| {
        let exact = exact_bytes as f64 / megabyte;
        let shown = float_bytes / megabyte;
        let error = match exact_bytes {
            0 => 0.0,
            _ => (shown / exact - 1.0) * 100.0,
        };
        let sizes = format!("{exact:.2} megabytes, shown as {shown:.2}");
        format!("\t{exact_bytes} bytes {verb}: {sizes} ({error:+.2} %)\n")
    };
    let read = line("read", figures.read_bytes, figures.read_bytes_float);
    let written = line(
        "written",
        figures.written_bytes,
        figures.written_bytes_float,
    );
    format!("Exact data:\n{read}{written}")
}
