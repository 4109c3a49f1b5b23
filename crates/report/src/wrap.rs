//! Text on a terminal: its width, its visible form, and its lines.

pub use units::wrap;

use unicode_width::UnicodeWidthStr;

/// Returns the width of `text`, in columns.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Converts `text` to a single line of visible characters. A name from a file can then neither
/// break a table nor control a terminal.
pub fn printable(text: &str) -> String {
    units::printable(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
    }
}
