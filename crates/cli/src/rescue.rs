//! A place for the record of a run that is in none of those where it was wanted.

use std::path::{Path, PathBuf};

use results::RunRecord;

use crate::document::Document;
use crate::output::{Existing, OutputFile};
use crate::terminal::{StandardOutput, print_document, tell_document};

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
