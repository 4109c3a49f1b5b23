//! Errors of this crate, with advice.

use std::path::PathBuf;

use crate::launch::{LIBRARY_VARIABLE, Launcher};

/// Reason why MPI cannot be used or a message could not be transferred.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// None of the candidate libraries can be opened.
    #[error("no MPI library of {launcher} was found; looked for {}", list(tried))]
    NotFound {
        /// Launcher of this process.
        launcher: Launcher,
        /// Names that were tried; for files that exist, the reason why they cannot be opened.
        tried: Vec<String>,
    },
    /// The library that the user named cannot be opened.
    #[error("MPI library `{}` cannot be opened: {reason}", path.display())]
    Unloadable {
        /// Path as the user wrote it.
        path: PathBuf,
        /// Message of the dynamic linker.
        reason: String,
    },
    /// The library lacks a symbol that every MPI library has.
    #[error("`{}` is not a usable MPI library: it has no `{symbol}`", path.display())]
    NoSymbol {
        /// The library.
        path: PathBuf,
        /// Missing symbol.
        symbol: String,
    },
    /// The way handles are passed works only on little-endian 64-bit processors.
    #[error("MPI is not supported on this processor: it must be little-endian with 64 bits")]
    Platform,
    /// A call returned an error.
    #[error("`{call}` failed: {reason}")]
    Call {
        /// Function that failed.
        call: &'static str,
        /// The library's text for the error code.
        reason: String,
    },
    /// MPI is already initialized, which is possible only once per process.
    #[error("MPI is already initialized in this process")]
    Initialized,
    /// The library does not allow use in a process with several threads.
    #[error("MPI grants thread level {granted}, which is below `MPI_THREAD_FUNNELED`")]
    Threads {
        /// Thread level granted, as the library's own number.
        granted: i32,
    },
    /// The library and the launcher do not belong together.
    #[error(
        "{launcher} started {launched_count} ranks, but `{}` ({version}) sees a world of \
         {size} because it belongs to another launcher", path.display()
    )]
    WorldSize {
        /// Launcher of this process.
        launcher: Launcher,
        /// Number of ranks according to the launcher.
        launched_count: usize,
        /// The library.
        path: PathBuf,
        /// Version of the library.
        version: String,
        /// Number of ranks according to the library.
        size: usize,
    },
    /// The rank does not exist.
    #[error("there is no rank {rank} in a world of {size}")]
    NoRank {
        /// Rank that was requested.
        rank: usize,
        /// Number of ranks.
        size: usize,
    },
    /// The library reports a message that this program cannot have sent.
    #[error("a message of {length} bytes with tag {tag} from rank {from} is not from pgmeter")]
    UnexpectedMessage {
        /// Sender according to the library.
        from: i32,
        /// Tag of the message.
        tag: i32,
        /// Length of the message in bytes.
        length: i32,
    },
    /// Messages have not left this process in time.
    #[error("{count} messages have not left after {waited_ms} ms")]
    Unsent {
        /// Number of messages that have not left.
        count: usize,
        /// Time waited, in milliseconds.
        waited_ms: u128,
    },
}

impl MpiError {
    /// One action that may solve the problem, if there is any.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } | Self::NoSymbol { .. } => Some(format!(
                "set `{LIBRARY_VARIABLE}` to the path of the launcher's MPI library"
            )),
            Self::Unloadable { .. } => Some(format!(
                "set `{LIBRARY_VARIABLE}` to another library, or unset it"
            )),
            Self::WorldSize { launcher, .. } => Some(match launcher {
                Launcher::Slurm => "start with `srun --mpi=pmix` or `srun --mpi=pmi2`, whichever \
                                    the library knows, or with the library's own `mpirun`"
                    .to_owned(),
                _ => format!(
                    "set `{LIBRARY_VARIABLE}` to the path of the MPI library of {launcher}, or \
                     start with the `mpirun` of the library"
                ),
            }),
            Self::Unsent { .. } => Some("check whether all ranks are still running".to_owned()),
            Self::Platform
            | Self::Call { .. }
            | Self::Initialized
            | Self::Threads { .. }
            | Self::NoRank { .. }
            | Self::UnexpectedMessage { .. } => None,
        }
    }
}

fn list(tried: &[String]) -> String {
    let quoted: Vec<String> = tried.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_mismatch_names_both_sizes_and_the_variable_to_set() {
        let error = MpiError::WorldSize {
            launcher: Launcher::Hydra,
            launched_count: 4,
            path: "libmpi.so.40".into(),
            version: "Open MPI v4.1.4".to_owned(),
            size: 1,
        };
        assert_eq!(
            error.to_string(),
            "Hydra of MPICH or Intel MPI started 4 ranks, but `libmpi.so.40` (Open MPI v4.1.4) \
             sees a world of 1 because it belongs to another launcher"
        );
        let help = error.help().unwrap();
        assert!(help.contains("`PGMETER_LIBMPI`"), "{help}");
    }

    #[test]
    fn a_missing_mpi_library_error_lists_all_tried_paths() {
        let error = MpiError::NotFound {
            launcher: Launcher::OpenMpi,
            tried: vec![
                "/opt/lib/libmpi.so.40".to_owned(),
                "libmpi.so.40".to_owned(),
            ],
        };
        assert_eq!(
            error.to_string(),
            "no MPI library of Open MPI was found; looked for `/opt/lib/libmpi.so.40`, \
             `libmpi.so.40`"
        );
    }
}
