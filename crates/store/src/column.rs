//! Columns with structured values.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

/// Parses a JSON column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    units::parse_json(&text).map_err(|error| damaged(column, error))
}

/// The error for a value that a store cannot contain.
pub(crate) fn damaged(
    column: usize,
    reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
}
