//! Results of other programs in files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use plan::Diagnostic;
use results::{ImportedText, RunRecord, Timestamp};

use crate::failure::CliError;
use crate::stored::{StoreLocation, names_a_run, open, read_text, refused};

/// Maximum size of a result of another program. The largest known ones, with distributions of
/// hundreds of jobs, have less than a tenth of this.
const RESULT_BYTES_MAX: u64 = 64 << 20;

/// Files of a result directory of IO500 that have results and settings.
const DIRECTORY_FILES: [&str; 3] = ["result_summary.txt", "result.txt", "config.ini"];

/// Returns a stored run, an exported record, or the results of another program in a file.
pub(crate) fn record_or_results(
    name: &Path,
    location: &StoreLocation,
) -> Result<RunRecord, CliError> {
    let is_file = !name.to_str().is_some_and(names_a_run) && name.exists();
    let results = match is_file {
        true => imported(name, &texts(name)?)?,
        false => None,
    };
    results.map_or_else(|| location.record(name), Ok)
}

/// Returns the record of results of another program; `None` if no format matches.
pub(crate) fn imported(path: &Path, texts: &[ImportedText]) -> Result<Option<RunRecord>, CliError> {
    let Some(format) = import::recognize(texts) else {
        return Ok(None);
    };
    let results = import::read(format, texts.to_vec()).map_err(|mut error| {
        // Readers know only the name of the file, and the user may have named several.
        error.file = match path.is_dir() {
            true => path.join(&error.file).display().to_string(),
            false => path.display().to_string(),
        };
        error
    })?;
    Ok(Some(RunRecord::imported(results, Timestamp::now())))
}

/// Reads a file, or the result files of a directory.
pub(crate) fn texts(path: &Path) -> Result<Vec<ImportedText>, CliError> {
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
