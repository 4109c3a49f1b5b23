//! What the command line says of a server.

use std::net::SocketAddr;
use std::path::PathBuf;

/// What the command line says of a server.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Whether the next free port is taken where that one is not free.
    pub takes_next_port: bool,
    /// Names by which browsers may ask, besides those of the loopback interface.
    pub allow_hosts: Vec<String>,
    /// Directories and files beneath which targets may be chosen.
    pub roots: Vec<PathBuf>,
    /// Block devices that runs may overwrite.
    pub overwrite_devices: Vec<PathBuf>,
    /// The results store.
    pub store: PathBuf,
    /// This program, which runs, checks and reports.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Where the token is, if it is not to be a fresh one.
    pub token_file: Option<PathBuf>,
    /// The security policy of the pages that reports are.
    pub report_policy: String,
    /// Ends by itself once this run is over: the page beside a run of the command line.
    pub beside_run: Option<String>,
}
