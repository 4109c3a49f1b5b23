//! Words and numbers of files that other programs read.

/// What begins a text and is of such characters, and what stands behind it.
pub fn split(text: &str, is_part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|it| !is_part(it)).unwrap_or(text.len()))
}

/// What stands before the next quotation mark that has no backslash before it, and what behind.
pub fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|it| {
        let is_end = it == '"' && !is_escaped;
        is_escaped = it == '\\' && !is_escaped;
        is_end
    })?;
    Some((&text[..end], &text[end + 1..]))
}

/// A number, decimal, or hexadecimal behind `0x`.
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
    fn texts_are_taken_apart_from_their_beginning() {
        assert_eq!(split("12k+1", |it| it.is_ascii_digit()), ("12", "k+1"));
        assert_eq!(quoted(r#"a \"b\\" c"#), Some((r#"a \"b\\"#, " c")));
        assert_eq!(quoted("never"), None);
        assert_eq!((number("0x1f"), number("31")), (Some(31), Some(31)));
        assert_eq!((number("0x"), number("-1")), (None, None));
    }
}
