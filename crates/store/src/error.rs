//! Errors of the store, with advice.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;

/// An error of the store or of a request to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no home directory.
    #[error("there is no place for the results store, because `HOME` is not set")]
    NoHome,
    /// The file is not a store.
    #[error("`{path}` is not a results store: {reason}")]
    NotAStore {
        /// Path of the store.
        path: PathBuf,
        /// Reason why it is not a store.
        reason: String,
    },
    /// A later version wrote the store.
    #[error(
        "the results store `{path}` has format {seen}, but this version reads formats up to {known}"
    )]
    Newer {
        /// Path of the store.
        path: PathBuf,
        /// Number of its format.
        seen: i64,
        /// The newest number that this version reads.
        known: i64,
    },
    /// An earlier version wrote the store, and it cannot be upgraded because it is read-only.
    #[error("the results store `{path}` has the old format {seen} and cannot be written")]
    OlderReadOnly {
        /// Path of the store.
        path: PathBuf,
        /// Number of its format.
        seen: i64,
    },
    /// The file or its content was damaged.
    #[error("the results store `{path}` is damaged: {reason}")]
    Damaged {
        /// Path of the store.
        path: PathBuf,
        /// Description of the damage.
        reason: String,
    },
    /// The store cannot be written.
    #[error("the results store `{path}` cannot be written: {reason}")]
    ReadOnly {
        /// Path of the store.
        path: PathBuf,
        /// Error message of the system.
        reason: String,
    },
    /// No space is left.
    #[error("the file system of the results store `{path}` is full")]
    Full {
        /// Path of the store.
        path: PathBuf,
    },
    /// Another program keeps the store locked.
    #[error("another program keeps the results store `{path}` locked")]
    Busy {
        /// Path of the store.
        path: PathBuf,
    },
    /// The file was removed or replaced while a run was written to it.
    #[error("the results store `{path}` was removed or replaced during the run")]
    Removed {
        /// Path of the store.
        path: PathBuf,
    },
    /// Any other system error.
    #[error("cannot use the results store `{path}`: {reason}")]
    System {
        /// Path of the store.
        path: PathBuf,
        /// Error message of the system.
        reason: String,
    },
    /// No run matches the selector.
    #[error("there is no run `{selector}` in the results store `{path}`")]
    NoSuchRun {
        /// The selector given.
        selector: String,
        /// Path of the store.
        path: PathBuf,
    },
    /// The selector matches a lab, which has several runs.
    #[error("`{selector}` is the lab `{lab}`, not a single run")]
    IsLab {
        /// The selector given.
        selector: String,
        /// Id of the lab, or tag of its runs.
        lab: String,
    },
    /// No lab matches the selector.
    #[error("there is no lab `{selector}` in the results store `{path}`")]
    NoSuchLab {
        /// The selector given.
        selector: String,
        /// Path of the store.
        path: PathBuf,
    },
    /// The selector matches the ids of several runs.
    #[error("`{selector}` names {count} runs, among them `{first}` and `{second}`")]
    Ambiguous {
        /// The selector given.
        selector: String,
        /// Number of matching runs.
        count: usize,
        /// One matching run.
        first: String,
        /// Another matching run.
        second: String,
    },
    /// The run is still running.
    #[error("the run `{id}` is still running")]
    Running {
        /// Id of the run.
        id: String,
    },
    /// The text cannot be a tag, because it would be ambiguous in a list.
    #[error("`{tag}` is not a tag: {reason}")]
    BadTag {
        /// The text given.
        tag: String,
        /// Reason that it is not a tag.
        reason: &'static str,
    },
    /// The text to import is not a record.
    #[error(transparent)]
    Unreadable(#[from] results::ReadError),
    /// The record to import cannot come from a run.
    #[error("the record is damaged: {reason}")]
    BadRecord {
        /// The wrong value and the expected one.
        reason: String,
    },
    /// Another run has the same id.
    #[error("the store has a different run `{id}` already")]
    DuplicateId {
        /// Id of both runs.
        id: String,
    },
}

impl StoreError {
    /// Advice: one action.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoHome => "name a file with `--db FILE`",
            Self::NotAStore { .. } => {
                "name another file with `--db FILE`; this one was not touched"
            }
            Self::Newer { .. } => "use the version of pgmeter that wrote it, or name another file",
            Self::OlderReadOnly { .. } => {
                "copy it to a writable directory and name the copy with \
                                           `--db FILE`"
            }
            Self::Damaged { .. } => {
                "move the file away to begin a new store; `sqlite3 FILE .recover` may save runs"
            }
            Self::ReadOnly { .. } | Self::Full { .. } | Self::Removed { .. } => {
                "choose another file with `--db FILE`; `pgmeter run --no-db` stores nothing"
            }
            Self::Busy { .. } => "close the program that has the file open, and try again",
            Self::NoSuchLab { .. } => {
                "`last` is the newest; a file must be one that `lab run --json` wrote"
            }
            Self::IsLab { .. } => {
                "name one of its runs, which `pgmeter runs --all` lists, or print the lab with \
                 `pgmeter runs show`"
            }
            Self::NoSuchRun { .. } => "`pgmeter runs` lists them; `last` is the newest",
            Self::Ambiguous { .. } => "give more of the id",
            Self::Running { .. } => "wait until it ends",
            Self::BadTag { .. } => {
                "use letters, digits and signs without spaces, such as `after-trim`"
            }
            Self::Unreadable(_) | Self::BadRecord { .. } => {
                "name a file written by `pgmeter run --json` or `pgmeter runs export`"
            }
            Self::DuplicateId { .. } => {
                "nothing was changed; remove the stored run to import this one"
            }
            Self::System { .. } => return None,
        };
        Some(help.to_owned())
    }

    /// Converts an SQLite error.
    pub(crate) fn of(path: &Path, error: rusqlite::Error) -> Self {
        let reason = error.to_string();
        let path_buf = || path.to_owned();
        // Errors without a code come from the conversion of values, so the content is the cause.
        let Some(code) = error.sqlite_error_code() else {
            return match error {
                // A value that the column cannot contain.
                rusqlite::Error::FromSqlConversionFailure(_, _, source) => Self::Damaged {
                    path: path_buf(),
                    reason: source.to_string(),
                },
                _ => Self::Damaged {
                    path: path_buf(),
                    reason,
                },
            };
        };
        match code {
            ErrorCode::NotADatabase => Self::NotAStore {
                path: path_buf(),
                reason: "it is not an SQLite file".to_owned(),
            },
            ErrorCode::DatabaseCorrupt => Self::Damaged {
                path: path_buf(),
                reason,
            },
            ErrorCode::DiskFull => Self::Full { path: path_buf() },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path: path_buf() },
            // The file system knows more than SQLite's code, which is often only that opening
            // failed.
            _ => Self::of_place(path).unwrap_or(match code {
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly {
                    path: path_buf(),
                    reason,
                },
                _ => Self::System {
                    path: path_buf(),
                    reason,
                },
            }),
        }
    }

    /// Converts an I/O error on the file or its directory.
    pub(crate) fn of_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly {
                path,
                reason: error.to_string(),
            },
            _ => Self::System {
                path,
                reason: error.to_string(),
            },
        }
    }

    /// Finds the cause of a failure in the file system. SQLite needs additional files next to the
    /// store and reports only that opening failed.
    fn of_place(path: &Path) -> Option<Self> {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let read_only = |reason: Errno| Self::ReadOnly {
            path: path.to_owned(),
            reason: io::Error::from(reason).to_string(),
        };
        // Writing in the directory is necessary as well, for the log.
        for place in [path, parent] {
            let access = rustix::fs::access(place, rustix::fs::Access::WRITE_OK);
            if let Err(error @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) = access {
                return Some(read_only(error));
            }
        }
        let space = statvfs(parent).ok()?;
        if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Some(read_only(Errno::ROFS));
        }
        (space.f_bavail == 0).then(|| Self::Full {
            path: path.to_owned(),
        })
    }
}

/// `true` if the error means that a run with this id exists.
pub(crate) fn is_name_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
