//! Kinds of option values.

/// Kind of an option's values, with the bounds of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fio) enum ValueKind {
    /// Any text.
    Text,
    /// Any text, also empty or missing.
    TextOrNone,
    /// One of these words, separated by blanks.
    Choice(&'static str),
    /// A number with an optional unit of bytes; up to three, by direction.
    Number(NumberBounds),
    /// A size in bytes, percent or zones.
    Amount,
    /// A time; plain numbers are seconds.
    Seconds,
    /// A time; plain numbers are microseconds.
    Microseconds,
    /// 0 or 1.
    Bool,
    /// 0 or 1; a missing value is 1.
    Flag,
    /// Ranges of sizes, by direction.
    Ranges,
    /// Fractions within these bounds, separated by colons.
    Floats(f64, f64),
    /// Any value; the option has no effect in fio either.
    Ignored,
}

/// Smallest and largest number, inclusive; `None` for no bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fio) struct NumberBounds {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

impl ValueKind {
    /// Reads the kind's letter, with bounds or words after a colon.
    pub(super) fn of(text: &'static str) -> Self {
        let (letter, rest) = text.split_once(':').unwrap_or((text, ""));
        match letter {
            "o" => Self::TextOrNone,
            "c" => Self::Choice(rest),
            // As in fio, single numbers have 32 bits; numbers by direction are sizes or rates.
            "i" => Self::Number(NumberBounds::of(rest).within_32_bits()),
            "i3" | "v" => Self::Number(NumberBounds::of(rest)),
            "z" => Self::Amount,
            "t" => Self::Seconds,
            "u" | "u3" => Self::Microseconds,
            "b" => Self::Bool,
            "f" => Self::Flag,
            "r" => Self::Ranges,
            "l" => {
                let (min, max) = rest.split_once('-').unwrap_or(("0", "1e300"));
                Self::Floats(min.parse().unwrap_or(0.0), max.parse().unwrap_or(1e300))
            }
            "x" => Self::Ignored,
            _ => Self::Text,
        }
    }

    /// `true` if the value is optional on a command line.
    pub(in crate::fio) const fn has_optional_value(self) -> bool {
        matches!(self, Self::Flag | Self::TextOrNone | Self::Ignored)
    }
}

impl NumberBounds {
    fn within_32_bits(self) -> Self {
        Self {
            max: self.max.or(Some(u32::MAX.into())),
            ..self
        }
    }

    fn of(text: &str) -> Self {
        // A dash at the start is the sign of the minimum.
        let dash = text.char_indices().skip(1).find(|(_, it)| *it == '-');
        let (min, max) = match dash {
            Some((at, _)) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        Self {
            min: min.parse().ok(),
            max: max.parse().ok(),
        }
    }
}
