//! Made-up records of typical first runs: the quick pack, and a search for the highest rate.

use plan::*;
use results::*;

use crate::made_up::{self, MIXED, Shape};
use crate::sample;

/// Title, `true` for reads, `true` for random access, queue depth, operations per second.
type Access = (&'static str, bool, bool, u32, f64);

const QUICK: [Access; 6] = [
    ("1 MiB sequential read", true, false, 4, 2_900.0),
    ("1 MiB sequential write", false, false, 4, 1_150.0),
    ("4 KiB random read", true, true, 1, 11_400.0),
    ("4 KiB random read", true, true, 32, 212_000.0),
    ("4 KiB random write", false, true, 1, 24_100.0),
    ("4 KiB random write", false, true, 32, 96_300.0),
];

/// The quick pack on an SSD.
pub fn quick() -> RunRecord {
    let mut plan = sample::plan();
    plan.workloads[0].name = "quick".into();
    plan.workloads[0].title = "A first impression in a minute".into();
    plan.cells = (0..)
        .zip(QUICK)
        .map(|(index, (name, reads, is_random, depth, _))| {
            let read_percent = if reads { 100.0 } else { 0.0 };
            let mut cell = sample::cell(index, name, depth, 1, read_percent);
            let line = &mut cell.workers[0].lines[0];
            line.random_percent = if is_random { 100.0 } else { 0.0 };
            line.size_bytes = size_of(is_random);
            cell
        })
        .collect();
    let cells = plan.cells.iter().zip(QUICK);
    let cells: Vec<CellRecord> = cells
        .map(|(cell, (_, reads, is_random, depth, rate))| {
            let median_ns = 0.9e9 * f64::from(depth) / rate;
            let done = (rate, u64::from(size_of(is_random)), median_ns);
            let none = (0.0, 0, 0.0);
            let operations: &'static [_] = match reads {
                true => Box::leak(Box::new([done, none])),
                false => Box::leak(Box::new([none, done])),
            };
            let shape = Shape {
                operations,
                transactions: Box::leak(Box::new([(rate, median_ns)])),
                seconds: 6,
                ..MIXED
            };
            let mut record = made_up::scaled(&plan, cell.index, &shape, 1.0, 1.0);
            record.within = WithinRun::of(&record);
            record
        })
        .collect();
    let mut record = made_up::finished(plan, cells, &["run"]);
    record.warnings = vec![Warning::of_run(
        WarningCode::LoadBefore,
        "the machine was already busy before the run: load 3.1 on 2 CPUs",
    )];
    record
}

const fn size_of(is_random: bool) -> u32 {
    if is_random { 4096 } else { 1 << 20 }
}

/// A search for the highest rate that keeps p99 within 2 ms.
pub fn search() -> RunRecord {
    let mut record = made_up::single();
    let peak = record.cells.remove(0);
    let arrivals = ArrivalKind::Poisson;
    let limit: ResponseLimit = "p99<=2ms".parse().expect("the limit is well formed");
    // Share of the peak, and p99 at that rate.
    let tried = [
        (0.5, 410_000),
        (1.0, 61_000_000),
        (0.75, 880_000),
        (0.87, 1_640_000),
        (0.93, 3_900_000),
        (0.9, 2_310_000),
        (0.885, 1_930_000),
        (0.885, 1_890_000),
        (0.9, 2_450_000),
    ];
    let trial = |(number, (share, p99_ns)): (u32, (f64, u64))| {
        let mut cell = peak.clone();
        let rate = (peak.total.per_second * share).round();
        let mut response = peak.total.latency.clone();
        response.percentiles_ns.p99 = Some(p99_ns);
        response.mean_ns = Some(p99_ns as f64 / 4.0);
        cell.index = number;
        cell.curve = Some(CurvePart::Trial {
            number,
            limit,
            arrivals,
        });
        cell.total.per_second = rate;
        cell.open_loop = Some(OpenLoopFigures {
            asked_per_second: rate,
            arrivals,
            achieved_per_second: rate * 0.999,
            response,
            errors: 0,
            censored_count: 0,
            censored_min_ns: None,
            drain_ns: 0,
            late_count: u64::from(number) * 40,
            lateness_max_ns: 3_000_000,
            lateness: None,
            backlog_end: 0,
        });
        cell
    };
    let trials: Vec<CellRecord> = (1..).zip(tried).map(trial).collect();
    let planned = record.plan.cells[0].clone();
    record.plan.cells = std::iter::once(Cell {
        curve: Some(CurvePart::Peak),
        ..planned.clone()
    })
    .chain(trials.iter().map(|cell| Cell {
        index: cell.index,
        curve: cell.curve,
        ..planned.clone()
    }))
    .collect();
    record.cells = vec![CellRecord {
        curve: Some(CurvePart::Peak),
        ..peak
    }];
    record.cells.extend(trials);
    record.command = ["pgmeter", "run", "file-server", "--find-rate", "p99<=2ms"]
        .map(str::to_owned)
        .into();
    record
}
