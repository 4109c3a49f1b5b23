//! Columns of rows that hold more than a number or a text.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

/// A column of JSON as what it stands for.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    units::parse_json(&text).map_err(|error| damaged(column, error))
}

/// A value that the store must not hold.
pub(crate) fn damaged(
    column: usize,
    reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
}
