//! `runs import`: records of pgmeter, and results of other programs.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use plan::Diagnostic;
use results::{ImportedText, RunRecord, Timestamp};
use store::{Imported, ImportedRun, RunsImported, Store, StoreError};

use crate::args::JsonArg;
use crate::failure::{CliError, Exit};
use crate::stored::{StoreLocation, open, read_text, refused};
use crate::terminal::print;

/// Maximum size of a result of another program. The largest known ones, with distributions of
/// hundreds of jobs, have less than a tenth of this.
const RESULT_BYTES_MAX: u64 = 64 << 20;

/// Files of a result directory of IO500 that have results and settings.
const DIRECTORY_FILES: [&str; 3] = ["result_summary.txt", "result.txt", "config.ini"];

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
    if let Some(format) = import::recognize(&texts) {
        let results = import::read(format, texts).map_err(|mut error| {
            // Readers know only the name of the file, and the user may have named several.
            error.file = match path.is_dir() {
                true => path.join(&error.file).display().to_string(),
                false => path.display().to_string(),
            };
            error
        })?;
        let origin = results.origin.title();
        let record = RunRecord::imported(results, Timestamp::now());
        return Ok((store.add(&record)?, Some(origin)));
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

/// Reads a file, or the result files of a directory.
fn texts(path: &Path) -> Result<Vec<ImportedText>, CliError> {
    if path.is_dir() {
        let files = DIRECTORY_FILES.iter().map(|name| path.join(name));
        return files
            .filter(|file| file.is_file())
            .map(|it| text(&it))
            .collect();
    }
    Ok(vec![text(path)?])
}

fn text(path: &Path) -> Result<ImportedText, CliError> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let file = open(path)?;
    let length = file.metadata().map(|it| it.len()).unwrap_or(u64::MAX);
    let text = match length > RESULT_BYTES_MAX {
        // Only a record may be that large.
        true => read_text(path)?,
        false => read_utf8(file, path)?,
    };
    Ok(ImportedText { name, text })
}

fn read_utf8(mut file: File, path: &Path) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| refused(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|byte| **byte == b'\n').count();
        let help = "convert it, for example with `iconv -t UTF-8`";
        Diagnostic::error(path.display().to_string(), "expected text in UTF-8")
            .at_line(u32::try_from(line).unwrap_or(u32::MAX))
            .help(help)
            .into()
    })
}
