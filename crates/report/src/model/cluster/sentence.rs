//! Sentences without a final period: how well the times of the processes agree, and their rates
//! until the first and the last one was done.

use results::{CellCluster, CellRecord};
use units::format;

use crate::numbers::{digits, percent};

/// Describes start, clocks and tail.
pub fn agreement(cluster: &CellCluster) -> String {
    let mut parts = vec![
        format!(
            "start spread {}",
            format::latency_ns(cluster.start_spread_ns)
        ),
        format!(
            "clocks known within {}",
            format::latency_ns(cluster.offset_bound_ns)
        ),
    ];
    let drift = cluster.drift_ppb.filter(|it| it.is_finite());
    parts.extend(drift.map(|ppb| format!("drift up to {} ppb", digits(ppb))));
    parts.push(format!(
        "tail {} (idle for {} % of all processes' time)",
        format::latency_ns(cluster.tail_ns),
        share(cluster.tail_share)
    ));
    parts.join(", ")
}

/// Describes the rates for a fixed amount of work, which differ because of the tail; `None` for
/// cells limited by time.
pub fn rates(cell: &CellRecord, cluster: &CellCluster) -> Option<String> {
    if cell.planned_run_time_ns > 0 {
        return None;
    }
    let rates = [
        (cluster.first_done_per_second, "until the first was done"),
        (cluster.last_done_per_second, "until the last was done"),
        (Some(cell.total.per_second), "of the whole"),
    ];
    let rates = rates.into_iter().filter_map(|(rate, what)| {
        let rate = rate.filter(|it| it.is_finite())?;
        Some(format!("{} {what}", format::iops(rate)))
    });
    let rates: Vec<String> = rates.collect();
    Some(format!("per second: {}", rates.join(", ")))
}

/// Describes the number of lost processes; `None` if no process was lost.
pub fn lost(cluster: &CellCluster) -> Option<String> {
    let count = cluster
        .ranks
        .iter()
        .filter(|it| it.lost_ns.is_some())
        .count();
    let all = cluster.ranks.len();
    let outcome = match count {
        0 => return None,
        1 => "was lost: the results do not include its work",
        _ => "were lost: the results do not include their work",
    };
    Some(format!("{count} of {all} processes {outcome}"))
}

fn share(share: f64) -> String {
    match share {
        share if share > 0.0 && share < 0.0005 => "less than 0.1".to_owned(),
        share => percent(share),
    }
}
