//! The settings of a cell as fio options.

use plan::{CacheMode, Cell, LinePlan, TargetKind};
use results::{CellRecord, RunRecord};

use super::Ordered;

/// Returns the settings that have the same meaning in fio, starting with those that tools for fio
/// need.
pub fn options(record: &RunRecord, cell: &CellRecord) -> Ordered<String> {
    let planned = record
        .plan
        .cells
        .iter()
        .find(|planned| planned.index == cell.index);
    let lines = planned.map_or(&[][..], lines_of);
    // fio-plot needs `bs`, `iodepth` and `numjobs`.
    let mut options = vec![
        ("name", cell.name().to_owned()),
        ("rw", direction(cell, lines).to_owned()),
    ];
    options.extend(sizes(lines));
    options.extend([
        ("iodepth", cell.iodepth.to_string()),
        ("numjobs", cell.workers.to_string()),
        ("ioengine", cell.engine.name().to_owned()),
        (
            "direct",
            u8::from(cell.cache == CacheMode::Direct).to_string(),
        ),
    ]);
    if cell.cache == CacheMode::Dontcache {
        options.push(("uncached", "1".to_owned()));
    }
    options.extend(shares(lines));
    options.extend(place(record, cell));
    if cell.planned_run_time_ns > 0 {
        // fio's JSON has an empty text for an option without a value.
        options.push(("time_based", String::new()));
        options.push(("runtime", seconds(cell.planned_run_time_ns)));
    }
    if cell.ramp_time_ns > 0 {
        options.push(("ramp_time", seconds(cell.ramp_time_ns)));
    }
    options.push(("group_reporting", String::new()));
    let named = options
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    Ordered(named.collect())
}

/// Returns the access lines, if they are the same for all workers.
fn lines_of(cell: &Cell) -> &[LinePlan] {
    match cell.workers.split_first() {
        // One fio job describes all workers, so it cannot express different lines.
        Some((first, rest)) if rest.iter().all(|worker| worker.lines == first.lines) => {
            &first.lines
        }
        _ => &[],
    }
}

/// Returns fio's name of the access pattern, from the operations that occurred.
fn direction(cell: &CellRecord, lines: &[LinePlan]) -> &'static str {
    let done = |name| {
        cell.operation(name)
            .is_some_and(|figures| figures.count > 0)
    };
    let is_random = lines.iter().any(|line| line.random_percent > 0.0);
    // Only jobs trim, and their order is not in access lines.
    match (done("read"), done("write"), done("trim")) {
        (false, false, true) => return "trim",
        (false, true, true) => return "trimwrite",
        _ => {}
    }
    match (done("read"), done("write"), is_random) {
        (true, true, true) => "randrw",
        (true, true, false) => "rw",
        (false, true, true) => "randwrite",
        (false, true, false) => "write",
        // A cell that completed nothing counts as reads, which is also fio's default.
        (_, false, true) => "randread",
        (_, false, false) => "read",
    }
}

/// Returns the block size, or the range of sizes with their shares.
fn sizes(lines: &[LinePlan]) -> Vec<(&'static str, String)> {
    let sizes = || lines.iter().map(|line| line.size_bytes);
    let (Some(least), Some(most)) = (sizes().min(), sizes().max()) else {
        return Vec::new();
    };
    if least == most {
        return vec![("bs", size(least))];
    }
    let split = lines
        .iter()
        .map(|line| format!("{}/{}", size(line.size_bytes), line.of_size_percent));
    vec![
        ("bs", format!("{}-{}", size(least), size(most))),
        ("bssplit", split.collect::<Vec<_>>().join(":")),
    ]
}

/// Formats a size as in fio job files, such as `4k`, if it is a multiple of the unit.
fn size(bytes: u32) -> String {
    match bytes {
        // With fio's default `kb_base`, `k` and `m` are units of 1024.
        bytes if bytes > 0 && bytes % (1 << 20) == 0 => format!("{}m", bytes >> 20),
        bytes if bytes > 0 && bytes % (1 << 10) == 0 => format!("{}k", bytes >> 10),
        bytes => bytes.to_string(),
    }
}

/// Returns the percentages of reads and of random requests over all lines, unless they are 0 or
/// 100.
fn shares(lines: &[LinePlan]) -> Vec<(&'static str, String)> {
    let weighted = |of: fn(&LinePlan) -> f64| {
        let parts = lines
            .iter()
            .map(|line| line.of_size_percent * of(line) / 100.0);
        parts.sum::<f64>()
    };
    let inner = |name, percent: f64| {
        // Both options are whole numbers in fio.
        (percent > 0.0 && percent < 100.0).then(|| (name, format!("{}", percent.round())))
    };
    [
        inner("rwmixread", weighted(|line| line.read_percent)),
        inner("percentage_random", weighted(|line| line.random_percent)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the target of the cell.
fn place(record: &RunRecord, cell: &CellRecord) -> Vec<(&'static str, String)> {
    let targets = &record.plan.targets;
    let is_directory = targets
        .iter()
        .all(|target| target.kind == TargetKind::Directory);
    let name = if is_directory {
        "directory"
    } else {
        "filename"
    };
    // fio separates several names by colons.
    let mut options = vec![(name, cell.target.replace(", ", ":"))];
    if let [target] = targets.as_slice() {
        options.push(("size", target.size_bytes.to_string()));
    }
    options
}

fn seconds(ns: u64) -> String {
    (ns as f64 / 1e9).to_string()
}
