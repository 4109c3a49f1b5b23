//! Boards: tables of results that many people submit to a repository.
//!
//! A board is a directory with `board.toml` and one directory per submission. This crate reads the
//! texts of these files, checks submissions by numbered rules, ranks them, and makes the pages of a
//! static site. It neither reads nor writes files, and it prints nothing.

mod add;
mod config;
mod documents;
mod entry;
mod error;
mod figures;
mod groups;
mod hash;
mod joined;
mod lint;
mod new_board;
mod published;
mod rank;
mod site;
mod strip;
mod submission;
mod toml_text;
mod work;

pub use add::{PreparedSubmission, kind_of, prepare, table_of};
pub use config::{BOARD_FORMAT, BoardColumn, BoardConfig, BoardTable, PoolSize, RULES_EDITION};
pub use documents::{
    BoardBuilt, BoardLint, BoardMade, BoardStanding, RunStandings, SubmissionAdded,
};
pub use entry::{MeasuredValue, TrustLevel, Values};
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
