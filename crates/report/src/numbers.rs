//! Numbers in tables. All numbers of a column have the same unit, which its head shows.

use compare::Figure;
use units::format;

/// Text for a missing number.
pub const ABSENT: &str = "-";

/// Formats four significant digits without rounding whole digits: `0.1234`, `12.34`, `12345`.
pub fn digits(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    let mut decimals = 4_usize;
    let mut upper = 1.0;
    // Rounding up to the next power of ten must not add a digit: 9.9996 is 10.00.
    while decimals > 0 && value.abs() >= upper - 0.5 * 10_f64.powi(-(decimals as i32)) {
        decimals -= 1;
        upper *= 10.0;
    }
    let text = format!("{value:.decimals$}");
    // A value that rounds to 0 has neither a sign nor decimals.
    if text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-')) {
        "0".to_owned()
    } else {
        text
    }
}

/// Formats bytes per second as MiB/s.
pub fn mebibytes(bytes_per_second: f64) -> String {
    digits(bytes_per_second / 1_048_576.0)
}

/// Formats a value of a comparison for tables.
pub fn figure(figure: Figure, value: f64, unit: LatencyUnit) -> String {
    match figure {
        Figure::PerSecond | Figure::TransactionsPerSecond => format::iops(value),
        Figure::BytesPerSecond => mebibytes(value),
        Figure::LatencyMean | Figure::LatencyP99 => unit.show(Some(value)),
    }
}

/// Returns the name of a metric in a comparison, with its unit.
pub fn figure_name(figure: Figure, unit: LatencyUnit) -> String {
    match figure {
        Figure::TransactionsPerSecond => "transactions/s".to_owned(),
        Figure::PerSecond => "per s".to_owned(),
        Figure::BytesPerSecond => "MiB/s".to_owned(),
        Figure::LatencyMean => format!("mean {}", unit.name()),
        Figure::LatencyP99 => format!("p99 {}", unit.name()),
    }
}

/// Formats a value of a comparison with its unit.
pub fn figure_with_unit(of: Figure, value: f64, unit: LatencyUnit) -> String {
    let text = figure(of, value, unit);
    match of {
        Figure::PerSecond | Figure::TransactionsPerSecond => format!("{text}/s"),
        Figure::BytesPerSecond => format!("{text} MiB/s"),
        Figure::LatencyMean | Figure::LatencyP99 => format!("{text} {}", unit.name()),
    }
}

/// Formats a share from 0 to 1 as percent, with one decimal.
pub fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{:.1}", share * 100.0)
    } else {
        ABSENT.to_owned()
    }
}

/// Formats a share in percent without the sign, with the digits that suit a sentence.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        10.0.. => format!("{percent:.0}"),
        _ => format!("{percent:.1}").trim_end_matches(".0").to_owned(),
    }
}

/// Says which differences may go unnoticed, from the smallest one that would be detected.
pub fn unseen(smallest_difference: Option<f64>) -> String {
    match smallest_difference {
        // A share of more than 100 % cannot be a decrease.
        Some(least) if least > 1.0 => format!(
            "a difference under a factor of {:.1} may go unnoticed",
            1.0 + least
        ),
        Some(least) => format!("a difference under {} % may go unnoticed", share(least)),
        None => "even a tenfold difference may go unnoticed".to_owned(),
    }
}

/// The common unit of all latencies in a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    /// Microseconds.
    Micro,
    /// Milliseconds.
    Milli,
}

impl LatencyUnit {
    /// Returns the unit that suits the smallest latency.
    pub fn fitting(smallest_ns: Option<u64>) -> Self {
        match smallest_ns {
            Some(ns) if ns >= 1_000_000 => Self::Milli,
            _ => Self::Micro,
        }
    }

    /// Returns the symbol of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Micro => "µs",
            Self::Milli => "ms",
        }
    }

    /// Formats a latency in this unit.
    pub fn show(self, latency_ns: Option<f64>) -> String {
        let unit_ns = match self {
            Self::Micro => 1e3,
            Self::Milli => 1e6,
        };
        latency_ns.map_or_else(|| ABSENT.to_owned(), |ns| digits(ns / unit_ns))
    }
}

/// Formats a ratio with three decimals, or fewer if it is large.
pub fn ratio(value: f64) -> String {
    // Most ratios are close to 1, where a third decimal shows a tenth of a percent.
    if (0.001..10.0).contains(&value) {
        format!("{value:.3}")
    } else {
        digits(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn four_digits_are_shown() {
        for (value, wanted) in [
            (0.0, "0"),
            (0.00001, "0"),
            (-0.00001, "0"),
            (0.12345, "0.1235"),
            (0.99996, "1.000"),
            (9.9996, "10.00"),
            (123.44, "123.4"),
            (999.96, "1000"),
            (123_456.0, "123456"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(digits(value), wanted, "{value}");
        }
    }

    #[test]
    fn one_unit_serves_all_latencies() {
        assert_eq!(LatencyUnit::fitting(Some(999_999)), LatencyUnit::Micro);
        assert_eq!(LatencyUnit::fitting(Some(1_000_000)), LatencyUnit::Milli);
        assert_eq!(LatencyUnit::Micro.show(Some(132_133.0)), "132.1");
        assert_eq!(LatencyUnit::Milli.show(Some(10_578_900.0)), "10.58");
        assert_eq!(LatencyUnit::Milli.show(None), "-");
    }

    proptest! {
        #[test]
        fn rounding_stays_within_half_of_the_last_digit(value in 0.1..1e9_f64) {
            let shown: f64 = digits(value).parse().unwrap();
            prop_assert!((shown - value).abs() <= (value * 0.5e-3).max(0.5));
        }
    }
}
