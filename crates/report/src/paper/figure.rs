//! Metrics of an experiment: their published values, and how to read them from a record.

use std::collections::BTreeMap;

use results::{BetterDirection, CellRecord, FilesetFigures, PoolFigures, StepFigures};

use super::Paper;
use super::catalog::ExperimentShape;
use crate::numbers::digits;

const SECOND_NS: f64 = 1e9;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// A row of the published results.
type PublishedRow = BTreeMap<String, String>;

/// Reads a metric from a cell that has it.
type MetricReader = Box<dyn Fn(&CellRecord) -> Option<f64>>;

/// Kind of a metric, which determines how it is shown and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureKind {
    /// A rate, or a time of one piece of the work.
    PerUnit,
    /// A number of things.
    Count,
    /// Time for the whole work.
    Seconds,
    /// Bytes of the whole work.
    Megabytes,
    /// Percentage of another metric's peak.
    Percent,
}

/// A metric of an experiment.
pub struct PaperFigure {
    /// Name in tables, with the unit.
    pub label: String,
    pub(super) kind: FigureKind,
    /// Published value of each system, in the order of the publication.
    pub published: Vec<PublishedValue>,
    /// Direction of better values, if the metric ranks systems.
    pub ranks: Option<BetterDirection>,
    reader: MetricReader,
}

/// The value of one published system.
#[derive(Debug, Clone)]
pub struct PublishedValue {
    /// Name of the system in the publication.
    pub system: String,
    /// Text as printed in the publication.
    pub text: String,
}

/// Metrics of one table, with its heading.
pub struct FigureTable {
    /// Number of the table in the publication, and its work.
    pub heading: String,
    /// The metrics, in the order of the publication.
    pub figures: Vec<PaperFigure>,
}

impl Paper {
    /// Returns the metrics of this experiment, by table; empty if nothing was published.
    #[must_use]
    pub fn figure_tables(&self) -> Vec<FigureTable> {
        groups(self)
    }
}

impl FigureKind {
    /// Returns `true` if the value depends on the size of the work.
    pub const fn grows(self) -> bool {
        !matches!(self, Self::PerUnit | Self::Percent)
    }

    /// Formats a measured value.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Count if value.fract() == 0.0 => format!("{value:.0}"),
            Self::Megabytes => format!("{value:.2}"),
            Self::Percent => format!("{value:.0}"),
            _ => digits(value),
        }
    }
}

impl PaperFigure {
    fn new(
        (label, kind): (String, FigureKind),
        published: Vec<PublishedValue>,
        of: impl Fn(&CellRecord) -> Option<f64> + 'static,
    ) -> Self {
        let of = Box::new(of);
        Self {
            label,
            kind,
            published,
            ranks: None,
            reader: of,
        }
    }

    /// Makes this metric rank systems.
    fn ranked(self, better: BetterDirection) -> Self {
        Self {
            ranks: Some(better),
            ..self
        }
    }

    /// Returns `true` if the value is a time for the whole work.
    #[must_use]
    pub fn is_time(&self) -> bool {
        self.kind == FigureKind::Seconds
    }

    /// Returns the measured value of a cell; `None` if the cell lacks it.
    #[must_use]
    pub fn measured(&self, cell: &CellRecord) -> Option<f64> {
        (self.reader)(cell)
    }

    /// Returns the published value of a system.
    pub fn published_value(&self, system: &str) -> Option<&PublishedValue> {
        self.published.iter().find(|value| value.system == system)
    }
}

/// Returns the metrics of an experiment, by table; empty if nothing was published.
pub(super) fn groups(paper: &Paper) -> Vec<FigureTable> {
    let rows = paper.rows();
    let one = |heading: String, figures| vec![FigureTable { heading, figures }];
    match paper.shape {
        ExperimentShape::Session => one("The whole session".to_owned(), session(rows)),
        ExperimentShape::Systems => {
            let number = paper.table.unwrap_or_default();
            one(format!("Table {number}: {}", paper.size), systems(rows))
        }
        ExperimentShape::Steps => one("Files of 0 to 65536 bytes".to_owned(), steps(rows)),
        ExperimentShape::Bandwidths => ["9-2", "9-3", "9-4"]
            .map(|name| bandwidths(name, rows))
            .into(),
        ExperimentShape::Rates | ExperimentShape::Grid => Vec::new(),
    }
}

/// Returns a column of the publication, with its systems.
fn column<'a>(
    rows: impl IntoIterator<Item = &'a PublishedRow>,
    system: &str,
    key: &str,
) -> Vec<PublishedValue> {
    let value = |row: &PublishedRow| PublishedValue {
        system: row[system].clone(),
        text: row[key].clone(),
    };
    rows.into_iter().map(value).collect()
}

/// Reads a metric from PostMark's results.
type PoolMetric = fn(&PoolFigures) -> f64;

/// PostMark's metrics: label, kind, column of the publication, and accessor. Like PostMark, they
/// sum megabytes as 32-bit floats.
const SESSION: [(&str, FigureKind, &str, PoolMetric); 13] = [
    (
        "transactions per s",
        FigureKind::PerUnit,
        "tps",
        PoolFigures::transactions_per_second,
    ),
    ("total, s", FigureKind::Seconds, "total_s", |pool| {
        seconds(pool.total_ns())
    }),
    (
        "transactions, s",
        FigureKind::Seconds,
        "transactions_s",
        |pool| seconds(pool.transactions_ns),
    ),
    ("created", FigureKind::Count, "created", |pool| {
        pool.created_count as f64
    }),
    (
        "created alone",
        FigureKind::Count,
        "created_alone",
        |pool| pool.created_before_count as f64,
    ),
    (
        "created mixed",
        FigureKind::Count,
        "created_mixed",
        |pool| pool.created_mixed_count() as f64,
    ),
    ("read", FigureKind::Count, "read", |pool| {
        pool.read_count as f64
    }),
    ("appended", FigureKind::Count, "appended", |pool| {
        pool.appended_count as f64
    }),
    ("deleted", FigureKind::Count, "deleted", |pool| {
        pool.deleted_count as f64
    }),
    (
        "deleted alone",
        FigureKind::Count,
        "deleted_alone",
        |pool| pool.deleted_after_count as f64,
    ),
    (
        "deleted mixed",
        FigureKind::Count,
        "deleted_mixed",
        |pool| pool.deleted_mixed_count() as f64,
    ),
    (
        "read, MB",
        FigureKind::Megabytes,
        "read_megabytes",
        |pool| pool.read_bytes_float / MIB,
    ),
    (
        "written, MB",
        FigureKind::Megabytes,
        "written_megabytes",
        |pool| pool.written_bytes_float / MIB,
    ),
];

fn seconds(time_ns: u64) -> f64 {
    time_ns as f64 / SECOND_NS
}

fn pool(cell: &CellRecord) -> Option<&PoolFigures> {
    cell.phase_figures.as_ref()?.pool.as_ref()
}

fn session(rows: &[PublishedRow]) -> Vec<PaperFigure> {
    let figure = |(label, kind, key, of): (&str, FigureKind, &str, PoolMetric)| {
        let published = column(rows, "file_system", key);
        let figure = PaperFigure::new((label.to_owned(), kind), published, move |cell| {
            pool(cell).map(of)
        });
        match kind {
            FigureKind::PerUnit => figure.ranked(BetterDirection::Higher),
            _ => figure,
        }
    };
    SESSION.map(figure).into()
}

fn systems(rows: &[PublishedRow]) -> Vec<PaperFigure> {
    let figure = |label: &str, key, of: fn(&CellRecord) -> Option<f64>| {
        PaperFigure::new(
            (label.to_owned(), FigureKind::PerUnit),
            column(rows, "system", key),
            of,
        )
    };
    vec![
        figure("transactions/s", "transactions_per_second", |cell| {
            pool(cell).map(PoolFigures::transactions_per_second)
        })
        .ranked(BetterDirection::Higher),
        figure("read KB/s", "read_kbytes_per_second", |cell| {
            session_rate(pool(cell)?, pool(cell)?.read_bytes)
        }),
        figure("write KB/s", "write_kbytes_per_second", |cell| {
            session_rate(pool(cell)?, pool(cell)?.written_bytes)
        }),
    ]
}

/// Returns a rate over the time of the whole session, as PostMark does.
fn session_rate(pool: &PoolFigures, bytes: u64) -> Option<f64> {
    let total_s = Some(seconds(pool.total_ns())).filter(|total_s| *total_s > 0.0)?;
    Some(bytes as f64 / KIB / total_s)
}

/// Time of a step: label, column of the publication, and accessor.
type Time = (&'static str, &'static str, fn(&StepFigures) -> u64);

const TIMES: [Time; 3] = [
    ("real s", "real_s", |step| step.time_ns),
    ("user s", "user_s", |step| step.user_ns),
    ("sys s", "sys_s", |step| step.system_ns),
];

fn steps(rows: &[PublishedRow]) -> Vec<PaperFigure> {
    let first = rows.first().map(|row| &row["file_system"]);
    let mut figures = Vec::new();
    // All systems have the same steps, so the first one provides the list.
    for step in rows.iter().filter(|row| Some(&row["file_system"]) == first) {
        let key = (step["file_bytes"].clone(), step["operation"].clone());
        let (size, operation) = &key;
        let same: Vec<&PublishedRow> = rows
            .iter()
            .filter(|row| row["file_bytes"] == *size && row["operation"] == *operation)
            .collect();
        for (label, column_key, of) in TIMES {
            let label = format!("{operation} {size}, {label}");
            let published = column(same.iter().copied(), "file_system", column_key);
            let key = key.clone();
            figures.push(PaperFigure::new(
                (label, FigureKind::Seconds),
                published,
                move |cell| {
                    let (step, _) = step_of(cell, &key)?;
                    Some(seconds(of(step)))
                },
            ));
        }
        let label = format!("{operation} {size}, µs a file");
        let published = same.iter().filter_map(|row| each(row)).collect();
        let each = PaperFigure::new((label, FigureKind::PerUnit), published, move |cell| {
            let (step, fileset) = step_of(cell, &key)?;
            Some(step.time_ns as f64 / fileset.file_count as f64 / 1e3)
        });
        figures.push(each.ranked(BetterDirection::Lower));
    }
    figures
}

/// Returns the step of a cell, if it creates or removes files of that size.
fn step_of<'a>(
    cell: &'a CellRecord,
    (size, operation): &(String, String),
) -> Option<(&'a StepFigures, &'a FilesetFigures)> {
    let figures = cell.phase_figures.as_ref()?;
    let (step, fileset) = (figures.step()?, figures.fileset()?);
    let label = match operation.as_str() {
        "create" => "create",
        // The publication has only these two operations.
        _ => "remove",
    };
    let is_it = step.label == label && fileset.file_bytes.to_string() == *size;
    is_it.then_some((step, fileset))
}

/// Computes the time per file, which the publication does not print.
fn each(row: &PublishedRow) -> Option<PublishedValue> {
    let number = |key: &str| row[key].parse::<f64>().ok();
    Some(PublishedValue {
        system: row["file_system"].clone(),
        text: digits(number("real_s")? / number("files")? * 1e6),
    })
}

fn bandwidths(name: &str, rows: &[PublishedRow]) -> FigureTable {
    let rows: Vec<&PublishedRow> = rows.iter().filter(|row| row["table"] == name).collect();
    let description = rows
        .first()
        .map(|row| format!("{} in chunks of {}", row["file_size"], row["chunk"]));
    let rate = |operation: &str| {
        let key = format!("{operation}_mb_per_second");
        let published = column(rows.iter().copied(), "file_system", &key);
        // The pack `bfs-iozone` names its workloads after the book's tables.
        let workload = format!("table-{name}-{operation}");
        let label = (format!("{operation} MB/s"), FigureKind::PerUnit);
        PaperFigure::new(label, published, move |cell| {
            // MB means 1048576 bytes in this publication.
            (cell.workload == workload).then(|| cell.total.bytes_per_second / MIB)
        })
        .ranked(BetterDirection::Higher)
    };
    // The percentage refers to the previous metric. The table of the run's own devices computes it.
    let share = |operation: &str| {
        let key = format!("{operation}_percent_of_peak");
        let published = column(rows.iter().copied(), "file_system", &key);
        let label = (format!("{operation} % of peak"), FigureKind::Percent);
        PaperFigure::new(label, published, |_| None)
    };
    FigureTable {
        heading: format!("Table {name}: {}", description.unwrap_or_default()),
        figures: ["write", "read"]
            .iter()
            .flat_map(|operation| [rate(operation), share(operation)])
            .collect(),
    }
}
