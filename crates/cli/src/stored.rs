//! Stored runs and exported records, as commands name them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use results::RunRecord;
use store::{Store, StoreError};

use crate::failure::{Exit, Failure};

/// Two weeks of intervals of a second, as [`RunRecord::to_json`] writes them, and long runs have no
/// shorter ones; nothing larger is read.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// What a record of that size has room for at its twenty bytes and more for each value.
const VALUES_MAX: usize = 1 << 26;

/// Which results store is meant.
#[derive(Debug)]
pub(crate) struct Place(Option<PathBuf>);

impl Place {
    /// The file that was asked for, or else the user's own store.
    pub fn new(asked: Option<PathBuf>) -> Self {
        Self(asked.filter(|path| !path.as_os_str().is_empty()))
    }

    /// The file.
    pub fn path(&self) -> Result<PathBuf, StoreError> {
        match &self.0 {
            Some(path) => Ok(path.clone()),
            None => store::default_path(),
        }
    }

    /// The directory of pages that nobody named: beside the store.
    pub fn reports(&self) -> Result<PathBuf, StoreError> {
        Ok(self.path()?.with_file_name("reports"))
    }

    /// The store, made where there is none.
    pub fn open(&self) -> Result<Store, StoreError> {
        Store::open(&self.path()?)
    }

    /// The store, where there is one.
    pub fn open_to_read(&self) -> Result<Option<Store>, StoreError> {
        Store::open_to_read(&self.path()?)
    }

    /// The store, in which `selector` is to be found.
    pub fn open_for(&self, selector: &str) -> Result<Store, StoreError> {
        let path = self.path()?;
        Store::open_to_read(&path)?.ok_or_else(|| StoreError::NoSuchRun {
            selector: selector.to_owned(),
            path,
        })
    }

    /// The records of one side of a comparison: all runs of a tag for `tag:NAME`, else one.
    pub fn records(&self, name: &Path) -> Result<Vec<RunRecord>, Failure> {
        let Some(selector) = name.to_str().filter(|name| names_a_run(name)) else {
            return Ok(vec![read_record(name)?]);
        };
        let store = self.open_for(selector)?;
        let ids = store.resolve_all(selector)?;
        let records = ids.iter().map(|id| Ok(store.load(id)?));
        records.collect()
    }

    /// A record: from the file of that name if there is one, else from the store.
    pub fn record(&self, name: &Path) -> Result<RunRecord, Failure> {
        match name.to_str().filter(|name| names_a_run(name)) {
            Some(selector) => Ok(self.open_for(selector)?.load(selector)?),
            None => read_record(name),
        }
    }
}

/// Whether this cannot be but the name of a stored run: nothing else begins so, and there is no
/// file of that name.
pub(crate) fn names_a_run(name: &str) -> bool {
    if name.starts_with("tag:") {
        return !Path::new(name).exists();
    }
    let begins_so = name == "last" || name.starts_with("@-") || name.starts_with(is_digit);
    let is_path = name.contains('/') || Path::new(name).extension().is_some();
    begins_so && !is_path && !Path::new(name).exists()
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn read_record(path: &Path) -> Result<RunRecord, Failure> {
    let file = Counted::new(open(path)?, VALUES_MAX);
    RunRecord::read(file).map_err(|error| refused(path, &error))
}

/// The text of an exported record.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let read = Counted::new(open(path)?, VALUES_MAX).read_to_string(&mut text);
    read.map_err(|error| refused(path, &error))?;
    Ok(text)
}

/// Opens a file that may hold a record.
fn open(path: &Path) -> Result<File, Failure> {
    // A pipe that nobody writes to would be waited for.
    let found = std::fs::metadata(path).map_err(|error| refused(path, &error))?;
    if !found.is_file() {
        return Err(refused(path, &"it is not a regular file"));
    }
    if found.len() > RECORD_BYTES_MAX {
        let reason = format!(
            "it has {} bytes, and at most {RECORD_BYTES_MAX} are read",
            found.len()
        );
        return Err(refused(path, &reason));
    }
    File::open(path).map_err(|error| refused(path, &error))
}

/// A text of which no more than a number of values is read: each takes its memory, however short
/// it is written.
struct Counted<R> {
    inner: R,
    commas_left: usize,
    commas_max: usize,
}

impl<R> Counted<R> {
    fn new(inner: R, commas_max: usize) -> Self {
        Self {
            inner,
            commas_left: commas_max,
            commas_max,
        }
    }
}

impl<R: Read> Read for Counted<R> {
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

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.commas_left = self.commas_max;
        self.inner.seek(to)
    }
}

/// Why a file is not taken for a record.
pub(crate) fn refused(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    let name = path.display();
    let message = format!("cannot read the record `{name}`: {reason}");
    let help = match path.is_dir() {
        true => "to measure directories, write `pgmeter compare --target A --target B WORKLOAD`",
        false => "name a file written by `pgmeter run --json FILE`, or a run from `pgmeter runs`",
    };
    Failure::new(Exit::Usage, message, Some(help.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_values_are_read_than_allowed_each_time() {
        let mut counted = Counted::new(io::Cursor::new(b"[1,2,3]"), 2);
        let mut text = String::new();
        for _ in 0..2 {
            text.clear();
            counted.rewind().unwrap();
            counted.read_to_string(&mut text).unwrap();
            assert_eq!(text, "[1,2,3]");
        }
        let error = Counted::new(io::Cursor::new(b"[1,2,3,4]"), 2)
            .read_to_string(&mut text)
            .unwrap_err();
        assert_eq!(error.to_string(), "it has more than 2 values");
    }
}
