//! Why a run cannot begin or go on.

use std::path::Path;

use rustix::io::Errno;

/// Why a run cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An engine cannot work.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    /// A TCP peer cannot be reached.
    #[error(transparent)]
    Network(#[from] network::NetworkError),
    /// A target's name is that of no TCP peer.
    #[error("{message}")]
    Peer {
        /// What is wrong with it.
        message: String,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] target::TargetError),
    /// A stream of requests cannot be made.
    #[error(transparent)]
    Generate(#[from] generate::GenerateError),
    /// The operations of a pool cannot be had.
    #[error(transparent)]
    Pool(#[from] generate::pool::StreamError),
    /// Something of the system that a run needs cannot be had.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The process may not have the memory that the run needs.
    #[error(
        "the run needs {} KiB of address space, and this process may have {} KiB",
        needed_bytes.div_ceil(1024),
        limit_bytes / 1024
    )]
    AddressSpace {
        /// What `ulimit -v` allows.
        limit_bytes: u64,
        /// What this process has by now, and what its workers need.
        needed_bytes: u64,
    },
    /// A worker cannot run on any of the CPUs that it shall run on.
    #[error("cannot run a worker on CPU {cpus}: {source}")]
    Cpus {
        /// Their numbers.
        cpus: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or directory of a classic cannot be worked on.
    #[error("cannot {verb} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        verb: &'static str,
        /// On what.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Files that an earlier run was to leave are not as they are needed.
    #[error("cannot use `{}`: {why}", path.display())]
    Found {
        /// The file or directory.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Someone ended it before it began.
    #[error("it was ended before it began")]
    Stopped,
    /// One of several processes that share the run failed, or went away.
    #[error("{message}")]
    Crew {
        /// Which one, and what happened.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// A worker ended in a way that it must not.
    #[error("worker {worker_index} of cell {cell_index} panicked")]
    Panicked {
        /// The cell, 0-based.
        cell_index: u32,
        /// The worker, 0-based.
        worker_index: usize,
    },
}

impl RunError {
    /// What could not be done with a file or directory.
    pub(crate) fn file(verb: &'static str, path: &Path, errno: Errno) -> Self {
        Self::File {
            verb,
            path: path.to_owned(),
            source: std::io::Error::from(errno),
        }
    }

    /// One thing to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Engine(error) => error.help(),
            Self::Network(error) => error.help(),
            Self::Peer { .. } => Some("write it as `tcp://HOST:PORT`".to_owned()),
            Self::Target(error) => Some(error.help()),
            Self::Generate(error) => Some(error.help().to_owned()),
            Self::Pool(error) => Some(error.help().to_owned()),
            Self::System { .. } | Self::Stopped => None,
            Self::Crew { help, .. } => help.clone(),
            Self::AddressSpace { .. } => {
                Some("raise the limit, or write `ulimit -v unlimited`".to_owned())
            }
            Self::Cpus { .. } => Some("name CPUs that `lscpu -e` lists as online".to_owned()),
            Self::Found { .. } => {
                Some("first run the command that makes it and keeps it".to_owned())
            }
            Self::File { source, .. } => file_help(source.kind()).map(str::to_owned),
            Self::Panicked { .. } => {
                Some("this is a bug in pgmeter; please report it with the workload file".to_owned())
            }
        }
    }
}

fn file_help(kind: std::io::ErrorKind) -> Option<&'static str> {
    use std::io::ErrorKind;
    match kind {
        ErrorKind::AlreadyExists => {
            Some("existing files were left as they are; choose an empty directory")
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => Some("name an existing directory"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some("choose a directory that you can write to")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("free some space, or ask for fewer or smaller files")
        }
        _ => None,
    }
}
