//! Adds the results of `paper run` and `lab run` to a board.

use board::{BoardTable, is_slug, joined, prepare};
use lab::{FileSystemChoice, LabMatrix, MatrixOutcome};
use report::Paper;
use results::{RunRecord, Status};
use units::printable;

use super::add::{BoardChange, SubmitterTexts, free_slug, next, refuse_known_table, shown, write};
use super::open::OpenBoard;
use crate::args::board::SubmitArgs;
use crate::failure::{CliError, Exit};

/// A board to which results are added once they are measured.
pub(crate) struct BoardSubmitter {
    board: OpenBoard,
    texts: SubmitterTexts,
    new_table: Option<String>,
    /// Number of runs that each submission has.
    repetitions: usize,
}

fn usage_error(message: impl std::fmt::Display, help: impl Into<String>) -> CliError {
    CliError::new(Exit::Usage, message, Some(help.into()))
}

impl BoardSubmitter {
    /// Opens the board and asks for missing texts, so that a mistake is reported before hours of
    /// measuring. Returns `None` if no board is named.
    pub fn open(args: &SubmitArgs, repetitions: u32) -> Result<Option<Self>, CliError> {
        let Some(directory) = &args.board else {
            let texts = &args.texts;
            let given = [
                ("--title", &texts.title),
                ("--submitter", &texts.submitter),
                ("--license", &texts.license),
            ];
            return match given.into_iter().find(|(_, text)| text.is_some()) {
                None => Ok(None),
                Some((option, _)) => Err(usage_error(
                    format!("`{option}` describes a submission, but no board is named"),
                    "add `--board DIR`",
                )),
            };
        };
        let board = OpenBoard::open(directory)?;
        if let Some(name) = &args.new_table {
            refuse_known_table(&board, name)?;
            if !is_slug(name) {
                let message = format!("`{}` cannot be the name of a table", printable(name));
                return Err(usage_error(
                    message,
                    "use small letters, digits and hyphens",
                ));
            }
        }
        Ok(Some(Self {
            texts: SubmitterTexts::of(&args.texts)?,
            new_table: args.new_table.clone(),
            repetitions: usize::try_from(repetitions).unwrap_or(usize::MAX),
            board,
        }))
    }

    /// Refuses an experiment that no table of the board ranks.
    pub fn refuse_unranked(&self, paper: &Paper, matrix: &LabMatrix) -> Result<(), CliError> {
        if self.new_table.is_some() {
            return Ok(());
        }
        let mut tables = self.board.config.tables.iter();
        let is_of = |table: &BoardTable| table.paper.as_deref() == Some(paper.name);
        if !tables.any(is_of) {
            let message = format!("no table of the board ranks `{}`", paper.name);
            return Err(usage_error(message, "add `--new-table NAME`"));
        }
        if !matrix.request.scale.is_full() {
            let message = "a table of a published experiment ranks only its full size";
            return Err(usage_error(
                message,
                "leave out `--scale`, or add `--new-table NAME`",
            ));
        }
        Ok(())
    }

    /// Refuses a new table for several workloads, because a table ranks one.
    pub fn refuse_several(&self, matrix: &LabMatrix) -> Result<(), CliError> {
        match &self.new_table {
            Some(_) if matrix.workloads.len() > 1 => Err(usage_error(
                "`--new-table` makes a table for one workload",
                "measure one workload at a time",
            )),
            _ => Ok(()),
        }
    }

    /// Adds a submission per workload and file system. A refused one does not prevent the others;
    /// its error is returned last.
    pub fn add(
        mut self,
        matrix: &LabMatrix,
        outcome: &MatrixOutcome,
        is_quiet: bool,
    ) -> Result<(), CliError> {
        let choices = &matrix.request.choices;
        let mut first_error = None;
        let mut is_added = false;
        for workload_index in 0..matrix.workloads.len() {
            let mut names = Vec::new();
            for (index, choice) in choices.iter().enumerate() {
                let runs = outcome.of_job(workload_index, index);
                let runs: Vec<RunRecord> = runs.map(|it| it.record.clone()).collect();
                let name = numbered(system_name(choice, &runs), &mut names);
                let name = Some(name).filter(|_| choices.len() > 1);
                match self.add_system(name.as_deref(), runs, is_quiet) {
                    Ok(is_new) => is_added |= is_new,
                    Err(error) if first_error.is_none() => first_error = Some(error),
                    Err(error) => tell_text!("{}\n", error.text()),
                }
            }
        }
        if is_added && !is_quiet {
            tell_text!("{}", next(&self.board.directory));
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Adds the runs of one file system. `name` distinguishes it from others of the same title.
    /// Returns `false` if some runs are missing, which decides the exit code.
    fn add_system(
        &mut self,
        name: Option<&str>,
        runs: Vec<RunRecord>,
        is_quiet: bool,
    ) -> Result<bool, CliError> {
        let title = &self.texts.title;
        let title = name.map_or_else(|| title.clone(), |name| format!("{title}, {name}"));
        let complete = runs.iter().filter(|it| it.status == Status::Complete);
        let (count, wanted) = (complete.count(), self.repetitions);
        // The repetitions before an interrupt must not look as if they were all.
        if count != wanted {
            tell!(
                "warning: `{title}` is not added to the board, because only {count} of {wanted} \
                 repetitions are complete"
            );
            return Ok(false);
        }
        let Some(record) = joined(runs) else {
            let message = format!("the repetitions of `{title}` did different work");
            let help = "set the size and the times of the workload".to_owned();
            return Err(CliError::new(Exit::Failed, message, Some(help)));
        };
        let mut description = self.texts.description(&record);
        description.title = title;
        // It explains the pauses between the repetitions.
        let note = || format!("Joined from {count} runs, one per repetition.");
        description.note = (count > 1).then(note);
        let slug = free_slug(&self.board, &description.title)?;
        let prepared = prepare(&slug, &record, description, &[])?;
        let new_table = self.new_table.as_deref();
        let change = new_table.map_or(BoardChange::None, BoardChange::NewTable);
        let added = write(&mut self.board, &prepared, change)?;
        // The first submission has made the table.
        self.new_table = None;
        if !is_quiet {
            tell_text!("{}", shown(&added));
        }
        Ok(true)
    }
}

/// Adds a number to a name that an earlier file system has, such as another directory of ext4.
fn numbered(name: String, earlier: &mut Vec<String>) -> String {
    let count = earlier.iter().filter(|it| **it == name).count() + 1;
    earlier.push(name.clone());
    match count {
        1 => name,
        _ => format!("{name} ({count})"),
    }
}

/// Returns a name for a file system without its path, which is private.
fn system_name(choice: &FileSystemChoice, runs: &[RunRecord]) -> String {
    let kinds = runs.first().map(|it| &it.environment.file_systems);
    let kind = kinds.and_then(|it| it.first()).map(|it| it.kind.clone());
    match choice.entry() {
        Some(_) => choice.label.clone(),
        None => kind.unwrap_or_else(|| "another file system".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_equal_names_are_numbered() {
        let mut earlier = Vec::new();
        let names = ["ext4", "xfs", "ext4", "ext4"];
        let names = names.map(|it| numbered(it.to_owned(), &mut earlier));
        assert_eq!(names, ["ext4", "xfs", "ext4 (2)", "ext4 (3)"]);
    }
}
