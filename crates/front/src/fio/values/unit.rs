//! Units after numbers.

/// Meaning of the letters after a number, and of a number without letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fio) enum NumberUnit {
    /// Bytes or counts. `k` is `kilo`, and `kib` is the other of 1024 and 1000.
    Bytes { kilo: u64 },
    /// Times in seconds by default, converted to microseconds.
    Seconds,
    /// Times in microseconds by default.
    Microseconds,
}

/// A number in bytes or microseconds, with its suffix.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fio) struct UnitNumber {
    pub value: i64,
    /// `%` for a share or `z` for zones, else `None`.
    pub suffix: Option<char>,
    /// `true` if fio silently ignores the rest of the text.
    pub(super) has_rest: bool,
}

impl UnitNumber {
    /// The value of a number without suffix; an error for shares and zones.
    pub(super) fn plain(&self) -> Result<i64, String> {
        match self.suffix {
            Some(suffix) => Err(format!("leave out `{suffix}`, which has no meaning here")),
            None => Ok(self.value),
        }
    }

    /// How fio reads a text that looks like another value; `None` if there is no doubt.
    pub(super) fn remark(&self, text: &str, unit: NumberUnit) -> Option<String> {
        let text = plan::printable(text);
        let unit = match unit {
            NumberUnit::Bytes { .. } => "",
            _ => " µs",
        };
        let value = self.value;
        self.has_rest
            .then(|| format!("`{text}` is read as {value}{unit}, as in fio"))
    }
}

impl NumberUnit {
    /// The factor for the letters after a number, the suffix of shares and zones, and `true` if
    /// some letters have no meaning.
    pub(super) fn factor(self, tail: &str) -> (i64, Option<char>, bool) {
        let tail = tail.to_ascii_lowercase();
        match self {
            // fio looks for the suffix of zones at the end of the text.
            _ if tail.ends_with('z') => (1, Some('z'), tail.len() > 1),
            Self::Bytes { kilo } => of_bytes(&tail, kilo),
            Self::Seconds => of_time(&tail, 1_000_000),
            Self::Microseconds => of_time(&tail, 1),
        }
    }
}

/// Reads units of bytes. fio ignores fractions and unknown letters, and looks only at the
/// beginning of a unit.
fn of_bytes(tail: &str, kilo: u64) -> (i64, Option<char>, bool) {
    let Some(first) = tail.chars().next() else {
        return (1, None, false);
    };
    if first == '%' || first == 'z' {
        return (1, Some(first), tail.len() > 1);
    }
    let Some(power) = "kmgtp".find(first) else {
        // fio stops at the first unknown character, so `1.5m` is 1 byte.
        return (1, None, !matches!(tail, "b"));
    };
    // fio reverses the standard: by default `4k` is 4096 and `4kib` is 4000.
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
        // fio takes unknown letters for microseconds, even where a plain number means seconds.
        _ => return (1, None, true),
    };
    (factor, None, false)
}
