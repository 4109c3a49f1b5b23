//! Number formats and sums as other programs compute them.

/// Extremes, sum, mean and deviations of several values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The largest value; negative infinity if there are none.
    pub max: f64,
    /// The smallest value; infinity if there are none.
    pub min: f64,
    /// Sum of the values.
    pub sum: f64,
    /// The mean; 0 if there are no values.
    pub mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
    count: usize,
}

impl Summary {
    /// Summarizes the values.
    pub fn of(values: &[f64]) -> Self {
        let sum = values.iter().sum::<f64>();
        let mean = sum / values.len().max(1) as f64;
        Self {
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            sum,
            mean,
            squares: values.iter().map(|value| (value - mean).powi(2)).sum(),
            count: values.len(),
        }
    }

    /// Standard deviation of the values as a whole population; 0 if there are none.
    pub fn deviation(&self) -> f64 {
        (self.squares / self.count.max(1) as f64).sqrt()
    }

    /// Standard deviation estimated from the values as a sample; 0 for fewer than two.
    pub fn sample_deviation(&self) -> f64 {
        // With a single value, the divisor would be 0 and the result NaN; 1 gives 0.
        (self.squares / self.count.max(2).saturating_sub(1) as f64).sqrt()
    }
}

/// A number as C's `%g` prints it: six significant digits, no trailing zeros.
pub fn format_general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let without_zeros = |digits: &str| match digits.contains('.') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => digits.to_owned(),
    };
    // The exponent of the rounded value: 999999.7 has seven digits.
    let text = format!("{value:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // C's `%g` uses an exponent below 0.0001 and from seven digits on.
    if (-4..6).contains(&exponent) {
        return without_zeros(&format!("{value:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
}

/// A number as Python prints it: with an exponent below 0.0001.
pub fn format_python(value: f64) -> String {
    if value == 0.0 || value >= 1e-4 {
        return format!("{value:?}");
    }
    // Rust and Python choose the same shortest digits, but Python pads the exponent to two digits.
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once("e-").unwrap_or((&text, "0"));
    format!("{digits}e-{exponent:0>2}")
}

/// A number with 10 decimals and an exponent of at least two digits, as C's `%.10e` prints it.
pub fn format_scientific(value: f64) -> String {
    let text = format!("{value:.10e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        // Infinity and NaN have no exponent.
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_in_c() {
        for (value, text) in [
            (2165.68, "2165.68"),
            (0.0, "0"),
            (100.0, "100"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_012_5, "1.25e-05"),
            (0.5, "0.5"),
            (123_456.7, "123457"),
            (999_999.7, "1e+06"),
            (0.000_099_999_99, "0.0001"),
        ] {
            assert_eq!(format_general(value), text);
        }
    }

    #[test]
    fn numbers_are_printed_as_in_python() {
        let printed = [0.0, 1.0, 0.0112, 0.0001, 9.5e-5, 1e-10].map(format_python);
        assert_eq!(
            printed,
            ["0.0", "1.0", "0.0112", "0.0001", "9.5e-05", "1e-10"]
        );
    }

    #[test]
    fn a_summary_has_both_standard_deviations() {
        let summary = Summary::of(&[2.0, 4.0, 9.0]);
        let Summary {
            max: most,
            min: least,
            sum,
            mean,
            ..
        } = summary;
        assert_eq!([most, least, sum, mean], [9.0, 2.0, 15.0, 5.0]);
        assert_eq!(summary.sample_deviation(), 13_f64.sqrt());
        assert_eq!(summary.deviation(), (26_f64 / 3.0).sqrt());
        let none = Summary::of(&[]);
        assert_eq!(
            (none.mean, none.deviation(), none.sample_deviation()),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(Summary::of(&[7.0]).sample_deviation(), 0.0);
    }
}
