//! What can go wrong.

use std::path::PathBuf;

use crate::launch::{LIBRARY_VARIABLE, Launcher};

/// Why there is no world, or a message did not get through.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// None of the libraries that would fit is there.
    #[error("no MPI library of {launcher} was found; looked for {}", list(tried))]
    NotFound {
        /// What started this process.
        launcher: Launcher,
        /// Names that were looked for, and what was said of those that are there.
        tried: Vec<String>,
    },
    /// The library that was named cannot be opened.
    #[error("MPI library `{}` cannot be opened: {reason}", path.display())]
    Unloadable {
        /// As it was named.
        path: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },
    /// The library lacks something that every MPI library has.
    #[error("`{}` is no MPI library that can be used: it has no `{symbol}`", path.display())]
    NoSymbol {
        /// The library.
        path: PathBuf,
        /// The name that was looked for.
        symbol: String,
    },
    /// Handles are passed as only some processors allow.
    #[error("MPI is not possible on this processor, which is not little-endian with 64 bits")]
    Platform,
    /// A call returned an error.
    #[error("`{call}` failed: {reason}")]
    Call {
        /// The function.
        call: &'static str,
        /// The library's text for the code.
        reason: String,
    },
    /// A process initializes MPI once.
    #[error("MPI is already initialized in this process")]
    Initialized,
    /// The library must not be used in a process with several threads.
    #[error("MPI grants thread level {granted}, which is below `MPI_THREAD_FUNNELED`")]
    Threads {
        /// The library's own number.
        granted: i32,
    },
    /// The library and the launcher do not belong together.
    #[error(
        "{launcher} started {launched_count} ranks, but `{}` ({version}) sees a world of \
         {size}, as it belongs to another launcher", path.display()
    )]
    Size {
        /// What started this process.
        launcher: Launcher,
        /// How many ranks the launcher says there are.
        launched_count: usize,
        /// The library.
        path: PathBuf,
        /// The library's version.
        version: String,
        /// How many ranks the library says there are.
        size: usize,
    },
    /// No such rank.
    #[error("there is no rank {rank} in a world of {size}")]
    NoRank {
        /// The rank asked for.
        rank: usize,
        /// How many ranks there are.
        size: usize,
    },
    /// What the library says of a message cannot be.
    #[error("a message of {length} bytes with tag {tag} from rank {from} is none of this program")]
    Foreign {
        /// Who sent it, as the library says.
        from: i32,
        /// Its tag.
        tag: i32,
        /// Its length.
        length: i32,
    },
    /// Messages are still under way.
    #[error("{count} messages have not left after {waited_ms} ms")]
    Unsent {
        /// How many.
        count: usize,
        /// How long was waited.
        waited_ms: u128,
    },
}

impl MpiError {
    /// One thing to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } | Self::NoSymbol { .. } => Some(format!(
                "set `{LIBRARY_VARIABLE}` to the path of the launcher's MPI library"
            )),
            Self::Unloadable { .. } => Some(format!(
                "set `{LIBRARY_VARIABLE}` to another library, or unset it"
            )),
            Self::Size { launcher, .. } => Some(match launcher {
                Launcher::Slurm => "start with `srun --mpi=pmix` or `srun --mpi=pmi2`, whichever \
                                    the library knows, or with the library's own `mpirun`"
                    .to_owned(),
                _ => format!(
                    "set `{LIBRARY_VARIABLE}` to the path of the MPI library of {launcher}, or \
                     start with the `mpirun` of the library"
                ),
            }),
            Self::Unsent { .. } => Some("see whether all ranks still run".to_owned()),
            Self::Platform
            | Self::Call { .. }
            | Self::Initialized
            | Self::Threads { .. }
            | Self::NoRank { .. }
            | Self::Foreign { .. } => None,
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
    fn a_wrong_launcher_is_told_with_both_numbers_and_what_to_set() {
        let error = MpiError::Size {
            launcher: Launcher::Hydra,
            launched_count: 4,
            path: "libmpi.so.40".into(),
            version: "Open MPI v4.1.4".to_owned(),
            size: 1,
        };
        assert_eq!(
            error.to_string(),
            "Hydra of MPICH or Intel MPI started 4 ranks, but `libmpi.so.40` (Open MPI v4.1.4) \
             sees a world of 1, as it belongs to another launcher"
        );
        let help = error.help().unwrap();
        assert!(help.contains("`PGMETER_LIBMPI`"), "{help}");
    }

    #[test]
    fn a_library_that_is_not_there_is_told_with_all_that_was_looked_for() {
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
