//! `runs import`: records of pgmeter, and results of other programs.

use std::path::{Path, PathBuf};

use store::{Imported, ImportedRun, RunsImported, Store, StoreError};

use crate::args::JsonArg;
use crate::failure::{CliError, Exit};
use crate::result_file::{imported, texts};
use crate::stored::{StoreLocation, refused};
use crate::terminal::print;

/// Imports each file. Each has its own transaction, so the imported ones stay after an error.
pub(super) fn import(
    files: &[PathBuf],
    location: &StoreLocation,
    json: &JsonArg,
) -> Result<(), CliError> {
    let output = json.open()?;
    let mut store = location.open()?;
    let mut done = RunsImported::default();
    let outcome = files.iter().try_for_each(|file| -> Result<(), CliError> {
        let (imported, origin) = import_file(file, &mut store)?;
        if !output.takes_stdout() {
            let from = origin.map_or_else(String::new, |it| format!(", results of {it}"));
            print(match &imported {
                Imported::New(id) => format!("imported {id}{from}\n"),
                Imported::AlreadyStored(id) => format!("{id} is in the store already{from}\n"),
            })?;
        }
        let file = file.to_string_lossy().into_owned();
        done.imported.push(ImportedRun::of(file, imported));
        Ok(())
    });
    // Report the imported records even if an error stopped the import.
    output.write(&done).and(outcome)
}

/// Imports a file; also returns the program whose results it has, unless it is a record.
fn import_file(path: &Path, store: &mut Store) -> Result<(Imported, Option<String>), CliError> {
    let texts = texts(path)?;
    if let Some(record) = imported(path, &texts)? {
        let origin = record.import.as_ref().map(|it| it.origin.title());
        return Ok((store.add(&record)?, origin));
    }
    let text = match texts.as_slice() {
        [text] => &text.text,
        _ => return Err(unknown_format(path)),
    };
    let imported = store.import(text.as_bytes()).map_err(|error| match error {
        // Not JSON, so it cannot be meant as a record.
        StoreError::Unreadable(_) if !text.trim_start().starts_with('{') => unknown_format(path),
        StoreError::Unreadable(_) | StoreError::BadRecord { .. } => refused(path, &error),
        error => error.into(),
    })?;
    Ok((imported, None))
}

fn unknown_format(path: &Path) -> CliError {
    let formats: Vec<String> = import::formats().collect();
    let message = format!(
        "`{}` has no results that pgmeter recognizes",
        path.display()
    );
    let help = format!(
        "name a record of pgmeter, or complete output of one of these: {}",
        formats.join(", ")
    );
    CliError::new(Exit::Usage, message, Some(help))
}
