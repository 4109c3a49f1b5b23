//! Parses numbers like C's `atoi`, since scripts rely on its tolerance.

/// The number at the start of `text`: blanks, a sign, digits; 0 without digits.
///
/// A number that does not fit into 64 bits is limited to them. The result is its lower 32 bits.
pub(super) fn leading_number(text: &[u8]) -> i32 {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().position(|byte| !is_blank(byte));
    let text = &text[start.unwrap_or(text.len())..];
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let mut value: i64 = 0;
    for byte in digits.iter().take_while(|byte| byte.is_ascii_digit()) {
        let digit = i64::from(byte - b'0');
        let signed = if is_negative { -digit } else { digit };
        value = value.saturating_mul(10).saturating_add(signed);
    }
    // The original stores a `long` in an `int`, so the upper half is lost.
    value as i32
}

#[cfg(test)]
mod tests {
    use super::leading_number;

    #[test]
    fn a_number_may_follow_blanks_and_a_sign_and_precede_anything() {
        for (text, number) in [
            ("12", 12),
            ("\t \n+7", 7),
            (" -4", -4),
            ("1k", 1),
            ("12abc", 12),
            ("0x10", 0),
            ("", 0),
            ("abc", 0),
            ("- 5", 0),
            ("--5", 0),
        ] {
            assert_eq!(leading_number(text.as_bytes()), number, "{text:?}");
        }
    }

    #[test]
    fn large_numbers_are_cut_to_32_bits() {
        assert_eq!(leading_number(b"4294967297"), 1);
        assert_eq!(leading_number(b"2147483648"), i32::MIN);
        assert_eq!(leading_number(b"99999999999999999999"), -1);
        assert_eq!(leading_number(b"-99999999999999999999"), 0);
    }
}
