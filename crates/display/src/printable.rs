//! Text from outside, made harmless for terminals.

/// `text` with everything in it visible.
pub fn printable(text: &str) -> String {
    units::printable(text).into_owned()
}
