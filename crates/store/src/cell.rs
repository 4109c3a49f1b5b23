//! The stored form of a cell's record: JSON in which numbers replace the histograms.

use std::collections::HashMap;

use results::{CellRecord, HistogramRecord, IntervalRecord, upgrade_cell};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::histogram;

/// The key of every histogram in a record.
const HISTOGRAM: &str = "histogram";
/// Paths to a program's results of format 1, which may contain any keys: in a record of that
/// format, and in an upgraded one.
const FREE_FORM_PATHS: [&[&str]; 2] = [&["classic"], &["phase_figures", "figures_before"]];

/// A cell's record without its intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredCell {
    /// The record as JSON.
    pub figures: String,
    /// Histograms, referenced by index in `figures`. Most are used more than once: with one worker
    /// and one target, their results equal the cell's.
    pub histograms: Vec<Vec<u8>>,
}

impl StoredCell {
    /// The form to store, without intervals.
    pub(crate) fn of(record: &CellRecord) -> serde_json::Result<Self> {
        let record = CellRecord {
            // Intervals have separate rows, which are written while the cell is measured.
            intervals: Vec::new(),
            ..record.clone()
        };
        let mut value = units::json_value(&record)?;
        let mut distinct = DistinctHistograms::default();
        walk(&mut value, &mut |child| {
            // Other values under this key stay as they are.
            if let Ok(record) = HistogramRecord::deserialize(&*child) {
                *child = Value::from(distinct.number(histogram::encode(&record)));
            }
            Ok(())
        })?;
        Ok(Self {
            figures: value.to_string(),
            histograms: distinct.histograms,
        })
    }

    /// The record, with the given intervals.
    pub(crate) fn record(self, intervals: Vec<IntervalRecord>) -> serde_json::Result<CellRecord> {
        let mut value = units::parse_json(&self.figures)?;
        walk(&mut value, &mut |child| {
            if let Some(number) = child.as_u64() {
                let bytes = usize::try_from(number)
                    .ok()
                    .and_then(|number| self.histograms.get(number));
                let histogram = bytes.and_then(|bytes| histogram::decode(bytes));
                let missing = || serde::de::Error::custom(format!("no histogram {number}"));
                *child = units::json_value(&histogram.ok_or_else(missing)?)?;
            }
            Ok(())
        })?;
        upgrade_cell(&mut value);
        let mut record: CellRecord = units::parse_json(&value.to_string())?;
        record.intervals = intervals;
        Ok(record)
    }
}

#[derive(Default)]
struct DistinctHistograms {
    histograms: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, usize>,
}

impl DistinctHistograms {
    fn number(&mut self, bytes: Vec<u8>) -> usize {
        let next = self.histograms.len();
        let number = *self.numbers.entry(bytes.clone()).or_insert(next);
        if number == next {
            self.histograms.push(bytes);
        }
        number
    }
}

type Visit<'a> = &'a mut dyn FnMut(&mut Value) -> serde_json::Result<()>;

/// Visits every histogram of a cell.
fn walk(cell: &mut Value, visit: Visit) -> serde_json::Result<()> {
    // Taken out during the walk: a result with the name `histogram` is not one.
    let named = FREE_FORM_PATHS.map(|path| place(cell, path).map(std::mem::take));
    walk_all(cell, visit)?;
    for (path, named) in FREE_FORM_PATHS.iter().zip(named) {
        if let (Some(place), Some(named)) = (place(cell, path), named) {
            *place = named;
        }
    }
    Ok(())
}

/// The value at this path of keys.
fn place<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    path.iter()
        .try_fold(value, |value, key| value.get_mut(*key))
}

fn walk_all(value: &mut Value, visit: Visit) -> serde_json::Result<()> {
    match value {
        Value::Object(members) => walk_members(members, visit),
        Value::Array(items) => items.iter_mut().try_for_each(|item| walk_all(item, visit)),
        _ => Ok(()),
    }
}

fn walk_members(members: &mut Map<String, Value>, visit: Visit) -> serde_json::Result<()> {
    for (key, child) in members {
        if key == HISTOGRAM {
            visit(child)?;
        } else {
            walk_all(child, visit)?;
        }
    }
    Ok(())
}
