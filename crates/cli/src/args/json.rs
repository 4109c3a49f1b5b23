//! The `--json` option.

use std::path::PathBuf;

use clap::Args;

/// `--json` of commands that do not measure. A file name needs `=`, because a separate argument
/// belongs to the command: the key in `keys --json size`, the records in `compare --json a.json
/// b.json`.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct JsonArg {
    /// Print JSON instead of text; `--json=FILE`, with an equals sign, writes the JSON to FILE, and
    /// still prints the text
    #[arg(
        // clap's default id is the name of the field, but `conflicts_with` of other options names
        // `json`.
        id = "json",
        long = "json",
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-"
    )]
    pub file: Option<PathBuf>,
}

/// `--json` of commands that measure. The file name may also be a separate argument.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct RecordJsonArg {
    /// Write the record as JSON to standard output and the results to standard error; `--json FILE`
    /// or `--json=FILE` writes the record to FILE instead, replacing an existing file
    #[arg(
        id = "json",
        long = "json",
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-"
    )]
    pub file: Option<PathBuf>,
}
