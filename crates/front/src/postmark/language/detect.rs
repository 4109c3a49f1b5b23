//! Detects PostMark scripts by their content.

use super::command::{self, PostmarkCommand};
use super::next_line;
use description::classics::postmark::Compat;

/// Number of lines to look at.
const LINES_MAX: usize = 200;

/// `true` if the start of a file looks like a PostMark script.
///
/// At least one line must set a value or start a run. In addition, at least three of four lines
/// must be commands, without counting empty lines and lines that begin with `#`.
#[must_use]
pub fn looks_like_script(bytes: &[u8]) -> bool {
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
            ScriptLineKind::Distinctive => telling += 1,
            ScriptLineKind::Command => commands += 1,
            ScriptLineKind::Other => others += 1,
        }
    }
    telling > 0 && telling + commands >= 3 * others
}

/// `true` for a line such as `set transactionz 5`, whose name is probably misspelled.
fn is_setting(line: &[u8]) -> bool {
    let name = line.strip_prefix(b"set ").unwrap_or_default();
    name.first().is_some_and(u8::is_ascii_alphabetic) && !line.contains(&b'=')
}

enum ScriptLineKind {
    Distinctive,
    Command,
    Other,
}

fn kind(line: &[u8]) -> ScriptLineKind {
    if line.starts_with(b"!") {
        return ScriptLineKind::Command;
    }
    match command::find(Compat::default(), line) {
        // PostMark drops the last byte of a last line without a line break, so names may lack a
        // letter.
        None if matches!(line, b"ru") => ScriptLineKind::Distinctive,
        None if matches!(line, b"qui" | b"sho") => ScriptLineKind::Command,
        None if is_setting(line) => ScriptLineKind::Command,
        None => ScriptLineKind::Other,
        Some((command, parameter)) => match command {
            PostmarkCommand::Run if parameter.is_none() || line.starts_with(b"run ") => {
                ScriptLineKind::Distinctive
            }
            // PostMark matches prefixes, so this may be a line such as `runtime=60` of another
            // format.
            PostmarkCommand::Run => ScriptLineKind::Other,
            PostmarkCommand::Load
            | PostmarkCommand::Show
            | PostmarkCommand::Help
            | PostmarkCommand::Quit => ScriptLineKind::Command,
            _ => ScriptLineKind::Distinctive,
        },
    }
}
