//! Parquet, which pandas, Polars, DuckDB and Spark read: the intervals or the histograms of a run
//! as one flat table, with the columns that the Python package has in the same rows.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use results::{CellRecord, IntervalFigures, IntervalRecord, RunRecord, per_second};

use crate::ParquetTable;
use crate::csv;
use crate::names::{cache_name, status_name};

/// Returns a file with this table.
pub fn render(record: &RunRecord, table: ParquetTable) -> Result<Vec<u8>, ParquetError> {
    write(match table {
        ParquetTable::Intervals => intervals(record),
        ParquetTable::Histograms => histograms(record),
    })
}

/// A column with its values in the order of the rows.
struct FileColumn {
    name: &'static str,
    values: ColumnValues,
}

enum ColumnValues {
    Text(Vec<Option<String>>),
    Integers(Vec<Option<u64>>),
    Reals(Vec<Option<f64>>),
}

impl ColumnValues {
    /// Type of the column in the language of schemas. Any value may be missing.
    const fn schema(&self) -> (&'static str, &'static str) {
        match self {
            Self::Text(_) => ("binary", " (STRING)"),
            Self::Integers(_) => ("int64", " (INTEGER(64,false))"),
            Self::Reals(_) => ("double", ""),
        }
    }
}

/// Rows of a table, from which columns are made.
struct TableRows<R>(Vec<R>);

impl<R> TableRows<R> {
    fn text(&self, name: &'static str, value: impl Fn(&R) -> Option<String>) -> FileColumn {
        let values = ColumnValues::Text(self.0.iter().map(value).collect());
        FileColumn { name, values }
    }

    fn integers(&self, name: &'static str, value: impl Fn(&R) -> Option<u64>) -> FileColumn {
        let values = ColumnValues::Integers(self.0.iter().map(value).collect());
        FileColumn { name, values }
    }

    fn reals(&self, name: &'static str, value: impl Fn(&R) -> Option<f64>) -> FileColumn {
        let values = ColumnValues::Reals(self.0.iter().map(value).collect());
        FileColumn { name, values }
    }

    /// The columns that identify the cell of a row.
    fn of_cells(&self, run: &str, cell: impl Fn(&R) -> &CellRecord) -> Vec<FileColumn> {
        let text =
            |name, value: fn(&CellRecord) -> String| self.text(name, |row| Some(value(cell(row))));
        let integers = |name, value: fn(&CellRecord) -> u32| {
            self.integers(name, |row| Some(value(cell(row)).into()))
        };
        vec![
            self.text("run", |_| Some(run.to_owned())),
            integers("cell", |it| it.index),
            self.integers("first_cell", |row| cell(row).first_index.map(u64::from)),
            text("workload", |it| it.workload.clone()),
            self.text("access_spec", |row| cell(row).access_spec.clone()),
            text("target", |it| it.target.clone()),
            text("engine", |it| it.engine.name().to_owned()),
            text("cache", |it| cache_name(it.cache).to_owned()),
            integers("iodepth", |it| it.iodepth),
            integers("workers", |it| it.workers),
            integers("repetition", |it| it.repetition),
            text("phase", |it| it.phase.text().into_owned()),
            text("status", |it| status_name(it.status).to_owned()),
        ]
    }
}

fn intervals(record: &RunRecord) -> Vec<FileColumn> {
    type IntervalRow<'a> = (
        &'a CellRecord,
        &'a IntervalRecord,
        &'a str,
        &'a IntervalFigures,
    );
    let rows: TableRows<IntervalRow<'_>> = TableRows(
        record
            .cells
            .iter()
            .flat_map(|cell| cell.intervals.iter().map(move |interval| (cell, interval)))
            .flat_map(|(cell, interval)| {
                let operations = interval.operations.iter();
                operations.map(move |(name, figures)| (cell, interval, name.as_str(), figures))
            })
            .collect(),
    );
    let mut columns = rows.of_cells(&record.id, |row| row.0);
    columns.extend([
        rows.text("operation", |row| Some(row.2.to_owned())),
        rows.integers("at_ns", |row| Some(row.1.at_ns)),
        rows.integers("length_ns", |row| Some(row.1.length_ns)),
        rows.integers("count", |row| Some(row.3.count)),
        rows.integers("errors", |row| Some(row.3.errors)),
        rows.integers("bytes", |row| Some(row.3.bytes)),
        rows.reals("per_second", |row| rate(row.3.count, row.1)),
        rows.reals("bytes_per_second", |row| rate(row.3.bytes, row.1)),
        rows.integers("latency_p50_ns", |row| row.3.p50_ns),
        rows.integers("latency_p99_ns", |row| row.3.p99_ns),
        rows.integers("latency_max_ns", |row| row.3.max_ns),
    ]);
    columns
}

/// An amount per second of an interval. A rate over no time is missing.
fn rate(amount: u64, interval: &IntervalRecord) -> Option<f64> {
    let length_ns = interval.length_ns;
    (length_ns > 0).then(|| per_second(amount, length_ns))
}

fn histograms(record: &RunRecord) -> Vec<FileColumn> {
    struct BucketRow<'a> {
        cell: &'a CellRecord,
        kind: &'static str,
        operation: String,
        bucket: [u64; 3],
    }
    let mut buckets = Vec::new();
    for cell in &record.cells {
        for row in csv::rows(cell) {
            let own = row.figures.latency.histogram.buckets_ns.iter();
            buckets.extend(own.map(|bucket| BucketRow {
                cell,
                kind: row.kind,
                operation: row.name.to_owned(),
                bucket: *bucket,
            }));
        }
    }
    let rows = TableRows(buckets);
    let mut columns = rows.of_cells(&record.id, |row| row.cell);
    columns.extend([
        rows.text("kind", |row| Some(row.kind.to_owned())),
        rows.text("operation", |row| Some(row.operation.clone())),
        rows.integers("lowest_ns", |row| Some(row.bucket[0])),
        rows.integers("highest_ns", |row| Some(row.bucket[1])),
        rows.integers("count", |row| Some(row.bucket[2])),
    ]);
    columns
}

fn write(columns: Vec<FileColumn>) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(|column| {
        let (kind, meaning) = column.values.schema();
        format!("optional {kind} {}{meaning};", column.name)
    });
    let schema = format!("message pgmeter {{ {} }}", fields.collect::<String>());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(format!("pgmeter {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut file = SerializedFileWriter::new(
        Vec::new(),
        Arc::new(parse_message_type(&schema)?),
        Arc::new(properties),
    )?;
    let mut group = file.next_row_group()?;
    for column in columns {
        match column.values {
            ColumnValues::Text(values) => {
                let bytes = |text: String| ByteArray::from(text.into_bytes());
                put::<ByteArrayType, _>(&mut group, values, bytes)?;
            }
            // The bits stay the same: readers learn from the schema that the numbers are unsigned.
            ColumnValues::Integers(values) => {
                put::<Int64Type, _>(&mut group, values, u64::cast_signed)?;
            }
            ColumnValues::Reals(values) => put::<DoubleType, _>(&mut group, values, |it| it)?,
        }
    }
    group.close()?;
    file.into_inner()
}

/// Writes the next column.
fn put<T: DataType, V>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: Vec<Option<V>>,
    convert: impl Fn(V) -> T::T,
) -> Result<(), ParquetError> {
    // The format stores only the values that exist, and in levels where they are.
    let levels: Vec<i16> = values.iter().map(|it| it.is_some().into()).collect();
    let values: Vec<T::T> = values.into_iter().flatten().map(convert).collect();
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("one column too many".into()))?;
    column
        .typed::<T>()
        .write_batch(&values, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::sample;

    fn read(record: &RunRecord, table: ParquetTable) -> Vec<parquet::record::Row> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&render(record, table).unwrap()).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect()
    }

    #[test]
    fn every_interval_of_every_operation_is_a_row() {
        let record = sample::record();
        let rows = read(&record, ParquetTable::Intervals);
        let mut at = rows.iter();
        for cell in &record.cells {
            for interval in &cell.intervals {
                for (name, figures) in &interval.operations {
                    let row = at.next().unwrap();
                    assert_eq!(row.get_string(0).unwrap(), &record.id);
                    assert_eq!(row.get_ulong(1).unwrap(), u64::from(cell.index));
                    assert_eq!(row.get_string(13).unwrap(), name);
                    assert_eq!(row.get_ulong(14).unwrap(), interval.at_ns);
                    assert_eq!(row.get_ulong(16).unwrap(), figures.count);
                }
            }
        }
        assert!(at.next().is_none() && !rows.is_empty());
    }

    #[test]
    fn buckets_keep_numbers_above_the_signed_range() {
        let mut record = sample::record();
        let latency = &mut record.cells[0].total.latency;
        latency.histogram.buckets_ns = vec![[1, u64::MAX, 2]];
        let rows = read(&record, ParquetTable::Histograms);
        let total = rows
            .iter()
            .find(|row| row.get_ulong(1).unwrap() == 0 && row.get_string(13).unwrap() == "total");
        let total = total.unwrap();
        assert_eq!(total.get_ulong(16).unwrap(), u64::MAX);
        assert_eq!(total.get_ulong(17).unwrap(), 2);
    }
}
