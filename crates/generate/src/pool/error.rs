//! Errors when a stream is created.

/// Reason why a stream cannot be created.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The table of files does not fit into memory: it has two slots per file.
    #[error("a table for {slots_count} files does not fit into memory")]
    Table {
        /// Slots of the table.
        slots_count: u64,
    },
    /// The text that files are written from does not fit into memory: it is twice as long as the
    /// largest file.
    #[error("a text of {text_bytes} bytes to write files from does not fit into memory")]
    Text {
        /// Length of the text.
        text_bytes: u64,
    },
    /// The skew of the file selection is out of range.
    #[error("files cannot be chosen by zipf with a theta of `{theta}`")]
    Zipf {
        /// The skew.
        theta: f64,
    },
    /// There are too many locations and subdirectories to number the directories.
    #[error("{directories_count} directories are too many")]
    Directories {
        /// Number of directories requested.
        directories_count: u64,
    },
}

impl StreamError {
    /// One action that resolves the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Table { .. } => "lower `set number`",
            Self::Text { .. } => "lower the upper bound of `set size`",
            Self::Directories { .. } => "lower `set subdirectories`",
            Self::Zipf { .. } => "choose a `theta` above 0 and at most 100",
        }
    }

    /// Text that the original prints to standard error before it crashes, if it notices the
    /// problem.
    #[must_use]
    pub fn original_text(&self) -> Option<String> {
        // The original counts in 32 bits.
        match self {
            Self::Table { slots_count } => {
                let count = *slots_count as i32;
                Some(format!(
                    "Error: Failed to allocate table for {count} files\n"
                ))
            }
            Self::Text { text_bytes } => {
                let bytes = *text_bytes as i32;
                Some(format!(
                    "Error: failed to allocate source file of size {bytes}\n"
                ))
            }
            Self::Directories { .. } | Self::Zipf { .. } => None,
        }
    }
}
