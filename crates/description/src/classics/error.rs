//! Why settings of a classic cannot be used.

/// Why settings of a classic cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClassicError {
    /// A number is not in its range.
    #[error("`{table}.{key}` is `{seen}`, not {wanted}")]
    Range {
        /// The table of the workload file.
        table: &'static str,
        /// The key in it.
        key: &'static str,
        /// The value.
        seen: String,
        /// What it may be.
        wanted: String,
    },
    /// A list that needs at least one element.
    #[error("`{table}.{key}` is empty")]
    Empty {
        /// The table of the workload file.
        table: &'static str,
        /// The key in it.
        key: &'static str,
    },
    /// A directory that does not lie beneath the target.
    #[error("`{table}.{key}`: `{seen}` {why}")]
    Place {
        /// The table of the workload file.
        table: &'static str,
        /// The key in it.
        key: &'static str,
        /// The directory.
        seen: String,
        /// Why not.
        why: &'static str,
    },
    /// A key that needs another.
    #[error("`{table}.{key}` needs `{other}`")]
    Needs {
        /// The table of the workload file.
        table: &'static str,
        /// The key that is written.
        key: &'static str,
        /// The key that is missing.
        other: &'static str,
    },
}

impl ClassicError {
    /// The table and the key whose value it is.
    #[must_use]
    pub const fn place(&self) -> (&'static str, &'static str) {
        match self {
            Self::Range { table, key, .. }
            | Self::Empty { table, key }
            | Self::Place { table, key, .. }
            | Self::Needs { table, key, .. } => (table, key),
        }
    }

    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Range { wanted, .. } => format!("write {wanted}"),
            Self::Empty { key, .. } => format!("write a value, or leave `{key}` out"),
            Self::Place { .. } => {
                "name the directory with `--target`, and here one within it".to_owned()
            }
            Self::Needs { key, other, .. } => format!("write `{other}`, or leave `{key}` out"),
        }
    }
}

/// Takes a number from `least` to `most`, or its default if it was not written.
pub(crate) fn ranged<T>(
    place: (&'static str, &'static str),
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
        table: place.0,
        key: place.1,
        seen: value.to_string(),
        wanted: format!("{least} to {most}"),
    })
}
