//! Errors in sizes, spans, percentages and rates.

/// Maximum length of a refused text in an error, in characters.
const QUOTED_CHARS_MAX: usize = 40;

/// A text that is not a valid quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text does not have the form of the quantity.
    #[error("`{seen}` is not {wanted}")]
    Malformed {
        /// The text, shortened if long.
        seen: String,
        /// Expected quantity.
        wanted: &'static str,
        /// What to do instead.
        help: String,
    },
    /// The quantity does not fit its type or its range.
    #[error("`{seen}` is outside {wanted}")]
    OutOfRange {
        /// The text, shortened if long.
        seen: String,
        /// Expected range.
        wanted: &'static str,
        /// What to do instead.
        help: String,
    },
    /// The quantity is not a whole number of its base unit.
    #[error("`{seen}` is not {wanted}")]
    Fraction {
        /// The text, shortened if long.
        seen: String,
        /// Expected base unit.
        wanted: &'static str,
        /// What to do instead.
        help: String,
    },
}

impl UnitError {
    /// The refused text, shortened if long.
    #[must_use]
    pub fn seen(&self) -> &str {
        match self {
            Self::Malformed { seen, .. }
            | Self::OutOfRange { seen, .. }
            | Self::Fraction { seen, .. } => seen,
        }
    }

    /// The expected quantity, range or unit.
    #[must_use]
    pub fn wanted(&self) -> &'static str {
        match self {
            Self::Malformed { wanted, .. }
            | Self::OutOfRange { wanted, .. }
            | Self::Fraction { wanted, .. } => wanted,
        }
    }

    /// The action that helps, without the word `help`.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Malformed { help, .. }
            | Self::OutOfRange { help, .. }
            | Self::Fraction { help, .. } => help,
        }
    }
}

/// The start of a text on one line, without control characters, for an error message.
pub(crate) fn shortened(text: &str) -> String {
    // Cut before escaping: the text may have megabytes, and an escape is longer than its character.
    let start: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    let mut short = crate::printable(&start).into_owned();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_value_is_truncated_and_control_characters_are_escaped() {
        assert_eq!(shortened("4\u{1b}[31m\n"), "4\\u{1b}[31m\\n");
        assert_eq!(shortened(&"é".repeat(41)), format!("{}...", "é".repeat(40)));
        assert_eq!(shortened(&"é".repeat(40)), "é".repeat(40));
    }
}
