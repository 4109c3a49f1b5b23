//! Results of aging.

use std::fmt;

use serde::{Deserialize, Serialize};

/// State of a file system after aging.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AgedState {
    /// Used space in percent, as shown by `df`.
    pub full_percent: f64,
    /// Number of files.
    pub file_count: u64,
    /// Bytes of these files.
    pub file_bytes: u64,
    /// Layout of the files; `None` if the file system does not report it.
    pub layout: Option<ExtentLayout>,
    /// Operations that aged it.
    pub counts: AgingCounts,
    /// Duration of the aging, in seconds.
    pub elapsed_s: f64,
}

/// Layout of files on their device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExtentLayout {
    /// Number of files examined.
    pub file_count: u64,
    /// Number of extents of all files; adjacent extents on the device count as one.
    pub extent_count: u64,
    /// Number of files with more than one extent.
    pub split_count: u64,
}

/// Operations that aged a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgingCounts {
    /// Number of files created.
    pub creates: u64,
    /// Number of appends to a file.
    pub appends: u64,
    /// Number of overwrites of a part of a file.
    pub rewrites: u64,
    /// Number of files removed.
    pub deletes: u64,
    /// Number of writes that failed for lack of space.
    pub refusals: u64,
    /// Total bytes written.
    pub written_bytes: u64,
    /// Bytes written to fill it; part of `written_bytes`.
    pub filled_bytes: u64,
}

impl ExtentLayout {
    /// The mean number of extents of a file.
    #[must_use]
    pub fn extents_per_file(&self) -> f64 {
        self.extent_count as f64 / self.file_count.max(1) as f64
    }

    /// The share of files with more than one extent, in percent.
    #[must_use]
    pub fn split_percent(&self) -> f64 {
        self.split_count as f64 * 100.0 / self.file_count.max(1) as f64
    }
}

impl fmt::Display for AgedState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (full, files) = (self.full_percent, self.file_count);
        write!(formatter, "{full:.1} % full, {files} files, ")?;
        match &self.layout {
            None => formatter.write_str("extents not known"),
            Some(layout) => write!(
                formatter,
                "{:.2} extents per file, {:.1} % of the files in more than one",
                layout.extents_per_file(),
                layout.split_percent()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_described_by_means_and_shares() {
        let layout = ExtentLayout {
            file_count: 200,
            extent_count: 300,
            split_count: 25,
        };
        let aged = AgedState {
            full_percent: 69.96,
            file_count: 200,
            layout: Some(layout),
            ..AgedState::default()
        };
        let text = "70.0 % full, 200 files, 1.50 extents per file, 12.5 % of the files in more \
                    than one";
        assert_eq!(aged.to_string(), text);
        let unknown = AgedState {
            layout: None,
            ..aged
        };
        assert_eq!(
            unknown.to_string(),
            "70.0 % full, 200 files, extents not known"
        );
    }

    #[test]
    fn an_aging_result_survives_serialization() {
        let aged = AgedState {
            full_percent: 70.25,
            layout: Some(ExtentLayout::default()),
            ..AgedState::default()
        };
        let text = serde_json::to_string(&aged).unwrap();
        assert_eq!(serde_json::from_str::<AgedState>(&text).unwrap(), aged);
    }
}
