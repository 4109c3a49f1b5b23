//! How well several processes agreed on the time, and their rates until the first and the last was
//! done, in sentences without a full stop.

use results::{CellCrew, CellRecord};
use units::format;

use crate::numbers::{digits, percent};

/// Start, clocks and tail.
pub fn agreement(crew: &CellCrew) -> String {
    let mut parts = vec![
        format!("start spread {}", format::latency_ns(crew.start_spread_ns)),
        format!(
            "clocks known within {}",
            format::latency_ns(crew.offset_bound_ns)
        ),
    ];
    let drift = crew.drift_ppb.filter(|it| it.is_finite());
    parts.extend(drift.map(|ppb| format!("drift up to {} ppb", digits(ppb))));
    parts.push(format!(
        "tail {} (nothing left to do for {} % of all processes' time)",
        format::latency_ns(crew.tail_ns),
        share(crew.tail_share)
    ));
    parts.join(", ")
}

/// The rates of work that was given, which differ by the tail; none of work that ends by time.
pub fn rates(cell: &CellRecord, crew: &CellCrew) -> Option<String> {
    if cell.planned_run_time_ns > 0 {
        return None;
    }
    let known = [
        (crew.first_done_per_second, "until the first was done"),
        (crew.last_done_per_second, "until the last was done"),
        (Some(cell.total.per_second), "of the whole"),
    ];
    let known = known.into_iter().filter_map(|(rate, what)| {
        let rate = rate.filter(|it| it.is_finite())?;
        Some(format!("{} {what}", format::iops(rate)))
    });
    let known: Vec<String> = known.collect();
    Some(format!("per second: {}", known.join(", ")))
}

/// How many were lost; none where none was.
pub fn lost(crew: &CellCrew) -> Option<String> {
    let count = crew.ranks.iter().filter(|it| it.lost_ns.is_some()).count();
    let all = crew.ranks.len();
    let what = match count {
        0 => return None,
        1 => "was lost: what it did is in no figure",
        _ => "were lost: what they did is in no figure",
    };
    Some(format!("{count} of {all} processes {what}"))
}

fn share(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => "less than 0.1".to_owned(),
        share => percent(share),
    }
}
