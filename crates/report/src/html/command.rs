//! The command that repeats a measurement.

use maud::{Markup, html};

use crate::document::{Block, DocumentPart};
use crate::wrap::printable;

/// Returns the part with the command that repeats the measurement; empty if the command is unknown.
pub fn again(command: &[String]) -> DocumentPart {
    match command.is_empty() {
        true => DocumentPart::default(),
        false => DocumentPart::new("Repeat", [Block::Markup(command_block(command))]).at("again"),
    }
}

/// Returns a block for copying the command.
pub fn command_block(command: &[String]) -> Markup {
    html! { pre.command tabindex="0" { code { (command_line(command)) } } }
}

/// Joins the words of a command, quoted for a shell.
#[must_use]
pub fn command_line(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    // `~` is not in the list, because a shell expands it at the start of a word.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    // A hidden character would end up in the reader's clipboard unseen, so it becomes an escape.
    format!("'{}'", printable(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        for (word, wanted) in [
            ("--size=4GiB", "--size=4GiB"),
            ("my file", "'my file'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$(rm x)", "'$(rm x)'"),
            ("a\nb", "'a\\nb'"),
        ] {
            assert_eq!(quoted(word), wanted);
        }
    }
}
