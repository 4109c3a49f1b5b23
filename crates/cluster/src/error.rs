//! Errors of runs that several processes share.

use crate::message::FailureMessage;

/// Reason why several processes cannot share a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The list of hosts is invalid.
    #[error("`{entry}` {why}")]
    Hosts {
        /// The invalid part.
        entry: String,
        /// What is wrong with it, as a predicate.
        why: String,
    },
    /// The command cannot be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// Name of the command's program.
        command: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The host did not accept a copy of this program.
    #[error("`{host}` did not accept a copy of the program: {why}")]
    Copy {
        /// Name of the host.
        host: String,
        /// Reason.
        why: String,
    },
    /// A process ended or did not answer, before the run started.
    #[error("{who} {why}")]
    Lost {
        /// Rank and host of the process.
        who: String,
        /// What happened, as a predicate.
        why: String,
    },
    /// A process ended or did not answer during the run.
    #[error("{who} {why}")]
    LostDuringRun {
        /// Rank and host of the process.
        who: String,
        /// What happened, as a predicate.
        why: String,
    },
    /// A process is another version of pgmeter.
    #[error("{who} is pgmeter {seen}, not {wanted}")]
    Version {
        /// Rank and host of the process.
        who: String,
        /// Its version.
        seen: String,
        /// Version of this process.
        wanted: String,
    },
    /// A process reported a failure.
    #[error("{who}: {message}")]
    Failed {
        /// Rank and host of the process.
        who: String,
        /// Its error message.
        message: String,
        /// Its advice.
        help: Option<String>,
    },
    /// The run was ended before it started.
    #[error("the run was stopped before it started")]
    Stopped,
}

impl ClusterError {
    /// One action that may solve the problem, if there is any.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Hosts { .. } => "write `--hosts a,b,node[01-16]`",
            Self::Start { .. } => "name a command that runs another on a host, such as `--ssh ssh`",
            Self::Copy { .. } => {
                "check that `ssh HOST` works without a password and that `/tmp` there has room for \
                 programs"
            }
            Self::Lost { .. } => {
                "check that `ssh HOST pgmeter --version` works without a password, or add \
                 `--copy-binary`"
            }
            Self::LostDuringRun { .. } => {
                "the results so far are kept; with `--on-lost continue`, the others continue"
            }
            Self::Version { .. } => "install the same version there, or add `--copy-binary`",
            Self::Failed { help, .. } => return help.clone(),
            Self::Stopped => return None,
        };
        Some(help.to_owned())
    }

    pub(crate) fn failed(process: String, failed: FailureMessage) -> Self {
        Self::Failed {
            who: process,
            message: failed.message,
            help: failed.help,
        }
    }
}
