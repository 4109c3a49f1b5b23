//! The verbose report: a page of text.

use description::classics::postmark::Compat;
use results::PoolFigures;

use super::SessionTimes;
use super::number::{data, decimal};
use super::times::Intervals;

/// The page of versions that measure whole seconds. Rates are truncated to whole numbers.
pub(super) fn seconds(compat: Compat, figures: &PoolFigures, times: &SessionTimes) -> String {
    let intervals = times.seconds();
    let rate = |count: u64, seconds: i64| {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        // An interval of 0 s counts as 1 s, so the default is never printed.
        count.checked_div(seconds).unwrap_or(0).to_string()
    };
    let page = VerboseReport {
        compat,
        figures,
        span: |seconds: i64| seconds.to_string(),
        rate,
        intervals,
        total_seconds: intervals.total as f32,
    };
    page.text()
}

/// The page of version 1.54, whose rates have two decimals.
pub(super) fn microseconds(compat: Compat, figures: &PoolFigures, times: &SessionTimes) -> String {
    let intervals = times.fractions();
    let page = VerboseReport {
        compat,
        figures,
        span: |seconds: f32| decimal(seconds, 4),
        rate: |count: u64, seconds: f32| decimal(count as f32 / seconds, 2),
        intervals,
        total_seconds: intervals.total,
    };
    page.text()
}

/// Data and number formats of a page. Only the number formats depend on the version.
struct VerboseReport<'a, T, Span, Rate> {
    compat: Compat,
    figures: &'a PoolFigures,
    span: Span,
    rate: Rate,
    intervals: Intervals<T>,
    total_seconds: f32,
}

impl<T: Copy, Span: Fn(T) -> String, Rate: Fn(u64, T) -> String> VerboseReport<'_, T, Span, Rate> {
    fn text(&self) -> String {
        [self.times(), self.files(), self.data()].join("\n")
    }

    fn times(&self) -> String {
        format!(
            "Time:\n\t{} seconds total\n\t{} seconds of transactions ({} per second)\n",
            (self.span)(self.intervals.total),
            (self.span)(self.intervals.transactions),
            (self.rate)(self.figures.transactions_count, self.intervals.transactions),
        )
    }

    fn files(&self) -> String {
        let PoolFigures {
            created_count,
            created_before_count,
            deleted_after_count,
            ..
        } = *self.figures;
        // Before 1.53, the original prints the number of created files here.
        let deleted_count = if self.compat.reports_created_as_deleted() {
            created_count
        } else {
            self.figures.deleted_count
        };
        let Intervals {
            total,
            creation,
            transactions,
            deletion,
        } = self.intervals;
        let created_mixed = self.figures.created_mixed_count();
        let deleted_mixed = self.figures.deleted_mixed_count();
        [
            "Files:\n".to_owned(),
            self.done("created", created_count, total),
            self.part("Creation alone", created_before_count, creation),
            self.part("Mixed with transactions", created_mixed, transactions),
            self.done("read", self.figures.read_count, transactions),
            self.done("appended", self.figures.appended_count, transactions),
            self.done("deleted", deleted_count, total),
            self.part("Deletion alone", deleted_after_count, deletion),
            self.part("Mixed with transactions", deleted_mixed, transactions),
        ]
        .concat()
    }

    fn done(&self, verb: &str, count: u64, interval: T) -> String {
        format!(
            "\t{count} {verb} ({} per second)\n",
            (self.rate)(count, interval)
        )
    }

    fn part(&self, name: &str, count: u64, interval: T) -> String {
        let rate = (self.rate)(count, interval);
        format!("\t\t{name}: {count} files ({rate} per second)\n")
    }

    fn data(&self) -> String {
        let line = |verb: &str, bytes: f32| {
            let total = data(self.compat, bytes);
            let rate = data(self.compat, bytes / self.total_seconds);
            format!("\t{total} {verb} ({rate} per second)\n")
        };
        // The original adds up bytes in 32-bit floats, so the totals of long runs are not exact.
        let read = line("read", self.figures.read_bytes_float as f32);
        let written = line("written", self.figures.written_bytes_float as f32);
        format!("Data:\n{read}{written}")
    }
}
