//! Scans words and numbers in other programs' files.

/// Splits a text after the leading characters that `is_part` accepts.
pub fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|it| !is_part(it)).unwrap_or(text.len()))
}

/// Text before and after the next quotation mark that is not escaped by a backslash.
pub fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|it| {
        let is_end = it == '"' && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}

/// A number, in decimal or after `0x` in hexadecimal.
pub fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_scanned_from_its_start() {
        assert_eq!(split("12k+1", |it| it.is_ascii_digit()), ("12", "k+1"));
        assert_eq!(quoted(r#"a \"b\\" c"#), Some((r#"a \"b\\"#, " c")));
        assert_eq!(quoted("never"), None);
        assert_eq!((number("0x1f"), number("31")), (Some(31), Some(31)));
        assert_eq!((number("0x"), number("-1")), (None, None));
    }
}
