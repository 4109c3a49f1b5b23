//! Arguments of `board`.

use std::path::PathBuf;

use board::{ANSWERS, StrippedKind, SystemKind};
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::ArgValueCompleter;
use units::Bytes;

use super::JsonArg;
use crate::complete::values;

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
    /// Add a run to a board, unless a rule refuses it
    Add(Box<BoardAddArgs>),
    /// Check submissions by numbered rules; exit with code 1 if a rule refuses one
    Lint(BoardLintArgs),
    /// Make the static site of a board
    Build(BoardBuildArgs),
    /// Say where a run stands in the tables of a board
    Rank(BoardRankArgs),
    /// Compare two submissions in the tables that have both
    Compare(BoardCompareArgs),
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

/// Texts that every submission needs.
#[derive(Debug, Args)]
pub(crate) struct SubmitterArgs {
    /// Name of the system on the board; asked on a terminal if missing, as are submitter and
    /// license
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Your name or organization
    #[arg(long, value_name = "TEXT")]
    pub submitter: Option<String>,
    /// License of the data, such as CC0-1.0
    #[arg(long, value_name = "TEXT")]
    pub license: Option<String>,
}

/// The board to which `paper run` and `lab run` add their results.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// Add the results to this board, a submission per file system, unless a rule refuses them;
    /// see `pgmeter board add`
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub board: Option<PathBuf>,
    #[command(flatten)]
    pub texts: SubmitterArgs,
    /// Also make a table of the board for the work
    #[arg(long, value_name = "NAME", requires = "board")]
    pub new_table: Option<String>,
}

/// Arguments of `board add`.
#[derive(Debug, Args)]
pub(crate) struct BoardAddArgs {
    /// A stored run (an id, the start of one, `last`, `@-2`), an exported JSON record, or results
    /// of another program
    #[arg(value_name = "RUN|FILE", default_value = "last",
        add = ArgValueCompleter::new(values::records))]
    pub run: PathBuf,
    /// Directory of the board
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub board: PathBuf,
    #[command(flatten)]
    pub texts: SubmitterArgs,
    /// Place of the data; by default what the record shows
    #[arg(long, value_name = "KIND")]
    pub kind: Option<SystemKindArg>,
    /// Year of the measurement, such as 2001; by default what the record or the text states
    #[arg(long, value_name = "YEAR")]
    pub year: Option<String>,
    /// Publication or page that an imported text comes from
    #[arg(long, value_name = "TEXT")]
    pub source: Option<String>,
    /// Machine, storage and file system in words
    #[arg(long, value_name = "TEXT")]
    pub system: Option<String>,
    /// Remark
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Reason for failed operations
    #[arg(long, value_name = "TEXT")]
    pub errors: Option<String>,
    /// Cache that served the data
    #[arg(long, value_name = "TEXT")]
    pub cache: Option<String>,
    /// Server and network of a network file system
    #[arg(long, value_name = "TEXT")]
    pub server: Option<String>,
    /// Sum of the maximum rates of all links to the storage, in bytes per second, such as `600MB`
    #[arg(long, value_name = "SIZE")]
    pub link: Option<Bytes>,
    /// Answer to a question of the board, such as `trust=TEXT`; repeatable
    #[arg(long, value_name = "KEY=TEXT", value_parser = answer)]
    pub answer: Vec<(String, String)>,
    /// Keep this kind of text in the record; repeatable
    #[arg(long, value_name = "KIND")]
    pub keep: Vec<StrippedKindArg>,
    /// Sign the record with this SSH key, by `ssh-keygen`
    #[arg(long, value_name = "KEY", value_hint = ValueHint::FilePath)]
    pub sign: Option<PathBuf>,
    /// Also make a table for the work of the run
    #[arg(long, value_name = "NAME")]
    pub new_table: Option<String>,
    /// Also let this table rank results of another program that did its work
    #[arg(long, value_name = "TABLE", conflicts_with = "new_table")]
    pub same_work_as: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}

impl BoardAddArgs {
    /// Returns the kinds of text to keep.
    pub fn kept_kinds(&self) -> Vec<StrippedKind> {
        self.keep.iter().map(|it| (*it).into()).collect()
    }
}

/// Parses an answer, and checks its key.
fn answer(text: &str) -> Result<(String, String), String> {
    let keys = || ANSWERS.map(|(key, _)| key).join(", ");
    match text.split_once('=') {
        Some((key, text)) if ANSWERS.iter().any(|(known, _)| *known == key) => {
            Ok((key.to_owned(), text.to_owned()))
        }
        _ => Err(format!("write `KEY=TEXT`, with one of the keys {}", keys())),
    }
}

/// Place of the data of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SystemKindArg {
    /// A device of the machine
    Local,
    /// The memory of the machine
    Memory,
    /// Another machine, over a network
    Network,
    /// Unknown
    Unknown,
}

impl From<SystemKindArg> for SystemKind {
    fn from(kind: SystemKindArg) -> Self {
        match kind {
            SystemKindArg::Local => Self::Local,
            SystemKindArg::Memory => Self::Memory,
            SystemKindArg::Network => Self::Network,
            SystemKindArg::Unknown => Self::Unknown,
        }
    }
}

/// Kind of text that a submission replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrippedKindArg {
    /// Names of hosts
    Host,
    /// Names of users
    User,
    /// Serial numbers and other unique ids
    Serial,
    /// Network addresses
    Address,
    /// Paths of files and directories
    Path,
}

impl From<StrippedKindArg> for StrippedKind {
    fn from(kind: StrippedKindArg) -> Self {
        match kind {
            StrippedKindArg::Host => Self::Host,
            StrippedKindArg::User => Self::User,
            StrippedKindArg::Serial => Self::Serial,
            StrippedKindArg::Address => Self::Address,
            StrippedKindArg::Path => Self::Path,
        }
    }
}

/// Arguments of `board build`.
#[derive(Debug, Args)]
pub(crate) struct BoardBuildArgs {
    /// Directory of the board
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
    /// Directory of the site: new, empty, or with an earlier site, whose files are replaced
    #[arg(long, short, value_name = "SITE", value_hint = ValueHint::DirPath)]
    pub output: PathBuf,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `board rank`.
#[derive(Debug, Args)]
pub(crate) struct BoardRankArgs {
    /// A stored run (an id, the start of one, `last`, `@-2`), an exported JSON record, or results
    /// of another program
    #[arg(value_name = "RUN|FILE", default_value = "last",
        add = ArgValueCompleter::new(values::records))]
    pub run: PathBuf,
    /// Directory of the board
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub board: PathBuf,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Arguments of `board compare`.
#[derive(Debug, Args)]
pub(crate) struct BoardCompareArgs {
    /// Directory of a submission below `submissions`
    #[arg(value_name = "FIRST")]
    pub first: String,
    /// Directory of another submission
    #[arg(value_name = "SECOND")]
    pub second: String,
    /// Directory of the board
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub board: PathBuf,
    #[command(flatten)]
    pub json: JsonArg,
}
