//! What follows a run: its record is saved somewhere, and the exit code says how it ended.

use std::path::{Path, PathBuf};

use results::{RunRecord, Status};
use run::Finished;

use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::output::{Existing, OutputFile};
use crate::terminal::{StandardOutput, print_document, tell_document};

impl Exit {
    /// How a run ended; `is_whole` is whether its record is everywhere that it was wanted.
    pub fn of_run(record: &RunRecord, is_whole: bool) -> Self {
        match record.status {
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::System,
            Status::Complete if record.has_failure() => Self::Failed,
            Status::Complete if !is_whole => Self::Failed,
            Status::Complete => Self::Measured,
        }
    }
}

/// The record of a run, and whether it is in the results store. A record that could not be stored
/// is saved in a file.
///
/// # Errors
/// Why the run ended before its plan did.
pub(crate) fn saved(
    finished: Finished,
    output: StandardOutput,
) -> Result<(RunRecord, bool), Failure> {
    tell_not_stored(&finished);
    let is_stored = finished.not_stored.is_none();
    if !is_stored {
        rescue(&finished.record, Vec::new(), output);
    }
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok((finished.record, is_stored)),
    }
}

/// Says why a run is not in the results store.
pub(crate) fn tell_not_stored(finished: &Finished) {
    let Some(error) = &finished.not_stored else {
        return;
    };
    tell!("warning: the run is not in the results store: {error}");
    if let Some(help) = error.help() {
        tell!("help: {help}");
    }
}

/// Saves a record and says where: in a file of one of the directories `beside`, of the current one
/// or of that for temporary files; where none can be made, on standard output or standard error.
pub(crate) fn rescue(record: &RunRecord, beside: Vec<PathBuf>, output: StandardOutput) {
    let name = format!("pgmeter-{}.json", record.id);
    let document = Document::Json(record.to_json());
    let others = [PathBuf::new(), std::env::temp_dir()];
    let mut tried: Vec<PathBuf> = Vec::new();
    for directory in beside.into_iter().chain(others) {
        if is_same(&tried, &directory) {
            continue;
        }
        let path = directory.join(&name);
        let created = OutputFile::create(&path, Existing::Keep);
        match created.and_then(|file| file.finish(&document)) {
            Ok(()) => return tell!("the run's record is in `{}`", path.display()),
            Err(failure) => failure.print(),
        }
        tried.push(directory);
    }
    if output == StandardOutput::Free {
        tell!("the run's record is on standard output");
        match print_document(&document) {
            Ok(()) => return,
            Err(failure) => failure.print(),
        }
    }
    tell!("the run's record follows");
    tell_document(&document);
}

fn is_same(tried: &[PathBuf], directory: &Path) -> bool {
    let real = |path: &Path| Path::new(".").join(path).canonicalize().ok();
    let directory = real(directory);
    directory.is_some() && tried.iter().any(|it| real(it) == directory)
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use results::{Environment, Warning, WarningCode};

    use super::*;

    /// Of a run that ended well and measured nothing.
    fn complete_record() -> RunRecord {
        let mut record = RunRecord::new(Plan::default(), Environment::default(), Vec::new());
        record.finish(Status::Complete);
        record
    }

    #[test]
    fn a_target_that_went_away_is_a_failure() {
        let mut record = complete_record();
        assert_eq!(Exit::of_run(&record, true), Exit::Measured);
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        record.warnings.push(lost);
        assert_eq!(Exit::of_run(&record, true), Exit::Failed);
    }
}
