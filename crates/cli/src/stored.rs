//! Stored runs and exported records, as commands name them.

use std::path::{Path, PathBuf};

use results::RunRecord;
use store::{Store, StoreError};

use crate::failure::{Exit, Failure};

/// Records of long runs have many intervals; nothing larger is read.
const RECORD_BYTES_MAX: u64 = 1 << 30;

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
    let begins_so = name == "last" || name.starts_with("@-") || name.starts_with(is_digit);
    let is_path = name.contains('/') || Path::new(name).extension().is_some();
    begins_so && !is_path && !Path::new(name).exists()
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn read_record(path: &Path) -> Result<RunRecord, Failure> {
    let text = read_text(path)?;
    RunRecord::from_json(&text).map_err(|error| refused(path, &error))
}

/// The text of an exported record.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let found = std::fs::metadata(path).map_err(|error| refused(path, &error))?;
    if !found.is_file() || found.len() > RECORD_BYTES_MAX {
        return Err(refused(path, &"it is not a regular file of at most 1 GiB"));
    }
    std::fs::read_to_string(path).map_err(|error| refused(path, &error))
}

/// Why a file is not taken for a record.
pub(crate) fn refused(path: &Path, reason: &dyn std::fmt::Display) -> Failure {
    let name = path.display();
    let message = format!("cannot read the record `{name}`: {reason}");
    let help = "name a file that `pgmeter run --json FILE` wrote, or a run of `pgmeter runs`";
    Failure::new(Exit::Usage, message, Some(help.to_owned()))
}
