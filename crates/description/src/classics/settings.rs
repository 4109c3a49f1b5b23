//! The keys of a table as rows for people.

use units::Bytes;

/// A key of a table with what it comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSetting {
    /// The key.
    pub key: &'static str,
    /// In the form that a file takes.
    pub value: String,
    /// Whether a file says it, so that it is not the default.
    pub is_written: bool,
}

impl TableSetting {
    /// What holds, and what is written.
    pub fn of<T>(key: &'static str, value: impl ToString, written: &Option<T>) -> Self {
        Self {
            key,
            value: value.to_string(),
            is_written: written.is_some(),
        }
    }
}

/// Sizes as a list.
pub(super) fn sizes(sizes_bytes: &[u64]) -> String {
    let sizes = sizes_bytes.iter().map(|bytes| Bytes(*bytes).to_string());
    sizes.collect::<Vec<_>>().join(",")
}
