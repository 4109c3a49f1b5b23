//! Numbers as programs print them, and lists of figures.

use results::{ImportedFigure, ImportedStatement};

/// Bytes per KiB.
pub const KIB: f64 = 1024.0;
/// Bytes per MiB.
pub const MIB: f64 = 1_048_576.0;
/// Bytes per GiB.
pub const GIB: f64 = 1_073_741_824.0;
/// Nanoseconds per microsecond.
pub const MICROSECOND: f64 = 1e3;
/// Nanoseconds per millisecond.
pub const MILLISECOND: f64 = 1e6;
/// Nanoseconds per second.
pub const SECOND: f64 = 1e9;

/// Largest number of digits after the point that a step is derived from.
const DECIMALS_MAX: usize = 20;

/// From this number of units of the last digit on, a double no longer has all whole numbers.
const DIGITS_MAX: f64 = 1e15;

/// A quantity: its name and the unit of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureMetric<'a>(pub &'a str, pub &'a str);

/// Number of operations.
pub const COUNT: FigureMetric = FigureMetric("count", "1");
/// Number of failed operations.
pub const ERRORS: FigureMetric = FigureMetric("errors", "1");
/// Bytes moved.
pub const BYTES: FigureMetric = FigureMetric("bytes", "B");
/// Operations per second.
pub const PER_SECOND: FigureMetric = FigureMetric("per_second", "1/s");
/// Bytes per second.
pub const BYTES_PER_SECOND: FigureMetric = FigureMetric("bytes_per_second", "B/s");
/// Duration.
pub const TIME: FigureMetric = FigureMetric("time", "ns");
/// Smallest latency.
pub const LATENCY_MIN: FigureMetric = FigureMetric("latency_min", "ns");
/// Mean latency.
pub const LATENCY_MEAN: FigureMetric = FigureMetric("latency_mean", "ns");
/// Largest latency.
pub const LATENCY_MAX: FigureMetric = FigureMetric("latency_max", "ns");
/// Share of one CPU, in percent.
pub const CPU: FigureMetric = FigureMetric("cpu", "%");

/// A number as printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedNumber {
    /// The value.
    pub value: f64,
    /// Its last printed digit.
    pub step: Option<f64>,
}

impl PrintedNumber {
    /// A number that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self { value, step: None }
    }

    /// Reads a decimal number. Signs other than `-`, and words such as `nan`, are not numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |letter: char| letter.is_ascii_digit() || ".-+eE".contains(letter);
        let begins_with_digit = text
            .trim_start_matches('-')
            .starts_with(|it: char| it.is_ascii_digit() || it == '.');
        if !begins_with_digit || !text.chars().all(is_number) {
            return None;
        }
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let decimals = text
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        let is_plain = !text.contains(['e', 'E']) && decimals <= DECIMALS_MAX;
        let step = is_plain.then(|| 10_f64.powi(-(decimals as i32)));
        Some(Self { value, step })
    }

    /// The number in base units.
    pub fn times(self, factor: f64) -> Self {
        let decimal = |step: f64| {
            // In units of the last digit, so that `8.088` ms is exactly 8088000 ns.
            let divisor = step.recip().round();
            (self.value * divisor).round() * factor / divisor
        };
        let is_decimal = |step: &f64| *step < 1.0 && self.value / step < DIGITS_MAX;
        let step = self.step.filter(is_decimal);
        Self {
            value: step.map_or(self.value * factor, decimal),
            step: self.step.map(|step| step * factor),
        }
    }
}

/// Reads a whole number of at most 64 bits.
pub fn whole(text: &str) -> Option<u64> {
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| text.parse().ok())?
}

/// Figures in the order of the source.
#[derive(Debug, Default)]
pub struct FigureList(pub Vec<ImportedFigure>);

impl FigureList {
    /// Adds a figure.
    pub fn add(&mut self, operation: &str, quantity: FigureMetric, number: PrintedNumber) {
        self.0.push(ImportedFigure {
            operation: operation.to_owned(),
            metric: quantity.0.to_owned(),
            unit: quantity.1.to_owned(),
            value: number.value,
            step: number.step,
            ..ImportedFigure::default()
        });
    }
}

/// A statement of the source.
pub fn statement(name: &str, value: impl Into<String>) -> ImportedStatement {
    ImportedStatement {
        name: name.to_owned(),
        value: value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_printed_digit_is_the_step() {
        let parsed = |text| PrintedNumber::parse(text).map(|it| (it.value, it.step));
        assert_eq!(parsed("12"), Some((12.0, Some(1.0))));
        assert_eq!(parsed("12.50"), Some((12.5, Some(0.01))));
        assert_eq!(parsed("1e3"), Some((1000.0, None)));
        for bad in [
            "", "-", ".", "nan", "inf", "+1", "1.2.3", "12kB", "0x10", "1e999", "１",
        ] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
        assert_eq!(
            PrintedNumber::parse("8.088").map(|it| it.times(MILLISECOND).value),
            Some(8_088_000.0)
        );
        assert_eq!(
            PrintedNumber::parse("1.5").map(|it| it.times(KIB).value),
            Some(1536.0)
        );
    }
}
