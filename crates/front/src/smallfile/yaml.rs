//! Parameters from a YAML file: one mapping of scalars, whose keys are options without dashes.

use super::options::{OPTIONS, SmallfileOptions, YAML_OPTION};
use crate::file_access::FileAccess;
use crate::options::{all_of, escaped, located};

/// Options that the original accepts only on the command line.
const COMMAND_LINE_ONLY: [&str; 4] = [
    YAML_OPTION,
    "--log-to-stderr",
    "--remote-pgm-dir",
    "--launch-by-daemon",
];

/// The original's other name for an option.
const RECORD_CTIME_SIZE: (&str, &str) = ("record-time-size", "--record-ctime-size");

/// Arguments followed by the parameters of the YAML file that they name, if they name one. The
/// parameters of the file override the arguments, as in the original.
///
/// # Errors
/// The file cannot be read, or an argument or parameter is unknown or not supported.
pub(super) fn expand_yaml(
    arguments: &[String],
    files: FileAccess<'_>,
) -> Result<Vec<String>, String> {
    let mut words = arguments.to_vec();
    let Some(name) = SmallfileOptions::parse(arguments)?.yaml_file else {
        return Ok(words);
    };
    let shown = escaped(&name);
    let text = String::from_utf8(files.read(&name)?);
    let text = text.map_err(|_| format!("`{shown}` is not a text file"))?;
    let (mut flaws, mut keys) = (Vec::new(), Vec::new());
    for (line_number, line) in (1..).zip(text.lines()) {
        let parameter = parameter(line).and_then(|found| match found {
            Some((key, value)) => Ok(Some((option(&key)?, key, value))),
            None => Ok(None),
        });
        match parameter {
            Ok(None) => {}
            Ok(Some((_, key, _))) if keys.contains(&key) => {
                flaws.push(located(&name, line_number, &format!("`{key}` is repeated")));
            }
            Ok(Some((option, key, value))) => {
                let option = [option.to_owned(), value];
                // Read alone, so that the list of mistakes has this one with its line.
                let flaw = SmallfileOptions::parse(&option).err();
                flaws.extend(flaw.map(|flaw| located(&name, line_number, &flaw)));
                words.extend(option);
                keys.push(key);
            }
            Err(flaw) => flaws.push(located(&name, line_number, &flaw)),
        }
    }
    all_of(flaws)?;
    Ok(words)
}

/// The option of a parameter.
fn option(key: &str) -> Result<&'static str, String> {
    if key == RECORD_CTIME_SIZE.0 {
        return Ok(RECORD_CTIME_SIZE.1);
    }
    let mut names = OPTIONS.iter().flat_map(|row| row.names());
    let named = names.find(|name| name.strip_prefix("--") == Some(key));
    match named {
        Some(name) if COMMAND_LINE_ONLY.contains(&name) => Err(format!(
            "`{key}` is not allowed in a file; put `{name}` on the command line"
        )),
        Some(name) => Ok(name),
        None => Err(format!("there is no parameter `{}`", escaped(key))),
    }
}

/// The key and the value of a line; `None` for empty lines, comments and document marks.
fn parameter(line: &str) -> Result<Option<(String, String)>, String> {
    let is_indented = line.starts_with([' ', '\t']);
    let content = without_comment(line).trim();
    if content.is_empty() || matches!(content, "---" | "...") {
        return Ok(None);
    }
    let shown = escaped(content);
    if is_indented {
        return Err(format!(
            "`{shown}` is indented, but a parameter begins its line"
        ));
    }
    if content.starts_with(['-', '{', '[', '?', '%', '&', '*', '!']) {
        return Err(format!("`{shown}` is not `PARAMETER: VALUE`"));
    }
    let split = content
        .split_once(": ")
        .or_else(|| Some((content.strip_suffix(':')?, "")));
    let Some((key, value)) = split else {
        return Err(format!("`{shown}` is not `PARAMETER: VALUE`"));
    };
    let key = scalar(key.trim_end())?;
    match scalar(value.trim())? {
        value if value.is_empty() => Err(format!("`{}` has no value", escaped(&key))),
        value => Ok(Some((key, value))),
    }
}

/// The line up to its comment, which starts with `#` at the beginning or after a space, but not
/// within quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (index, c) in line.char_indices() {
        match quote {
            // A doubled quote ends the text and starts it again, which makes no difference here.
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '#' && before.is_whitespace() => return &line[..index],
            // Within a word, a quote is a character like any other.
            None if matches!(c, '"' | '\'') && before.is_whitespace() => quote = Some(c),
            None => {}
        }
        before = c;
    }
    line
}

/// The text of a scalar.
fn scalar(text: &str) -> Result<String, String> {
    let unquoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    let unsupported = || format!("`{}` is not a plain or quoted value", escaped(text));
    if let Some(inner) = unquoted('\'') {
        let is_whole = !inner.replace("''", "").contains('\'');
        return is_whole
            .then(|| inner.replace("''", "'"))
            .ok_or_else(unsupported);
    }
    if let Some(inner) = unquoted('"') {
        let is_plain = !inner.contains(['"', '\\']);
        return is_plain.then(|| inner.to_owned()).ok_or_else(unsupported);
    }
    if text.starts_with(['"', '\'', '{', '[', '|', '>', '&', '*', '!', '@', '`', '%']) {
        return Err(unsupported());
    }
    // The only truth values of YAML that the options spell in another way.
    Ok(match text {
        "on" | "On" | "ON" => "Y".to_owned(),
        "off" | "Off" | "OFF" => "N".to_owned(),
        _ => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_parameter_and_a_scalar() {
        for (line, wanted) in [
            ("files: 10", Some(("files", "10"))),
            ("file-size:  4   # KiB", Some(("file-size", "4"))),
            ("top: '/mnt/a # b'", Some(("top", "/mnt/a # b"))),
            ("prefix: \"it's\"", Some(("prefix", "it's"))),
            ("suffix: 'it''s'", Some(("suffix", "it's"))),
            ("prefix: a#b", Some(("prefix", "a#b"))),
            ("'fsync' : on", Some(("fsync", "Y"))),
            ("", None),
            ("  # only a comment", None),
            ("---", None),
        ] {
            let read = parameter(line).unwrap();
            let read = read
                .as_ref()
                .map(|(key, value)| (key.as_str(), value.as_str()));
            assert_eq!(read, wanted, "{line}");
        }
    }

    #[test]
    fn other_yaml_is_refused() {
        for line in [
            "files",
            "files:10",
            "files:",
            "- files",
            "  files: 10",
            "{ files: 10 }",
            "top: [a, b]",
            "top: |",
            "top: \"a\\n\"",
            "top: 'a",
        ] {
            assert!(parameter(line).is_err(), "{line}");
        }
    }

    #[test]
    fn parameters_are_named_like_options() {
        assert_eq!(option("files-per-dir"), Ok("--files-per-dir"));
        assert_eq!(option("record-time-size"), Ok("--record-ctime-size"));
        for key in ["file", "--files", "yaml-input-file", "log-to-stderr", ""] {
            assert!(option(key).is_err(), "{key}");
        }
    }
}
