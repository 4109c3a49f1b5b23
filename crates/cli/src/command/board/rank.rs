//! `board rank`: says where a run stands.

use std::path::Path;

use board::{BoardRanking, BoardStanding, Checker, RunStandings};
use results::Timestamp;

use super::open::OpenBoard;
use crate::args::board::BoardRankArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::result_file::record_or_results;
use crate::stored::StoreLocation;

/// Prints the places of a run in the tables of a board.
pub(super) fn rank(args: &BoardRankArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let board = OpenBoard::open(&args.board)?;
    let record = record_or_results(&args.run, location)?;
    let mut all = board.check_all(&mut |_, _| Ok(()))?;
    // The run may be on the board already, and must not rank itself.
    all.retain(|it| it.run.as_ref() != Some(&record.id));
    let mut checker = Checker::new(&board.config, Timestamp::now());
    let mut own = checker.check_alone("this-run", &record);
    own.title = "this run".to_owned();
    own.values = board::Values::of_record(&record, &board.config);
    let is_refused = own.is_refused();
    // A place answers the question even if the board would refuse the run.
    own.findings.clear();
    all.push(own);
    let standings = board.config.tables.iter().filter_map(|table| {
        let ranking = BoardRanking::of(table, &all);
        Some(BoardStanding {
            table: table.name.clone(),
            standing: ranking.standing("this-run")?,
        })
    });
    let standings = RunStandings {
        run: record.id.clone(),
        is_refused,
        standings: standings.collect(),
    };
    // A program that reads the document takes an empty list as the answer.
    if standings.standings.is_empty() && !json.takes_stdout() {
        return Err(no_table(&args.board));
    }
    json.give(&standings, || OutputText::prose(shown(&standings)))?;
    Ok(Exit::Success)
}

fn no_table(board: &Path) -> CliError {
    let message = "no table of the board ranks the work of this run";
    let help = format!(
        "measure with the command of a table in {}/board.toml",
        board.display()
    );
    CliError::new(Exit::Usage, message, Some(help))
}

fn shown(standings: &RunStandings) -> String {
    let lines = standings.standings.iter();
    let mut text: String = lines
        .map(|it| format!("{}: {}\n", it.table, it.standing))
        .collect();
    if standings.is_refused {
        text.push_str("a rule refuses this run: `pgmeter board lint RUN` shows why\n");
    }
    text
}
