//! The result file of Iometer 1.1.0, for whatever reads those.
//!
//! Columns, rows and formulas are Iometer's, with three differences, which `docs/results.md`
//! tells: latency bins are counted by the bounds that their labels print (Iometer counts some by
//! other bounds and loses latencies of 10 s and more), a target's row holds the target's own
//! figures in every column (Iometer repeats the worker's in some), and times are in UTC. Raw
//! times are in nanoseconds, so the timer's resolution is 1e9.

mod columns;
mod figures;
mod rows;

use plan::{Cell, LinePlan, WorkerPlan};
use results::{CellRecord, RunRecord, Status, Timestamp};

use columns::HEADS;

/// The version whose columns are written; readers choose their columns by it.
const VERSION: &str = "1.1.0";
/// The test types as workload files name them, each at Iometer's number of it.
const TEST_TYPES: [&str; 8] = [
    "normal",
    "cycle-targets",
    "cycle-workers",
    "increment-targets-parallel",
    "increment-targets-serial",
    "cycle-workers-and-targets",
    "cycle-outstanding-ios",
    "cycle-outstanding-ios-and-targets",
];
/// Everything as configured.
const TEST_NORMAL: usize = 0;
/// The queue depth varied.
const TEST_CYCLE_DEPTH: usize = 6;

/// The whole file; lines end as Iometer's do.
pub fn render(record: &RunRecord) -> String {
    let mut lines = vec![
        "'Test Type,Test Description".to_owned(),
        format!("{},{}", test_type(record), name(&description(record))),
        "'Version".to_owned(),
        VERSION.to_owned(),
        "'Time Stamp".to_owned(),
        stamp(record.started_at),
    ];
    let mut specifications = Vec::new();
    for cell in &record.cells {
        let planned = record
            .plan
            .cells
            .iter()
            .find(|planned| planned.index == cell.index);
        let block = planned.map_or_else(|| unplanned(cell), access_specifications);
        if block != specifications {
            lines.extend(block.iter().cloned());
            specifications = block;
        }
        lines.push("'Results".to_owned());
        lines.push(HEADS.join(","));
        lines.extend(rows::of_cell(record, cell));
        lines.extend(["'Time Stamp".to_owned(), stamp(end_of(record, cell))]);
    }
    lines.push("'End Test".to_owned());
    if record.status != Status::Complete {
        lines.push("Aborted test".to_owned());
    }
    lines.push(String::new());
    lines.join("\r\n")
}

fn description(record: &RunRecord) -> String {
    let titles: Vec<&str> = record
        .plan
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    titles.join(" ")
}

/// Iometer's number of what was varied: of the workloads' test type where they agree. A list of
/// queue depths is Iometer's cycle of them, too.
fn test_type(record: &RunRecord) -> usize {
    let settings = &record.plan.settings;
    let mut written = settings
        .iter()
        .filter(|setting| setting.key == "test_type")
        .map(|setting| TEST_TYPES.iter().position(|name| *name == setting.value));
    let first = written.next().flatten().unwrap_or(TEST_NORMAL);
    if first != TEST_NORMAL && written.all(|other| other == Some(first)) {
        return first;
    }
    let varied = record
        .cells
        .windows(2)
        .any(|pair| pair[0].name() == pair[1].name() && pair[0].iodepth != pair[1].iodepth);
    if varied {
        TEST_CYCLE_DEPTH
    } else {
        TEST_NORMAL
    }
}

/// The specifications that a cell's workers use, each once.
fn access_specifications(cell: &Cell) -> Vec<String> {
    let mut lines = vec!["'Access specifications".to_owned()];
    let mut told: Vec<&WorkerPlan> = Vec::new();
    for worker in &cell.workers {
        let known = told
            .iter()
            .any(|other| other.access_spec == worker.access_spec && other.lines == worker.lines);
        if known {
            continue;
        }
        told.push(worker);
        lines.extend(specification_head(&worker.access_spec));
        lines.extend(worker.lines.iter().map(access_line));
    }
    lines.push("'End access specifications".to_owned());
    lines
}

/// What there is to say of a cell that the plan does not hold.
fn unplanned(cell: &CellRecord) -> Vec<String> {
    let [title, spec, heads] = specification_head(cell.name());
    let [first, last] = ["'Access specifications", "'End access specifications"].map(str::to_owned);
    vec![first, title, spec, heads, last]
}

fn specification_head(spec: &str) -> [String; 3] {
    [
        "'Access specification name,default assignment".to_owned(),
        format!("{},0", name(spec)),
        "'size,% of size,% reads,% random,delay,burst,align,reply".to_owned(),
    ]
}

/// One access line, with the comma that Iometer 1.1.0 puts behind it.
fn access_line(line: &LinePlan) -> String {
    let delay_ms = line.delay_ns as f64 / 1e6;
    format!(
        "{},{},{},{},{delay_ms},{},{},{},",
        line.size_bytes,
        line.of_size_percent,
        line.read_percent,
        line.random_percent,
        line.burst.max(1),
        line.align_bytes,
        line.reply_bytes,
    )
}

/// When a cell ended; when the run did, or began, if the record does not say.
fn end_of(record: &RunRecord, cell: &CellRecord) -> Timestamp {
    let run_time = std::time::Duration::from_nanos(cell.run_time_ns);
    let end = cell
        .started_at
        .and_then(|start| start.checked_add(run_time).ok());
    end.or(record.finished_at).unwrap_or(record.started_at)
}

/// `2026-11-21 02:50:16:042`, in UTC.
fn stamp(time: Timestamp) -> String {
    let milliseconds = time.as_millisecond().rem_euclid(1000);
    format!("{}:{milliseconds:03}", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// A name as Iometer writes it: nothing is quoted, so what separates becomes a blank.
fn name(text: &str) -> String {
    text.chars()
        .map(|c| if c == ',' || c.is_control() { ' ' } else { c })
        .collect()
}
