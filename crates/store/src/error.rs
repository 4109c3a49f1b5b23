//! What can be wrong with a store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::io::Errno;

/// What can be wrong with a store or with what is asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no home directory.
    #[error("there is no place for the results store, because `HOME` is not set")]
    NoPlace,
    /// The file is something else.
    #[error("`{path}` is not a results store: {reason}")]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was seen.
        reason: String,
    },
    /// A later version wrote it.
    #[error(
        "the results store `{path}` has format {seen}, but this version reads formats up to {known}"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format's number.
        seen: i64,
        /// The newest number that this version reads.
        known: i64,
    },
    /// An earlier version wrote it, and it cannot be brought up to date.
    #[error("the results store `{path}` has the old format {seen} and cannot be written")]
    OlderReadOnly {
        /// The file.
        path: PathBuf,
        /// The format's number.
        seen: i64,
    },
    /// The file or its content is not what was written.
    #[error("the results store `{path}` is damaged: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was seen.
        reason: String,
    },
    /// It cannot be written.
    #[error("the results store `{path}` cannot be written: {reason}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// There is no space left.
    #[error("the file system of the results store `{path}` is full")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another program keeps it locked.
    #[error("another program keeps the results store `{path}` locked")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file was removed or replaced while a run was written to it.
    #[error("the results store `{path}` was removed or replaced during the run")]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that the system said.
    #[error("cannot use the results store `{path}`: {reason}")]
    System {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// No run has that name.
    #[error("there is no run `{selector}` in the results store `{path}`")]
    NoSuchRun {
        /// What was asked for.
        selector: String,
        /// The file.
        path: PathBuf,
    },
    /// The name stands for a lab, which is more than one run.
    #[error("`{selector}` is the lab `{lab}`, not a single run")]
    IsLab {
        /// The name that the user gave.
        selector: String,
        /// The lab's id, or the tag of its runs.
        lab: String,
    },
    /// No lab has that name.
    #[error("there is no lab `{selector}` in the results store `{path}`")]
    NoSuchLab {
        /// What was asked for.
        selector: String,
        /// The file.
        path: PathBuf,
    },
    /// Several runs have names that begin so.
    #[error("`{selector}` names {count} runs, among them `{first}` and `{second}`")]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// How many runs there are.
        count: usize,
        /// One of them.
        first: String,
        /// Another.
        second: String,
    },
    /// The run goes on.
    #[error("the run `{id}` is still going")]
    Running {
        /// The run.
        id: String,
    },
    /// A tag that cannot be told from others in a list.
    #[error("`{tag}` is not a tag: {reason}")]
    BadTag {
        /// What was given.
        tag: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// What was to be imported is no record.
    #[error(transparent)]
    Unreadable(#[from] results::ReadError),
    /// What was to be imported is a record that no run can have left.
    #[error("the record is damaged: {reason}")]
    BadRecord {
        /// What was seen, and what was wanted.
        reason: String,
    },
    /// Another run has the same name.
    #[error("the store has a different run `{id}` already")]
    OtherRun {
        /// The name of both.
        id: String,
    },
}

impl StoreError {
    /// One thing to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::NoPlace => "name a file with `--db FILE`",
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
            Self::ReadOnly { .. } | Self::Full { .. } | Self::Gone { .. } => {
                "choose another file with `--db FILE`, or do not store the run (`--no-db`)"
            }
            Self::Busy { .. } => "close the program that has the file open, and try again",
            Self::NoSuchLab { .. } => {
                "`last` is the newest; a file is one written by `lab run --json`"
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
            Self::OtherRun { .. } => {
                "nothing was changed; remove the stored run to import this one"
            }
            Self::System { .. } => return None,
        };
        Some(help.to_owned())
    }

    /// What SQLite says of the file, as what it means for a store.
    pub(crate) fn of(path: &Path, error: rusqlite::Error) -> Self {
        let reason = error.to_string();
        let path_buf = || path.to_owned();
        let Some(code) = error.sqlite_error_code() else {
            return match error {
                // A value that the row must not hold.
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

    /// What the system says of the file or its directory.
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

    /// SQLite needs files beside its own and says of a failure no more than that there was one:
    /// asks the file system why that may be.
    fn of_place(path: &Path) -> Option<Self> {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let read_only = |reason: Errno| Self::ReadOnly {
            path: path.to_owned(),
            reason: io::Error::from(reason).to_string(),
        };
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

/// Whether there is a run of that name already.
pub(crate) fn is_name_taken(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE)
}
