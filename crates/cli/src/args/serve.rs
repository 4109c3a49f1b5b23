//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::ArgValueCompleter;

use crate::complete::values;

/// What to do from elsewhere.
pub(super) const HELP: &str = "\
Only this machine can reach the page. To use it from elsewhere, run `ssh -L
7764:127.0.0.1:7764 THIS-MACHINE` there and open the URL. The token is a fresh one each time;
PGMETER_TOKEN_FILE names a file to take it from, which only you can read.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port; by default `127.0.0.1:7764`, or the next free port
    #[arg(long, value_name = "ADDRESS", value_hint = ValueHint::Other)]
    pub listen: Option<SocketAddr>,
    /// Name of this machine that browsers may use; needed to listen on an address that others can
    /// reach; repeatable
    #[arg(long, value_name = "NAME", value_hint = ValueHint::Hostname)]
    pub allow_host: Vec<String>,
    /// Directory, file or block device that the page may measure, with all beneath it; repeatable;
    /// without it, the page shows and compares runs and starts none
    #[arg(long, short = 't', value_name = "PATH",
        add = ArgValueCompleter::new(values::targets))]
    pub target: Vec<PathBuf>,
    /// Let runs from the page write to this block device; everything on it is lost
    #[arg(long, value_name = "DEV", value_hint = ValueHint::Other)]
    pub overwrite_device: Vec<PathBuf>,
    /// Show this run, and end when it is over: what `run --web` starts
    #[arg(long, value_name = "RUN", hide = true)]
    pub beside_run: Option<String>,
    /// Open the page in the browser: `BROWSER`, or that of the desktop
    #[arg(long)]
    pub open: bool,
}
