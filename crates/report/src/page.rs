//! Output layout of a report.

/// Output layout of a report: its width, and whether it has styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Width in columns; at least 20 are used.
    pub width: usize,
    /// `true` to show styles.
    pub color: bool,
}

impl Page {
    /// Layout for a file, a pipe or an e-mail: 80 columns, no color.
    pub const PLAIN: Self = Self {
        width: 80,
        color: false,
    };

    /// Layout for a terminal with this number of columns. `no_color` is `true` if `NO_COLOR` is
    /// set.
    #[must_use]
    pub fn terminal(width: usize, no_color: bool) -> Self {
        Self {
            width: width.max(20),
            color: !no_color,
        }
    }
}
