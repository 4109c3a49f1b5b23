//! Made-up records of a cell in rounds and of a response-time curve.

use plan::*;
use results::*;
use stats::{SteadyRule, SteadyState};

use crate::made_up;

/// A cell whose rate fell until it was steady, with statistics of its intervals.
pub fn steady() -> RunRecord {
    let mut record = made_up::single();
    let rates = [
        31_200.0, 24_100.0, 18_900.0, 15_100.0, 13_600.0, 12_500.0, 12_100.0, 11_900.0, 12_050.0,
        11_950.0,
    ];
    let mut state = SteadyState::new(SteadyRule::default());
    rates.iter().for_each(|rate| {
        state.push(*rate);
    });
    let round = |(index, rate): (u64, &f64)| RoundRecord {
        at_ns: index * 60_000_000_000,
        length_ns: 60_000_000_000,
        count: (rate * 60.0) as u64,
        per_second: *rate,
        bytes_per_second: rate * 8192.0,
        latency_mean_ns: Some(8e9 / rate),
        latency_p99_ns: Some((4e10 / rate) as u64),
        ..RoundRecord::default()
    };
    let cell = &mut record.cells[0];
    cell.planned_run_time_ns = 60_000_000_000;
    cell.steady = Some(SteadyRecord {
        rule: *state.rule(),
        verdict: state.verdict(),
        rounds: (0..).zip(&rates).map(round).collect(),
        window: state.window(),
    });
    cell.within = WithinRun::of(cell);
    record.preconditions = vec![PreconditionRecord {
        target_index: 0,
        target: "/mnt/array".into(),
        times: 2.0,
        bytes: 16 << 30,
        time_ns: 9_400_000_000,
        errors: 0,
    }];
    record
}

/// The peak of a cell, and ten points up to it.
pub fn curve() -> RunRecord {
    let mut record = made_up::single();
    let peak = record.cells.remove(0);
    let arrivals = ArrivalKind::Poisson;
    let point = |percent: u32| {
        let mut cell = peak.clone();
        let share = f64::from(percent) / 100.0;
        let rate = (peak.total.per_second * share).round();
        // Waiting time grows with the load of the target.
        let stretch = 1.0 / (1.02 - share);
        let longer = |ns: Option<u64>| ns.map(|ns| (ns as f64 * stretch) as u64);
        let mut response = peak.total.latency.clone();
        response.mean_ns = response.mean_ns.map(|ns| ns * stretch);
        response.max_ns = longer(response.max_ns);
        response.percentiles_ns.p50 = longer(response.percentiles_ns.p50);
        response.percentiles_ns.p99 = longer(response.percentiles_ns.p99);
        cell.index = percent / 10;
        cell.curve = Some(CurvePart::Point { percent, arrivals });
        cell.total.per_second = rate;
        cell.open_loop = Some(OpenLoopFigures {
            asked_per_second: rate,
            arrivals,
            achieved_per_second: rate * 0.998,
            response,
            errors: 0,
            censored_count: 0,
            censored_min_ns: None,
            drain_ns: 0,
            late_count: u64::from(percent) * 40,
            lateness_max_ns: 3_000_000,
            lateness: None,
            backlog_end: 0,
        });
        cell
    };
    let points: Vec<CellRecord> = (1..=10).map(|tenth| point(tenth * 10)).collect();
    record.cells = vec![CellRecord {
        curve: Some(CurvePart::Peak),
        ..peak
    }];
    record.cells.extend(points);
    record
}
