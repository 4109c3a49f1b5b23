//! The figures of an experiment: as they were published, and as a run's record has them.

use std::collections::BTreeMap;

use results::{Better, CellRecord, FilesetFigures, PoolFigures, StepFigures};

use super::Paper;
use super::catalog::Shape;
use crate::numbers::digits;

const SECOND_NS: f64 = 1e9;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// A row of the published figures.
type Published = BTreeMap<String, String>;

/// How a figure is read off a cell that has it.
type Reading = Box<dyn Fn(&CellRecord) -> Option<f64>>;

/// What a figure is, as far as it matters to how it is shown and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A rate or a time of one piece of the work.
    Each,
    /// A number of things.
    Count,
    /// Time of the whole work.
    Seconds,
    /// Bytes of the whole work.
    Megabytes,
    /// A share of another figure's peak.
    Percent,
}

/// A figure of an experiment.
pub(super) struct Figure {
    /// What it is called in tables, with its unit.
    pub label: String,
    pub kind: Kind,
    /// What each system was published with, in the publication's order.
    pub published: Vec<PublishedValue>,
    /// Which values are the better ones, where systems are ranked by it.
    pub ranks: Option<Better>,
    of: Reading,
}

/// A figure of one published system.
#[derive(Debug, Clone)]
pub(super) struct PublishedValue {
    pub system: String,
    /// As it was printed.
    pub text: String,
}

/// Figures that belong to one table, below its heading.
pub(super) struct Group {
    pub heading: String,
    pub figures: Vec<Figure>,
}

impl Kind {
    /// Whether work of another size has other figures on the same system.
    pub const fn grows(self) -> bool {
        !matches!(self, Self::Each | Self::Percent)
    }

    /// A measured value.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Count if value.fract() == 0.0 => format!("{value:.0}"),
            Self::Megabytes => format!("{value:.2}"),
            Self::Percent => format!("{value:.0}"),
            _ => digits(value),
        }
    }
}

impl Figure {
    fn new(
        (label, kind): (String, Kind),
        published: Vec<PublishedValue>,
        of: impl Fn(&CellRecord) -> Option<f64> + 'static,
    ) -> Self {
        let of = Box::new(of);
        Self {
            label,
            kind,
            published,
            ranks: None,
            of,
        }
    }

    /// The same, by which systems are ranked.
    fn ranked(self, better: Better) -> Self {
        Self {
            ranks: Some(better),
            ..self
        }
    }

    /// What the cell was measured with, where it has such a figure.
    pub fn measured(&self, cell: &CellRecord) -> Option<f64> {
        (self.of)(cell)
    }

    /// What that system was published with.
    pub fn published_of(&self, system: &str) -> Option<&PublishedValue> {
        self.published.iter().find(|value| value.system == system)
    }
}

/// The figures of an experiment, by their tables; none where nothing was published.
pub(super) fn groups(paper: &Paper) -> Vec<Group> {
    let rows = paper.rows();
    let one = |heading: String, figures| vec![Group { heading, figures }];
    match paper.shape {
        Shape::Session => one("The whole session".to_owned(), session(&rows)),
        Shape::Systems => {
            let number = paper.table.unwrap_or_default();
            one(format!("Table {number}: {}", paper.size), systems(&rows))
        }
        Shape::Steps => one("Files of 0 to 65536 bytes".to_owned(), steps(&rows)),
        Shape::Bandwidths => ["9-2", "9-3", "9-4"]
            .map(|name| bandwidths(name, &rows))
            .into(),
        Shape::Rates | Shape::Grid => Vec::new(),
    }
}

/// A column of the publication by its system.
fn column<'a>(
    rows: impl IntoIterator<Item = &'a Published>,
    system: &str,
    key: &str,
) -> Vec<PublishedValue> {
    let value = |row: &Published| PublishedValue {
        system: row[system].clone(),
        text: row[key].clone(),
    };
    rows.into_iter().map(value).collect()
}

/// How a figure is read off PostMark's own.
type OfPool = fn(&PoolFigures) -> f64;

/// PostMark's figures, megabytes summed in 32-bit floats as it does: label, kind, column of the
/// publication, and what they are in records.
const SESSION: [(&str, Kind, &str, OfPool); 13] = [
    (
        "transactions per s",
        Kind::Each,
        "tps",
        PoolFigures::transactions_per_second,
    ),
    ("total, s", Kind::Seconds, "total_s", |pool| {
        seconds(pool.total_ns())
    }),
    ("transactions, s", Kind::Seconds, "transactions_s", |pool| {
        seconds(pool.transactions_ns)
    }),
    ("created", Kind::Count, "created", |pool| {
        pool.created_count as f64
    }),
    ("created alone", Kind::Count, "created_alone", |pool| {
        pool.created_before_count as f64
    }),
    ("created mixed", Kind::Count, "created_mixed", |pool| {
        pool.created_mixed_count() as f64
    }),
    ("read", Kind::Count, "read", |pool| pool.read_count as f64),
    ("appended", Kind::Count, "appended", |pool| {
        pool.appended_count as f64
    }),
    ("deleted", Kind::Count, "deleted", |pool| {
        pool.deleted_count as f64
    }),
    ("deleted alone", Kind::Count, "deleted_alone", |pool| {
        pool.deleted_after_count as f64
    }),
    ("deleted mixed", Kind::Count, "deleted_mixed", |pool| {
        pool.deleted_mixed_count() as f64
    }),
    ("read, MB", Kind::Megabytes, "read_megabytes", |pool| {
        pool.read_bytes_float / MIB
    }),
    (
        "written, MB",
        Kind::Megabytes,
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

fn session(rows: &[Published]) -> Vec<Figure> {
    let figure = |(label, kind, key, of): (&str, Kind, &str, OfPool)| {
        let published = column(rows, "file_system", key);
        let figure = Figure::new((label.to_owned(), kind), published, move |cell| {
            pool(cell).map(of)
        });
        match kind {
            Kind::Each => figure.ranked(Better::Higher),
            _ => figure,
        }
    };
    SESSION.map(figure).into()
}

fn systems(rows: &[Published]) -> Vec<Figure> {
    let figure = |label: &str, key, of: fn(&CellRecord) -> Option<f64>| {
        Figure::new(
            (label.to_owned(), Kind::Each),
            column(rows, "system", key),
            of,
        )
    };
    vec![
        figure("transactions/s", "transactions_per_second", |cell| {
            pool(cell).map(PoolFigures::transactions_per_second)
        })
        .ranked(Better::Higher),
        figure("read KB/s", "read_kbytes_per_second", |cell| {
            of_session(pool(cell)?, pool(cell)?.read_bytes)
        }),
        figure("write KB/s", "write_kbytes_per_second", |cell| {
            of_session(pool(cell)?, pool(cell)?.written_bytes)
        }),
    ]
}

/// PostMark divides by the time of the whole session.
fn of_session(pool: &PoolFigures, bytes: u64) -> Option<f64> {
    let total_s = Some(seconds(pool.total_ns())).filter(|total_s| *total_s > 0.0)?;
    Some(bytes as f64 / KIB / total_s)
}

/// Times of a step: label, column of the publication, and how a step says it.
type Time = (&'static str, &'static str, fn(&StepFigures) -> u64);

const TIMES: [Time; 3] = [
    ("real s", "real_s", |step| step.time_ns),
    ("user s", "user_s", |step| step.user_ns),
    ("sys s", "sys_s", |step| step.system_ns),
];

fn steps(rows: &[Published]) -> Vec<Figure> {
    let first = rows.first().map(|row| &row["file_system"]);
    let mut figures = Vec::new();
    for step in rows.iter().filter(|row| Some(&row["file_system"]) == first) {
        let key = (step["file_bytes"].clone(), step["operation"].clone());
        let (size, operation) = &key;
        let same: Vec<&Published> = rows
            .iter()
            .filter(|row| row["file_bytes"] == *size && row["operation"] == *operation)
            .collect();
        for (label, column_key, of) in TIMES {
            let label = format!("{operation} {size}, {label}");
            let published = column(same.iter().copied(), "file_system", column_key);
            let key = key.clone();
            figures.push(Figure::new(
                (label, Kind::Seconds),
                published,
                move |cell| {
                    let (step, _) = step_of(cell, &key)?;
                    Some(seconds(of(step)))
                },
            ));
        }
        let label = format!("{operation} {size}, µs a file");
        let published = same.iter().filter_map(|row| each(row)).collect();
        let each = Figure::new((label, Kind::Each), published, move |cell| {
            let (step, fileset) = step_of(cell, &key)?;
            Some(step.time_ns as f64 / fileset.file_count as f64 / 1e3)
        });
        figures.push(each.ranked(Better::Lower));
    }
    figures
}

/// The step that makes or removes files of that size, where the cell is that.
fn step_of<'a>(
    cell: &'a CellRecord,
    (size, operation): &(String, String),
) -> Option<(&'a StepFigures, &'a FilesetFigures)> {
    let figures = cell.phase_figures.as_ref()?;
    let (step, fileset) = (figures.step()?, figures.fileset()?);
    let label = match operation.as_str() {
        "create" => "create",
        _ => "remove",
    };
    let is_it = step.label == label && fileset.file_bytes.to_string() == *size;
    is_it.then_some((step, fileset))
}

/// The time of a file, which the publication leaves to its readers.
fn each(row: &Published) -> Option<PublishedValue> {
    let number = |key: &str| row[key].parse::<f64>().ok();
    Some(PublishedValue {
        system: row["file_system"].clone(),
        text: digits(number("real_s")? / number("files")? * 1e6),
    })
}

fn bandwidths(name: &str, rows: &[Published]) -> Group {
    let rows: Vec<&Published> = rows.iter().filter(|row| row["table"] == name).collect();
    let what = rows
        .first()
        .map(|row| format!("{} in chunks of {}", row["file_size"], row["chunk"]));
    let rate = |operation: &str| {
        let key = format!("{operation}_mb_per_second");
        let published = column(rows.iter().copied(), "file_system", &key);
        let workload = format!("table-{name}-{operation}");
        let label = (format!("{operation} MB/s"), Kind::Each);
        Figure::new(label, published, move |cell| {
            (cell.workload == workload).then(|| cell.total.bytes_per_second / MIB)
        })
        .ranked(Better::Higher)
    };
    // Of the figure before it, which the table of a run's own devices makes it from.
    let share = |operation: &str| {
        let key = format!("{operation}_percent_of_peak");
        let published = column(rows.iter().copied(), "file_system", &key);
        let label = (format!("{operation} % of peak"), Kind::Percent);
        Figure::new(label, published, |_| None)
    };
    Group {
        heading: format!("Table {name}: {}", what.unwrap_or_default()),
        figures: ["write", "read"]
            .iter()
            .flat_map(|operation| [rate(operation), share(operation)])
            .collect(),
    }
}
