//! Names of output files that a blank separates from `--json`.

use std::path::Path;

/// Returns the help about the name of a missing file that follows `--json`, if the command takes
/// such a name only after a `=`.
pub(crate) fn detached_output(name: &str, words: &[String]) -> Option<String> {
    let mut pairs = words.windows(2);
    let is_output = pairs.any(|pair| pair[0] == "--json" && pair[1] == name);
    let shown = plan::printable(name);
    (is_output && !Path::new(name).exists())
        .then(|| format!("to write results to this file, write `--json={shown}`"))
}
