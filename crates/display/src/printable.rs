//! Sanitizing of external text for terminals.

/// `text` with control characters made visible.
pub fn printable(text: &str) -> String {
    units::printable(text).into_owned()
}
