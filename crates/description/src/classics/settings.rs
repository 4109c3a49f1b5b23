//! Settings of tables, as rows for users.

use units::Bytes;

/// A key of a table with its resolved value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSetting {
    /// The key, as in a workload file.
    pub key: &'static str,
    /// Value in the form of a workload file.
    pub value: String,
    /// `true` if a file sets it, rather than the default.
    pub is_written: bool,
}

impl TableSetting {
    /// A row with the resolved value; `written` is the key's own value, if any.
    pub fn of<T>(key: &'static str, value: impl ToString, written: &Option<T>) -> Self {
        Self {
            key,
            value: value.to_string(),
            is_written: written.is_some(),
        }
    }
}

/// Formats sizes as a list.
pub(super) fn sizes(sizes_bytes: &[u64]) -> String {
    let sizes = sizes_bytes.iter().map(|bytes| Bytes(*bytes).to_string());
    sizes.collect::<Vec<_>>().join(",")
}
