//! The original's file of settings, as options of ours.

use workload::{Diagnostic, printable};

/// Keys of sections, and the options that they stand for; those of an empty one say what is done
/// in any case, and change nothing.
const KEYS: [(&str, &str, &str); 15] = [
    ("global", "datadir", "-d"),
    ("global", "timestamp-datadir", ""),
    ("global", "resultdir", ""),
    ("global", "timestamp-resultdir", ""),
    ("global", "verbosity", ""),
    ("debug", "stonewall-time", "--time"),
    ("ior-easy", "transferSize", "--easy-transfer"),
    ("ior-easy", "blockSize", "--easy-block"),
    ("ior-easy", "filePerProc", ONLY_TRUE),
    ("mdtest-easy", "n", "--easy-files"),
    ("ior-hard", "segmentCount", "--hard-segments"),
    ("mdtest-hard", "n", "--hard-files"),
    ("", "API", ONLY_POSIX),
    ("", "api", ONLY_POSIX),
    ("", "run", ONLY_TRUE),
];
/// In the place of an option: values that change nothing, while all others are refused.
const ONLY_TRUE: &str = "TRUE";
const ONLY_POSIX: &str = "POSIX";

/// The options that a file of settings stands for.
///
/// # Errors
/// A line that is none of such a file, or asks for what is not done here.
pub(super) fn words(name: &str, bytes: &[u8]) -> Result<Vec<String>, Diagnostic> {
    let text = String::from_utf8_lossy(bytes);
    let mut section = String::new();
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        let named = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        if let Some(named) = named {
            named.trim().clone_into(&mut section);
        } else if !line.is_empty() {
            let read = setting(&section, line);
            let read = read.map_err(|why| Diagnostic::error(name, why).at_line(number))?;
            words.extend(read);
        }
    }
    Ok(words)
}

/// An option and its value, if it is more than a default.
fn setting(section: &str, line: &str) -> Result<Vec<String>, String> {
    let split = line.split_once('=');
    let (key, value) = split.ok_or_else(|| format!("`{}` is no setting", printable(line)))?;
    let (key, value) = (key.trim(), value.trim());
    // A key without a value stands for what is so without it.
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let is_it = |it: &&(&str, &str, &str)| (it.0.is_empty() || it.0 == section) && it.1 == key;
    let (shown, shown_section) = (printable(key), printable(section));
    let known = KEYS.iter().find(is_it);
    let (.., option) =
        known.ok_or_else(|| format!("`{shown}` of `[{shown_section}]` is not done here"))?;
    match *option {
        "" => Ok(Vec::new()),
        only @ (ONLY_TRUE | ONLY_POSIX) if value.eq_ignore_ascii_case(only) => Ok(Vec::new()),
        only @ (ONLY_TRUE | ONLY_POSIX) => Err(format!(
            "`{shown}` of `[{shown_section}]` is `{}`, and can only be {only} here",
            printable(value)
        )),
        option => Ok(vec![option.to_owned(), value.to_owned()]),
    }
}
