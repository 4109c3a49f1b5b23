//! The figures of an experiment: as they were published, and as a run's record has them.

use std::collections::BTreeMap;

use results::{Better, CellRecord};

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
        Shape::Session => one("PostMark".to_owned(), session(&rows)),
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

/// A figure of the classic program itself.
pub(super) fn classic(cell: &CellRecord, name: &str) -> Option<f64> {
    cell.classic.as_ref()?.get(name)?.as_f64()
}

fn seconds(cell: &CellRecord, name: &str) -> Option<f64> {
    classic(cell, name).map(|ns| ns / SECOND_NS)
}

/// PostMark's figures, megabytes summed in 32-bit floats as it does: label, kind, column of the
/// publication, and name in records.
const SESSION: [(&str, Kind, &str, &str); 13] = [
    (
        "transactions per s",
        Kind::Each,
        "tps",
        "transactions_per_second",
    ),
    ("total, s", Kind::Seconds, "total_s", "total_ns"),
    (
        "transactions, s",
        Kind::Seconds,
        "transactions_s",
        "transactions_ns",
    ),
    ("created", Kind::Count, "created", "created"),
    (
        "created alone",
        Kind::Count,
        "created_alone",
        "created_alone",
    ),
    (
        "created mixed",
        Kind::Count,
        "created_mixed",
        "created_mixed",
    ),
    ("read", Kind::Count, "read", "read"),
    ("appended", Kind::Count, "appended", "appended"),
    ("deleted", Kind::Count, "deleted", "deleted"),
    (
        "deleted alone",
        Kind::Count,
        "deleted_alone",
        "deleted_alone",
    ),
    (
        "deleted mixed",
        Kind::Count,
        "deleted_mixed",
        "deleted_mixed",
    ),
    (
        "read, MB",
        Kind::Megabytes,
        "read_megabytes",
        "read_mib_float32",
    ),
    (
        "written, MB",
        Kind::Megabytes,
        "written_megabytes",
        "written_mib_float32",
    ),
];

fn session(rows: &[Published]) -> Vec<Figure> {
    let figure = |(label, kind, key, name): (&str, Kind, &str, &'static str)| {
        let published = column(rows, "file_system", key);
        let figure = Figure::new((label.to_owned(), kind), published, move |cell| {
            // Only PostMark's own figures count transactions.
            classic(cell, "transactions")?;
            match kind {
                Kind::Seconds => seconds(cell, name),
                _ => classic(cell, name),
            }
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
            classic(cell, "transactions_per_second")
        })
        .ranked(Better::Higher),
        figure("read KB/s", "read_kbytes_per_second", |cell| {
            of_session(cell, "read_bytes")
        }),
        figure("write KB/s", "write_kbytes_per_second", |cell| {
            of_session(cell, "written_bytes")
        }),
    ]
}

/// PostMark divides by the time of the whole session.
fn of_session(cell: &CellRecord, name: &str) -> Option<f64> {
    let total_s = seconds(cell, "total_ns").filter(|total_s| *total_s > 0.0)?;
    Some(classic(cell, name)? / KIB / total_s)
}

/// Times of a step: label, column of the publication, and how a cell says it.
type Time = (&'static str, &'static str, fn(&CellRecord) -> Option<f64>);

const TIMES: [Time; 3] = [
    ("real s", "real_s", |cell| seconds(cell, "real_ns")),
    ("user s", "user_s", |cell| {
        Some(cell.cpu.user_ns as f64 / SECOND_NS)
    }),
    ("sys s", "sys_s", |cell| {
        Some(cell.cpu.system_ns as f64 / SECOND_NS)
    }),
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
                    is_step(cell, &key)?;
                    of(cell)
                },
            ));
        }
        let label = format!("{operation} {size}, µs a file");
        let published = same.iter().filter_map(|row| each(row)).collect();
        let each = Figure::new((label, Kind::Each), published, move |cell| {
            is_step(cell, &key)?;
            Some(classic(cell, "real_ns")? / classic(cell, "files_asked")? / 1e3)
        });
        figures.push(each.ranked(Better::Lower));
    }
    figures
}

/// Whether the cell is the step that makes or removes files of that size.
fn is_step(cell: &CellRecord, (size, operation): &(String, String)) -> Option<()> {
    let bytes = classic(cell, "size_bytes").map(|bytes| bytes.to_string());
    let creates = cell.classic.as_ref()?.get("is_create")?.as_bool()?;
    (bytes.as_ref() == Some(size) && creates == (operation == "create")).then_some(())
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
