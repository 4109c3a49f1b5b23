//! Telling a PostMark script from other files by what is in it.

use super::command::{self, Command};
use super::{Compat, next_line};

/// Lines that are looked at.
const LINES_MAX: usize = 200;

/// Whether the start of a file reads like a PostMark script.
///
/// It does if it has a line that sets a value or runs, and if at least three of four lines that
/// are neither empty nor begin with `#` are commands.
#[must_use]
pub fn looks_like(bytes: &[u8]) -> bool {
    if bytes.contains(&0) {
        return false;
    }
    let mut input = bytes;
    let (mut commands, mut others, mut telling) = (0, 0, 0);
    for _ in 0..LINES_MAX {
        let Ok(Some(line)) = next_line(&mut input) else {
            break;
        };
        let line = line.trim_ascii_end();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        match kind(line) {
            Kind::Telling => telling += 1,
            Kind::Command => commands += 1,
            Kind::Other => others += 1,
        }
    }
    telling > 0 && telling + commands >= 3 * others
}

enum Kind {
    Telling,
    Command,
    Other,
}

fn kind(line: &[u8]) -> Kind {
    if line.starts_with(b"!") {
        return Kind::Command;
    }
    match command::find(Compat::default(), line) {
        // The last line may lack its line break, and with it a character.
        None if matches!(line, b"ru") => Kind::Telling,
        None if matches!(line, b"qui" | b"sho") => Kind::Command,
        None => Kind::Other,
        Some((command, parameter)) => match command {
            Command::Run if parameter.is_none() || line.starts_with(b"run ") => Kind::Telling,
            Command::Run => Kind::Other,
            Command::Load | Command::Show | Command::Help | Command::Quit => Kind::Command,
            _ => Kind::Telling,
        },
    }
}
