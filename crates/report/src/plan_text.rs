//! Formats a plan for users: the output of `pgmeter check`.

mod files;
mod goals;
mod jobs;
mod laws;
mod length;
#[cfg(test)]
mod tests;

use std::fmt::Write;

use plan::program::Program;
use plan::{
    Cell, ContentPlan, CurvePart, Diagnostic, EngineKind, LinePlan, Plan, Sequence, Setting,
    Source, TargetKind, printable,
};
use planning::{Planned, TargetProperties};
use units::{Bytes, Percent, Rate, Span};

use length::length;
pub(crate) use length::until_done;

/// Maximum width of a page in columns.
const WIDTH_MAX: usize = 100;
/// Maximum number of cells that are listed; the rest is only counted.
const CELLS_SHOWN: usize = 200;

/// The whole plan, followed by warnings and refusals.
#[must_use]
pub fn plan_text(planned: &Planned) -> String {
    plan_text_with_remarks(planned, &[], WIDTH_MAX)
}

/// As [`plan_text`], with remarks for each target in the plan's order, for a page of `columns`
/// columns. Sentences are not wrapped.
#[must_use]
pub fn plan_text_with_remarks(
    planned: &Planned,
    remarks: &[TargetProperties],
    columns: usize,
) -> String {
    let plan = &planned.plan;
    let mut text = WrappedText {
        text: String::new(),
        columns: columns.min(WIDTH_MAX),
    };
    for (workload, own) in plan.workloads.iter().zip(settings_by_workload(plan)) {
        let heading = match workload.title == workload.name {
            true => workload.name.clone(),
            false => format!("{} · {}", workload.name, workload.title),
        };
        line(&mut text, &heading);
        line(&mut text, &format!("  source: {}", workload.source));
        settings(&mut text, &own);
        text.text.push('\n');
    }
    targets(&mut text, plan, remarks);
    specs(&mut text, plan);
    write_file_plans(&mut text, plan);
    write_job_plans(&mut text, plan);
    cells(&mut text, plan);
    total(&mut text, plan, remarks);
    findings(&mut text, &planned.warnings);
    findings(&mut text, &planned.refusals);
    text.text
}

/// Output buffer with the page width.
struct WrappedText {
    text: String,
    columns: usize,
}

fn line(text: &mut WrappedText, content: &str) {
    text.text.push_str(content.trim_end());
    text.text.push('\n');
}

/// The settings of each workload, in the order of the plan's workloads.
///
/// A workload's settings start with its `iodepth`. Names do not separate them, because a pack may
/// use a name twice.
pub(crate) fn settings_by_workload(plan: &Plan) -> Vec<Vec<&Setting>> {
    let mut all: Vec<Vec<&Setting>> = Vec::new();
    for setting in &plan.settings {
        match all.last_mut() {
            Some(own) if setting.key != "iodepth" => own.push(setting),
            _ => all.push(vec![setting]),
        }
    }
    all
}

fn settings(text: &mut WrappedText, settings: &[&Setting]) {
    for (source, label) in [
        (Source::Option, "by option"),
        (Source::Written, "written"),
        (Source::Default, "default"),
    ] {
        let from_source = settings.iter().filter(|setting| setting.source == source);
        let pairs: Vec<String> = from_source
            .map(|setting| format!("{} = {}", setting.key, setting.value))
            .collect();
        wrapped(text, &format!("  {label}: "), &pairs);
    }
}

/// Joins items with commas; continuation lines are indented below the first item.
fn wrapped(text: &mut WrappedText, label: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let mut current = label.to_owned();
    let indent = label.chars().count();
    for (index, item) in items.iter().enumerate() {
        let item = if index + 1 < items.len() {
            format!("{item}, ")
        } else {
            item.clone()
        };
        let is_long = current.chars().count() + item.trim_end().chars().count() > text.columns;
        // The first item stays next to its label, even if it is too long for the page.
        if is_long && current.trim().len() > label.trim().len() {
            line(text, &current);
            current = " ".repeat(indent);
        }
        current.push_str(&item);
    }
    line(text, &current);
}

/// Used bytes of a target; if jobs use the target itself as a file, the bytes that they use of it.
fn used_bytes(plan: &Plan, index: usize, size_bytes: u64) -> u64 {
    let files = plan.cells.iter().filter_map(|cell| cell.job_files());
    let files = files.flat_map(|jobs| &jobs.files);
    let own = files.filter(|file| file.target_index as usize == index && file.name.is_none());
    own.map(|file| file.size_bytes)
        .fold(size_bytes, std::cmp::max)
}

fn targets(text: &mut WrappedText, plan: &Plan, remarks: &[TargetProperties]) {
    line(text, "targets");
    let is_user_file = |index: usize| remarks.get(index).is_some_and(|it| it.is_foreign);
    let rows = plan.targets.iter().enumerate().map(|(index, target)| {
        let kind = match target.kind {
            TargetKind::Directory if target.size_bytes == 0 => "directory, with files in it",
            TargetKind::Directory => "directory, with a test file in it",
            TargetKind::File if is_user_file(index) => "file that pgmeter did not make",
            TargetKind::File => "file",
            TargetKind::Device => "block device",
            TargetKind::Endless => "character device",
            TargetKind::Network => "TCP peer",
            TargetKind::Null => "nothing is touched",
        };
        let used_bytes = used_bytes(plan, index, target.size_bytes);
        // The size of a directory is the size of its test file, if it has one.
        let has_size = target.kind != TargetKind::Directory || used_bytes > 0;
        let size = has_size.then(|| Bytes(used_bytes).to_string());
        vec![
            format!("  {index}"),
            printable(&target.path.to_string_lossy()),
            size.unwrap_or_else(|| "-".to_owned()),
            kind.to_owned(),
        ]
    });
    table(text, rows.collect(), &[]);
    for (index, remark) in remarks.iter().enumerate() {
        if let Some(layers) = &remark.layers {
            line(text, &format!("  {index} is {}", printable(layers)));
        }
    }
    text.text.push('\n');
}

/// Lists each access specification once, with its lines.
fn specs(text: &mut WrappedText, plan: &Plan) {
    let mut shown: Vec<(&str, &[LinePlan])> = Vec::new();
    let cells = plan.cells.iter().filter(|cell| cell.work.is_access());
    for worker in cells.flat_map(|cell| &cell.workers) {
        let spec = (worker.access_spec.as_str(), worker.lines.as_slice());
        if !shown.contains(&spec) {
            shown.push(spec);
        }
        // Each worker is compared with all specifications so far, so their number must stay small.
        if shown.len() == CELLS_SHOWN {
            break;
        }
    }
    for (name, lines) in shown {
        line(text, &format!("access specification {}", printable(name)));
        let heading = ["  of size", "request", "read", "random", "align", "and"];
        let rows = lines.iter().map(|line| {
            let mut row = line_texts(line).to_vec();
            row[0].insert_str(0, "  ");
            row
        });
        write_headed_table(text, &heading, rows, &[]);
        text.text.push('\n');
    }
}

/// Describes work on many files, once for all cells with the same work.
fn write_file_plans(text: &mut WrappedText, plan: &Plan) {
    let mut shown: Vec<(&Program, String, Vec<String>)> = Vec::new();
    for cell in &plan.cells {
        let Some(files) = cell.program() else {
            continue;
        };
        let entry = (
            files,
            files::heading(cell, files),
            files::sentences(cell, files),
        );
        if !shown.contains(&entry) && shown.len() < CELLS_SHOWN {
            shown.push(entry);
        }
    }
    for (_, heading, sentences) in shown {
        line(text, &heading);
        for sentence in sentences {
            line(text, &format!("  {sentence}"));
        }
        text.text.push('\n');
    }
}

/// Lists the jobs of each cell, once for all repetitions.
fn write_job_plans(text: &mut WrappedText, plan: &Plan) {
    let first = plan.cells.iter().filter(|cell| cell.repetition == 0);
    for cell in first
        .filter(|cell| cell.work.is_requests())
        .take(CELLS_SHOWN)
    {
        let name = printable(&cell.workload);
        line(text, &format!("jobs of {name}, in parallel"));
        write_headed_table(text, &jobs::HEADING, jobs::rows(cell).into_iter(), &[1, 3]);
        let lines = goals::lines(cell);
        lines.iter().for_each(|goal| line(text, goal));
        text.text.push('\n');
    }
}

/// Texts of an access line: share, request size, reads, random requests, alignment, remarks.
pub(crate) fn line_texts(line: &LinePlan) -> [String; 6] {
    let align = match line.align_bytes {
        0 => "sector".to_owned(),
        bytes => Bytes(bytes.into()).to_string(),
    };
    [
        Percent(line.of_size_percent).to_string(),
        Bytes(line.size_bytes.into()).to_string(),
        Percent(line.read_percent).to_string(),
        Percent(line.random_percent).to_string(),
        align,
        line_remarks(line).join(", "),
    ]
}

/// Describes the less common properties of an access line: delay, burst, reply, distribution.
fn line_remarks(line: &LinePlan) -> Vec<String> {
    let mut more = Vec::new();
    if line.delay_ns > 0 {
        more.push(format!("delay {}", Span(line.delay_ns)));
    }
    if line.burst > 1 {
        more.push(format!("burst {}", line.burst));
    }
    if line.reply_bytes > 0 {
        more.push(format!("reply {}", Bytes(line.reply_bytes.into())));
    }
    more.extend(laws::law(&line.distribution));
    match line.sequence {
        Sequence::Forward => {}
        Sequence::Backward => more.push("backward".to_owned()),
        Sequence::Strided { stride_bytes } => {
            more.push(format!("stride {}", Bytes(stride_bytes)));
        }
    }
    more
}

fn cells(text: &mut WrappedText, plan: &Plan) {
    line(text, "cells");
    let heading = [
        "  #",
        "workload",
        "access specification",
        "workers",
        "targets",
        "iodepth",
        "rep",
        "time",
    ];
    let rows = plan.cells.iter().take(CELLS_SHOWN).map(cell_row);
    write_headed_table(text, &heading, rows, &[0, 3, 4, 5, 6]);
    if let Some(more) = plan
        .cells
        .len()
        .checked_sub(CELLS_SHOWN)
        .filter(|more| *more > 0)
    {
        line(text, &format!("  ... and {more} more"));
    }
    if plan.cells.iter().any(|cell| cell.repetition > 0) {
        let order = "  repetitions after the first are each in a random order drawn from the seed";
        line(text, order);
    }
    if let Some(rule) = plan.repetition_rule {
        let precision = rule.precision_percent();
        line(
            text,
            &format!(
                "  then again, until the rate of every cell is known to ±{precision} with 95 % \
                 confidence"
            ),
        );
        line(
            text,
            &format!(
                "  or no further repetition fits into the budget of {}, at most {} times",
                Span(rule.budget_ns),
                rule.repetitions_max
            ),
        );
    }
    text.text.push('\n');
}

fn cell_row(cell: &Cell) -> Vec<String> {
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    let mut targets: Vec<u32> = spans.map(|span| span.target_index).collect();
    targets.sort_unstable();
    targets.dedup();
    let time = match (cell.run_time_ns, cell.operations) {
        (0, None) => until_done(cell),
        (0, Some(count)) => format!("{count} operations"),
        (time, Some(count)) => format!("{}, at most {count} operations", Span(time)),
        (time, None) => Span(time).to_string(),
    };
    let time = match cell.steady {
        // The list of phases above shows the time of these rounds.
        Some(rule) if cell.run_time_ns == 0 => {
            format!("until steady, {} rounds at most", rule.rounds_max)
        }
        Some(rule) => format!("rounds of {time} until steady, {} at most", rule.rounds_max),
        None => time,
    };
    let time = match cell.rate {
        Some(rate) => format!(
            "{time} at {} {}",
            Rate(rate.per_second),
            rate.arrivals.name()
        ),
        None => time,
    };
    let time = match cell.curve {
        Some(CurvePart::Peak) => format!("{time}, the peak"),
        Some(CurvePart::Point { percent, arrivals }) => {
            format!("{time} at {percent} % of the peak, {}", arrivals.name())
        }
        Some(CurvePart::Trial {
            number, arrivals, ..
        }) => format!("{time}, trial {number}, {}", arrivals.name()),
        None => time,
    };
    vec![
        format!("  {}", cell.index + 1),
        cell.workload.clone(),
        printable(cell.access_spec.as_deref().unwrap_or("several")),
        cell.workers.len().to_string(),
        targets.len().to_string(),
        cell.iodepth.to_string(),
        (cell.repetition + 1).to_string(),
        match cell.ramp_time_ns {
            0 if !cell.work.is_access() => time,
            ramp => format!("{} + {time}", Span(ramp)),
        },
    ]
}

/// A table with a heading; if it is wider than the page, a block of lines per row instead.
fn write_headed_table(
    text: &mut WrappedText,
    heading: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    right: &[usize],
) {
    let head = heading.iter().map(|head| (*head).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let all: usize = widths(&rows).iter().map(|width| width + 2).sum();
    if all <= text.columns + 2 {
        return table(text, rows, right);
    }
    for row in &rows[1..] {
        for (column, (head, cell)) in heading.iter().zip(row).enumerate() {
            match column {
                0 => line(text, &format!("{head} {}", cell.trim_start())),
                _ if cell.is_empty() => {}
                _ => line(text, &format!("    {head}: {cell}")),
            }
        }
    }
}

/// Width of each column.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

/// Formats rows in columns; the columns in `right` are right-aligned.
fn table(text: &mut WrappedText, rows: Vec<Vec<String>>, right: &[usize]) {
    let widths = widths(&rows);
    for row in &rows {
        let mut padded = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            let (before, after) = if right.contains(&column) {
                (padding, String::new())
            } else {
                (String::new(), padding)
            };
            // Writing to a string cannot fail.
            let _ = write!(padded, "{before}{cell}{after}  ");
        }
        line(text, &padded);
    }
}

fn total(text: &mut WrappedText, plan: &Plan, remarks: &[TargetProperties]) {
    let mut sentence = length(plan);
    let is_prepared = plan
        .cells
        .iter()
        .any(|cell| cell.engine != EngineKind::Null);
    let is_user_file = |index: usize| remarks.get(index).is_some_and(|it| it.is_foreign);
    let targets = plan.targets.iter().enumerate();
    let bytes = targets
        // pgmeter lays out test files neither on devices nor in files of the user.
        .filter(|(index, target)| target.kind != TargetKind::Device && !is_user_file(*index))
        .map(|(_, target)| target);
    let bytes = bytes.fold(0_u64, |sum, target| sum.saturating_add(target.size_bytes));
    if is_prepared && bytes > 0 {
        let _ = write!(
            sentence,
            "; before that, up to {} of test files are written",
            Bytes(bytes)
        );
    }
    line(text, &sentence);
    if let Some(times) = plan.cells.iter().find_map(|cell| cell.precondition) {
        let times = description::model::Precondition(times);
        let sentence = format!("before that, the used part of each target is written {times}");
        line(text, &sentence);
    }
    for cell in plan.cells.iter().filter(|cell| cell.new_file) {
        let name = cell.access_spec.as_ref().unwrap_or(&cell.workload);
        if cell.repetition == 0 {
            line(
                text,
                &format!("`{name}` starts with an empty test file (new_file)"),
            );
        }
    }
    let reduced = plan
        .cells
        .iter()
        .flat_map(|cell| &cell.workers)
        .any(|worker| matches!(worker.content, ContentPlan::Repeating | ContentPlan::Zero));
    if reduced {
        line(
            text,
            "the written data compresses to almost nothing (content)",
        );
    }
}

fn findings(text: &mut WrappedText, findings: &[Diagnostic]) {
    for finding in findings {
        text.text.push('\n');
        line(text, &finding.to_string());
    }
}
