//! Finds patterns in file names.

/// The pattern of file names by clone index and file number. It is derived from the first name, the
/// first name of the next clone and the next name of the same clone; `None` if there is no pattern.
pub(super) fn pattern(first: &str, next_clone: Option<&str>, next: Option<&str>) -> Option<String> {
    // A brace in a name would be read back as a placeholder.
    if first.contains(['{', '}']) {
        return None;
    }
    let tokens = tokens(first);
    let clones = self::tokens(next_clone.unwrap_or(first));
    let numbers = self::tokens(next.unwrap_or(first));
    if clones.len() != tokens.len() || numbers.len() != tokens.len() {
        return None;
    }
    let mut text = String::new();
    for ((token, clone), number) in tokens.iter().zip(clones).zip(numbers) {
        // Clones and files are counted from 0, so only a 0 that becomes a 1 is a counter.
        let is_counted = |other: &str| *token == "0" && other == "1";
        text.push_str(match (*token == clone, *token == number) {
            (true, true) => token,
            (false, true) if is_counted(clone) => "{clone}",
            (true, false) if is_counted(number) => "{file}",
            _ => return None,
        });
    }
    Some(text)
}

/// Splits a name into runs of digits and the text between them.
fn tokens(name: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|it: char| it.is_ascii_digit() != is_digit);
        let (token, behind) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = behind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clone_and_file_numbers_in_names_are_found() {
        let found = |first: &str, clone: &str, next: &str| pattern(first, Some(clone), Some(next));
        let is = |pattern: &str| Some(pattern.to_owned());
        assert_eq!(found("a2.0.0", "a2.1.0", "a2.0.1"), is("a2.{clone}.{file}"));
        assert_eq!(found("0/x", "1/x", "0/x"), is("{clone}/x"));
        assert_eq!(found("x", "x", "x"), is("x"));
        assert_eq!(found("x0", "y1", "x0"), None);
        assert_eq!(found("x5", "x6", "x5"), None);
        assert_eq!(pattern("{0}", Some("{1}"), None), None);
        assert_eq!(pattern("d/0", None, Some("d/1")), is("d/{file}"));
    }
}
