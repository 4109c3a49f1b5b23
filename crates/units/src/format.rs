//! Rounded text for users; never written to files that programs read.

/// Placeholder for a missing number.
const ABSENT: &str = "-";

/// An ordinal number: `1st`, `2nd`, `3rd`, `4th`.
#[must_use]
pub fn ordinal(number: usize) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Operations per second with four significant digits: `123.4k`.
#[must_use]
pub fn iops(per_second: f64) -> String {
    // A count divided by a time of 0 is not finite.
    if !per_second.is_finite() || per_second < 0.0 {
        return ABSENT.into();
    }
    let units = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];
    // From 999.95 on, four digits round to 1000, which is `1.000k`.
    let (unit, letter) = fitting(&units, per_second, 999.95);
    format!("{}{letter}", significant(per_second / unit, 4))
}

/// Bandwidth with four significant digits in GiB/s or MiB/s, or in KiB/s if small: `1234 MiB/s`.
#[must_use]
pub fn bandwidth(bytes_per_second: f64) -> String {
    const KIB: f64 = 1024.0;
    if !bytes_per_second.is_finite() || bytes_per_second < 0.0 {
        return ABSENT.into();
    }
    let units = [
        (KIB, "KiB/s"),
        (KIB * KIB, "MiB/s"),
        (KIB * KIB * KIB, "GiB/s"),
    ];
    let (unit, name) = match bytes_per_second {
        // Zero would fit the smallest unit, but MiB/s is the usual one.
        0.0 => units[1],
        // From 1023.5 on, four digits round to 1024, which is 1.000 of the next unit.
        rate => fitting(&units, rate, 1023.5),
    };
    format!("{} {name}", significant(bytes_per_second / unit, 4))
}

/// A latency with three significant digits: `12.3 µs`, `1.23 ms`, `4.56 s`.
#[must_use]
pub fn latency(ns: f64) -> String {
    if !ns.is_finite() || ns < 0.0 {
        return ABSENT.into();
    }
    let units = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    // From 999.5 on, three digits round to 1000.
    let (unit, name) = fitting(&units, ns, 999.5);
    if unit == 1.0 && ns.fract() == 0.0 {
        // A clock with a resolution of nanoseconds does not measure fractions of them.
        return format!("{ns} ns");
    }
    format!("{} {name}", significant(ns / unit, 3))
}

/// A latency in whole nanoseconds, formatted as by [`latency`].
#[must_use]
pub fn latency_ns(ns: u64) -> String {
    latency(ns as f64)
}

/// Elapsed or remaining time: `0:07`, `1:05`, `2h03m`, `3d04h`; smaller units are cut off.
#[must_use]
pub fn span(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{:02}", seconds % 60),
        (0, _) => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// A size with three significant digits, or fewer if they are exact: `4 KiB`, `1.5 GiB`, `14.9
/// TiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const KIB: f64 = 1024.0;
    let units = [
        (1.0, "B"),
        (KIB, "KiB"),
        (KIB.powi(2), "MiB"),
        (KIB.powi(3), "GiB"),
        (KIB.powi(4), "TiB"),
        (KIB.powi(5), "PiB"),
        (KIB.powi(6), "EiB"),
    ];
    let (unit, name) = fitting(&units, bytes as f64, 1023.5);
    let digits = significant(bytes as f64 / unit, 3);
    // As `4.00 KiB`, an exact size would look rounded.
    let short = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{short} {name}")
}

/// A count with its digits in groups of three: `12,345,678`.
#[must_use]
pub fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first unit in which the value stays below `limit`, or the last one.
fn fitting<'a>(units: &[(f64, &'a str)], value: f64, limit: f64) -> (f64, &'a str) {
    let last = units[units.len() - 1];
    units
        .iter()
        .copied()
        .find(|(unit, _)| value / unit < limit)
        .unwrap_or(last)
}

/// Formats with `digits` significant digits. The integer part is never cut, and at most `digits -
/// 1` digits follow the point.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let mut decimals = digits - 1;
    let mut upper = 10.0;
    // Half a unit of the last digit accounts for rounding up to the next power of ten: 9.996
    // becomes 10.0, not 10.00.
    while decimals > 0 && value >= upper - 0.5 * 10_f64.powi(-(decimals as i32)) {
        decimals -= 1;
        upper *= 10.0;
    }
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinals_have_the_english_suffix() {
        let ordinals = [1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 112].map(ordinal);
        let wanted = "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 112th";
        assert_eq!(ordinals.join(" "), wanted);
    }

    #[test]
    fn iops_have_four_significant_digits() {
        for (value, wanted) in [
            (0.0, "0"),
            (0.5, "0.500"),
            (1.0, "1.000"),
            (12.345, "12.35"),
            (512.0, "512.0"),
            (999.94, "999.9"),
            (999.96, "1.000k"),
            (123_400.0, "123.4k"),
            (999_960.0, "1.000M"),
            (2_345_678.0, "2.346M"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
            (-1.0, "-"),
        ] {
            assert_eq!(iops(value), wanted, "{value}");
        }
    }

    #[test]
    fn bandwidth_is_in_mebibytes_unless_small_or_large() {
        const MIB: f64 = 1_048_576.0;
        for (value, wanted) in [
            (0.0, "0 MiB/s"),
            (512.0, "0.500 KiB/s"),
            (4096.0, "4.000 KiB/s"),
            (1023.9 * 1024.0, "1.000 MiB/s"),
            (123.44 * MIB, "123.4 MiB/s"),
            (1000.0 * MIB, "1000 MiB/s"),
            (1536.0 * MIB, "1.500 GiB/s"),
            (4096.0 * 1024.0 * MIB, "4096 GiB/s"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(bandwidth(value), wanted, "{value}");
        }
    }

    #[test]
    fn latency_has_three_significant_digits() {
        for (value, wanted) in [
            (0.0, "0 ns"),
            (7.0, "7 ns"),
            (7.25, "7.25 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (9_996.0, "10.0 µs"),
            (1_230_000.0, "1.23 ms"),
            (4_560_000_000.0, "4.56 s"),
            (1_234_000_000_000.0, "1234 s"),
            (f64::NAN, "-"),
            (-5.0, "-"),
        ] {
            assert_eq!(latency(value), wanted, "{value}");
        }
        assert_eq!(latency_ns(1_000_000), "1.00 ms");
    }

    #[test]
    fn spans_print_like_a_clock() {
        const S: u64 = 1_000_000_000;
        for (ns, wanted) in [
            (0, "0:00"),
            (7 * S + 999_999_999, "0:07"),
            (65 * S, "1:05"),
            (3599 * S, "59:59"),
            (7380 * S, "2h03m"),
            (273_600 * S, "3d04h"),
        ] {
            assert_eq!(span(ns), wanted);
        }
        assert_eq!(span(u64::MAX), "213503d23h");
    }

    #[test]
    fn sizes_print_short() {
        for (bytes, wanted) in [
            (0, "0 B"),
            (512, "512 B"),
            (1000, "1000 B"),
            (4096, "4 KiB"),
            (1536, "1.5 KiB"),
            (100 << 20, "100 MiB"),
            ((1 << 30) - 1, "1 GiB"),
            (16_384_000_000_000, "14.9 TiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(bytes), wanted);
        }
    }

    #[test]
    fn counts_print_with_digit_groups() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    proptest! {
        #[test]
        fn formatting_a_number_never_panics(value: f64, integer: u64) {
            for text in [iops(value), bandwidth(value), latency(value)] {
                prop_assert!(!text.is_empty());
            }
            let _ = (span(integer), size(integer), count(integer), latency_ns(integer));
        }

        #[test]
        fn rounding_stays_within_half_of_the_last_digit(value in 1.0..999.0_f64) {
            let shown: f64 = significant(value, 4).parse().unwrap();
            prop_assert!((shown - value).abs() <= value * 0.5e-3);
        }
    }
}
