//! Options for measuring with several processes or hosts.

use clap::{Args, ValueEnum};
use cluster::hosts;
use planning::GroupHost;

use super::count::within;

/// Processes that measure together, and how to start them.
#[derive(Debug, Args, Clone)]
pub(crate) struct ClusterArgs {
    /// Measure on these hosts together, such as `a,b,node[01-16]`: one process per host, each in
    /// its own directory below the target
    #[arg(long, value_name = "HOST,...", group = "elsewhere",
        conflicts_with_all = ["print", "web"])]
    pub hosts: Option<String>,
    /// Run the workers of this manager of an `.icf` file, or of this `group`, on a separate host;
    /// repeatable, once per manager
    #[arg(long, value_name = "MANAGER=HOST", group = "elsewhere", value_parser = group_host,
        conflicts_with_all = ["workers_per_host", "print", "web"])]
    pub host: Vec<GroupHost>,
    /// Number of processes per host
    #[arg(long, value_name = "N", default_value = "1", requires = "hosts",
        value_parser = within(1_u64, 1024))]
    pub workers_per_host: u64,
    /// Command that runs a program on a host; its arguments are the host name and `pgmeter worker`
    #[arg(
        long,
        value_name = "CMD",
        default_value = "ssh",
        requires = "elsewhere"
    )]
    pub ssh: String,
    /// Copy this program to each host for the run, if it is not installed there
    #[arg(long, requires = "elsewhere")]
    pub copy_binary: bool,
    /// What to do if a process is lost during the measurement
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub on_lost: OnLostArg,
}

/// Action when a process is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLostArg {
    /// End the run; keep the results so far
    Fail,
    /// Continue with the other processes, and report the loss
    Continue,
}

/// Reads `MANAGER=HOST`. It splits at the last `=`, because group names may contain one and host
/// names do not.
pub(super) fn group_host(text: &str) -> Result<GroupHost, String> {
    // The name of a manager may contain `=`, but the name of a host cannot.
    let Some((group, host)) = text.rsplit_once('=') else {
        return Err(
            "it takes a manager and a host, such as `LAB1=node1`; `--hosts` takes a list of \
                    hosts that all do the same"
                .to_owned(),
        );
    };
    match hosts(host) {
        Ok(hosts) if hosts.len() == 1 && !group.is_empty() => Ok(GroupHost {
            group: group.to_owned(),
            host: host.to_owned(),
        }),
        Ok(hosts) if hosts.len() > 1 => Err("a manager has one host".to_owned()),
        Ok(_) => Err("it takes the name of a manager before the `=`".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
