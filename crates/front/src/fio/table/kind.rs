//! What the values of an option are.

/// What the values of an option are, and the bounds of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fio) enum Kind {
    /// Any text.
    Text,
    /// Any text, or none.
    TextOrNone,
    /// One of some words.
    Choice(&'static str),
    /// A number, with units of bytes; up to three by direction.
    Number(Bounds),
    /// The same, or a share, or zones.
    Amount,
    /// A time: plain numbers are seconds.
    Seconds,
    /// A time: plain numbers are microseconds.
    Microseconds,
    /// 0 or 1.
    Bool,
    /// 0 or 1, or nothing, which is 1.
    Flag,
    /// Ranges of sizes, by direction.
    Ranges,
    /// Numbers with fractions, with colons between.
    Floats(f64, f64),
    /// Has no effect in fio either.
    Idle,
}

/// The least and the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fio) struct Bounds {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

impl Kind {
    /// From its letter, with bounds or words behind a colon.
    pub(super) fn of(text: &'static str) -> Self {
        let (letter, rest) = text.split_once(':').unwrap_or((text, ""));
        match letter {
            "o" => Self::TextOrNone,
            "c" => Self::Choice(rest),
            // One number is kept in 32 bits, as in fio; those by direction are sizes or rates.
            "i" => Self::Number(Bounds::of(rest).within_32_bits()),
            "i3" | "v" => Self::Number(Bounds::of(rest)),
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
            "x" => Self::Idle,
            _ => Self::Text,
        }
    }

    /// Whether a command line may leave its value out.
    pub(in crate::fio) const fn is_free_of_value(self) -> bool {
        matches!(self, Self::Flag | Self::TextOrNone | Self::Idle)
    }
}

impl Bounds {
    fn within_32_bits(self) -> Self {
        Self {
            max: self.max.or(Some(u32::MAX.into())),
            ..self
        }
    }

    fn of(text: &str) -> Self {
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
