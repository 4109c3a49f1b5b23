//! Reasons to doubt what several processes measured together.

use results::{CellCrew, CellRecord, Warning, WarningCode};

/// Reasons to doubt what several processes measured together.
pub(super) fn doubts(record: &CellRecord) -> Vec<Warning> {
    let Some(crew) = &record.crew else {
        return Vec::new();
    };
    let found = [clocks(record, crew), start(record, crew), imbalance(crew)];
    let told = found.into_iter().flatten();
    told.map(|(code, message)| Warning::of_cell(code, record.index, message))
        .collect()
}

fn clocks(record: &CellRecord, crew: &CellCrew) -> Option<(WarningCode, String)> {
    let lengths_ns = record.intervals.iter().map(|it| it.length_ns);
    let interval_ns = lengths_ns.max().unwrap_or(0);
    if crew.offset_bound_ns <= interval_ns / 100 || interval_ns == 0 {
        return None;
    }
    let message = format!(
        "the clocks of the hosts are known within {:.3} ms only: more than 1 % of an interval",
        milliseconds(crew.offset_bound_ns)
    );
    Some((WarningCode::ClockOffset, message))
}

fn start(record: &CellRecord, crew: &CellCrew) -> Option<(WarningCode, String)> {
    if crew.start_spread_ns <= record.run_time_ns / 100 {
        return None;
    }
    let message = format!(
        "the processes began within {:.1} ms: more than 1 % of the measured time",
        milliseconds(crew.start_spread_ns)
    );
    Some((WarningCode::StartSpread, message))
}

fn imbalance(crew: &CellCrew) -> Option<(WarningCode, String)> {
    let there = || crew.ranks.iter().filter(|it| it.lost_ns.is_none());
    let mut rates: Vec<f64> = there().map(|it| it.per_second).collect();
    rates.sort_by(f64::total_cmp);
    let middle = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
    let slow: Vec<String> = there()
        .filter(|it| it.per_second < 0.8 * middle)
        .map(|it| format!("{} on {}", it.rank, it.host))
        .collect();
    if rates.len() <= 2 || slow.is_empty() {
        return None;
    }
    let told = slow.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    let message = format!(
        "{} of {} processes reached less than 80 % of the median rate: {told}",
        slow.len(),
        rates.len()
    );
    Some((WarningCode::RankImbalance, message))
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}
