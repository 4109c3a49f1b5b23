//! Response-time limits for the search for the highest rate.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::Span;

/// Maximum number of trials of a search. Bisecting from the closed-loop peak narrows the range to
/// less than a fiftieth, both ends are tried twice, and some trials are to spare.
pub const TRIALS_MAX: u32 = 20;

/// Percentiles for which a search is possible; every record contains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponsePercentile {
    /// 50 %.
    P50,
    /// 90 %.
    P90,
    /// 95 %.
    P95,
    /// 99 %.
    P99,
    /// 99.9 %.
    P99_9,
    /// 99.99 %.
    P99_99,
}

impl ResponsePercentile {
    const ALL: [(Self, &'static str); 6] = [
        (Self::P50, "p50"),
        (Self::P90, "p90"),
        (Self::P95, "p95"),
        (Self::P99, "p99"),
        (Self::P99_9, "p99.9"),
        (Self::P99_99, "p99.99"),
    ];

    /// The name, such as `p99.9`.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(known, _)| *known == self)
            .map_or("", |(_, name)| name)
    }
}

/// A limit on a percentile of the response time: `"p99<=2ms"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResponseLimit {
    /// The percentile of the response times.
    pub percentile: ResponsePercentile,
    /// Upper limit in nanoseconds, above 0.
    pub max_ns: u64,
}

impl fmt::Display for ResponseLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<={}", self.percentile.name(), Span(self.max_ns))
    }
}

impl FromStr for ResponseLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            format!(
                "`{text}` is not one of {} with a limit, as in `p99<=2ms`",
                ResponsePercentile::ALL.map(|(_, name)| name).join(", ")
            )
        };
        // Alternatives for `<=`, which a shell takes for a redirection.
        let mut signs = ["<=", "≤", "<", "=", ":"].into_iter();
        // `<=` is tried before `<`, which would leave `=` in the limit.
        let (name, most) = signs
            .find_map(|sign| text.split_once(sign))
            .ok_or_else(refused)?;
        // Records have metrics such as `latency_p99_9`, so this form is accepted, too.
        let name = name.trim().to_ascii_lowercase().replace('_', ".");
        let mut all = ResponsePercentile::ALL.into_iter();
        let (percentile, _) = all.find(|(_, known)| *known == name).ok_or_else(refused)?;
        let most = most.trim();
        // A plain number of seconds is far above any response time, so the unit was forgotten.
        let is_number = most.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if is_number && !most.is_empty() {
            let name = percentile.name();
            return Err(format!(
                "`{text}` has no unit; write `{name}<={most}ms`, or another unit of time"
            ));
        }
        let most: Span = most.parse().map_err(|_| refused())?;
        match most.0 {
            0 => Err(refused()),
            most_ns => Ok(Self {
                percentile,
                max_ns: most_ns,
            }),
        }
    }
}

impl Serialize for ResponseLimit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResponseLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for ResponseLimit {
    fn schema_name() -> Cow<'static, str> {
        "ResponseLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^p(50|90|95|99|99[._]9|99[._]99) *(<=|≤|<|=|:) *[0-9].*$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_parsed_and_displayed() {
        for (text, wanted) in [
            ("p99<=2ms", "p99<=2ms"),
            ("P99.9 <= 1s", "p99.9<=1s"),
            ("p99_9=500us", "p99.9<=500us"),
            ("p50:3ms", "p50<=3ms"),
            ("p95≤4ms", "p95<=4ms"),
        ] {
            let limit: ResponseLimit = text.parse().unwrap();
            assert_eq!(limit.to_string(), wanted);
            assert_eq!(wanted.parse(), Ok(limit));
        }
        for text in [
            "",
            "p99",
            "p98<=2ms",
            "p99<=",
            "p99<=0s",
            "2ms",
            "p99<=fast",
        ] {
            let refused = text.parse::<ResponseLimit>().unwrap_err();
            assert!(refused.contains("as in `p99<=2ms`"), "{refused}");
        }
        for text in ["p99<5", "p99<=5", "p99: 5"] {
            let refused = text.parse::<ResponseLimit>().unwrap_err();
            let wanted = "has no unit; write `p99<=5ms`, or another unit of time";
            assert!(refused.ends_with(wanted), "{refused}");
        }
    }
}
