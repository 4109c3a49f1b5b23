//! Why a server cannot begin.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server cannot begin, or cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// No port could be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Others could reach it, and nobody said by which name.
    #[error("{address} can be reached from other machines, and no `--allow-host` names this one")]
    Reachable {
        /// Where.
        address: SocketAddr,
    },
    /// That is no name of a machine.
    #[error("`{name}` is not the name or address of a machine")]
    BadHost {
        /// What was given.
        name: String,
    },
    /// The token's file cannot be used.
    #[error("cannot take the token from `{path}`: {reason}")]
    Token {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no randomness for a token.
    #[error("cannot read random numbers for the token: {0}")]
    Random(io::Error),
    /// Runs could not be started there.
    #[error("`{path}` cannot be offered as a target: {reason}")]
    Root {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// That is no device that could be overwritten.
    #[error("`{path}` is not a block device: {reason}")]
    Device {
        /// The device.
        path: PathBuf,
        /// What was seen.
        reason: String,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The system does not do what is needed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl WebError {
    /// What failed.
    pub(crate) fn system(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "leave `--listen` out to take the next free port, or name another one".to_owned()
            }
            Self::Listen { .. } => "name an address of this machine in `--listen`".to_owned(),
            Self::Reachable { address } => {
                let port = address.port();
                format!(
                    "to use the page from elsewhere, leave `--listen` out and run `ssh -L \
                     {port}:127.0.0.1:{port} THIS-MACHINE` there; where the network is yours \
                     alone, add `--allow-host NAME` with the name that browsers will use"
                )
            }
            Self::BadHost { .. } => "write a name as in a URL, without scheme or port".to_owned(),
            Self::Token { .. } => {
                "write 32 or more letters and digits into a file that only you can read, such as \
                 by `openssl rand -hex 24`, and name it in `PGMETER_TOKEN_FILE`"
                    .to_owned()
            }
            Self::Root { .. } => "name a directory or file that is there".to_owned(),
            Self::Device { .. } => "name a block device, such as `/dev/vdb`".to_owned(),
            Self::Store(error) => return error.help(),
            Self::Random(_) | Self::System { .. } => return None,
        })
    }
}
