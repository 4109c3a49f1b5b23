//! Finds stored runs and exported records by the names that commands accept.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use front::FileAccess;
use results::RunRecord;
use store::{Store, StoreError};

use crate::detached_output::detached_output;
use crate::failure::{CliError, Exit};
use crate::usage::command_words;

/// Maximum size of a record file. Enough for two weeks of one-second intervals, as
/// [`RunRecord::to_json`] writes them; long runs have no shorter intervals.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// Maximum number of values in a record. A record of the maximum size has fewer, at twenty or more
/// bytes per value.
const VALUES_MAX: usize = 1 << 26;

/// Number of bytes read from a file to recognize results of fio.
const SNIFF_BYTES: u64 = 4096;

/// Location of the results store.
#[derive(Debug)]
pub(crate) struct StoreLocation(Option<PathBuf>);

impl StoreLocation {
    /// Uses the requested file, or that in `PGMETER_DB`, or else the user's default store.
    pub fn new(requested: Option<PathBuf>) -> Self {
        let requested = requested.or_else(|| std::env::var_os("PGMETER_DB").map(PathBuf::from));
        Self(requested.filter(|path| !path.as_os_str().is_empty()))
    }

    /// Returns the path of the store.
    pub fn path(&self) -> Result<PathBuf, StoreError> {
        match &self.0 {
            Some(path) => Ok(path.clone()),
            None => store::default_path(),
        }
    }

    /// Returns the default report directory, next to the store.
    pub fn reports(&self) -> Result<PathBuf, StoreError> {
        Ok(self.path()?.with_file_name("reports"))
    }

    /// Opens the store, and creates it if it does not exist.
    pub fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.path()?)
    }

    /// Opens the store; `None` if it does not exist.
    pub fn open_to_read(&self) -> Result<Option<Store>, StoreError> {
        Store::open_to_read(&self.path()?)
    }

    /// Opens the store to look up `selector`. Without a store, the error names the selector.
    pub fn open_for(&self, selector: &str) -> Result<Store, StoreError> {
        let path = self.path()?;
        Store::open_to_read(&path)?.ok_or_else(|| StoreError::NoSuchRun {
            selector: selector.to_owned(),
            path,
        })
    }

    /// Returns the records of one side of a comparison: all runs with a tag for `tag:NAME`, else
    /// one record.
    pub fn records(&self, name: &Path) -> Result<Vec<RunRecord>, CliError> {
        let Some(selector) = name.to_str().filter(|name| names_a_run(name)) else {
            return match self.is_tag(name) {
                true => Err(tag_without_prefix(&name.display().to_string())),
                false => Ok(vec![read_record(name)?]),
            };
        };
        let store = self.open_for(selector)?;
        let ids = store.resolve_all(selector)?;
        let records = ids.iter().map(|id| Ok(store.load(id)?));
        records.collect()
    }

    /// Returns `true` if no such file exists and the store has runs with this tag.
    fn is_tag(&self, name: &Path) -> bool {
        let tag = name.to_str().filter(|_| !name.exists());
        let selector = tag.map(|tag| format!("tag:{tag}"));
        selector.is_some_and(|selector| {
            let store = self.open_for(&selector);
            store.is_ok_and(|store| store.resolve_all(&selector).is_ok())
        })
    }

    /// Returns a record from a file of that name, or else from the store.
    pub fn record(&self, name: &Path) -> Result<RunRecord, CliError> {
        match name.to_str().filter(|name| names_a_run(name)) {
            Some(selector) => Ok(self.open_for(selector)?.load(selector)?),
            None => read_record(name),
        }
    }
}

fn tag_without_prefix(name: &str) -> CliError {
    let message = format!("`{name}` is a tag, not a stored run");
    let help = format!("write `tag:{name}` to compare all runs with this tag");
    CliError::new(Exit::Usage, message, Some(help))
}

/// Returns `true` if this can only be the name of a stored run: it has that form, and no such file
/// exists.
pub(crate) fn names_a_run(name: &str) -> bool {
    if name.starts_with("tag:") {
        return !Path::new(name).exists();
    }
    // Ids begin with a date.
    let begins_so = name == "last" || name.starts_with("@-") || name.starts_with(is_digit);
    let is_path = name.contains('/') || Path::new(name).extension().is_some();
    begins_so && !is_path && !Path::new(name).exists()
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn read_record(path: &Path) -> Result<RunRecord, CliError> {
    let file = ValueLimit::new(open(path)?, VALUES_MAX);
    RunRecord::read(file).map_err(|error| refused(path, &error))
}

/// Reads the text of an exported record.
pub(crate) fn read_text(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = ValueLimit::new(open(path)?, VALUES_MAX).read_to_string(&mut text);
    read.map_err(|error| refused(path, &error))?;
    Ok(text)
}

/// Opens a file that may contain a record.
pub(crate) fn open(path: &Path) -> Result<File, CliError> {
    // Opening a pipe without a writer would block.
    let metadata = std::fs::metadata(path).map_err(|error| refused(path, &error))?;
    if !metadata.is_file() {
        return Err(refused(path, &"it is not a regular file"));
    }
    if metadata.len() > RECORD_BYTES_MAX {
        let reason = format!(
            "it has {} bytes, and at most {RECORD_BYTES_MAX} are read",
            metadata.len()
        );
        return Err(refused(path, &reason));
    }
    File::open(path).map_err(|error| refused(path, &error))
}

/// Reader that limits the number of values, counted by commas. Each value needs memory, even if its
/// text is short.
struct ValueLimit<R> {
    inner: R,
    commas_left: usize,
    commas_max: usize,
}

impl<R> ValueLimit<R> {
    fn new(inner: R, commas_max: usize) -> Self {
        Self {
            inner,
            commas_left: commas_max,
            commas_max,
        }
    }
}

impl<R: Read> Read for ValueLimit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let commas = buffer[..count].iter().filter(|byte| **byte == b',').count();
        let Some(left) = self.commas_left.checked_sub(commas) else {
            let reason = format!("it has more than {} values", self.commas_max);
            return Err(io::Error::other(reason));
        };
        self.commas_left = left;
        Ok(count)
    }
}

impl<R: Seek> Seek for ValueLimit<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // `RunRecord::read` rewinds and reads again, which must not count the same commas twice.
        self.commas_left = self.commas_max;
        self.inner.seek(to)
    }
}

/// Explains why a file cannot be used as a record.
pub(crate) fn refused(path: &Path, reason: &dyn std::fmt::Display) -> CliError {
    let name = path.display();
    if is_fio_result(path) {
        let message = format!("`{name}` has results of fio, not a record of pgmeter");
        let help = format!("import it with `pgmeter runs import {name}`, and name that run");
        return CliError::new(Exit::Usage, message, Some(help));
    }
    let builtin = path.to_str().filter(|_| !path.exists());
    if builtin.is_some_and(|name| description::builtin::find(name).is_ok()) {
        let message = format!("`{name}` is a workload, not a stored run");
        let help = format!("run it with `pgmeter run {name}`, and name that run, such as `last`");
        return CliError::new(Exit::Usage, message, Some(help));
    }
    let message = match path.try_exists() {
        Ok(false) => format!("`{name}` is neither a stored run nor a file"),
        _ => format!("cannot read the record `{name}`: {reason}"),
    };
    let help = match path.is_dir() {
        true => "to measure directories, write `pgmeter compare --target A --target B WORKLOAD`",
        false => "name a file written by `pgmeter run --json FILE`, or a run from `pgmeter runs`",
    };
    let help =
        detached_output(&name.to_string(), &command_words()).unwrap_or_else(|| help.to_owned());
    CliError::new(Exit::Usage, message, Some(help))
}

/// Returns `true` for a file that fio wrote with `--output-format=json`.
fn is_fio_result(path: &Path) -> bool {
    let start = path.to_str().filter(|_| path.is_file()).map(|name| {
        let start = FileAccess::anywhere().beginning(name, SNIFF_BYTES);
        start.unwrap_or_default()
    });
    let start = start.unwrap_or_default();
    // fio may print messages before the document.
    String::from_utf8_lossy(&start).contains("\"fio version\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_limit_starts_over_after_a_rewind() {
        let mut counted = ValueLimit::new(io::Cursor::new(b"[1,2,3]"), 2);
        let mut text = String::new();
        for _ in 0..2 {
            text.clear();
            counted.rewind().unwrap();
            counted.read_to_string(&mut text).unwrap();
            assert_eq!(text, "[1,2,3]");
        }
        let error = ValueLimit::new(io::Cursor::new(b"[1,2,3,4]"), 2)
            .read_to_string(&mut text)
            .unwrap_err();
        assert_eq!(error.to_string(), "it has more than 2 values");
    }
}
