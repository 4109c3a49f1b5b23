//! The result file of Iometer 1.1.0, for programs that read such files.
//!
//! Columns, rows and formulas are the same as in Iometer, with three differences (see
//! `docs/results.md`). Latency bins have the bounds of their labels; Iometer uses other bounds for
//! some, and loses latencies of 10 s and more. A target's row contains its own results in all
//! columns; Iometer repeats the worker's results in some. Times are in UTC. Raw times are in
//! nanoseconds, so the timer resolution is 1e9.

mod columns;
mod figures;
mod rows;

use plan::{Cell, LinePlan, WorkerPlan};
use results::{CellRecord, RunRecord, Status, Timestamp};

use columns::HEADERS;

/// Version of the file format. Programs that read the file select columns by it.
const VERSION: &str = "1.1.0";
/// Test types as in workload files. The index is Iometer's number.
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
/// Index of the type with all settings as configured.
const TEST_NORMAL: usize = 0;
/// Index of the type that varies the queue depth.
const TEST_CYCLE_DEPTH: usize = 6;

/// Returns the whole file, with Iometer's line endings.
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
        // Iometer writes the block once, before all runs of the specification.
        if block != specifications {
            lines.extend(block.iter().cloned());
            specifications = block;
        }
        lines.push("'Results".to_owned());
        // Iometer repeats the heads for every run.
        lines.push(HEADERS.join(","));
        lines.extend(rows::of_cell(record, cell));
        lines.extend(["'Time Stamp".to_owned(), stamp(end_of(record, cell))]);
    }
    lines.push("'End Test".to_owned());
    if record.status != Status::Complete {
        lines.push("Aborted test".to_owned());
    }
    // Ends the last line with a line break.
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

/// Returns Iometer's number of the test type, if all workloads agree. A list of queue depths also
/// counts as a cycle of queue depths.
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

/// Returns the distinct access specifications of a cell's workers.
fn access_specifications(cell: &Cell) -> Vec<String> {
    let mut lines = vec!["'Access specifications".to_owned()];
    let mut listed: Vec<&WorkerPlan> = Vec::new();
    for worker in &cell.workers {
        // Iometer lists a specification once, even if several workers use it.
        let is_listed = listed
            .iter()
            .any(|other| other.access_spec == worker.access_spec && other.lines == worker.lines);
        if is_listed {
            continue;
        }
        listed.push(worker);
        lines.extend(specification_head(&worker.access_spec));
        lines.extend(worker.lines.iter().map(access_line));
    }
    lines.push("'End access specifications".to_owned());
    lines
}

/// Returns the entry of a cell that the plan does not contain.
fn unplanned(cell: &CellRecord) -> Vec<String> {
    let [title, spec, heads] = specification_head(cell.name());
    let [first, last] = ["'Access specifications", "'End access specifications"].map(str::to_owned);
    vec![first, title, spec, heads, last]
}

fn specification_head(spec: &str) -> [String; 3] {
    [
        "'Access specification name,default assignment".to_owned(),
        // 0 is Iometer's NONE: it does not assign the specification to new workers.
        format!("{},0", name(spec)),
        "'size,% of size,% reads,% random,delay,burst,align,reply".to_owned(),
    ]
}

/// Formats an access line. Iometer 1.1.0 ends it with a comma.
fn access_line(line: &LinePlan) -> String {
    // Iometer's delays are whole milliseconds. A fraction appears only if the plan has one.
    let delay_ms = line.delay_ns as f64 / 1e6;
    format!(
        "{},{},{},{},{delay_ms},{},{},{},",
        line.size_bytes,
        line.of_size_percent,
        line.read_percent,
        line.random_percent,
        // 0 and 1 mean the same in Iometer.
        line.burst.max(1),
        line.align_bytes,
        line.reply_bytes,
    )
}

/// Returns the end of a cell. If the record lacks it, returns the end or the start of the run.
fn end_of(record: &RunRecord, cell: &CellRecord) -> Timestamp {
    let run_time = std::time::Duration::from_nanos(cell.run_time_ns);
    let end = cell
        .started_at
        .and_then(|start| start.checked_add(run_time).ok());
    end.or(record.finished_at).unwrap_or(record.started_at)
}

/// Formats a time in UTC as `2026-11-21 02:50:16:042`.
fn stamp(time: Timestamp) -> String {
    let milliseconds = time.as_millisecond().rem_euclid(1000);
    format!("{}:{milliseconds:03}", time.strftime("%Y-%m-%d %H:%M:%S"))
}

/// Replaces separators in a name with spaces, because Iometer does not quote names.
fn name(text: &str) -> String {
    text.chars()
        .map(|c| if c == ',' || c.is_control() { ' ' } else { c })
        .collect()
}
