//! Errors of TCP connections, each with one action to take.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use units::printable;

use crate::frame::{MAJOR, MINOR};

/// Reason why a sink cannot be reached or cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A host name has no address.
    #[error("`{}` has no address: {source}", printable(host))]
    Resolve {
        /// Name of the host.
        host: String,
        /// Error of the resolver.
        source: io::Error,
    },
    /// No connection is possible.
    #[error("cannot connect to `{peer}`: {source}")]
    Connect {
        /// Address of the sink.
        peer: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// The connection ended or timed out before the greeting was complete.
    #[error("`{peer}` did not complete the greeting: {source}")]
    Greeting {
        /// Address of the sink.
        peer: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// Another program listens at this address.
    #[error("`{peer}` is not a pgmeter sink: its answer is not a greeting")]
    NotASink {
        /// Address of the program.
        peer: SocketAddr,
    },
    /// The sink has another major version.
    #[error("`{peer}` uses protocol version {major}.{minor}, but {MAJOR}.{MINOR} is required")]
    Version {
        /// Address of the sink.
        peer: SocketAddr,
        /// Major version of the sink.
        major: u16,
        /// Minor version of the sink.
        minor: u16,
    },
    /// The sink requires a token, and none was given.
    #[error("`{peer}` requires a token")]
    TokenRequired {
        /// Address of the sink.
        peer: SocketAddr,
    },
    /// The sink has another token.
    #[error("`{peer}` has another token")]
    TokenDiffers {
        /// Address of the sink.
        peer: SocketAddr,
    },
    /// The sink has reached its limit of connections.
    #[error("`{peer}` has reached its limit of {connections_max} connections")]
    Full {
        /// Address of the sink.
        peer: SocketAddr,
        /// Maximum number of connections.
        connections_max: u32,
    },
    /// The sink rejected a frame, which only a bug can cause.
    #[error("`{peer}` refuses the connection")]
    Refused {
        /// Address of the sink.
        peer: SocketAddr,
    },
    /// A sink cannot listen.
    #[error("cannot listen on `{address}`: {source}")]
    Listen {
        /// Address to listen on.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// Other machines could reach a sink without a token.
    #[error("`{address}` can be reached from other machines, but there is no token")]
    Reachable {
        /// Address to listen on.
        address: SocketAddr,
    },
    /// The number of connections is out of range.
    #[error("{requested} connections are not possible; use 1 to {most}")]
    Connections {
        /// Number requested.
        requested: u32,
        /// Maximum on this system.
        most: u32,
    },
    /// No token can be read from the file.
    #[error("cannot use the token in `{}`: {reason}", printable(&path.to_string_lossy()))]
    TokenFile {
        /// Path of the file.
        path: PathBuf,
        /// Reason why not.
        reason: String,
    },
    /// The system returned no random numbers.
    #[error("cannot read random numbers: {0}")]
    Random(io::Error),
    /// A system call of the sink failed.
    #[error("cannot {what}: {source}")]
    System {
        /// Action that failed.
        what: &'static str,
        /// Error of the system.
        source: io::Error,
    },
}

impl NetworkError {
    /// One action that may solve the problem, if there is any.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Resolve { .. } => "name an address, or a host that `getent hosts NAME` finds",
            Self::Connect { .. } => "start `pgmeter sink` there; it prints the target to name here",
            Self::Greeting { .. } | Self::NotASink { .. } => {
                "name the address and port that `pgmeter sink` prints"
            }
            Self::Version { .. } | Self::Refused { .. } => {
                "use the same version of pgmeter at both ends"
            }
            Self::TokenRequired { .. } => {
                "add `--sink-token-file FILE` with the token that the sink was given"
            }
            Self::TokenDiffers { .. } => "give both ends the same token",
            Self::Full { .. } => {
                "start the sink with more `--connections`, or use a lower `--iodepth`"
            }
            Self::Reachable { .. } => {
                "add `--token-file FILE`, or listen on 127.0.0.1 and forward the port: \
                 `ssh -L PORT:127.0.0.1:PORT HOST`"
            }
            Self::Connections { .. } => {
                "choose fewer `--connections`, or raise the limit with `ulimit -n`"
            }
            Self::Listen { .. } => "choose another `--listen`; port 0 takes any free port",
            Self::TokenFile { .. } => "create one: `(umask 077; openssl rand -hex 32 > FILE)`",
            Self::Random(_) | Self::System { .. } => return None,
        };
        Some(text.to_owned())
    }

    /// Error number for a completion's result; the closest one if the system gave none.
    #[must_use]
    pub fn errno(&self) -> i32 {
        let of = |source: &io::Error| source.raw_os_error();
        let errno = match self {
            Self::Connect { source, .. } | Self::Greeting { source, .. } => of(source),
            Self::System { source, .. } | Self::Random(source) => of(source),
            _ => None,
        };
        let kind = rustix::io::Errno::PROTO.raw_os_error();
        errno.unwrap_or(match self {
            Self::Full { .. } => rustix::io::Errno::CONNREFUSED.raw_os_error(),
            Self::Greeting { source, .. } => match source.kind() {
                io::ErrorKind::UnexpectedEof => rustix::io::Errno::CONNRESET.raw_os_error(),
                io::ErrorKind::TimedOut => rustix::io::Errno::TIMEDOUT.raw_os_error(),
                _ => kind,
            },
            // `connect_timeout` reports its own time limit without an error number.
            Self::Connect { .. } => rustix::io::Errno::TIMEDOUT.raw_os_error(),
            _ => kind,
        })
    }
}
