//! What a guest is to do, and what it answers.

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
    /// Where it is mounted, on the host's tree.
    pub point: PathBuf,
    /// Modules that the guest loads before, in their order.
    pub modules: Vec<PathBuf>,
    /// What it lies on, in words.
    pub medium: String,
    /// The command that made it.
    pub mkfs: Option<String>,
    /// How long making it took.
    pub mkfs_time: Option<Duration>,
    /// What is other than it was meant to be.
    pub notes: Vec<String>,
}

impl Image {
    /// One with nothing on it, for a guest that mounts nothing.
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

/// What a guest is to do. `T` is the work, which is none of the lab's business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestOrder<T> {
    /// The arguments that the program on the host was given, its name first.
    pub arguments: Vec<String>,
    /// Where it was started.
    pub directory: PathBuf,
    /// What it found in its environment.
    pub environment: Vec<(String, String)>,
    /// The file system.
    pub image: Image,
    /// What is to be done on it.
    pub task: T,
    /// Where the answer goes, on the host's tree.
    pub answer: PathBuf,
}

impl<T: Serialize> GuestOrder<T> {
    /// An order to do something as this very program was started.
    ///
    /// # Errors
    /// When the place where it was started is gone.
    pub(crate) fn of_this_program(
        image: Image,
        task: T,
        answer: PathBuf,
    ) -> Result<Self, LabError> {
        let directory = std::env::current_dir()
            .map_err(|error| LabError::system("find", Path::new("."), error))?;
        let text = |word: std::ffi::OsString| word.into_string();
        let arguments: Result<_, _> = std::env::args_os().map(text).collect();
        let arguments = arguments.map_err(|word| LabError::OddPath { path: word.into() })?;
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

    /// Writes the order for the guest to read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), LabError> {
        write(path, self)
    }
}

impl<T: DeserializeOwned> GuestOrder<T> {
    /// Reads an order.
    ///
    /// # Errors
    /// When there is none, or it is no order.
    pub fn read(path: &Path) -> Result<Self, LabError> {
        read(path)
    }

    /// Leaves the answer, an error in words where it failed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn answer<A: Serialize>(&self, answer: &Result<A, String>) -> Result<(), LabError> {
        write(&self.answer, answer)
    }
}

/// Reads the answer to an order; an error in words where the guest failed.
///
/// # Errors
/// When there is no answer, or it cannot be read.
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
        let order = GuestOrder {
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
        assert_eq!(GuestOrder::<u32>::read(&path).unwrap(), order);
        assert!(read_answer::<u32>(&order.answer).is_err());
        order.answer(&Err::<u32, _>("why".to_owned())).unwrap();
        let answer = read_answer::<u32>(&order.answer).unwrap();
        assert_eq!(answer, Err("why".to_owned()));
    }
}
