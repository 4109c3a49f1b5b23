//! History of a cell: its rate and confidence interval in every run that measured the same thing.

use results::upgrade_cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stats::Estimate;

use crate::best::HeadlineUnit;
use crate::store::Store;
use crate::{RunRow, StoreError};

/// Keys of a planned cell that do not affect comparability: positions in the plan, durations and
/// repetitions, the seed, names, and properties of the target.
const IGNORED_KEYS: [&str; 13] = [
    "index",
    "first_index",
    "workload_index",
    "worker_index",
    "repetition",
    "run_time_ns",
    "ramp_time_ns",
    "name",
    "seed",
    "cpu",
    "rank",
    "target_index",
    "sector_bytes",
];

/// The settings of a cell that are shown to the user.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CellSettings {
    /// Name of the access specification, if all workers used the same one.
    pub access_spec: Option<String>,
    /// Phase that was measured: `measure`, or a program's own phase.
    pub phase: String,
    /// Engine that issued the I/O.
    pub engine: String,
    /// Use of the page cache.
    pub cache: String,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// Number of workers.
    pub workers: u32,
}

/// A cell of a stored run with all its complete repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct FollowedCell {
    /// The parameters that make two cells comparable.
    pub settings: CellSettings,
    /// Name of the workload.
    pub workload: String,
    /// Mean rate of the repetitions; `None` if nothing was measured.
    pub per_second: Option<f64>,
    /// 95 % confidence interval of the rate: of the mean over the repetitions, or, with one
    /// repetition, from the variation within the cell. It does not cover the variation between
    /// runs.
    pub interval: Option<(f64, f64)>,
    curve: Value,
    requested_rate: Option<f64>,
    /// The planned cell; null if the plan does not contain it.
    work: Value,
}

impl FollowedCell {
    /// `true` if both cells measured the same thing. Only keys that both plans have are compared,
    /// because versions of pgmeter have different keys.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.workload == other.workload
            && self.settings == other.settings
            && self.curve == other.curve
            && self.requested_rate == other.requested_rate
            && are_alike(&self.work, &other.work)
    }
}

/// `true` if two plans are equal in the keys that both have.
fn are_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => one.iter().all(|(key, value)| {
            let same = other.get(key);
            IGNORED_KEYS.contains(&key.as_str()) || same.is_none_or(|same| are_alike(value, same))
        }),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| are_alike(a, b))
        }
        // A key that was not set is as unknown as one that an older version does not have.
        (Value::Null, _) | (_, Value::Null) => true,
        (one, other) => one == other,
    }
}

/// The required part of a cell's record.
#[derive(Debug, Deserialize)]
struct FollowedRecord {
    index: u32,
    first_index: Option<u32>,
    workload: String,
    status: String,
    #[serde(flatten)]
    question: CellSettings,
    #[serde(default)]
    curve: Value,
    open_loop: Option<FollowedOpenLoop>,
    total: FollowedRates,
    within: Option<WithinCell>,
    phase_figures: Option<PhaseRates>,
}

#[derive(Debug, Deserialize)]
struct FollowedOpenLoop {
    asked_per_second: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FollowedRates {
    per_second: Option<f64>,
    bytes_per_second: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct WithinCell {
    mean: f64,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct PhaseRates {
    pool: Option<results::PoolFigures>,
}

impl FollowedRecord {
    fn rate(&self, of: HeadlineUnit) -> Option<f64> {
        match of {
            HeadlineUnit::Bytes => self.total.bytes_per_second,
            HeadlineUnit::Requests | HeadlineUnit::Operations => self.total.per_second,
            HeadlineUnit::Transactions => {
                let pool = self.phase_figures.as_ref()?.pool.as_ref()?;
                (pool.transactions_ns > 0).then(|| pool.transactions_per_second())
            }
        }
    }

    fn is_repetition_of(&self, other: &Self) -> bool {
        self.first_index.unwrap_or(self.index) == other.first_index.unwrap_or(other.index)
            && self.question.phase == other.question.phase
            && self.curve == other.curve
    }

    /// Confidence interval of a rate with one repetition. `None` for transactions, because
    /// intervals do not count them.
    fn interval(&self, of: HeadlineUnit) -> Option<(f64, f64)> {
        let within = self
            .within
            .as_ref()
            .filter(|_| of != HeadlineUnit::Transactions)?;
        // The interval was computed for the rate of operations; its relative width is the same in
        // bytes.
        let scale = self.rate(of)? / within.mean;
        let ends = (within.ci95_low? * scale, within.ci95_high? * scale);
        scale.is_finite().then_some(ends)
    }
}

impl Store {
    /// The complete cells of a run, grouped by repetition, and their rates in the unit `of`.
    ///
    /// # Errors
    /// If there is no such run, or the store cannot be read.
    pub fn followed_cells(
        &self,
        run: &RunRow,
        of: HeadlineUnit,
    ) -> Result<Vec<FollowedCell>, StoreError> {
        let failed = |error| StoreError::of(self.path(), error);
        let cells = self.parsed_cells(&run.id).map_err(failed)?;
        let planned = self.planned_cells(&run.id).map_err(failed)?;
        let mut groups: Vec<Vec<&FollowedRecord>> = Vec::new();
        for cell in cells.iter().filter(|cell| cell.status == "complete") {
            match groups.iter_mut().find(|it| it[0].is_repetition_of(cell)) {
                Some(group) => group.push(cell),
                None => groups.push(vec![cell]),
            }
        }
        let groups = groups.iter();
        Ok(groups.map(|group| followed(group, &planned, of)).collect())
    }

    fn parsed_cells(&self, id: &str) -> rusqlite::Result<Vec<FollowedRecord>> {
        let sql = "SELECT figures FROM cells JOIN runs ON runs.key = cells.run \
                   WHERE runs.id = ?1 AND figures IS NOT NULL ORDER BY position";
        let mut query = self.connection.prepare_cached(sql)?;
        let texts = query.query_map([id], |row| row.get::<_, String>(0))?;
        let texts: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
        // An unreadable record has no rate; opening its run reports why.
        Ok(texts.iter().filter_map(|text| cell(text)).collect())
    }

    fn planned_cells(&self, id: &str) -> rusqlite::Result<Vec<Value>> {
        let sql = "SELECT record -> '$.plan.cells' FROM headers \
                   JOIN runs ON runs.key = headers.run WHERE runs.id = ?1";
        let mut query = self.connection.prepare_cached(sql)?;
        let text: Option<String> = query.query_row([id], |row| row.get(0))?;
        let cells = text.and_then(|text| units::parse_json(&text).ok());
        Ok(match cells {
            Some(Value::Array(cells)) => cells,
            _ => Vec::new(),
        })
    }
}

fn followed(group: &[&FollowedRecord], planned: &[Value], of: HeadlineUnit) -> FollowedCell {
    let first = group[0];
    let rates = group.iter().filter_map(|cell| cell.rate(of));
    let rates: Vec<f64> = rates.filter(|rate| rate.is_finite()).collect();
    let estimate = Estimate::from_samples(&rates);
    let interval = match group {
        // With one repetition, only the variation within the cell is known.
        [only] => only.interval(of),
        _ => estimate.and_then(|it| it.ci95_low.zip(it.ci95_high)),
    };
    let index = first.first_index.unwrap_or(first.index);
    let is_it = |cell: &&Value| cell.get("index").and_then(Value::as_u64) == Some(index.into());
    FollowedCell {
        settings: first.question.clone(),
        workload: first.workload.clone(),
        per_second: estimate.map(|it| it.mean),
        interval,
        curve: first.curve.clone(),
        requested_rate: first.open_loop.as_ref().and_then(|it| it.asked_per_second),
        work: planned.iter().find(is_it).cloned().unwrap_or_default(),
    }
}

fn cell(text: &str) -> Option<FollowedRecord> {
    let mut value = units::parse_json(text).ok()?;
    upgrade_cell(&mut value);
    FollowedRecord::deserialize(value).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plans_are_alike_if_their_common_keys_agree() {
        let plan = json!({"index": 0, "workers": [{"seed": 1, "lines": [{"size_bytes": 4096}]}]});
        let mut other = plan.clone();
        (other["index"], other["workers"][0]["seed"]) = (json!(3), json!(2));
        // A key that only a newer version has.
        other["workers"][0]["lines"][0]["fresh"] = json!(true);
        assert!(are_alike(&plan, &other) && are_alike(&other, &plan));
        other["workers"][0]["lines"][0]["size_bytes"] = json!(8192);
        assert!(!are_alike(&plan, &other));
        other["workers"] = json!([]);
        assert!(!are_alike(&plan, &other));
    }
}
