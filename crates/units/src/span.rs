//! Lengths of time: `10s`, `1m30s`, `250us`; a plain number is in seconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::UnitError;
use crate::decimal::Decimal;
use crate::error::shortened;
use crate::wire::on_the_wire;

const SECOND: u64 = 1_000_000_000;

/// Units in nanoseconds, largest first.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400 * SECOND),
    ("h", 3600 * SECOND),
    ("m", 60 * SECOND),
    ("s", SECOND),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Index of the second in the list of units.
const SECOND_INDEX: usize = 3;

/// A length of time in nanoseconds.
///
/// Parses `10s`, `500ms`, `1m30s`, `2h`, `1d`, `250us` or `250µs`, `100ns`, `1.5s`, and plain
/// numbers of seconds; rounds to whole nanoseconds. Prints exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Span {
    /// A span of `seconds` seconds; the longest possible one if that exceeds 64 bits of
    /// nanoseconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(SECOND))
    }

    /// A span of `milliseconds` milliseconds; the longest possible one if that exceeds 64 bits of
    /// nanoseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(milliseconds.saturating_mul(1_000_000))
    }

    /// The span in seconds, as the nearest floating-point number.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_nanos(span.0)
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match sum_of_parts(text.trim()) {
            Ok(ns) => Ok(Self(ns)),
            Err(SpanRefusal::Form) => Err(UnitError::Malformed {
                seen: shortened(text),
                wanted: "a span of time",
                help: "write a span such as `10s`, `500ms`, `1m30s`, `2h` or `1d`".into(),
            }),
            Err(SpanRefusal::Size) => Err(UnitError::OutOfRange {
                seen: shortened(text),
                wanted: "0 to 18446744073709551615 nanoseconds",
                help: "write a shorter span".into(),
            }),
        }
    }
}

/// Reason why a text is not a span.
enum SpanRefusal {
    Form,
    Size,
}

/// Adds up pairs of number and unit; the units must decrease.
fn sum_of_parts(text: &str) -> Result<u64, SpanRefusal> {
    let mut total_ns = 0_u64;
    let mut rest = text;
    let mut smallest_allowed = 0;
    loop {
        let (number, after) = Decimal::take(rest).ok_or(SpanRefusal::Form)?;
        let after = after.trim_start();
        // The whole word is the unit, so that `ms` is not read as minutes.
        let (name, after) = after.split_at(after.find(ends_unit).unwrap_or(after.len()));
        let unit_index = match name {
            // A number without a unit means seconds, but only alone: `1m30` would be ambiguous.
            "" if smallest_allowed == 0 && after.is_empty() => SECOND_INDEX,
            _ => unit_index(name)
                .filter(|i| *i >= smallest_allowed)
                .ok_or(SpanRefusal::Form)?,
        };
        let part = number.times(UNITS[unit_index].1).ok_or(SpanRefusal::Size)?;
        // Fractions of a nanosecond are rounded, not refused: no clock resolves them.
        total_ns = total_ns
            .checked_add(part.rounded)
            .ok_or(SpanRefusal::Size)?;
        // A repeated or larger unit, as in `1s1m`, is more likely a mistake than a sum.
        smallest_allowed = unit_index + 1;
        rest = after.trim_start();
        if rest.is_empty() {
            return Ok(total_ns);
        }
    }
}

fn ends_unit(c: char) -> bool {
    c.is_ascii_digit() || c == '.' || c.is_whitespace()
}

/// Index of a unit, ignoring case; both code points of the micro sign are accepted.
fn unit_index(name: &str) -> Option<usize> {
    if matches!(name, "µs" | "μs") {
        return unit_index("us");
    }
    UNITS
        .iter()
        .position(|(known, _)| known.eq_ignore_ascii_case(name))
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut text = String::new();
        let mut rest_ns = self.0;
        for (name, unit_ns) in &UNITS[..SECOND_INDEX] {
            if rest_ns >= *unit_ns {
                text.push_str(&format!("{}{name}", rest_ns / unit_ns));
                rest_ns %= unit_ns;
            }
        }
        if text.is_empty() || rest_ns > 0 {
            text.push_str(&format_seconds(rest_ns, text.is_empty()));
        }
        formatter.pad(&text)
    }
}

/// One number with a unit for less than a minute; always seconds after larger units.
fn format_seconds(ns: u64, alone: bool) -> String {
    let fitting = UNITS[SECOND_INDEX..]
        .iter()
        .find(|(_, unit_ns)| ns >= *unit_ns);
    let (name, unit_ns) = fitting.filter(|_| alone).unwrap_or(&UNITS[SECOND_INDEX]);
    let (whole, part) = (ns / unit_ns, ns % unit_ns);
    if part == 0 {
        return format!("{whole}{name}");
    }
    // Zeros in front belong to the fraction: 50 ms of a second are `.05`, not `.5`.
    let digits = format!("{part:0width$}", width = unit_ns.ilog10() as usize);
    format!("{whole}.{}{name}", digits.trim_end_matches('0'))
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

on_the_wire!(
    Span,
    "a span of time: text such as `10s`, `500ms` or `1m30s`, or a number of seconds",
    "number",
    r"^\s*(([0-9]+(\.[0-9]+)?|\.[0-9]+)\s*(d|D|h|H|m|M|s|S|[mMuUnNµμ][sS])?\s*)+$",
    &["10s", "1m30s", "500ms"]
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<u64, String> {
        text.parse::<Span>()
            .map(|span| span.0)
            .map_err(|e| format!("{e}; {}", e.help()))
    }

    #[test]
    fn every_time_unit_parses() {
        for (text, ns) in [
            ("10s", 10 * SECOND),
            ("500ms", 500_000_000),
            ("1m30s", 90 * SECOND),
            ("1m 30 s", 90 * SECOND),
            ("2h", 7200 * SECOND),
            ("1d", 86_400 * SECOND),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("250\u{3bc}s", 250_000),
            ("100ns", 100),
            ("1.5s", 1_500_000_000),
            ("1.5h", 5400 * SECOND),
            ("10S", 10 * SECOND),
            ("0", 0),
            ("0.5ns", 1),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn a_plain_number_is_seconds_only_when_alone() {
        assert_eq!(parse("90"), Ok(90 * SECOND));
        assert_eq!(parse("1.5"), Ok(1_500_000_000));
        assert!(parse("1m30").is_err());
        assert!(parse("30 1m").is_err());
    }

    #[test]
    fn a_bad_span_error_shows_the_text_and_the_expected_form() {
        let help = "write a span such as `10s`, `500ms`, `1m30s`, `2h` or `1d`";
        for text in [
            "", "s", "-1s", "1x", "1s1m", "1s1s", "NaN", "inf", "1..5s", "1:30", "1e3",
        ] {
            assert_eq!(
                parse(text),
                Err(format!("`{text}` is not a span of time; {help}"))
            );
        }
    }

    #[test]
    fn a_span_beyond_64_bits_is_refused() {
        for text in ["213504d", "18446744074", "213503d24h"] {
            let wanted = "outside 0 to 18446744073709551615 nanoseconds; write a shorter span";
            assert_eq!(parse(text), Err(format!("`{text}` is {wanted}")));
        }
        assert_eq!(Span::from_secs(u64::MAX), Span(u64::MAX));
        assert_eq!(Span::from_millis(1500), Span(1_500_000_000));
    }

    #[test]
    fn a_span_prints_exactly_and_short() {
        for (ns, wanted) in [
            (0, "0s"),
            (100, "100ns"),
            (250_000, "250us"),
            (1_234_567, "1.234567ms"),
            (1_500_000_000, "1.5s"),
            (60 * SECOND, "1m"),
            (90 * SECOND, "1m30s"),
            (60 * SECOND + 5, "1m0.000000005s"),
            (7200 * SECOND, "2h"),
            (90_000 * SECOND, "1d1h"),
            (u64::MAX, "213503d23h34m33.709551615s"),
        ] {
            assert_eq!(Span(ns).to_string(), wanted);
        }
    }

    #[test]
    fn spans_deserialize_from_text_or_seconds() {
        assert_eq!(
            serde_json::to_string(&Span(90 * SECOND)).unwrap(),
            "\"1m30s\""
        );
        for text in ["1.5", "\"1.5s\"", "\"1500ms\""] {
            assert_eq!(
                serde_json::from_str::<Span>(text).unwrap(),
                Span(1_500_000_000)
            );
        }
        assert_eq!(
            serde_json::from_str::<Span>("0.1").unwrap(),
            Span(100_000_000)
        );
        for refused in ["-1", "-0.5", "1e300", "true"] {
            assert!(serde_json::from_str::<Span>(refused).is_err(), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_size_reads_back(ns: u64, shift in 0_u32..64, seconds in 0_u64..1_000_000) {
            for ns in [ns, ns >> shift, seconds * SECOND, seconds * 1_000_000] {
                prop_assert_eq!(Span(ns).to_string().parse(), Ok(Span(ns)));
            }
        }

        #[test]
        fn parsing_never_panics(text: String, near in "([0-9.]{0,12} ?[dhmsunµ]{0,2}){0,4}") {
            let _ = text.parse::<Span>();
            let _ = near.parse::<Span>();
        }
    }
}
