//! Why several processes cannot share a run.

use crate::message::Failed;

/// Why several processes cannot share a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrewError {
    /// A list of hosts that is none.
    #[error("`{entry}` {why}")]
    Hosts {
        /// The part that is wrong.
        entry: String,
        /// What is wrong with it.
        why: String,
    },
    /// A program that cannot be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A host that did not take a copy of this program.
    #[error("`{host}` did not take a copy of the program: {why}")]
    Copy {
        /// Which.
        host: String,
        /// What happened.
        why: String,
    },
    /// One who went away or never answered.
    #[error("{who} {why}")]
    Lost {
        /// Which process, on which host.
        who: String,
        /// What happened.
        why: String,
    },
    /// One who went away while all were at work.
    #[error("{who} {why}")]
    LostAtWork {
        /// Which process, on which host.
        who: String,
        /// What happened.
        why: String,
    },
    /// Another version of pgmeter.
    #[error("{who} is pgmeter {seen}, not {wanted}")]
    Version {
        /// Which process, on which host.
        who: String,
        /// Its version.
        seen: String,
        /// This one's version.
        wanted: String,
    },
    /// What one of them could not do.
    #[error("{who}: {message}")]
    Failed {
        /// Which process, on which host.
        who: String,
        /// What it said.
        message: String,
        /// What it said to do.
        help: Option<String>,
    },
    /// Somebody ended it.
    #[error("it was ended before it began")]
    Stopped,
}

impl CrewError {
    /// One thing to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Hosts { .. } => "write `--hosts a,b,node[01-16]`",
            Self::Start { .. } => "name a command that runs another on a host, such as `--ssh ssh`",
            Self::Copy { .. } => {
                "see that `ssh HOST` works without a password, and that `/tmp` there has room for \
                 programs"
            }
            Self::Lost { .. } => {
                "see that `ssh HOST pgmeter --version` works without a password, or add \
                 `--copy-binary`"
            }
            Self::LostAtWork { .. } => {
                "what was measured before is kept; with `--on-lost continue` the others go on"
            }
            Self::Version { .. } => "install the same version there, or add `--copy-binary`",
            Self::Failed { help, .. } => return help.clone(),
            Self::Stopped => return None,
        };
        Some(help.to_owned())
    }

    pub(crate) fn failed(who: String, failed: Failed) -> Self {
        Self::Failed {
            who,
            message: failed.message,
            help: failed.help,
        }
    }
}
