//! Arguments of `sink`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use network::CONNECTIONS_MAX;

use super::serve::socket_address;

/// Help for use by other machines.
pub(super) const HELP: &str = "\
Without a token a sink listens on this machine's own addresses only. From elsewhere, either run
`ssh -L 7765:127.0.0.1:7765 THIS-MACHINE` there and measure `tcp://127.0.0.1:7765`, or give both
ends a token: `(umask 077; openssl rand -hex 32 > FILE)`, then `--token-file FILE` here and
`--sink-token-file FILE` there. Data is sent without encryption. A sink stores nothing.";

/// Arguments of `sink`.
#[derive(Debug, Args)]
pub(crate) struct SinkArgs {
    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7765",
        value_hint = ValueHint::Other, value_parser = socket_address)]
    pub listen: SocketAddr,
    /// File with a token that clients must present; the file must be readable only by you
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Maximum number of simultaneous connections; further connections are refused
    #[arg(long, value_name = "COUNT", default_value_t = network::CONNECTIONS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub connections: u32,
}
