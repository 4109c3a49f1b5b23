//! `board`: tables of results that many people submit to a repository.

mod add;
mod build;
mod compare;
mod files;
mod init;
mod lint;
mod open;
mod rank;
mod submit;

pub(super) use open::OpenBoard;
pub(super) use submit::BoardSubmitter;

use crate::args::BoardArgs;
use crate::args::board::BoardAction;
use crate::failure::{CliError, Exit};
use crate::stored::StoreLocation;

/// Makes a board, or works on one.
pub(crate) fn board(args: &BoardArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    match &args.action {
        BoardAction::Init(args) => init::init(args),
        BoardAction::Add(args) => add::add(args, location),
        BoardAction::Build(args) => build::build(args),
        BoardAction::Compare(args) => compare::compare(args),
        BoardAction::Rank(args) => rank::rank(args, location),
        BoardAction::Lint(args) => lint::lint(args, location),
    }
}
