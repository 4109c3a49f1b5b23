//! Whether and where a page is written.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueHint};

/// Whether and where a page is written.
#[derive(Debug, Args, Default)]
pub(crate) struct PageArgs {
    /// Write the HTML page to this file, not to the report directory
    #[arg(long, value_name = "FILE", conflicts_with = "no_html")]
    pub html: Option<PathBuf>,
    /// Write no HTML page
    #[arg(long, visible_alias = "no-report", conflicts_with = "open")]
    pub no_html: bool,
    #[command(flatten)]
    pub place: ReportDirArg,
    /// Open the page in the browser at the end: `BROWSER`, or that of the desktop
    #[arg(long)]
    pub open: bool,
}

/// Where pages are that nobody named a file for.
#[derive(Debug, Args, Default)]
pub(crate) struct ReportDirArg {
    /// The report directory; by default `reports` next to the results store
    // An empty variable is none.
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
