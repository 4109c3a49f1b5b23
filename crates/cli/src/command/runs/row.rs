//! A row of the list: a run, or a lab with all its runs.

use std::cmp::Ordering;

use jiff::tz::TimeZone;
use results::{Timestamp, WarningCode};
use store::{Headline, HeadlineUnit, LabRow, RunRow, RunStatus, is_lab_tag};
use units::format::{bandwidth, iops};

use crate::args::RunColumn;

/// Tag of all runs of labs.
const LAB_TAG: &str = "lab";

/// Value in the column of rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RateCell {
    /// Nothing was measured.
    Empty,
    /// Best rate of a run.
    Headline(Headline),
    /// Number of runs of a lab.
    Runs(usize),
}

/// A row of the list before formatting.
#[derive(Debug, Clone)]
pub(super) struct ListRow {
    pub id: String,
    pub started_at: Timestamp,
    /// `false` for imported results whose source does not state a time.
    pub is_time_known: bool,
    pub workload: String,
    pub rate: RateCell,
    pub tags: Vec<String>,
    pub status: RunStatus,
    pub targets: Vec<String>,
    pub file_systems: Vec<String>,
    pub kernel: String,
    pub host: String,
    pub cell_count: u32,
    pub iops: Option<f64>,
    pub bandwidth: Option<f64>,
    pub lab: String,
    pub note: String,
    pub doubts: Vec<WarningCode>,
}

impl ListRow {
    /// Row of a run; `lab` is the name of its lab.
    pub fn of_run(run: &RunRow, lab: Option<&str>) -> Self {
        Self {
            id: run.short_id.clone(),
            started_at: run.started_at,
            is_time_known: run.origin.as_ref().is_none_or(|it| it.time.is_some()),
            workload: match &run.origin {
                Some(origin) => format!("{}: {}", origin.title(), first_names(&run.workloads)),
                None => run.workloads.join(", "),
            },
            rate: run.headline.map_or(RateCell::Empty, RateCell::Headline),
            tags: run.tags.clone(),
            status: run.status,
            targets: run.targets.clone(),
            file_systems: run.file_systems.clone(),
            kernel: run.kernel.clone(),
            host: run.host.clone(),
            cell_count: run.cell_count,
            iops: run.per_second_max,
            bandwidth: run.bytes_per_second_max,
            lab: lab.unwrap_or_default().to_owned(),
            note: run.note.clone(),
            doubts: run.doubts.clone(),
        }
    }

    /// Row of a lab, from the listed runs of the lab.
    pub fn of_lab(lab: &LabRow, runs: &[&RunRow]) -> Self {
        let (what, on) = (lab.sections.join(", "), lab.columns.join(", "));
        Self {
            workload: format!("lab: {what} on {on}"),
            started_at: lab.started_at,
            kernel: lab.kernel.clone(),
            host: lab.host.clone(),
            note: lab.title.clone(),
            ..Self::of_runs(&lab.short_id, runs)
        }
    }

    /// Row of a lab without a record, from its runs: a killed lab or a published experiment.
    pub fn of_runs(name: &str, runs: &[&RunRow]) -> Self {
        let (what, on) = (
            each_once(runs, |run| &run.workloads).join(", "),
            each_once(runs, |run| &run.file_systems).join(", "),
        );
        let bad = runs.iter().find(|run| run.status != RunStatus::Complete);
        let first = runs.iter().min_by_key(|run| run.started_at);
        // All runs of a lab have these tags, so they distinguish nothing.
        let own = |tag: &String| tag != LAB_TAG && !is_lab_tag(tag);
        let mut tags = each_once(runs, |run| &run.tags);
        tags.retain(own);
        Self {
            id: name.to_owned(),
            started_at: first.map_or(Timestamp::UNIX_EPOCH, |run| run.started_at),
            is_time_known: true,
            workload: format!("lab: {what} on {on}"),
            rate: RateCell::Runs(runs.len()),
            tags,
            status: bad.map_or(RunStatus::Complete, |run| run.status),
            targets: Vec::new(),
            file_systems: each_once(runs, |run| &run.file_systems),
            kernel: first.map_or(String::new(), |run| run.kernel.clone()),
            host: first.map_or(String::new(), |run| run.host.clone()),
            cell_count: runs.iter().map(|run| run.cell_count).sum(),
            iops: None,
            bandwidth: None,
            lab: name.to_owned(),
            note: String::new(),
            doubts: each_once(runs, |run| &run.doubts),
        }
    }

    /// Returns the text of a column.
    pub fn text(&self, column: RunColumn, zone: &TimeZone) -> String {
        let figure = |figure: Option<f64>, text: fn(f64) -> String| figure.map_or("".into(), text);
        match column {
            RunColumn::Run => self.id.clone(),
            RunColumn::Started if !self.is_time_known => "unknown".to_owned(),
            RunColumn::Started => {
                let local = self.started_at.to_zoned(zone.clone());
                local.strftime("%Y-%m-%d %H:%M").to_string()
            }
            RunColumn::Workload => match self.status {
                RunStatus::Complete => self.workload.clone(),
                status => format!("{} ({status})", self.workload),
            },
            RunColumn::Rate => self.rate.text(),
            RunColumn::Tags => self.tags.join(", "),
            RunColumn::Status => self.status.to_string(),
            RunColumn::Target => self.targets.join(", "),
            RunColumn::FileSystem => self.file_systems.join(", "),
            RunColumn::Kernel => self.kernel.clone(),
            RunColumn::Host => self.host.clone(),
            RunColumn::Cells => self.cell_count.to_string(),
            RunColumn::Iops => figure(self.iops, iops),
            RunColumn::Bandwidth => figure(self.bandwidth, bandwidth),
            RunColumn::Lab => self.lab.clone(),
            RunColumn::Note => self.note.clone(),
            RunColumn::Doubts => {
                let codes: Vec<&str> = self.doubts.iter().map(WarningCode::as_str).collect();
                codes.join(", ")
            }
        }
    }

    /// Compares rows: names from A to Z, times and numbers in descending order.
    pub fn compare(&self, other: &Self, column: RunColumn) -> Ordering {
        let down = |a: Option<f64>, b: Option<f64>| {
            // Rows without a value come last.
            let least = f64::NEG_INFINITY;
            b.unwrap_or(least).total_cmp(&a.unwrap_or(least))
        };
        match column {
            RunColumn::Started => other.started_at.cmp(&self.started_at),
            RunColumn::Rate => {
                let ((a, a_rate), (b, b_rate)) = (self.rate.key(), other.rate.key());
                a.cmp(&b).then(down(Some(a_rate), Some(b_rate)))
            }
            RunColumn::Cells => other.cell_count.cmp(&self.cell_count),
            RunColumn::Iops => down(self.iops, other.iops),
            RunColumn::Bandwidth => down(self.bandwidth, other.bandwidth),
            column => {
                // The time zone does not matter here, because these columns contain no times.
                let name = |row: &Self| row.text(column, &TimeZone::UTC).to_lowercase();
                name(self).cmp(&name(other))
            }
        }
    }
}

impl RateCell {
    fn text(self) -> String {
        let Headline { of, per_second } = match self {
            Self::Empty => return String::new(),
            Self::Runs(1) => return "1 run".to_owned(),
            Self::Runs(count) => return format!("{count} runs"),
            Self::Headline(headline) => headline,
        };
        match of {
            HeadlineUnit::Requests => format!("{} IOPS", iops(per_second)),
            HeadlineUnit::Bytes => bandwidth(per_second),
            HeadlineUnit::Operations => format!("{} op/s", iops(per_second)),
            HeadlineUnit::Transactions => format!("{} trans/s", iops(per_second)),
        }
    }

    /// Sort key that groups rates of the same unit.
    fn key(self) -> (u8, f64) {
        match self {
            Self::Headline(Headline { of, per_second }) => {
                let unit = match of {
                    HeadlineUnit::Requests => 0,
                    HeadlineUnit::Bytes => 1,
                    HeadlineUnit::Operations => 2,
                    HeadlineUnit::Transactions => 3,
                };
                (unit, per_second)
            }
            Self::Runs(count) => (4, count as f64),
            Self::Empty => (5, 0.0),
        }
    }
}

/// Lists the first names of imported results, which may be hundreds.
fn first_names(names: &[String]) -> String {
    const SHOWN: usize = 2;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the distinct names of all runs, in the order of first appearance.
fn each_once<'a, T: Clone + PartialEq + 'a>(
    runs: &[&'a RunRow],
    names: impl Fn(&'a RunRow) -> &'a [T],
) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for name in runs.iter().flat_map(|run| names(run)) {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}
