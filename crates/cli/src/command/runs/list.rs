//! The list of stored runs.

use report::{Column, Table};
use results::Timestamp;
use store::{Filter, RunList, RunRow, RunStatus};
use units::{Span, printable};

use crate::args::{RunsListArgs, StatusArg};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::stored::Place;
use crate::terminal::Stream;

/// So many runs are shown to people who do not say how many.
const SHOWN_COUNT: usize = 20;
/// Wide enough for one line a run, where a program reads the table.
const PIPE_WIDTH: usize = 1000;

/// Prints the runs that are asked for, newest first.
pub(crate) fn list(args: &RunsListArgs, place: &Place) -> Result<Exit, Failure> {
    let output = args.json.open()?;
    let limit = args
        .limit
        .or(args.json.file.is_none().then_some(SHOWN_COUNT));
    let mut filter = filter(args)?;
    // One more tells whether there are more.
    filter.limit = limit.map(|limit| limit.saturating_add(1));
    let store = place.open_to_read()?;
    let mut runs = match &store {
        Some(store) => store.list(&filter)?,
        None => Vec::new(),
    };
    let has_more = limit.is_some_and(|limit| runs.len() > limit);
    runs.truncate(limit.unwrap_or(usize::MAX));
    let list = RunList { runs };
    let has_text = !output.takes_stdout();
    if has_text && list.runs.is_empty() {
        tell!("no runs in `{}`", place.path()?.display());
        output.write(&list)?;
        return Ok(Exit::Measured);
    }
    output.give(&list, || Document::prose(text(&list.runs)))?;
    if has_text && has_more {
        tell!("there are more; `--limit N` lists N");
    }
    Ok(Exit::Measured)
}

fn filter(args: &RunsListArgs) -> Result<Filter, Failure> {
    Ok(Filter {
        workload: args.workload.clone(),
        target: args.target.clone(),
        tags: args.tag.clone(),
        status: args.status.map(|status| match status {
            StatusArg::Running => RunStatus::Running,
            StatusArg::Complete => RunStatus::Complete,
            StatusArg::Interrupted => RunStatus::Interrupted,
            StatusArg::Failed => RunStatus::Failed,
        }),
        since: args.since.as_deref().map(since).transpose()?,
        limit: None,
    })
}

/// A day, a point in time, or a span before now.
fn since(text: &str) -> Result<Timestamp, Failure> {
    let day = || format!("{text}T00:00:00Z").parse().ok();
    let ago = || {
        // A number alone may be meant as a year.
        let has_unit = text.ends_with(|letter: char| letter.is_ascii_alphabetic());
        let span: Span = has_unit.then(|| text.parse().ok())??;
        let now = Timestamp::now();
        now.checked_sub(std::time::Duration::from(span)).ok()
    };
    let found = text.parse().ok().or_else(day).or_else(ago);
    found.ok_or_else(|| {
        let help =
            "write a day as `2026-11-21`, a time as `2026-11-21T05:00:00Z`, or a span as `7d`";
        let message = format!("`{text}` is not a time");
        Failure::new(Exit::Usage, message, Some(help.to_owned()))
    })
}

fn text(runs: &[RunRow]) -> String {
    let width = match Stream::Output.is_terminal() {
        true => Stream::Output.page().width,
        false => PIPE_WIDTH,
    };
    let lines = table(runs).lines(width);
    let lines: Vec<String> = lines.head.into_iter().chain(lines.body).collect();
    lines.join("\n") + "\n"
}

fn table(runs: &[RunRow]) -> Table {
    let mut columns = vec![
        // A number, so that it is never broken: it is to be copied.
        Column::number("run", u8::MAX),
        Column::number("started (UTC)", 1),
        Column::name("workload"),
        Column::name("target"),
        Column::name("file system"),
        Column::number("cells", 2),
        Column::number("most /s", 4),
        Column::number("most bandwidth", 3),
        Column::name("status"),
    ];
    let has_tags = runs.iter().any(|run| !run.tags.is_empty());
    let has_notes = runs.iter().any(|run| !run.note.is_empty());
    columns.extend(has_tags.then(|| Column::name("tags")));
    columns.extend(has_notes.then(|| Column::name("note")));
    let row = |run: &RunRow| {
        let mut row = vec![
            run.short_id.clone(),
            run.started_at.strftime("%Y-%m-%d %H:%M").to_string(),
            run.workloads.join(", "),
            run.targets.join(", "),
            run.file_systems.join(", "),
            run.cell_count.to_string(),
            run.per_second_max
                .map_or(String::new(), units::format::iops),
            run.bytes_per_second_max
                .map_or(String::new(), units::format::bandwidth),
            run.status.to_string(),
        ];
        row.extend(has_tags.then(|| run.tags.join(", ")));
        row.extend(has_notes.then(|| run.note.clone()));
        // Imported records may hold anything, and a table has one line a row.
        row.iter()
            .map(|text| printable(text).into_owned())
            .collect()
    };
    Table {
        columns,
        rows: runs.iter().map(row).collect(),
        span: None,
    }
}
