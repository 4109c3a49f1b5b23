//! A row of the list: a run, or a lab with all its runs.

use std::cmp::Ordering;

use jiff::tz::TimeZone;
use results::Timestamp;
use store::{Headline, LabRow, RateOf, RunRow, RunStatus, is_lab_tag};
use units::format::{bandwidth, iops};

use crate::args::RunColumn;

/// The tag that all runs of labs have.
const LAB: &str = "lab";

/// What stands in the column of rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rate {
    /// Nothing was measured.
    Nothing,
    /// Of a run.
    Headline(Headline),
    /// Of a lab: how many runs it has.
    Runs(usize),
}

/// A row of the list, before it is text.
#[derive(Debug, Clone)]
pub(super) struct ListRow {
    pub id: String,
    pub started_at: Timestamp,
    pub workload: String,
    pub rate: Rate,
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
}

impl ListRow {
    /// Of a run; `lab` is the name of its lab.
    pub fn of_run(run: &RunRow, lab: Option<&str>) -> Self {
        Self {
            id: run.short_id.clone(),
            started_at: run.started_at,
            workload: run.workloads.join(", "),
            rate: run.headline.map_or(Rate::Nothing, Rate::Headline),
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
        }
    }

    /// Of a lab with those of its runs that are listed.
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

    /// Of the runs of a lab that has no record: one that was killed, or an experiment.
    pub fn of_runs(name: &str, runs: &[&RunRow]) -> Self {
        let (what, on) = (
            each_once(runs, |run| &run.workloads).join(", "),
            each_once(runs, |run| &run.file_systems).join(", "),
        );
        let bad = runs.iter().find(|run| run.status != RunStatus::Complete);
        let first = runs.iter().min_by_key(|run| run.started_at);
        let own = |tag: &String| tag != LAB && !is_lab_tag(tag);
        let mut tags = each_once(runs, |run| &run.tags);
        tags.retain(own);
        Self {
            id: name.to_owned(),
            started_at: first.map_or(Timestamp::UNIX_EPOCH, |run| run.started_at),
            workload: format!("lab: {what} on {on}"),
            rate: Rate::Runs(runs.len()),
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
        }
    }

    /// What stands in a column.
    pub fn text(&self, column: RunColumn, zone: &TimeZone) -> String {
        let figure = |figure: Option<f64>, text: fn(f64) -> String| figure.map_or("".into(), text);
        match column {
            RunColumn::Run => self.id.clone(),
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
        }
    }

    /// Names from A to Z, times and figures from the largest down.
    pub fn compare(&self, other: &Self, column: RunColumn) -> Ordering {
        let down = |a: Option<f64>, b: Option<f64>| {
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
                let name = |row: &Self| row.text(column, &TimeZone::UTC).to_lowercase();
                name(self).cmp(&name(other))
            }
        }
    }
}

impl Rate {
    fn text(self) -> String {
        let Headline { of, per_second } = match self {
            Self::Nothing => return String::new(),
            Self::Runs(1) => return "1 run".to_owned(),
            Self::Runs(count) => return format!("{count} runs"),
            Self::Headline(headline) => headline,
        };
        match of {
            RateOf::Requests => format!("{} IOPS", iops(per_second)),
            RateOf::Bytes => bandwidth(per_second),
            RateOf::Operations => format!("{} op/s", iops(per_second)),
            RateOf::Transactions => format!("{} trans/s", iops(per_second)),
        }
    }

    /// Rates of one unit stand together.
    fn key(self) -> (u8, f64) {
        match self {
            Self::Headline(Headline { of, per_second }) => {
                let unit = match of {
                    RateOf::Requests => 0,
                    RateOf::Bytes => 1,
                    RateOf::Operations => 2,
                    RateOf::Transactions => 3,
                };
                (unit, per_second)
            }
            Self::Runs(count) => (4, count as f64),
            Self::Nothing => (5, 0.0),
        }
    }
}

/// What the runs have, each once.
fn each_once<'a>(runs: &[&'a RunRow], names: impl Fn(&'a RunRow) -> &'a [String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in runs.iter().flat_map(|run| names(run)) {
        if !found.contains(name) {
            found.push(name.clone());
        }
    }
    found
}
