//! Errors of the server.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Reason why the server cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The port is not available.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address to listen on.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// Other machines can reach the server, but no host name is allowed.
    #[error("other machines can reach {address}, but no `--allow-host` names this one")]
    Reachable {
        /// The address to listen on.
        address: SocketAddr,
    },
    /// The argument is not a valid host name.
    #[error("`{name}` is not the name or address of a machine")]
    BadHost {
        /// The argument.
        name: String,
    },
    /// The token file is not usable.
    #[error("cannot take the token from `{path}`: {reason}")]
    Token {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system provides no random numbers for a token.
    #[error("cannot read random numbers for the token: {0}")]
    Random(io::Error),
    /// The target cannot be offered for runs.
    #[error("`{path}` cannot be offered as a target: {reason}")]
    Root {
        /// Path of the directory or file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The path is not a block device that could be overwritten.
    #[error("`{path}` is not a block device: {reason}")]
    Device {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The store is not usable.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// A system call failed.
    #[error("cannot {what}: {source}")]
    System {
        /// The attempted action.
        what: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

impl WebError {
    /// Adds the failed action to an error of the system.
    pub(crate) fn system(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System {
            what: operation,
            source,
        }
    }

    /// Advice on how to fix the problem.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                "omit `--listen` to use the next free port, or choose another one".to_owned()
            }
            Self::Listen { .. } => "use an address of this machine in `--listen`".to_owned(),
            Self::Reachable { address } => {
                let port = address.port();
                format!(
                    "to use the page from another machine, omit `--listen` and run `ssh -L \
                     {port}:127.0.0.1:{port} THIS-MACHINE` there; in a private network, you can \
                     add `--allow-host NAME` with the name that browsers use"
                )
            }
            Self::BadHost { .. } => "use a name as in a URL, without scheme or port".to_owned(),
            Self::Token { .. } => {
                "write 32 or more letters and digits into a file that only you can read, for \
                 example with `openssl rand -hex 24`, and name it in `PGMETER_TOKEN_FILE`"
                    .to_owned()
            }
            Self::Root { .. } => {
                "name an existing directory or file, or a peer as `tcp://HOST:PORT`".to_owned()
            }
            Self::Device { .. } => "name a block device, such as `/dev/vdb`".to_owned(),
            Self::Store(error) => return error.help(),
            Self::Random(_) | Self::System { .. } => return None,
        })
    }
}
