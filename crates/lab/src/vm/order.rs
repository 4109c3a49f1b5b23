//! The task of a guest, and its answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::LabError;

/// An image with a file system on it, for a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Type for `mount`.
    pub kind: String,
    /// Mount options, separated by commas.
    pub mount_options: String,
    /// Mount point, on the host's file tree.
    pub point: PathBuf,
    /// Modules that the guest loads first, in order.
    pub modules: Vec<PathBuf>,
    /// Description of the storage under it.
    pub medium: String,
    /// Command that created it.
    pub mkfs: Option<String>,
    /// Duration of its creation.
    pub mkfs_time: Option<Duration>,
    /// Deviations from the request.
    pub notes: Vec<String>,
}

impl Image {
    /// An empty image, for a guest that mounts nothing.
    pub(super) fn empty() -> Self {
        Self {
            kind: String::new(),
            mount_options: String::new(),
            point: PathBuf::new(),
            modules: Vec::new(),
            medium: String::new(),
            mkfs: None,
            mkfs_time: None,
            notes: Vec::new(),
        }
    }
}

/// A task for a guest. The lab does not interpret the work, `T`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestJob<T> {
    /// Arguments of the program on the host, its name first.
    pub arguments: Vec<String>,
    /// Working directory of the program on the host.
    pub directory: PathBuf,
    /// Environment variables of the program on the host.
    pub environment: Vec<(String, String)>,
    /// The file system.
    pub image: Image,
    /// The work.
    pub task: T,
    /// Path of the answer, on the host's file tree.
    pub answer: PathBuf,
}

impl<T: Serialize> GuestJob<T> {
    /// A task to run like this program.
    ///
    /// # Errors
    /// If the current directory was removed.
    pub(crate) fn of_this_program(
        image: Image,
        task: T,
        answer: PathBuf,
    ) -> Result<Self, LabError> {
        let directory = std::env::current_dir()
            .map_err(|error| LabError::system("find", Path::new("."), error))?;
        let text = |word: std::ffi::OsString| word.into_string();
        let arguments: Result<_, _> = std::env::args_os().map(text).collect();
        let arguments =
            arguments.map_err(|word| LabError::UnsupportedPath { path: word.into() })?;
        // JSON holds only UTF-8. A variable that is not is left out, but an argument is an error.
        let pair = |(key, value): (_, _)| Some((text(key).ok()?, text(value).ok()?));
        Ok(Self {
            arguments,
            directory,
            environment: std::env::vars_os().filter_map(pair).collect(),
            image,
            task,
            answer,
        })
    }

    /// Writes the task for the guest.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        write(path, self)
    }
}

impl<T: DeserializeOwned> GuestJob<T> {
    /// Reads a task.
    ///
    /// # Errors
    /// If there is none, or it cannot be parsed.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        read(path)
    }

    /// Writes the answer, or an error message.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn answer<A: Serialize>(&self, answer: &Result<A, String>) -> Result<(), LabError> {
        write(&self.answer, answer)
    }
}

/// Reads the answer to a task; an error message if the guest failed.
///
/// # Errors
/// If there is no answer, or it cannot be read.
pub fn read_answer<A: DeserializeOwned>(path: &Path) -> Result<Result<A, String>, LabError> {
    read(path)
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = units::json_line(value)
        .map_err(|error| LabError::system("write", path, std::io::Error::from(error)))?;
    fs::write(path, text).map_err(|error| LabError::system("write", path, error))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, LabError> {
    let failed = |error: std::io::Error| LabError::system("read", path, error);
    let text = fs::read(path).map_err(failed)?;
    units::read_json(&mut text.as_slice()).map_err(|error| failed(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_answers_read_back_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("order");
        let order = GuestJob {
            arguments: vec!["pgmeter".to_owned(), "lab".to_owned()],
            directory: "/x y".into(),
            environment: vec![("HOME".to_owned(), "/".to_owned())],
            image: Image {
                kind: "nilfs2".to_owned(),
                mount_options: "nogc".to_owned(),
                point: "/p".into(),
                modules: vec!["/m".into()],
                medium: "an image".to_owned(),
                mkfs: None,
                mkfs_time: Some(Duration::from_millis(7)),
                notes: Vec::new(),
            },
            task: 3_u32,
            answer: directory.path().join("answer"),
        };
        order.write(&path).unwrap();
        assert_eq!(GuestJob::<u32>::read(&path).unwrap(), order);
        assert!(read_answer::<u32>(&order.answer).is_err());
        order.answer(&Err::<u32, _>("why".to_owned())).unwrap();
        let answer = read_answer::<u32>(&order.answer).unwrap();
        assert_eq!(answer, Err("why".to_owned()));
    }
}
