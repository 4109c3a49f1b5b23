//! Formats numbers with unit prefixes, as fio does.

use super::super::Results;

/// Kind of a number, which determines its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// A number without a unit.
    Plain,
    Bytes,
    BytesPerSecond,
    /// Bytes per second, shown in bits.
    BitsPerSecond,
}

/// Set of unit prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefixes {
    /// `k` is 1000.
    Decimal,
    /// `Ki` is 1024.
    Binary,
}

impl Prefixes {
    fn words(self) -> [&'static str; 6] {
        match self {
            Self::Decimal => ["", "k", "M", "G", "T", "P"],
            Self::Binary => ["", "Ki", "Mi", "Gi", "Ti", "Pi"],
        }
    }

    /// The other set.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Decimal => Self::Binary,
            Self::Binary => Self::Decimal,
        }
    }

    const fn step(self) -> u64 {
        match self {
            Self::Decimal => 1000,
            Self::Binary => 1024,
        }
    }
}

/// How a job's byte counts and rates are formatted.
#[derive(Clone, Copy)]
pub(super) struct ByteScale {
    pub(super) digits: u32,
    prefixes: Prefixes,
    rate: Quantity,
}

impl ByteScale {
    pub(super) fn of(results: &Results) -> Self {
        Self {
            digits: results.digits,
            prefixes: match results.is_decimal {
                true => Prefixes::Decimal,
                false => Prefixes::Binary,
            },
            rate: match results.unit_base {
                1 => Quantity::BitsPerSecond,
                _ => Quantity::BytesPerSecond,
            },
        }
    }

    pub(super) fn bytes(self, bytes: u64) -> String {
        scaled(bytes, self.digits, self.prefixes, Quantity::Bytes)
    }

    pub(super) fn other_bytes(self, bytes: u64) -> String {
        scaled(bytes, self.digits, self.prefixes.other(), Quantity::Bytes)
    }

    pub(super) fn rate(self, bytes_per_second: f64) -> String {
        let number = bytes_per_second as u64;
        scaled(number, self.digits, self.prefixes, self.rate)
    }

    pub(super) fn other_rate(self, bytes_per_second: f64) -> String {
        let number = bytes_per_second as u64;
        scaled(number, self.digits, self.prefixes.other(), self.rate)
    }
}

/// Formats a number with at most `digits` digits. A number that does not fit gets a larger prefix
/// and as many decimals as there is room for.
pub(super) fn scaled(number: u64, digits: u32, prefixes: Prefixes, quantity: Quantity) -> String {
    let digits = digits.max(1) as usize;
    let (number, unit) = match quantity {
        Quantity::Plain => (number, ""),
        Quantity::Bytes => (number, "B"),
        Quantity::BytesPerSecond => (number, "B/s"),
        Quantity::BitsPerSecond => (number.saturating_mul(8), "bit/s"),
    };
    let words = prefixes.words();
    let (mut whole, mut times, mut value) = (number, 0, number as f64);
    // fio repeatedly divides integers, so it chooses the prefix by the truncated number.
    while whole.to_string().len() > digits && times + 1 < words.len() {
        whole /= prefixes.step();
        value /= prefixes.step() as f64;
        times += 1;
    }
    let decimals = match times {
        0 => 0,
        // The decimal point counts as a digit.
        _ => digits.saturating_sub(whole.to_string().len() + 1),
    };
    format!("{value:.decimals$}{}{unit}", words[times])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeUnit {
    pub(super) name: &'static str,
    pub(super) ns: u64,
}

const NANOSECONDS: TimeUnit = TimeUnit {
    name: "nsec",
    ns: 1,
};

/// The largest unit in which smallest and largest latency are still distinguishable.
pub(super) fn time_unit(min_ns: u64, max_ns: u64, stddev_ns: Option<f64>) -> TimeUnit {
    let milliseconds = TimeUnit {
        name: "msec",
        ns: 1_000_000,
    };
    let microseconds = TimeUnit {
        name: "usec",
        ns: 1000,
    };
    let fits = |unit: &TimeUnit| {
        // The limits are from fio's `nsec_to_usec` and `nsec_to_msec`.
        let is_wide = stddev_ns.is_none_or(|stddev_ns| stddev_ns > unit.ns as f64);
        min_ns > 2 * unit.ns && max_ns > 100 * unit.ns - 1 && is_wide
    };
    let mut units = [milliseconds, microseconds].into_iter();
    units.find(fits).unwrap_or(NANOSECONDS)
}
