//! `board`: tables of results that many people submit to a repository.

mod files;
mod init;
mod lint;
mod open;

use crate::args::{BoardAction, BoardArgs};
use crate::failure::{CliError, Exit};
use crate::stored::StoreLocation;

/// Makes a board, or works on one.
pub(crate) fn board(args: &BoardArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    match &args.action {
        BoardAction::Init(args) => init::init(args),
        BoardAction::Lint(args) => lint::lint(args, location),
    }
}
