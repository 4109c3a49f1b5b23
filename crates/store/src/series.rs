//! Cells that several runs measured, for a choice of trends.

use results::Timestamp;
use rusqlite::Row;
use schemars::JsonSchema;
use serde::Serialize;

use crate::column::json;
use crate::list::stored_time;
use crate::select::IS_LAB_TAG;
use crate::store::Store;
use crate::{CellSettings, StoreError};

/// Complete runs that measured a cell with the same settings on the same targets, file systems and
/// machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendSeries {
    /// Name of the workload.
    pub workload: String,
    /// Settings of the cell.
    pub cell: CellSettings,
    /// Paths of the targets of the runs.
    pub targets: Vec<String>,
    /// Types of the targets' file systems, without duplicates.
    pub file_systems: Vec<String>,
    /// Host that measured; empty if unknown.
    pub host: String,
    /// Number of the runs.
    pub run_count: u32,
    /// Start of the newest run.
    pub newest_at: Timestamp,
}

impl Store {
    /// The series with the newest runs first, at most `limit`. Runs of labs are left out, because
    /// each lab has mount points that no other lab has.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn trend_series(&self, limit: usize) -> Result<Vec<TrendSeries>, StoreError> {
        let rows = || {
            // SQLite takes `started_at` from the row with the maximum.
            let sql = format!(
                "SELECT workload, access_spec, phase, engine, cache, iodepth, workers, \
                 targets, file_systems, host, count(DISTINCT run), started_at, max(started_us) \
                 FROM cells JOIN runs ON runs.key = cells.run \
                 WHERE runs.status = 'complete' AND figures IS NOT NULL \
                 AND figures ->> '$.status' = 'complete' \
                 AND figures ->> '$.total.per_second' > 0 \
                 AND NOT EXISTS (SELECT 1 FROM tags WHERE tags.run = runs.key \
                                 AND {IS_LAB_TAG}) \
                 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 \
                 ORDER BY max(started_us) DESC, workload, iodepth LIMIT ?1"
            );
            let mut query = self.connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = query.query_map([limit], series)?;
            rows.collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|error| StoreError::of(self.path(), error))
    }
}

fn series(row: &Row) -> rusqlite::Result<TrendSeries> {
    Ok(TrendSeries {
        workload: row.get(0)?,
        cell: CellSettings {
            access_spec: row.get(1)?,
            phase: row.get(2)?,
            engine: row.get(3)?,
            cache: row.get(4)?,
            iodepth: row.get(5)?,
            workers: row.get(6)?,
        },
        targets: json(row, 7)?,
        file_systems: json(row, 8)?,
        host: row.get(9)?,
        run_count: row.get(10)?,
        newest_at: stored_time(row, 11)?,
    })
}
