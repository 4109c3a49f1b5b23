//! `figures.toml`: values of a publication, without a record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::printable;

use crate::BoardError;
use crate::toml_text;

/// Format of `figures.toml`.
pub const FIGURES_FORMAT: &str = "pgmeter-figures/1";

/// Values of one system, as a publication prints them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedFigures {
    /// [`FIGURES_FORMAT`].
    pub format: String,
    /// Values by table.
    #[serde(rename = "row", default)]
    pub rows: Vec<SubmittedRow>,
}

/// Values of one system in one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmittedRow {
    /// Name of the table.
    pub table: String,
    /// Values by column, with the printed digits, because their number shows the rounding.
    pub values: BTreeMap<String, String>,
}

impl SubmittedFigures {
    /// Reads `figures.toml`.
    ///
    /// # Errors
    /// If the text is not TOML, lacks a key or has an unknown one, or a value is no number.
    pub fn read(file: &str, text: &str) -> Result<Self, BoardError> {
        let figures: Self = toml_text::read(file, text)?;
        if figures.format != FIGURES_FORMAT {
            let seen = printable(&figures.format);
            let message =
                format!("`format` is `{seen}`, but this version reads `{FIGURES_FORMAT}`");
            return Err(BoardError::in_file(
                file,
                message,
                "use a version that reads it",
            ));
        }
        for (column, text) in figures.rows.iter().flat_map(|row| &row.values) {
            if !text.parse::<f64>().is_ok_and(f64::is_finite) {
                let (column, text) = (printable(column), printable(text));
                let message = format!("the value of `{column}` is `{text}`, but must be a number");
                return Err(BoardError::in_file(
                    file,
                    message,
                    "write the printed digits",
                ));
            }
        }
        Ok(figures)
    }

    /// Serializes to the text of `figures.toml`.
    #[must_use]
    pub fn text(&self) -> String {
        toml_text::write(self)
    }
}

impl SubmittedRow {
    /// Returns a value; `None` if the publication does not print it.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<f64> {
        self.values.get(column)?.parse().ok()
    }

    /// Returns half a unit of the last printed digit of a value.
    #[must_use]
    pub fn half_unit(&self, column: &str) -> Option<f64> {
        let text = self.values.get(column)?;
        let decimals = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        Some(0.5 * 10_f64.powi(-i32::try_from(decimals).ok()?))
    }
}
