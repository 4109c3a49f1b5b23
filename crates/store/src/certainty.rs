//! How well the headline rate of a run is known.

use results::upgrade_cell;
use serde::Deserialize;

use crate::best::RateOf;
use crate::store::Store;
use crate::{RunRow, StoreError};

/// What is needed of a cell's record.
#[derive(Debug, Deserialize)]
struct Cell {
    total: Rates,
    within: Option<Within>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Rates {
    per_second: Option<f64>,
    bytes_per_second: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Within {
    mean: f64,
    ci95_low: Option<f64>,
    ci95_high: Option<f64>,
}

impl Store {
    /// The 95 % confidence interval of a run's headline rate, by what its rate did within the cell
    /// that has it; none where too few intervals were measured, and of transactions. What differs
    /// from run to run is not in it.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be read.
    pub fn headline_interval(&self, run: &RunRow) -> Result<Option<(f64, f64)>, StoreError> {
        let Some(headline) = run.headline else {
            return Ok(None);
        };
        let rate = |cell: &Cell| match headline.of {
            RateOf::Bytes => cell.total.bytes_per_second,
            RateOf::Requests | RateOf::Operations => cell.total.per_second,
            RateOf::Transactions => None,
        };
        let cells = self.parsed_cells(&run.id)?;
        let rates = cells.iter().filter_map(|cell| Some((rate(cell)?, cell)));
        let best = rates.max_by(|one, other| one.0.total_cmp(&other.0));
        Ok(best.and_then(|(rate, cell)| {
            let within = cell.within.as_ref()?;
            let scale = Some(rate / within.mean).filter(|scale| scale.is_finite())?;
            Some((within.ci95_low? * scale, within.ci95_high? * scale))
        }))
    }

    fn parsed_cells(&self, id: &str) -> Result<Vec<Cell>, StoreError> {
        let sql = "SELECT figures FROM cells JOIN runs ON runs.key = cells.run \
                   WHERE runs.id = ?1 AND figures IS NOT NULL";
        let read = || -> rusqlite::Result<Vec<Cell>> {
            let mut query = self.connection.prepare_cached(sql)?;
            let texts = query.query_map([id], |row| row.get::<_, String>(0))?;
            let texts: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
            // What cannot be read has no interval, and is told of where its run is opened.
            Ok(texts.iter().filter_map(|text| cell(text)).collect())
        };
        read().map_err(|error| StoreError::of(self.path(), error))
    }
}

fn cell(text: &str) -> Option<Cell> {
    let mut value = units::parse_json(text).ok()?;
    upgrade_cell(&mut value);
    Cell::deserialize(value).ok()
}
