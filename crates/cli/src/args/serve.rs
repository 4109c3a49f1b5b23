//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::ArgValueCompleter;

use crate::complete::values;

/// Help for use by other machines.
pub(super) const HELP: &str = "\
By default, only this machine can reach the page. To use it from elsewhere, run
`ssh -L 7764:127.0.0.1:7764 THIS-MACHINE` there and open the URL. A new access token is created at
each start. To use a fixed one, set PGMETER_TOKEN_FILE to a file that only you can read.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port; by default `127.0.0.1:7764`, or the next free port
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Other,
        value_parser = socket_address)]
    pub listen: Option<SocketAddr>,
    /// Name of this machine that browsers may use; required if `--listen` is reachable by other
    /// machines; repeatable
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Hostname)]
    pub allow_host: Vec<String>,
    /// Directory, file, block device or `tcp://HOST:PORT` that the page may measure, including
    /// everything below it; repeatable; without it, the page shows and compares runs but starts
    /// none
    #[arg(long, short = 't', value_name = "PATH",
        add = ArgValueCompleter::new(values::targets))]
    pub target: Vec<PathBuf>,
    /// Let runs from the page write to this block device; everything on it is lost
    #[arg(long, value_name = "DEV", value_hint = ValueHint::Other)]
    pub overwrite_device: Vec<PathBuf>,
    /// Also answer `/metrics` with the results of the newest runs, for Prometheus
    #[arg(long)]
    pub metrics: bool,
    /// Board to show, made by `pgmeter board init`; the page of a run says where the run stands
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub board: Option<PathBuf>,
    /// Show this run, and exit when it is over; used by `run --web`
    #[arg(long, value_name = "RUN", hide = true)]
    pub beside_run: Option<String>,
    /// Open the page in `BROWSER` or the desktop's browser
    #[arg(long)]
    pub open: bool,
}

/// Parses the value of `--listen`.
pub(super) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    // A bare port is the most likely mistake, so the example contains it.
    let example = match text.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => "127.0.0.1:8080".to_owned(),
    };
    let wanted = format!("it takes an address and a port, such as `{example}`");
    text.parse().map_err(|_| wanted)
}
