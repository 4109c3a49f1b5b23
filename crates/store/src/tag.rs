//! Tags of the store, for a choice of tags to compare.

use results::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::StoreError;
use crate::list::stored_time;
use crate::select::IS_LAB_TAG;
use crate::store::Store;

/// A tag with the number of its runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagRow {
    /// The tag.
    pub tag: String,
    /// Number of runs that have it.
    pub run_count: u32,
    /// Start of the newest of these runs.
    pub newest_at: Timestamp,
}

impl Store {
    /// All tags, without the tags that mark the runs of labs; the tag of the newest run first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn tags(&self) -> Result<Vec<TagRow>, StoreError> {
        let rows = || {
            // SQLite takes `started_at` from the row with the maximum.
            let sql = format!(
                "SELECT tag, count(*), started_at, max(started_us) FROM tags \
                 JOIN runs ON runs.key = tags.run WHERE tag <> 'lab' AND NOT {IS_LAB_TAG} \
                 GROUP BY tag ORDER BY max(started_us) DESC, tag"
            );
            let mut query = self.connection.prepare_cached(&sql)?;
            let rows = query.query_map([], |row| {
                Ok(TagRow {
                    tag: row.get(0)?,
                    run_count: row.get(1)?,
                    newest_at: stored_time(row, 2)?,
                })
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|error| StoreError::of(self.path(), error))
    }
}
