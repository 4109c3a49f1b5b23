//! Which processes measure together, and how they are reached.

use clap::{Args, ValueEnum};
use crew::hosts;
use planning::GroupHost;

use super::count::within;

/// Which processes measure together, and how they are reached.
#[derive(Debug, Args, Clone)]
pub(crate) struct CrewArgs {
    /// Measure on these hosts together, such as `a,b,node[01-16]`: a process on each, in a
    /// directory of its own below the target
    #[arg(long, value_name = "HOST,...", group = "elsewhere",
        conflicts_with_all = ["print", "web"])]
    pub hosts: Option<String>,
    /// Run the workers of this manager of an `.icf` file, or of this `group`, on a host of their
    /// own; repeatable, once for each
    #[arg(long, value_name = "MANAGER=HOST", group = "elsewhere", value_parser = group_host,
        conflicts_with_all = ["workers_per_host", "print", "web"])]
    pub host: Vec<GroupHost>,
    /// Processes on each host
    #[arg(long, value_name = "N", default_value = "1", requires = "hosts",
        value_parser = within(1_u64, 1024))]
    pub workers_per_host: u64,
    /// Command that runs another on a host; it is given the host's name and `pgmeter worker`
    #[arg(
        long,
        value_name = "CMD",
        default_value = "ssh",
        requires = "elsewhere"
    )]
    pub ssh: String,
    /// Copy this program to each host for the run, where it is not installed
    #[arg(long, requires = "elsewhere")]
    pub copy_binary: bool,
    /// What to do when a process is lost while it measures
    #[arg(long, value_name = "WHAT", default_value = "fail")]
    pub on_lost: OnLostArg,
}

/// What to do when a process is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLostArg {
    /// End the run; what was measured before is kept
    Fail,
    /// Go on with the others, and say so
    Continue,
}

/// Reads a group of workers and its host. Names of hosts have no `=`, those of groups may.
pub(super) fn group_host(text: &str) -> Result<GroupHost, String> {
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
