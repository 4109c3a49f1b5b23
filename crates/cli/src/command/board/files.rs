//! Files of a board and of its site.

use std::fs;
use std::io;
use std::path::Path;

use board::NewFile;

use crate::failure::{CliError, Exit};
use crate::output::cannot_write;

/// Writes a file below a directory, with the directories on the way to it.
pub(super) fn write_below(directory: &Path, file: &NewFile) -> Result<(), CliError> {
    let path = directory.join(&file.path);
    let parent = path.parent().unwrap_or(directory);
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, &file.text))
        .map_err(|error| cannot_write(&path, &error))
}

/// Refuses a directory that has files, which a new board could replace.
pub(super) fn refuse_unless_empty(directory: &Path) -> Result<(), CliError> {
    let first = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot_write(directory, &error)),
        // A repository that was just made has only its own directory.
        Ok(mut entries) => entries.find(|it| it.as_ref().is_ok_and(|it| it.file_name() != ".git")),
    };
    match first {
        None => Ok(()),
        Some(_) => {
            let message = format!("`{}` is not empty", directory.display());
            let help = "name a new directory, or an empty repository";
            Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
        }
    }
}
