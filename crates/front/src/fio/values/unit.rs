//! What letters behind a number mean.

/// What letters behind a number mean, and a number without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fio) enum Unit {
    /// Bytes or counts; `k` is so much, and `kib` the other of 1024 and 1000.
    Bytes { kilo: u64 },
    /// Seconds, as microseconds.
    Seconds,
    /// Microseconds.
    Microseconds,
}

/// A number in bytes or microseconds, and what was left of the text.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fio) struct Number {
    pub value: i64,
    /// `%` or `z`, if it is a share or zones.
    pub suffix: Option<char>,
    /// Whether the text goes on with what fio passes over in silence.
    pub(super) has_rest: bool,
}

impl Number {
    /// The value, which is no share.
    pub(super) fn plain(&self) -> Result<i64, String> {
        match self.suffix {
            Some(suffix) => Err(format!("`{suffix}` has no meaning here")),
            None => Ok(self.value),
        }
    }

    /// How a text is understood that looks like something else.
    pub(super) fn remark(&self, text: &str, unit: Unit) -> Option<String> {
        let text = plan::printable(text);
        let unit = match unit {
            Unit::Bytes { .. } => "",
            _ => " µs",
        };
        let value = self.value;
        self.has_rest
            .then(|| format!("`{text}` is read as {value}{unit}, as fio does"))
    }
}

impl Unit {
    /// What the letters behind a number make of it: a factor, a share or zones, and whether they
    /// mean nothing.
    pub(super) fn factor(self, tail: &str) -> (i64, Option<char>, bool) {
        let tail = tail.to_ascii_lowercase();
        match self {
            Self::Bytes { kilo } => of_bytes(&tail, kilo),
            Self::Seconds => of_time(&tail, 1_000_000),
            Self::Microseconds => of_time(&tail, 1),
        }
    }
}

/// Fractions and unknown letters are passed over, units are known by how they begin.
fn of_bytes(tail: &str, kilo: u64) -> (i64, Option<char>, bool) {
    let Some(first) = tail.chars().next() else {
        return (1, None, false);
    };
    if first == '%' || first == 'z' {
        return (1, Some(first), tail.len() > 1);
    }
    let Some(power) = "kmgtp".find(first) else {
        return (1, None, !matches!(tail, "b"));
    };
    // By default `4k` is 4096 and `4kib` 4000: the other way around from the standard.
    let other = if kilo == 1000 { 1024 } else { 1000 };
    let base = match tail[1..].starts_with("ib") {
        true => other,
        false => kilo,
    };
    let factor = (0..=power).fold(1, |factor, _| factor * base as i64);
    (factor, None, !matches!(&tail[1..], "" | "b" | "i" | "ib"))
}

fn of_time(tail: &str, plain: i64) -> (i64, Option<char>, bool) {
    const SECOND: i64 = 1_000_000;
    if !tail.starts_with(|it: char| it.is_ascii_alphabetic()) {
        return (plain, None, !tail.is_empty());
    }
    let factor = match tail {
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        "d" => 86_400 * SECOND,
        _ if tail.starts_with("us") => 1,
        _ if tail.starts_with("ms") => 1000,
        _ => return (1, None, true),
    };
    (factor, None, false)
}
