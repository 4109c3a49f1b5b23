//! What a report is written on.

/// What a report is written on: how wide it is and whether it shows colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns of text; at least 20 are used.
    pub width: usize,
    /// Whether it shows styles.
    pub color: bool,
}

impl Page {
    /// A file, a pipe or a mail: 80 columns and no color.
    pub const PLAIN: Self = Self {
        width: 80,
        color: false,
    };

    /// A terminal of so many columns; `no_color` is whether `NO_COLOR` is set to something.
    #[must_use]
    pub fn terminal(width: usize, no_color: bool) -> Self {
        Self {
            width: width.max(20),
            color: !no_color,
        }
    }
}
