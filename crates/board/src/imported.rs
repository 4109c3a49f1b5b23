//! Values of other programs' results in the tables of a board.

use std::collections::BTreeMap;

use compare::IGNORED_SETTINGS;
use results::{ImportRecord, ImportedFigure, ImportedResult};
use stats::Estimate;

use crate::session::PoolSession;
use crate::{BoardTable, ImportedWork, MeasuredValue};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const SECOND_NS: f64 = 1e9;

/// Program whose global options apply to each of its results.
pub(crate) const FIO: &str = "fio";
const IOZONE: &str = "IOzone";
/// Setting that says how full the file system was.
const USED_SPACE: &str = "used space %";
/// Operations whose figures stand for a whole result without a total.
const DATA_OPERATIONS: [&str; 2] = ["read", "write"];

/// Column, operation and metric of an import, and the number of base units per unit of the column.
type StatedColumn = (&'static str, &'static str, &'static str, f64);

/// Columns of the tables of PostMark.
const SESSION_COLUMNS: [StatedColumn; 16] = [
    ("transactions/s", "total", "transactions_per_second", 1.0),
    (
        "transactions per s",
        "total",
        "transactions_per_second",
        1.0,
    ),
    ("read KB/s", "read", "bytes_per_second", KIB),
    ("write KB/s", "write", "bytes_per_second", KIB),
    ("total, s", "total", "time", SECOND_NS),
    ("transactions, s", "transactions", "time", SECOND_NS),
    ("created", "create", "count", 1.0),
    ("created alone", "create before transactions", "count", 1.0),
    ("created mixed", "create in transactions", "count", 1.0),
    ("read", "read", "count", 1.0),
    ("appended", "append", "count", 1.0),
    ("deleted", "delete", "count", 1.0),
    ("deleted alone", "delete after transactions", "count", 1.0),
    ("deleted mixed", "delete in transactions", "count", 1.0),
    ("read, MB", "read", "bytes", MIB),
    ("written, MB", "write", "bytes", MIB),
];

/// Columns of tables of any work: column, metric, and base units per unit.
pub(crate) const WORK_COLUMNS: [(&str, &str, f64); 6] = [
    ("IOPS", "per_second", 1.0),
    ("MiB/s", "bytes_per_second", MIB),
    ("mean latency, µs", "latency_mean", 1e3),
    ("p50 latency, µs", "latency_p50", 1e3),
    ("p99 latency, µs", "latency_p99", 1e3),
    ("transactions/s", "transactions_per_second", 1.0),
];

/// A figure, and the number of its units per unit of a column.
type ScaledFigure<'a> = (&'a ImportedFigure, f64);

/// Returns the values of imported results in a table, by column; `None` if none of them did its
/// work.
pub(crate) fn in_table(
    import: &ImportRecord,
    table: &BoardTable,
) -> Option<BTreeMap<String, MeasuredValue>> {
    let columns = table.columns.iter().filter_map(|column| {
        let figures = figures(import, table, &column.name);
        Some((column.name.clone(), value_of(&figures)?))
    });
    let columns: BTreeMap<_, _> = columns.collect();
    columns.contains_key(&table.rank_by).then_some(columns)
}

/// Returns the figures for a column, one per result that did the work.
fn figures<'a>(
    import: &'a ImportRecord,
    table: &BoardTable,
    column: &str,
) -> Vec<ScaledFigure<'a>> {
    if let Some(size) = table.pool {
        let known = SESSION_COLUMNS.iter().find(|it| it.0 == column);
        let sessions = PoolSession::all(import).into_iter();
        let fitting = sessions.filter(|it| it.fits(size));
        let figures = fitting.filter_map(|session| {
            let (_, operation, metric, unit) = known?;
            Some((figure(session.result, operation, metric)?, *unit))
        });
        return figures.collect();
    }
    if let Some(chunks) = table.heading.as_deref().and_then(Chunks::of) {
        return chunks.figures(import, column);
    }
    let known = WORK_COLUMNS.iter().find(|it| it.0 == column);
    let results = import.results.iter();
    let figures = results.filter_map(|result| {
        let (_, metric, unit) = known?;
        let mut works = table.imports.iter();
        let work = works.find(|work| is_work(import, result, work))?;
        Some((figure_of(result, work.operation.as_deref(), metric)?, *unit))
    });
    figures.collect()
}

fn figure<'a>(
    result: &'a ImportedResult,
    operation: &str,
    metric: &str,
) -> Option<&'a ImportedFigure> {
    let mut figures = result.figures.iter();
    figures.find(|it| it.operation == operation && it.metric == metric)
}

/// Returns the figure of an operation, or of the whole result without one.
pub(crate) fn figure_of<'a>(
    result: &'a ImportedResult,
    operation: Option<&str>,
    metric: &str,
) -> Option<&'a ImportedFigure> {
    if let Some(operation) = operation {
        return figure(result, operation, metric);
    }
    figure(result, "total", metric).or_else(|| {
        let operations = DATA_OPERATIONS.iter();
        let mut figures = operations.filter_map(|name| figure(result, name, metric));
        // The sum of two is no rate of the whole: they may have run one after the other.
        figures.next().filter(|_| figures.next().is_none())
    })
}

/// Size of a file and of its requests in a publication of bandwidths.
struct Chunks {
    file_kib: u64,
    record_kib: u64,
}

impl Chunks {
    /// Reads the heading of a table, such as "Table 9-2: 128 MB in chunks of 64K".
    fn of(heading: &str) -> Option<Self> {
        let (_, sizes) = heading.split_once(": ")?;
        let (file, record) = sizes.split_once(" MB in chunks of ")?;
        Some(Self {
            file_kib: file.parse::<u64>().ok()?.checked_mul(1024)?,
            record_kib: record.strip_suffix('K')?.parse().ok()?,
        })
    }

    fn figures<'a>(&self, import: &'a ImportRecord, column: &str) -> Vec<ScaledFigure<'a>> {
        let Some(test) = column.strip_suffix(" MB/s") else {
            return Vec::new();
        };
        let (file, record) = (self.file_kib, self.record_kib);
        let name = format!("{test}, {file} kB in records of {record} kB");
        let results = import.results.iter();
        let results = results.filter(|it| import.origin.program == IOZONE && it.name == name);
        let figures = results.filter_map(|it| figure(it, "total", "bytes_per_second"));
        figures.map(|it| (it, MIB)).collect()
    }
}

/// Returns `true` if a result states exactly this work.
fn is_work(import: &ImportRecord, result: &ImportedResult, work: &ImportedWork) -> bool {
    let name = work.result.as_ref();
    import.origin.program == work.program
        && name.is_none_or(|name| *name == result.name)
        && settings_of(import, result) == work.settings
}

/// Returns the settings of a result that change its work.
pub(crate) fn settings_of(
    import: &ImportRecord,
    result: &ImportedResult,
) -> BTreeMap<String, String> {
    let global = import.statements.iter();
    // Other programs state also times of day and names of hosts about the run.
    let global = global.filter(|_| import.origin.program == FIO);
    let all = global.chain(&result.settings);
    let changing = all.filter(|it| {
        let name = it.name.as_str();
        !IGNORED_SETTINGS.contains(&name) && name != USED_SPACE
    });
    let pairs = changing.map(|it| (it.name.clone(), it.value.clone()));
    pairs.collect()
}

/// Returns the names of the columns that a result has values for.
pub(crate) fn columns_of(result: &ImportedResult, operation: Option<&str>) -> Vec<&'static str> {
    let columns = WORK_COLUMNS.iter().filter(|(_, metric, _)| {
        let found = figure_of(result, operation, metric);
        found.is_some_and(|it| it.value > 0.0)
    });
    columns.map(|(name, ..)| *name).collect()
}

/// Returns the value of one figure, or of repetitions.
fn value_of(figures: &[ScaledFigure]) -> Option<MeasuredValue> {
    let &[(figure, unit)] = figures else {
        let samples: Vec<f64> = figures.iter().map(|(it, unit)| it.value / unit).collect();
        return MeasuredValue::of(&samples);
    };
    let mean = figure.value / unit;
    let n = u64::from(figure.n.unwrap_or(1));
    // Without the number of repetitions, the deviation gives no interval.
    let stddev = figure.stddev.filter(|_| figure.n.is_some());
    let estimate = Estimate::from_moments(n, mean, stddev.map(|it| it / unit));
    let interval = estimate.ci95_low.zip(estimate.ci95_high);
    let printed = figure.step.and_then(|step| printed(mean, step / unit));
    mean.is_finite().then_some(MeasuredValue {
        mean,
        n,
        interval: interval.map(<[f64; 2]>::from),
        printed,
        estimate: Some(estimate),
    })
}

/// Largest number of decimals of a printed value.
const DECIMALS_MAX: i32 = 9;

/// Returns a value with as many digits as the source printed. `step` is its last digit in the unit
/// of the value.
fn printed(value: f64, step: f64) -> Option<String> {
    let decimals = (step > 0.0).then(|| -step.log10().floor() as i32)?;
    let decimals = decimals.clamp(0, DECIMALS_MAX) as usize;
    Some(format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_the_digits_of_their_source() {
        assert_eq!(printed(660.0, 1.0).as_deref(), Some("660"));
        assert_eq!(printed(2201.6, 10.24).as_deref(), Some("2202"));
        assert_eq!(printed(234.67, 0.01).as_deref(), Some("234.67"));
        assert_eq!(printed(0.605, 0.001 / 1.024).as_deref(), Some("0.6050"));
        assert_eq!(printed(1.0, 0.0), None);
    }

    #[test]
    fn headings_of_bandwidths_give_the_sizes_of_files_and_requests() {
        let chunks = Chunks::of("Table 9-4: 512 MB in chunks of 128K").unwrap();
        assert_eq!((chunks.file_kib, chunks.record_kib), (524_288, 128));
        assert!(Chunks::of("Files of 0 to 65536 bytes").is_none());
        assert!(Chunks::of("Table 9-2: x MB in chunks of 64K").is_none());
    }
}
