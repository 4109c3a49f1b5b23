//! Opens a board: reads `board.toml` and one submission after the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use board::{
    BoardConfig, BoardError, BoardRule, CheckedSubmission, Checker, Submission, SubmissionTexts,
    check_together, new_board,
};
use results::Timestamp;

use crate::failure::{CliError, Exit};

/// Name of the file that makes a directory a board.
pub(super) const BOARD_FILE: &str = "board.toml";
/// Maximum size of a record of a submission, in bytes.
const RECORD_BYTES_MAX: u64 = 256 << 20;
/// Files of a submission.
const FILES: [&str; 4] = [
    "submission.toml",
    "record.json",
    "figures.toml",
    SIGNATURE_FILE,
];
/// Signature of the record.
pub(super) const SIGNATURE_FILE: &str = "record.json.sig";
/// Namespace of signatures, so that none of another purpose can be used.
pub(super) const SIGNATURE_NAMESPACE: &str = "pgmeter-board";

/// A board on disk.
#[derive(Debug)]
pub(crate) struct OpenBoard {
    pub directory: PathBuf,
    pub config: BoardConfig,
}

impl From<BoardError> for CliError {
    fn from(error: BoardError) -> Self {
        let help = Some(error.help());
        Self::new(Exit::Usage, error, help)
    }
}

/// Reports a file of a board that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> CliError {
    let help = match error.kind() {
        io::ErrorKind::NotFound => "make a board with `pgmeter board init DIR`",
        _ => "check the permissions of the board's files",
    };
    let message = format!("cannot read `{}`: {error}", path.display());
    CliError::new(Exit::Usage, message, Some(help.to_owned()))
}

impl OpenBoard {
    /// Opens the board in a directory.
    pub fn open(directory: &Path) -> Result<Self, CliError> {
        let path = directory.join(BOARD_FILE);
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Ok(Self {
            directory: directory.to_owned(),
            config: BoardConfig::read(&path.to_string_lossy(), &text)?,
        })
    }

    /// The tables that every new board has, for records outside of a board.
    pub fn built_in() -> Result<Self, CliError> {
        let files = new_board(None, false);
        let text = files.iter().find(|file| file.path == BOARD_FILE);
        let text = text.map_or("", |file| file.text.as_str());
        Ok(Self {
            directory: PathBuf::new(),
            config: BoardConfig::read(BOARD_FILE, text)?,
        })
    }

    /// Returns the directory of a submission.
    pub fn submission(&self, slug: &str) -> PathBuf {
        self.directory.join("submissions").join(slug)
    }

    /// Returns the names of the submissions, in order.
    pub fn slugs(&self) -> Result<Vec<String>, CliError> {
        let path = self.directory.join("submissions");
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| unreadable(&path, &error))?,
        };
        let mut slugs = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&path, &error))?;
            if entry.path().is_dir() {
                slugs.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        // `read_dir` has no order, and the site must not depend on it.
        slugs.sort();
        Ok(slugs)
    }

    /// Reads a submission.
    pub fn read(&self, slug: &str) -> Result<Submission, BoardError> {
        let directory = self.submission(slug);
        let text = |name: &str| {
            let path = directory.join(name);
            let length = fs::metadata(&path).map_or(0, |it| it.len());
            let read = match length > RECORD_BYTES_MAX {
                true => Err(io::Error::other(format!(
                    "more than {RECORD_BYTES_MAX} bytes"
                ))),
                false => fs::read_to_string(&path),
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some).map_err(|error| BoardError::Record {
                    file: path.to_string_lossy().into_owned(),
                    message: error.to_string(),
                }),
            }
        };
        let info = text("submission.toml")?.ok_or_else(|| BoardError::Record {
            file: directory
                .join("submission.toml")
                .to_string_lossy()
                .into_owned(),
            message: "it does not exist".to_owned(),
        })?;
        let (record, figures) = (text("record.json")?, text("figures.toml")?);
        Submission::read(SubmissionTexts {
            slug,
            info: &info,
            record: record.as_deref(),
            figures: figures.as_deref(),
        })
    }

    /// Checks a single submission. `with` sees it before it is dropped.
    pub fn check_one(
        &self,
        slug: &str,
        checker: &mut Checker,
        with: &mut dyn FnMut(&Submission, &CheckedSubmission) -> Result<(), CliError>,
    ) -> Result<CheckedSubmission, CliError> {
        let submission = match self.read(slug) {
            Ok(submission) => submission,
            Err(error) => return Ok(CheckedSubmission::unreadable(slug, &error)),
        };
        let mut checked = checker.check(&submission);
        self.check_files(slug, &mut checked);
        with(&submission, &checked)?;
        Ok(checked)
    }

    /// Checks all submissions, each alone and then together.
    pub fn check_all(
        &self,
        with: &mut dyn FnMut(&Submission, &CheckedSubmission) -> Result<(), CliError>,
    ) -> Result<Vec<CheckedSubmission>, CliError> {
        let mut checker = Checker::new(&self.config, Timestamp::now());
        let slugs = self.slugs()?;
        let checked = slugs
            .iter()
            .map(|slug| self.check_one(slug, &mut checker, with));
        let mut checked = checked.collect::<Result<Vec<_>, _>>()?;
        check_together(&self.config, &mut checked);
        Ok(checked)
    }

    /// Checks the names of a submission's files, and its signature.
    fn check_files(&self, slug: &str, checked: &mut CheckedSubmission) {
        let directory = self.submission(slug);
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
        let mut others: Vec<String> = names.filter(|it| !FILES.contains(&it.as_str())).collect();
        others.sort();
        if !others.is_empty() {
            checked.add(
                BoardRule::Format,
                "directory",
                &FILES.join(", "),
                others.join(", "),
            );
        }
        let signature = directory.join(SIGNATURE_FILE);
        if signature.exists() {
            match verify(&directory.join("record.json"), &signature) {
                Ok(()) => checked.is_signed = true,
                Err(reason) => {
                    let expected = "a signature of record.json";
                    checked.add(BoardRule::Signature, SIGNATURE_FILE, expected, reason);
                }
            }
        }
    }
}

/// Verifies a signature with `ssh-keygen`. It proves that the holder of some key signed exactly
/// this record; readers compare the key with the one that the submitter publishes.
fn verify(record: &Path, signature: &Path) -> Result<(), String> {
    let file = fs::File::open(record).map_err(|error| error.to_string())?;
    let output = Command::new("ssh-keygen")
        .args(["-Y", "check-novalidate", "-n", SIGNATURE_NAMESPACE, "-s"])
        .arg(signature)
        .stdin(Stdio::from(file))
        .output();
    match output {
        Err(error) => Err(format!("`ssh-keygen` cannot be started: {error}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(message)
        }
    }
}
