//! Errors of runs, with advice.

use std::path::Path;

use results::{Warning, WarningCode};
use rustix::io::Errno;

/// Reason why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An engine does not work here.
    #[error(transparent)]
    Engine(#[from] engine::EngineError),
    /// A TCP peer cannot be reached.
    #[error(transparent)]
    Network(#[from] network::NetworkError),
    /// The name of a TCP target is invalid.
    #[error("{message}")]
    Peer {
        /// What is wrong with it.
        message: String,
    },
    /// A target cannot be used.
    #[error(transparent)]
    Target(#[from] storage::TargetError),
    /// A stream of requests cannot be created.
    #[error(transparent)]
    Generate(#[from] generate::GenerateError),
    /// The operations of a pool cannot be created.
    #[error(transparent)]
    Pool(#[from] generate::pool::StreamError),
    /// A resource of the system is not available.
    #[error("cannot {what}: {source}")]
    System {
        /// Action that failed.
        what: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The process's memory limit is below the run's needs.
    #[error(
        "the run needs {} KiB of address space, but the limit of this process is {} KiB",
        needed_bytes.div_ceil(1024),
        limit_bytes / 1024
    )]
    AddressSpace {
        /// Limit set by `ulimit -v`, in bytes.
        limit_bytes: u64,
        /// Address space in use now plus the workers' needs, in bytes.
        needed_bytes: u64,
    },
    /// The run cannot wait at its semaphores.
    #[error("cannot wait at the semaphores with the key {key}: {source}")]
    Semaphores {
        /// Key of the set of semaphores.
        key: i32,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A worker cannot run on any of its CPUs.
    #[error("cannot run a worker on CPU {cpus}: {source}")]
    Cpus {
        /// Numbers of the CPUs.
        cpus: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A file or directory of an original program's workload cannot be used.
    #[error("cannot {verb} `{}`: {source}", path.display())]
    File {
        /// Action that failed.
        verb: &'static str,
        /// Path of the file or directory.
        path: std::path::PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// Files from an earlier run are not as this run needs them.
    #[error("cannot use `{}`: {why}", path.display())]
    ExistingFiles {
        /// Path of the file or directory.
        path: std::path::PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The run was ended before it started.
    #[error("the run was stopped before it started")]
    Stopped,
    /// A process of a shared run failed or was lost.
    #[error("{message}")]
    Cluster {
        /// The process, and what happened.
        message: String,
        /// Advice.
        help: Option<String>,
    },
    /// A worker panicked.
    #[error("worker {worker_index} of cell {cell_index} panicked")]
    Panicked {
        /// Index of the cell, 0-based.
        cell_index: u32,
        /// Index of the worker, 0-based.
        worker_index: usize,
    },
}

impl RunError {
    /// The error as a warning of the record of the run that it ended.
    pub(crate) fn warning(&self) -> Warning {
        Warning::of_run(WarningCode::RunFailed, self.to_string())
    }

    /// Error of an action on a file or directory.
    pub(crate) fn file(verb: &'static str, path: &Path, errno: Errno) -> Self {
        Self::File {
            verb,
            path: path.to_owned(),
            source: std::io::Error::from(errno),
        }
    }

    /// One action that may solve the problem, if there is any.
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
            Self::Cluster { help, .. } => help.clone(),
            Self::AddressSpace { .. } => {
                Some("raise the limit, or write `ulimit -v unlimited`".to_owned())
            }
            Self::Semaphores { .. } => {
                Some("create them anew before each run, for all processes that wait".to_owned())
            }
            Self::Cpus { .. } => Some("name CPUs that `lscpu -e` lists as online".to_owned()),
            Self::ExistingFiles { .. } => {
                Some("first run the command that creates it and keeps it".to_owned())
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

#[cfg(test)]
mod tests {
    use results::{Status, WarningCode};

    use crate::{RunOptions, RunSpec, measure};

    #[test]
    fn the_record_of_a_run_that_an_error_ended_has_the_error() {
        let directory = tempfile::tempdir().unwrap();
        let targets = vec![directory.path().display().to_string()];
        let facts = storage::system_facts(&targets, None);
        let mut overrides = description::Overrides::new();
        overrides.set_targets(targets);
        let text = "[[access_spec]]\nname = \"x\"\n[[access_spec.line]]\nsize = \"4k\"\n";
        let loaded = description::load("w.toml", text).unwrap();
        let plan = planning::plan(&loaded, &overrides, &facts).unwrap().plan;
        // Gone since it was planned.
        directory.close().unwrap();
        let mut listener = |_: &results::RunEvent| {};
        let spec = RunSpec::new(&plan, &mut listener);
        let finished = measure(spec, &RunOptions::default(), None);
        let error = finished.error.unwrap().to_string();
        assert_eq!(finished.record.status, Status::Failed);
        let failures: Vec<_> = finished.record.failures().collect();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].code, WarningCode::RunFailed);
        assert_eq!(failures[0].message, error);
    }
}
