//! Splits and joins command lines without a shell.

/// Splits a text into words; quotes of either kind keep spaces. `None` if a quote is not closed.
pub(crate) fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                // A pair of quotes with nothing in it is an empty word.
                word.get_or_insert_default();
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A command line as a person would type it.
pub(crate) fn shown(program: &str, arguments: &[String]) -> String {
    let quoted = |word: &String| {
        let is_plain = |letter: char| !letter.is_whitespace() && !"'\"\\$&|;<>".contains(letter);
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            // A shell has no escape within single quotes: close them, add an escaped quote, open
            // them again.
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = std::iter::once(program.to_owned()).chain(arguments.iter().map(quoted));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_words_except_in_quotes() {
        let words = split(" -O ^has_journal  -L 'a b' -x\"\" ");
        let wanted = ["-O", "^has_journal", "-L", "a b", "-x"];
        assert_eq!(words.as_deref(), Some(&wanted.map(str::to_owned)[..]));
        assert_eq!(split("'"), None);
        assert_eq!(split("").as_deref(), Some(&[][..]));
    }

    #[test]
    fn a_shown_command_quotes_words_with_blanks() {
        let words = ["-L".to_owned(), "a b".to_owned()];
        assert_eq!(shown("mkfs.ext4", &words), "mkfs.ext4 -L 'a b'");
    }
}
