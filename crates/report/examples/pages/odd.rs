//! Made-up records that are hard to display: block sizes of every kind, long names, latencies over
//! many powers of ten.

use results::*;

use crate::made_up::{self, MIXED, Shape};
use crate::sample;

const SMALL: Shape = Shape {
    seconds: 30,
    operations: &[(42_000.0, 4096, 92_000.0), (18_000.0, 4096, 131_000.0)],
    ..MIXED
};

const LARGE: Shape = Shape {
    seconds: 30,
    operations: &[(2_900.0, 1 << 20, 2_400_000.0), (1.0, 1 << 20, 2_900_000.0)],
    ..MIXED
};

/// Blocks of 4 KiB and 1 MiB at several queue depths, with a long target path, and with backticks
/// in every sentence.
pub fn mixed() -> RunRecord {
    let target = "/srv/storage/benchmarks/array-of-twelve/ext4-with-journal";
    let mut plan = sample::plan();
    plan.workloads[0].title = "Blocks as `fio` names them".into();
    for target_plan in &mut plan.targets {
        target_plan.path = target.into();
    }
    let names = [
        "Random reads of 4 KiB as `randread` makes them",
        "Sequential reads of 1 MiB as `read` makes them",
    ];
    plan.cells = names
        .iter()
        .flat_map(|name| [1, 8, 32].map(|depth| (*name, depth)))
        .zip(0..)
        .map(|((name, depth), index)| sample::cell(index, name, depth, 1, 80.0))
        .collect();
    let cells = plan.cells.iter().map(|cell| {
        let depth = f64::from(cell.iodepth);
        let speed = depth / (1.0 + depth / 20.0);
        let shape = if cell.index < 3 { &SMALL } else { &LARGE };
        let mut record = made_up::scaled(&plan, cell.index, shape, speed, depth / speed);
        record.target = target.to_owned();
        record.within = WithinRun::of(&record);
        record
    });
    let cells = cells.collect();
    let mut record = made_up::finished(plan, cells, &["run", "blocks.toml"]);
    record.cells[0].target = "/srv/storage/benchmarks/another".into();
    let served = "the page cache served 98 % of the bytes read; use `--cache direct`";
    let few = "900 operations are too few for p99; more of `--run-time`";
    record.warnings = vec![
        Warning::of_cell(WarningCode::FewSamplesForPercentile, 1, few),
        Warning::of_cell(WarningCode::CacheServedReads, 0, served),
        Warning::of_cell(WarningCode::CacheServedReads, 3, served),
    ];
    record
}

/// The same run twice, measured once each, the second time on a faster system.
pub fn compared_once() -> Vec<RunRecord> {
    let first = mixed();
    let mut second = first.clone();
    second.id = "20261121-031612-042-2f".into();
    second.environment.kernel = "6.13.1".into();
    for cell in &mut second.cells {
        cell.total.per_second *= 1.13;
        cell.total.bytes_per_second *= 1.13;
    }
    vec![first, second]
}

/// PostMark on a target with latencies from nanoseconds to minutes.
pub fn wide() -> RunRecord {
    let mut record = made_up::postmark();
    for cell in &mut record.cells {
        let all = cell.operations.values_mut().map(|it| &mut it.latency);
        for latency in all.chain(cell.transactions.values_mut().map(|it| &mut it.latency)) {
            if latency.count == 0 {
                continue;
            }
            let buckets = &mut latency.histogram.buckets_ns;
            buckets.insert(0, [40, 40, 3]);
            buckets.push([80_000_000_000, 80_100_000_000, 1]);
        }
    }
    record
}
