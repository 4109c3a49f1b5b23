//! Numbers in text, parsed from bytes without a check for UTF-8.

use std::borrow::Cow;

use crate::error::RowFault;

/// Largest offset of Linux, whose offsets are signed.
const OFFSET_BYTES_MAX: u64 = i64::MAX as u64;
/// Linux moves at most this many bytes per call.
const TRANSFER_BYTES_MAX: u64 = 0x7fff_f000;
/// No device discards more at once.
const DISCARD_BYTES_MAX: u64 = 1 << 42;

pub(crate) const NS_PER_S: i128 = 1_000_000_000;
pub(crate) const NS_PER_MS: i128 = 1_000_000;
pub(crate) const NS_PER_US: i128 = 1_000;
/// Traces count in these sectors, whatever the device's own are.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A whole number without sign.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value = 0_u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A hexadecimal number, with or without `0x`.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    digits.iter().try_fold(0_u64, |value, byte| {
        Some(value << 4 | u64::from(digit(byte)?))
    })
}

/// A number with an optional sign and fraction, times the nanoseconds of its unit. The fraction
/// follows a point or a comma; digits below a nanosecond are cut off.
pub(crate) fn nanoseconds(text: &[u8], unit_ns: i128) -> Option<i128> {
    let (sign, text) = match text.strip_prefix(b"-") {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let end = text
        .iter()
        .position(|byte| matches!(byte, b'.' | b','))
        .unwrap_or(text.len());
    let (integer, fraction) = text.split_at(end);
    let mut total = i128::from(whole(integer)?) * unit_ns;
    let mut place_ns = unit_ns;
    for byte in fraction.iter().skip(1) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        place_ns /= 10;
        total += i128::from(digit) * place_ns;
    }
    Some(sign * total)
}

/// A time of day, `16:53:03.6001516` or `4:53:03.6 PM`, in nanoseconds since midnight.
pub(crate) fn time_of_day(text: &[u8]) -> Option<i128> {
    let text = text.trim_ascii();
    let (text, is_afternoon) = match text.split_last_chunk::<2>() {
        Some((rest, b"AM")) => (rest, Some(false)),
        Some((rest, b"PM")) => (rest, Some(true)),
        _ => (text, None),
    };
    let mut parts = text.splitn(3, |byte| *byte == b':');
    let hour = whole(parts.next()?)?;
    let minute = whole(parts.next()?)?;
    let seconds_ns = nanoseconds(trim_no_break(parts.next()?), NS_PER_S)?;
    let hour = match is_afternoon {
        None => hour,
        Some(is_afternoon) => hour % 12 + 12 * u64::from(is_afternoon),
    };
    let is_valid = hour < 24 && minute < 60 && seconds_ns < 61 * NS_PER_S;
    is_valid.then(|| i128::from(hour * 3600 + minute * 60) * NS_PER_S + seconds_ns)
}

/// Windows puts a narrow no-break space before AM and PM.
fn trim_no_break(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    text.strip_suffix("\u{202f}".as_bytes()).unwrap_or(text)
}

/// A time as it is stored: within 292 years of its zero.
pub(crate) fn stored_time(ns: i128, seen: &[u8]) -> Result<i64, RowFault> {
    i64::try_from(ns).map_err(|_| RowFault::new(seen, "a time within 292 years of 1970"))
}

/// A value as it was seen, which becomes text only for a message.
pub(crate) trait Seen {
    fn text(&self) -> Cow<'_, [u8]>;
}

impl Seen for &[u8] {
    fn text(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(self)
    }
}

impl Seen for u64 {
    fn text(&self) -> Cow<'_, [u8]> {
        Cow::Owned(self.to_string().into_bytes())
    }
}

/// An offset of `count` units, which must fit the offsets of Linux.
pub(crate) fn offset(count: u64, unit_bytes: u64, seen: impl Seen) -> Result<u64, RowFault> {
    let bytes = count.checked_mul(unit_bytes);
    let bytes = bytes.filter(|bytes| *bytes <= OFFSET_BYTES_MAX);
    bytes.ok_or_else(|| RowFault::new(&seen.text(), "an offset below 8 EiB"))
}

/// A length of `count` units, which must be possible for one request.
pub(crate) fn length(
    count: u64,
    unit_bytes: u64,
    is_discard: bool,
    seen: impl Seen,
) -> Result<u64, RowFault> {
    let (max, wanted) = match is_discard {
        true => (DISCARD_BYTES_MAX, "a length of a discard, at most 4 TiB"),
        false => (TRANSFER_BYTES_MAX, "a length of a request, below 2 GiB"),
    };
    let bytes = count.checked_mul(unit_bytes);
    let bytes = bytes.filter(|bytes| *bytes <= max);
    bytes.ok_or_else(|| RowFault::new(&seen.text(), wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact_to_the_nanosecond() {
        assert_eq!(
            nanoseconds(b"1456135200.013118001", NS_PER_S),
            Some(1_456_135_200_013_118_001)
        );
        assert_eq!(nanoseconds(b"-0.00055", NS_PER_S), Some(-550_000));
        assert_eq!(nanoseconds(b"56.91", NS_PER_US), Some(56_910));
        assert_eq!(nanoseconds(b"1.", NS_PER_MS), Some(1_000_000));
        for text in [
            &b""[..],
            b".",
            b"1e3",
            b"1.2.3",
            b"--1",
            b"99999999999999999999999",
        ] {
            assert_eq!(nanoseconds(text, 1), None);
        }
    }

    #[test]
    fn numbers_outside_their_type_are_refused() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
        assert_eq!(hexadecimal(b"0x06c80556e00"), Some(0x6c_8055_6e00));
        assert_eq!(hexadecimal(b"0x"), None);
        assert!(offset(u64::MAX, 1, 0_u64).is_err());
        assert!(offset(1 << 60, 512, 0_u64).is_err());
        assert!(length(1 << 32, 1, false, 0_u64).is_err());
        assert!(length(1 << 31, 1, true, 0_u64).is_ok());
    }

    #[test]
    fn times_of_day_are_read_in_both_forms() {
        let noon = 12 * 3600 * NS_PER_S;
        assert_eq!(time_of_day(b"12:00:00,5"), Some(noon + NS_PER_S / 2));
        assert_eq!(time_of_day(b"12:00:00.0000000 PM"), Some(noon));
        assert_eq!(time_of_day("12:00:00\u{202f}AM".as_bytes()), Some(0));
        assert_eq!(time_of_day(b"25:00:00"), None);
    }
}
