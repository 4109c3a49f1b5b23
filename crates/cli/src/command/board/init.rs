//! `board init`: makes a board.

use board::{BoardMade, new_board};

use super::files::{refuse_unless_empty, write_below};
use crate::args::board::BoardInitArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};

/// Makes a board in a new or empty directory.
pub(super) fn init(args: &BoardInitArgs) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    refuse_unless_empty(&args.directory)?;
    let files = new_board(args.title.as_deref(), args.empty);
    for file in &files {
        write_below(&args.directory, file)?;
    }
    let made = BoardMade::of(&args.directory, &files);
    json.give(&made, || OutputText::prose(shown(&made)))?;
    Ok(Exit::Success)
}

fn shown(made: &BoardMade) -> String {
    let directory = &made.directory;
    let (tables, submissions) = (made.tables.len(), made.submissions.len());
    format!(
        "made the board {directory} with {tables} tables and {submissions} submissions\n\
         next: `pgmeter board add last --board {directory}` adds a run; \
         `pgmeter board build {directory} -o SITE` makes the site\n"
    )
}
