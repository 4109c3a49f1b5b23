//! The terse report: one line of numbers.

use description::classics::postmark::Compat;
use results::PoolFigures;

use super::SessionTimes;
use super::number::decimal;
use super::times::Intervals;

/// The line of versions that measure whole seconds. Rates are still computed in 32-bit floats.
pub(super) fn seconds(compat: Compat, figures: &PoolFigures, times: &SessionTimes) -> String {
    let seconds = times.seconds();
    let intervals = Intervals {
        total: seconds.total as f32,
        creation: seconds.creation as f32,
        transactions: seconds.transactions as f32,
        deletion: seconds.deletion as f32,
    };
    // Before 1.52 this rate was the creation rate before the transactions.
    let deleted_rate = if compat.reports_created_as_deleted() {
        figures.created_count as f32 / intervals.creation
    } else {
        figures.deleted_count as f32 / intervals.total
    };
    let rates = rates(figures, &intervals, deleted_rate);
    format!("{} {} {rates}\n", seconds.total, seconds.transactions)
}

/// The line of version 1.54.
pub(super) fn microseconds(figures: &PoolFigures, times: &SessionTimes) -> String {
    let intervals = times.fractions();
    let deleted_rate = figures.deleted_count as f32 / intervals.total;
    let rates = rates(figures, &intervals, deleted_rate);
    let spans = [intervals.total, intervals.transactions].map(|span| decimal(span, 4));
    format!("{} {rates}\n", spans.join(" "))
}

fn rates(figures: &PoolFigures, intervals: &Intervals<f32>, deleted_rate: f32) -> String {
    let per_transactions = |count: u64| count as f32 / intervals.transactions;
    let rates = [
        per_transactions(figures.transactions_count),
        figures.created_count as f32 / intervals.total,
        figures.created_before_count as f32 / intervals.creation,
        per_transactions(figures.created_mixed_count()),
        per_transactions(figures.read_count),
        per_transactions(figures.appended_count),
        deleted_rate,
        figures.deleted_after_count as f32 / intervals.deletion,
        per_transactions(figures.deleted_mixed_count()),
        figures.read_bytes_float as f32 / intervals.total,
        figures.written_bytes_float as f32 / intervals.total,
    ];
    rates.map(|rate| decimal(rate, 2)).join(" ")
}
