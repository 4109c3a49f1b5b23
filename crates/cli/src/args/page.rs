//! Options for the HTML page of a result.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

/// Options for the HTML page of a result.
#[derive(Debug, Args, Default)]
pub(crate) struct PageArgs {
    /// Write the HTML page to this file instead of the report directory
    #[arg(long, value_name = "FILE", conflicts_with = "no_html")]
    pub html: Option<PathBuf>,
    /// Write no HTML page
    #[arg(long, visible_alias = "no-report", conflicts_with = "open")]
    pub no_html: bool,
    #[command(flatten)]
    pub place: ReportDirArg,
    /// Open the page at the end, in `BROWSER` or the desktop's browser
    #[arg(long)]
    pub open: bool,
}

/// Directory of pages without an explicit file name.
#[derive(Debug, Args, Default)]
pub(crate) struct ReportDirArg {
    /// Report directory; by default `reports` next to the results store
    // An empty variable counts as unset.
    #[arg(
        long,
        value_name = "DIR",
        env = "PGMETER_REPORTS",
        hide_env_values = true,
        value_hint = ValueHint::DirPath,
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub report_dir: Option<PathBuf>,
}
