//! Arguments of `board`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::JsonArg;

/// Arguments of `board`.
#[derive(Debug, Args)]
pub(crate) struct BoardArgs {
    #[command(subcommand)]
    pub action: BoardAction,
}

/// Actions of `board`.
#[derive(Debug, Subcommand)]
pub(crate) enum BoardAction {
    /// Make a board in a new or empty directory; the published tables are its first entries
    Init(BoardInitArgs),
    /// Check submissions by numbered rules; exit with code 1 if a rule refuses one
    Lint(BoardLintArgs),
}

/// Arguments of `board init`.
#[derive(Debug, Args)]
pub(crate) struct BoardInitArgs {
    /// Directory of the board
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Title of the site
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Without the published tables
    #[arg(long)]
    pub empty: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `board lint`.
#[derive(Debug, Args)]
pub(crate) struct BoardLintArgs {
    /// Boards, single submissions of a board, or records
    #[arg(value_name = "DIR|FILE", default_value = ".", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub json: JsonArg,
}
