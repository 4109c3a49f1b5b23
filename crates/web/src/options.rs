//! Options of the server.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Options of the server from the command line.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// `true` to use the next free port if this one is in use.
    pub takes_next_port: bool,
    /// Host names that browsers may use, in addition to the names of the loopback interface.
    pub allow_hosts: Vec<String>,
    /// Directories and files below which targets may be chosen.
    pub roots: Vec<PathBuf>,
    /// Block devices that runs may overwrite.
    pub overwrite_devices: Vec<PathBuf>,
    /// Path of the results store.
    pub store: PathBuf,
    /// Path of this program, which the server calls for runs, checks and reports.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// File with the token; `None` for a new random token.
    pub token_file: Option<PathBuf>,
    /// `true` to answer `GET /metrics`.
    pub has_metrics: bool,
    /// Content security policy of the report pages.
    pub report_policy: String,
    /// Style of the report pages.
    pub report_style: &'static str,
    /// Charts of the report pages, as a module of a script.
    pub report_charts: &'static str,
    /// The board to show.
    pub board: Option<ServedBoard>,
    /// Id of the run of the command line that this server accompanies; the server ends after it.
    pub beside_run: Option<String>,
}

/// A board that the server shows.
#[derive(Debug, Clone)]
pub struct ServedBoard {
    /// Absolute path of its directory.
    pub directory: PathBuf,
    /// Content security policy of the pages of its site.
    pub policy: String,
}
