//! Boards: tables of results that many people submit to a repository.
//!
//! A board is a directory with `board.toml` and one directory per submission. This crate reads the
//! texts of these files, checks submissions by numbered rules, ranks them, and makes the pages of a
//! static site. It neither reads nor writes files, and it prints nothing.

mod add;
mod comparison;
mod config;
mod documents;
mod entry;
mod error;
mod figures;
mod groups;
mod hash;
mod imported;
mod joined;
mod lint;
mod new_board;
mod published;
mod rank;
mod session;
mod site;
mod strip;
mod submission;
mod toml_text;
mod value;
mod work;

pub use add::{PreparedSubmission, kind_of, prepare, table_of, work_of};
pub use comparison::{BetterSide, ComparedColumn, SubmissionComparison};
pub use config::{
    BOARD_FORMAT, BoardColumn, BoardConfig, BoardTable, ImportedWork, PoolSize, RULES_EDITION,
    SubmissionPair,
};
pub use documents::{
    BoardBuilt, BoardLint, BoardMade, BoardStanding, RunStandings, SubmissionAdded,
};
pub use entry::{TrustLevel, Values};
pub use error::BoardError;
pub use figures::{FIGURES_FORMAT, SubmittedFigures, SubmittedRow};
pub use joined::joined;
pub use lint::{
    BoardRule, CheckedSubmission, Checker, PoolGeneration, PoolVerdict, RuleFinding, RuleLevel,
    check_together,
};
pub use new_board::{NewFile, new_board};
pub use rank::{BoardRanking, RankedPlace, is_tied};
pub use site::{BoardSite, SiteDocument, SiteEntry};
pub use strip::{StrippedKind, StrippedText, strip};
pub use submission::{
    ANSWERS, DeclaredFacts, RecordFacts, SUBMISSION_FORMAT, Submission, SubmissionDescription,
    SubmissionTexts, SubmittedResult, SystemKind, is_slug, slug_of,
};
pub use value::MeasuredValue;
