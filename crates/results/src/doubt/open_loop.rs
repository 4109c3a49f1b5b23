//! Warnings about open loops: rates not reached, and requests that started late or never.

use super::{Finding, percent};
use crate::{CellRecord, WarningCode};

/// A replay is late if more than 1 % of its requests start later than this, in nanoseconds.
const LATENESS_MAX_NS: u64 = 1_000_000;

pub(super) fn rate_not_reached(cell: &CellRecord) -> Finding {
    let figures = cell.open_loop.as_ref()?;
    figures.is_short(cell.run_time_ns).then(|| {
        let achieved = figures.achieved_per_second;
        let requested = figures.asked_per_second;
        let message = format!(
            "{achieved:.1} of {requested} requests per second were answered; when the \
             measurement ended, {} were due but not started, so response times depend on the run \
             time",
            figures.backlog_end
        );
        (WarningCode::RateNotReached, message)
    })
}

pub(super) fn replay_late(cell: &CellRecord) -> Finding {
    let lateness = cell.open_loop.as_ref()?.lateness.as_ref()?;
    let p99_ns = lateness.percentiles_ns.p99?;
    (p99_ns > LATENESS_MAX_NS).then(|| {
        let latency = |ns: u64| units::format::latency(ns as f64);
        let message = format!(
            "1 % of the requests started {} or more after they were due, and the last one {}: \
             the target, or this machine, was slower than the recorded one",
            latency(p99_ns),
            latency(lateness.max_ns.unwrap_or(p99_ns)),
        );
        (WarningCode::ReplayLate, message)
    })
}

pub(super) fn responses_censored(cell: &CellRecord) -> Finding {
    let figures = cell.open_loop.as_ref()?;
    let from_ns = figures.censored_min_ns?;
    // The response times include the censored requests, so these are all that were due.
    let due = figures.response.count + figures.errors;
    let share = figures.censored_count as f64 / due.max(1) as f64;
    let message = format!(
        "{} of {due} requests ({}) were not started even after the measurement, in the time that \
         late requests have, so response times from {} up are lower bounds",
        figures.censored_count,
        percent(share),
        units::format::latency(from_ns as f64),
    );
    Some((WarningCode::ResponsesCensored, message))
}
