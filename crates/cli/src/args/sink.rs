//! Arguments of `sink`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use network::CONNECTIONS_MAX;

/// What to do where others are not trusted.
pub(super) const HELP: &str = "\
Without a token a sink listens on this machine's own addresses only. From elsewhere, either run
`ssh -L 7765:127.0.0.1:7765 THIS-MACHINE` there and measure `tcp://127.0.0.1:7765`, or give both
ends a token: `(umask 077; openssl rand -hex 32 > FILE)`, then `--token-file FILE` here and
`--sink-token-file FILE` there. What is sent is not encrypted. A sink keeps and writes nothing.";

/// Arguments of `sink`.
#[derive(Debug, Args)]
pub(crate) struct SinkArgs {
    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7765",
        value_hint = ValueHint::Other)]
    pub listen: SocketAddr,
    /// File with a token that whoever connects has to know; only you may read it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// The most connections at a time; more are refused
    #[arg(long, value_name = "COUNT", default_value_t = network::CONNECTIONS_DEFAULT,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    pub connections: u32,
}
