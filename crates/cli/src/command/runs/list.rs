//! The list of stored runs and labs.

use std::cmp::Ordering;
use std::collections::HashMap;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use report::{Column, Table};
use results::Timestamp;
use store::{Filter, LabRow, RunList, RunRow, RunStatus, Store, is_lab_tag};
use units::{Span, printable};

use super::row::{ListRow, RateCell};
use crate::args::{RunColumn, RunsListArgs, StatusArg};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::pager::print_paged;
use crate::stored::StoreLocation;
use crate::terminal::{OutputStream, print};

/// Wide enough for one line per run when a program reads the table.
const PIPE_WIDTH: usize = 1000;
/// In narrower output, tags appear only on request.
const TAGS_WIDTH_MIN: usize = 64;

/// Prints the matching runs and labs.
pub(crate) fn list(args: &RunsListArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    let zone = zone(args);
    let filter = filter(args, &zone)?;
    let store = location.open_to_read()?;
    let runs = match &store {
        Some(store) => store.list(&filter)?,
        None => Vec::new(),
    };
    let labs = store.as_ref().map(Store::labs).transpose()?;
    let labs = labs.unwrap_or_default();
    let has_text = !output.takes_stdout();
    if has_text {
        print_rows(&runs, &labs, args, (&filter, zone), location)?;
    }
    let runs = limited(runs, &labs, args);
    output.write(&RunList { runs })?;
    Ok(Exit::Success)
}

/// Compares two rows in the requested order.
fn order(a: &ListRow, b: &ListRow, args: &RunsListArgs) -> Ordering {
    match args.reverse {
        true => b.compare(a, args.sort),
        false => a.compare(b, args.sort),
    }
}

/// Returns the runs that come first in the requested order, in the given order.
fn limited(runs: Vec<RunRow>, labs: &[LabRow], args: &RunsListArgs) -> Vec<RunRow> {
    let rows = single_rows(&runs, labs).into_iter();
    let mut found: Vec<(ListRow, (usize, RunRow))> =
        rows.zip(runs.into_iter().enumerate()).collect();
    found.sort_by(|(a, _), (b, _)| order(a, b, args));
    found.truncate(args.limit.unwrap_or(usize::MAX));
    // The JSON document lists the newest run first.
    found.sort_by_key(|(_, (index, _))| *index);
    found.into_iter().map(|(_, (_, run))| run).collect()
}

/// Prints runs and labs in the requested order.
fn print_rows(
    runs: &[RunRow],
    labs: &[LabRow],
    args: &RunsListArgs,
    (filter, zone): (&Filter, TimeZone),
    place: &StoreLocation,
) -> Result<(), CliError> {
    let mut rows = match args.all {
        true => single_rows(runs, labs),
        false => {
            let mut rows = lab_rows(runs, labs);
            // Filters apply to runs, so a lab without matching runs is not listed.
            let is_whole = covers_all(filter);
            rows.retain(|row| row.rate != RateCell::Runs(0) || is_whole);
            rows
        }
    };
    rows.sort_by(|a, b| order(a, b, args));
    let count = args.limit.unwrap_or(usize::MAX);
    let has_more = rows.len() > count;
    rows.truncate(count);
    if rows.is_empty() {
        tell!("no runs in `{}`", place.path()?.display());
        return Ok(());
    }
    let text = text(&rows, &args.columns, &TimeColumn::new(args.utc, zone));
    match args.no_pager {
        true => print(text)?,
        false => print_paged(&OutputText::prose(text))?,
    }
    if has_more {
        tell!("there are more; `--limit N` lists N");
    }
    Ok(())
}

/// Returns these runs of a store.
pub(crate) fn list_of(store: &Store, ids: &[String]) -> Result<RunList, CliError> {
    let mut runs = store.list(&Filter::default())?;
    runs.retain(|run| ids.contains(&run.id));
    Ok(RunList { runs })
}

/// Formats the table of these runs.
pub(crate) fn text_of(list: &RunList) -> String {
    let rows = list.runs.iter().map(|run| ListRow::of_run(run, None));
    let rows: Vec<ListRow> = rows.collect();
    text(&rows, &[], &TimeColumn::new(false, TimeZone::system()))
}

/// Time zone and heading of the column of times.
struct TimeColumn {
    zone: TimeZone,
    head: &'static str,
}

impl TimeColumn {
    fn new(is_utc: bool, zone: TimeZone) -> Self {
        let head = if is_utc { "started (UTC)" } else { "started" };
        Self { zone, head }
    }
}

fn zone(args: &RunsListArgs) -> TimeZone {
    match args.utc {
        true => TimeZone::UTC,
        false => TimeZone::system(),
    }
}

fn filter(args: &RunsListArgs, zone: &TimeZone) -> Result<Filter, CliError> {
    let since = args.since.as_deref().map(|text| since(text, zone));
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
        since: since.transpose()?,
        // Several runs may share the row of a lab, so the rows are cut later.
        limit: None,
    })
}

/// Parses a day, a point in time, or a time span before now.
fn since(text: &str, zone: &TimeZone) -> Result<Timestamp, CliError> {
    let local = || {
        let time: DateTime = text.parse().ok()?;
        let zoned = time.to_zoned(zone.clone()).ok()?;
        // A bare number could be a year or a number of days.
        text.contains('-').then(|| zoned.timestamp())
    };
    let ago = || {
        let has_unit = text.ends_with(|letter: char| letter.is_ascii_alphabetic());
        let span: Span = has_unit.then(|| text.parse().ok())??;
        let now = Timestamp::now();
        now.checked_sub(std::time::Duration::from(span)).ok()
    };
    let parsed = text.parse().ok().or_else(local).or_else(ago);
    parsed.ok_or_else(|| {
        let help = "write a day as `2026-11-21`, a time as `2026-11-21 05:00` or \
                    `2026-11-21T05:00:00Z`, or a span as `7d`";
        let message = format!("`{text}` is not a time");
        CliError::new(Exit::Usage, message, Some(help.to_owned()))
    })
}

/// Returns `true` if there is no filter, so that labs without runs are also listed.
fn covers_all(filter: &Filter) -> bool {
    filter.workload.is_none()
        && filter.target.is_none()
        && filter.tags.is_empty()
        && filter.status.is_none()
        && filter.since.is_none()
}

/// Returns the tag that identifies the lab of a run, for labs without a record.
fn lab_tag(run: &RunRow) -> Option<&String> {
    run.tags.iter().find(|tag| is_lab_tag(tag))
}

/// Maps each run of a lab to its lab.
fn labs_by_run(labs: &[LabRow]) -> HashMap<&str, &LabRow> {
    let pairs = labs
        .iter()
        .flat_map(|lab| lab.run_ids.iter().map(move |id| (id.as_str(), lab)));
    pairs.collect()
}

/// Returns one row per run.
fn single_rows(runs: &[RunRow], labs: &[LabRow]) -> Vec<ListRow> {
    let labs = labs_by_run(labs);
    let row = |run: &RunRow| {
        let lab = labs.get(run.id.as_str()).map(|lab| &lab.short_id);
        ListRow::of_run(run, lab.or(lab_tag(run)).map(String::as_str))
    };
    runs.iter().map(row).collect()
}

/// Returns one row per run outside of labs, and one per lab; newest first.
fn lab_rows(runs: &[RunRow], labs: &[LabRow]) -> Vec<ListRow> {
    let recorded = labs_by_run(labs);
    let mut runs_by_lab: HashMap<&str, Vec<&RunRow>> = HashMap::new();
    let mut runs_by_tag: HashMap<&str, Vec<&RunRow>> = HashMap::new();
    let mut rows = Vec::new();
    for run in runs {
        match (recorded.get(run.id.as_str()), lab_tag(run)) {
            (Some(lab), _) => runs_by_lab.entry(&lab.id).or_default().push(run),
            (None, Some(tag)) => runs_by_tag.entry(tag).or_default().push(run),
            (None, None) => rows.push(ListRow::of_run(run, None)),
        }
    }
    for lab in labs {
        let runs = runs_by_lab.remove(lab.id.as_str()).unwrap_or_default();
        rows.push(ListRow::of_lab(lab, &runs));
    }
    rows.extend(
        runs_by_tag
            .iter()
            .map(|(tag, runs)| ListRow::of_runs(tag, runs)),
    );
    // The later sort is stable, so equal rows keep this order.
    rows.sort_by_key(|row| std::cmp::Reverse((row.started_at, row.id.clone())));
    rows
}

fn text(rows: &[ListRow], requested: &[RunColumn], clock: &TimeColumn) -> String {
    let width = match OutputStream::Output.is_terminal() {
        true => OutputStream::Output.page().width,
        false => PIPE_WIDTH,
    };
    let columns = match requested {
        [] => default_columns(rows, width),
        asked => asked.to_vec(),
    };
    let table = table(rows, &columns, clock);
    let lines = table.lines(width);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Columns that fit into 80 characters.
fn default_columns(rows: &[ListRow], width: usize) -> Vec<RunColumn> {
    let mut columns = vec![
        RunColumn::Run,
        RunColumn::Started,
        RunColumn::Workload,
        RunColumn::Rate,
    ];
    let has_tags = rows.iter().any(|row| !row.tags.is_empty());
    columns.extend((has_tags && width >= TAGS_WIDTH_MIN).then_some(RunColumn::Tags));
    columns
}

fn table(rows: &[ListRow], columns: &[RunColumn], clock: &TimeColumn) -> Table {
    let id_width = rows.iter().map(|row| row.id.len()).max().unwrap_or(0);
    let row = |row: &ListRow| {
        let text = |column: &RunColumn| match column {
            // Numbers are right-aligned, but ids are left-aligned because users copy them from the
            // start.
            RunColumn::Run => format!("{:id_width$}", row.id),
            column => row.text(*column, &clock.zone),
        };
        // Imported records may contain control characters, and each row must stay on one line.
        let texts = columns.iter().map(text);
        texts.map(|text| printable(&text).into_owned()).collect()
    };
    let columns = columns.iter().map(|it| head(*it, clock));
    Table::new(columns, rows.iter().map(row))
}

/// Returns the head of a column. In narrow output, columns with low numbers are dropped first.
fn head(column: RunColumn, clock: &TimeColumn) -> Column {
    match column {
        // Declared as a number because numbers are never wrapped, and users copy ids.
        RunColumn::Run => Column::number("run", u8::MAX),
        RunColumn::Started => Column::number(clock.head, 1),
        RunColumn::Workload => Column::name("workload"),
        RunColumn::Rate => Column::number("rate", 6),
        RunColumn::Tags => Column::name("tags"),
        RunColumn::Status => Column::number("status", 5),
        RunColumn::Target => Column::name("target"),
        RunColumn::FileSystem => Column::name("file system"),
        RunColumn::Kernel => Column::name("kernel"),
        RunColumn::Host => Column::name("host"),
        RunColumn::Cells => Column::number("cells", 2),
        RunColumn::Iops => Column::number("IOPS", 4),
        RunColumn::Bandwidth => Column::number("bandwidth", 3),
        RunColumn::Lab => Column::number("lab", u8::MAX),
        RunColumn::Note => Column::name("note"),
        RunColumn::Doubts => Column::name("doubts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, zone: &TimeZone) -> Option<String> {
        since(text, zone).ok().map(|time| time.to_string())
    }

    #[test]
    fn dates_start_at_midnight_in_the_local_time_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let local = |text| at(text, &zone).unwrap();
        assert_eq!(local("2026-11-21"), "2026-11-20T22:00:00Z");
        assert_eq!(local("2026-11-21 05:00"), "2026-11-21T03:00:00Z");
        assert_eq!(local("2026-11-21T05:00:00Z"), "2026-11-21T05:00:00Z");
        assert_eq!(
            at("2026-11-21", &TimeZone::UTC).unwrap(),
            "2026-11-21T00:00:00Z"
        );
        for bad in ["2026", "20261121", "7", "soon", ""] {
            assert_eq!(at(bad, &zone), None, "{bad}");
        }
        assert!(at("7d", &zone).is_some());
    }
}
