//! Errors in the settings of a classic benchmark.

/// Error in the settings of a classic benchmark.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicError {
    /// A number is out of range.
    #[error("`{table}.{key}` is `{seen}`, not {wanted}")]
    Range {
        /// Table of the workload file.
        table: &'static str,
        /// Key in the table.
        key: &'static str,
        /// Value that was found.
        seen: String,
        /// Allowed values.
        wanted: String,
    },
    /// A list is empty.
    #[error("`{table}.{key}` is empty")]
    Empty {
        /// Table of the workload file.
        table: &'static str,
        /// Key in the table.
        key: &'static str,
    },
    /// A directory is not below the target.
    #[error("`{table}.{key}`: `{seen}` {why}")]
    Directory {
        /// Table of the workload file.
        table: &'static str,
        /// Key in the table.
        key: &'static str,
        /// The directory.
        seen: String,
        /// The reason.
        why: &'static str,
    },
    /// A key needs another one.
    #[error("`{table}.{key}` needs `{other}`")]
    Needs {
        /// Table of the workload file.
        table: &'static str,
        /// Key that is written.
        key: &'static str,
        /// Key that is missing.
        other: &'static str,
    },
}

impl ClassicError {
    /// The table and the key with the error.
    #[must_use]
    pub const fn place(&self) -> (&'static str, &'static str) {
        match self {
            Self::Range { table, key, .. }
            | Self::Empty { table, key }
            | Self::Directory { table, key, .. }
            | Self::Needs { table, key, .. } => (table, key),
        }
    }

    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Range { wanted, .. } => format!("write {wanted}"),
            Self::Empty { key, .. } => format!("write a value, or leave `{key}` out"),
            Self::Directory { .. } => {
                "name the directory with `--target`, and here one within it".to_owned()
            }
            Self::Needs { key, other, .. } => format!("write `{other}`, or leave `{key}` out"),
        }
    }
}

/// Checks that a number is from `least` to `most`; returns the default if it is not written.
pub(crate) fn ranged<T>(
    location: (&'static str, &'static str),
    written: Option<T>,
    default: T,
    (least, most): (T, T),
) -> Result<T, ClassicError>
where
    T: PartialOrd + std::fmt::Display + Copy,
{
    let value = written.unwrap_or(default);
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(ClassicError::Range {
        table: location.0,
        key: location.1,
        seen: value.to_string(),
        wanted: format!("{least} to {most}"),
    })
}
