//! Steps after a run: saves its record, and determines the exit code.

use std::path::{Path, PathBuf};

use results::{RunRecord, Status};
use run::Finished;

use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy};
use crate::terminal::{StandardOutput, eprint_document, print_document};

impl Exit {
    /// Returns the exit status of a run. `is_whole` is `true` if its record was saved to all
    /// requested places.
    pub fn of_run(record: &RunRecord, is_whole: bool) -> Self {
        match record.status {
            Status::Interrupted => Self::Interrupted,
            Status::Failed => Self::System,
            Status::Complete if record.has_failure() => Self::Failed,
            Status::Complete if !is_whole => Self::Failed,
            Status::Complete => Self::Success,
        }
    }
}

/// Returns the record of a run, and `true` if it is in the results store. A record that could not
/// be stored is saved to a file.
///
/// # Errors
/// If an error ended the run early.
pub(crate) fn saved(
    finished: Finished,
    output: StandardOutput,
) -> Result<(RunRecord, bool), CliError> {
    warn_not_stored(&finished);
    let is_stored = finished.not_stored.is_none();
    if !is_stored {
        spill_record(&finished.record, Vec::new(), output);
    }
    match finished.error {
        Some(error) => Err(error.into()),
        None => Ok((finished.record, is_stored)),
    }
}

/// Reports why a run is not in the results store.
pub(crate) fn warn_not_stored(finished: &Finished) {
    let Some(error) = &finished.not_stored else {
        return;
    };
    tell!("warning: the run is not in the results store: {error}");
    if let Some(help) = error.help() {
        tell!("help: {help}");
    }
}

/// Saves a record to a file and prints its path. Tries the `preferred` directories, the current
/// directory and the directory for temporary files. If all fail, prints the record on standard
/// output or standard error.
pub(crate) fn spill_record(record: &RunRecord, preferred: Vec<PathBuf>, output: StandardOutput) {
    let name = format!("pgmeter-{}.json", record.id);
    let document = OutputText::Json(record.to_json());
    let others = [PathBuf::new(), std::env::temp_dir()];
    let mut tried: Vec<PathBuf> = Vec::new();
    for directory in preferred.into_iter().chain(others) {
        if is_same(&tried, &directory) {
            continue;
        }
        let path = directory.join(&name);
        let created = OutputFile::create(&path, OverwritePolicy::Keep);
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
    eprint_document(&document);
}

fn is_same(tried: &[PathBuf], directory: &Path) -> bool {
    // The empty path stands for the current directory, but `canonicalize` refuses it.
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
    fn a_lost_target_fails_the_run() {
        let mut record = complete_record();
        assert_eq!(Exit::of_run(&record, true), Exit::Success);
        let lost = Warning::of_cell(WarningCode::TargetLost, 0, "gone");
        record.warnings.push(lost);
        assert_eq!(Exit::of_run(&record, true), Exit::Failed);
    }
}
