//! Why ends of TCP cannot be had, each with one thing to do about it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use units::printable;

use crate::frame::{MAJOR, MINOR};

/// Why a sink cannot be reached, or cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A host's name leads to no address.
    #[error("`{}` leads to no address: {source}", printable(host))]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// Nobody can be reached there.
    #[error("cannot connect to `{peer}`: {source}")]
    Connect {
        /// Where.
        peer: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A connection ended, or nothing came in time, before transactions could begin.
    #[error("`{peer}` did not greet: {source}")]
    Greeting {
        /// Who.
        peer: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Something else listens there.
    #[error("`{peer}` is no sink of pgmeter: it answers with other bytes")]
    NoSink {
        /// Who.
        peer: SocketAddr,
    },
    /// The sink is of another major version.
    #[error("`{peer}` speaks version {major}.{minor}, and {MAJOR}.{MINOR} is wanted")]
    Version {
        /// Who.
        peer: SocketAddr,
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
    },
    /// The sink wants a token, and there is none.
    #[error("`{peer}` wants a token")]
    TokenWanted {
        /// Who.
        peer: SocketAddr,
    },
    /// The sink has another token.
    #[error("`{peer}` has another token")]
    TokenDiffers {
        /// Who.
        peer: SocketAddr,
    },
    /// The sink has as many connections as it may have.
    #[error("`{peer}` has all the {connections_max} connections that it may have")]
    Full {
        /// Who.
        peer: SocketAddr,
        /// How many that are.
        connections_max: u32,
    },
    /// The sink refuses what was said, which must not happen.
    #[error("`{peer}` refuses the connection")]
    Refused {
        /// Who.
        peer: SocketAddr,
    },
    /// A sink cannot listen.
    #[error("cannot listen on `{address}`: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Others could reach a sink that knows no token.
    #[error("`{address}` can be reached from other machines, and there is no token")]
    Reachable {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// More connections than there can be.
    #[error("{asked} connections are not possible: 1 to {most} are")]
    Connections {
        /// What was asked for.
        asked: u32,
        /// The most there can be here.
        most: u32,
    },
    /// A token cannot be had from its file.
    #[error("no token can be had from `{}`: {reason}", printable(&path.to_string_lossy()))]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The system has no random numbers.
    #[error("cannot read random numbers: {0}")]
    Random(io::Error),
    /// A system call of the sink failed.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl NetworkError {
    /// The one thing to do about it, when there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Resolve { .. } => "name an address, or a host that `getent hosts NAME` finds",
            Self::Connect { .. } => "start `pgmeter sink` there; it prints the target to name here",
            Self::Greeting { .. } | Self::NoSink { .. } => {
                "name the address and port that `pgmeter sink` prints"
            }
            Self::Version { .. } | Self::Refused { .. } => {
                "use the same version of pgmeter at both ends"
            }
            Self::TokenWanted { .. } => {
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
            Self::TokenFile { .. } => "make one: `(umask 077; openssl rand -hex 32 > FILE)`",
            Self::Random(_) | Self::System { .. } => return None,
        };
        Some(text.to_owned())
    }

    /// The errno behind it, for a completion's result.
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
            Self::Connect { .. } => rustix::io::Errno::TIMEDOUT.raw_os_error(),
            _ => kind,
        })
    }
}
