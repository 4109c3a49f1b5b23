//! The command that measures again.

use maud::{Markup, html};

use crate::document::{Block, Part};
use crate::wrap::printable;

/// The command that measures it again, where it is known, on a page of another kind.
pub fn again(command: &[String]) -> Part {
    match command.is_empty() {
        true => Part::default(),
        false => Part::new("Repeat", [Block::Drawn(command_block(command))]).at("again"),
    }
}

/// A command, to be copied.
pub fn command_block(command: &[String]) -> Markup {
    html! { pre.command tabindex="0" { code { (command_line(command)) } } }
}

/// The words of a command as a shell takes them.
#[must_use]
pub fn command_line(command: &[String]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", printable(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
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
