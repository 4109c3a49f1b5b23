//! `--json` of every command that says something.

use std::path::PathBuf;

use clap::Args;

/// `--json` of commands that look at what is there. What follows behind a blank is the command's
/// own: the key of `keys --json size`, the records of `compare --json a.json b.json`.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct JsonArg {
    /// Print JSON instead of text; `--json=FILE` writes it to a file, and text is still printed
    #[arg(
        id = "json",
        long = "json",
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-"
    )]
    pub file: Option<PathBuf>,
}

/// `--json` of commands that measure, whose record is worth a file: its name may stand behind a
/// blank, too.
#[derive(Debug, Args, Default, Clone)]
pub(crate) struct RecordJsonArg {
    /// Print the record as JSON, and the results on standard error; with FILE, write the record
    /// there instead, replacing an existing file
    #[arg(
        id = "json",
        long = "json",
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-"
    )]
    pub file: Option<PathBuf>,
}
