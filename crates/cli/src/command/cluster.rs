//! Processes that measure together with this one. Commands start them on other hosts, or MPI does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use cluster::{
    Children, FirstRank, Leader, LeaderOptions, MpiJob, MpiRole, OnLost, ProgramCopy, copy_program,
    hosts, join, serve_stdio,
};
use description::{Overrides, Workload};
use mpi::Launch;
use planning::{Planned, hosts_of_groups, plan, wanted_targets, wanted_targets_of_groups};

use super::DEFAULT_TARGET;
use crate::args::{ClusterArgs, OnLostArg, RunArgs};
use crate::bounds;
use crate::failure::{CliError, Exit};
use crate::signals::{skip_at_signal, stop_flag};

/// The processes of a run, led by this one.
pub(super) struct StartedCluster {
    pub leader: Leader,
    /// Set if an MPI launcher started the processes.
    job: Option<MpiJob>,
    /// Set if commands started the processes; dropping it ends the commands.
    _children: Option<Children>,
    /// Groups of workers, one per process; `None` if all processes do the same work.
    groups: Option<Vec<String>>,
}

impl Drop for StartedCluster {
    fn drop(&mut self) {
        let is_complete = self.leader.has_all();
        self.leader.dismiss();
        match self.job.take() {
            // Ending MPI waits for all processes. If one was lost, this wait would never end.
            Some(job) if is_complete => {
                // The launcher reports processes that could not be ended.
                let _ = job.end();
            }
            Some(job) => job.leave(),
            None => {}
        }
    }
}

/// Role of this process in the job of an MPI launcher.
pub(super) enum RankRole {
    /// No launcher started this process, or it started only one.
    Standalone,
    /// This process is the leader.
    First(FirstRank),
    /// This process has nothing left to do; another process reports the result or the error.
    Done(Exit),
}

impl RankRole {
    /// Same as [`RankRole::take`], for a run that may also start processes itself. Refuses the
    /// combination of both.
    pub fn take_or_refuse(
        args: &ClusterArgs,
        on_second_interrupt: fn() -> !,
    ) -> Result<(Self, Arc<AtomicBool>), CliError> {
        match refuse_hosts_below_launcher(args)? {
            Some(exit) => Ok((Self::Done(exit), Arc::default())),
            None => Self::take(on_second_interrupt),
        }
    }

    /// Joins the job, then makes signals set the stop flag of the leader. Must be called before any
    /// other setup.
    pub fn take(on_second_interrupt: fn() -> !) -> Result<(Self, Arc<AtomicBool>), CliError> {
        let Some(launch) = multi_process_launch() else {
            return Ok((Self::Standalone, stop_flag(on_second_interrupt)?));
        };
        let is_first = is_first(&launch);
        let mut heeded = None;
        let joined = join(launch, || {
            // Launchers forward SIGUSR1 to all processes, but only the leader skips to the next
            // cell.
            let unheeded = skip_at_signal(&Arc::default());
            let stop = heeded.insert(unheeded.and_then(|()| stop_flag(on_second_interrupt)));
            stop.as_ref().map(Arc::clone).unwrap_or_default()
        });
        let part = match joined {
            Ok(MpiRole::First(first)) => Self::First(first),
            Ok(MpiRole::Done) => Self::Done(Exit::Success),
            Err(error) if is_first => return Err(error.into()),
            // All processes have the same MPI library, so the first one reports the error.
            Err(_) => Self::Done(Exit::System),
        };
        let stop = heeded.transpose()?.unwrap_or_default();
        Ok((part, stop))
    }
}

/// Returns the description of the launcher if it started several processes.
fn multi_process_launch() -> Option<Launch> {
    Launch::from_environment().filter(|it| it.rank_count() != Some(1))
}

/// Returns `true` if this process reports errors for all processes of the launcher.
fn is_first(launch: &Launch) -> bool {
    launch.rank().unwrap_or(0) == 0
}

/// Refuses to start processes on hosts below an MPI launcher. Returns the exit status of a process
/// whose error another one reports.
fn refuse_hosts_below_launcher(args: &ClusterArgs) -> Result<Option<Exit>, CliError> {
    let option = match (&args.hosts, args.host.is_empty()) {
        (Some(_), _) => "--hosts",
        (None, false) => "--host",
        (None, true) => return Ok(None),
    };
    let Some(launch) = multi_process_launch() else {
        return Ok(None);
    };
    if !is_first(&launch) {
        return Ok(Some(Exit::Usage));
    }
    let processes = match launch.rank_count() {
        Some(count) => format!("{count} processes"),
        None => "the processes".to_owned(),
    };
    let message = format!(
        "`{option}` has processes started by ssh, but {} has started {processes} already",
        launch.launcher()
    );
    let help = format!("leave `{option}` out, or start `pgmeter` without the launcher");
    Err(CliError::new(Exit::Usage, message, Some(help)))
}

impl StartedCluster {
    /// Forms a cluster of the ranks of a job. This process is the first rank.
    pub fn of_ranks(
        first: FirstRank,
        options: LeaderOptions,
        stop: &AtomicBool,
    ) -> Result<Self, CliError> {
        let options = LeaderOptions {
            carrier: first.carrier,
            ..options
        };
        Ok(Self {
            leader: Leader::greet(first.links, options, stop)?,
            job: Some(first.job),
            _children: None,
            groups: None,
        })
    }

    /// Starts the processes that the arguments request; `None` if this process measures alone.
    pub fn gather(
        args: &RunArgs,
        workloads: &[Workload],
        stop: &AtomicBool,
    ) -> Result<Option<Self>, CliError> {
        let Some(process_hosts) = ProcessHosts::of(&args.cluster, workloads)? else {
            return Ok(None);
        };
        let mut copies: BTreeMap<&str, ProgramCopy> = BTreeMap::new();
        for host in process_hosts
            .hosts
            .iter()
            .filter(|_| args.cluster.copy_binary)
        {
            // One copy per host, even if several processes run there.
            if !copies.contains_key(host.as_str()) {
                let copy = copy_program(command_on_host(&args.cluster, host), host, stop)?;
                copies.insert(host, copy);
            }
        }
        let commands = process_hosts.hosts.iter().map(|host| {
            let mut command = command_on_host(&args.cluster, host);
            let program = copies.get(host.as_str()).map(ProgramCopy::path);
            command.args([program.unwrap_or("pgmeter"), "worker"]);
            command
        });
        let (children, hub) = Children::start(commands.collect())?;
        let options = LeaderOptions {
            carrier: format!("ssh: {}", args.cluster.ssh),
            ..options(args)
        };
        let greeted = Leader::greet(hub, options, stop);
        // The processes run the copies, so the copies no longer need names.
        drop(copies);
        Ok(Some(Self {
            leader: greeted?,
            job: None,
            _children: Some(children),
            groups: process_hosts.groups,
        }))
    }

    /// Plans with the full number of workers for each process.
    pub fn shared_plan(
        &mut self,
        workloads: &[Workload],
        overrides: &mut Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, CliError> {
        match &self.groups {
            Some(groups) => overrides.set_ranks_of_groups(groups.clone()),
            None => overrides.set_ranks(self.leader.ranks()),
        }
        self.planned(workloads, overrides, stop)
    }

    /// Plans for all processes. Refuses plans that cannot be executed.
    pub fn planned(
        &mut self,
        workloads: &[Workload],
        overrides: &Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, CliError> {
        bounds::refuse_processes()?;
        let wanted = wanted_targets(workloads, overrides);
        let reads_only = overrides.only_reads(workloads);
        let default = Some(DEFAULT_TARGET);
        let group_targets = wanted_targets_of_groups(workloads, overrides);
        let rank_targets = |rank: u32| match &group_targets {
            Some(all) => all[rank as usize].as_slice(),
            None => wanted.as_slice(),
        };
        let facts = self.leader.facts(rank_targets, default, reads_only, stop)?;
        Ok(plan(workloads, overrides, &facts)?.accepted()?)
    }

    /// Returns the processes for use by a run.
    pub fn as_cluster(&mut self) -> &mut dyn run::Cluster {
        &mut self.leader
    }
}

/// Hosts of the processes of a run.
struct ProcessHosts {
    /// Host of each process.
    hosts: Vec<String>,
    /// Groups of workers, one per process; `None` if all processes do the same work.
    groups: Option<Vec<String>>,
}

impl ProcessHosts {
    /// Returns the hosts that the arguments request; `None` if this process measures alone.
    fn of(args: &ClusterArgs, workloads: &[Workload]) -> Result<Option<Self>, CliError> {
        if !args.host.is_empty() {
            let all = hosts_of_groups(workloads, &args.host)?;
            let (groups, hosts) = all.into_iter().map(|it| (it.group, it.host)).unzip();
            let groups = Some(groups);
            return Ok(Some(Self { hosts, groups }));
        }
        let Some(list) = &args.hosts else {
            return Ok(None);
        };
        let per_host = args.workers_per_host as usize;
        let all = hosts(list)?.into_iter();
        let hosts = all.flat_map(|host| std::iter::repeat_n(host, per_host));
        Ok(Some(Self {
            hosts: hosts.collect(),
            groups: None,
        }))
    }
}

/// Returns the options of the leader.
pub(super) fn options(args: &RunArgs) -> LeaderOptions {
    LeaderOptions {
        carrier: String::new(),
        on_lost: match args.cluster.on_lost {
            OnLostArg::Fail => OnLost::Fail,
            OnLostArg::Continue => OnLost::Continue,
        },
        overwrite_devices: args.overwrite_device.clone(),
        create: args.workload.options.create,
        sink_token_file: absolute(args.sink_token_file.as_deref()),
    }
}

/// Makes a path absolute, because the reader may have another working directory.
fn absolute(path: Option<&Path>) -> Option<PathBuf> {
    path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Returns the command prefix that runs a program on a host. A separate process group protects it
/// from Ctrl-C in the terminal.
fn command_on_host(args: &ClusterArgs, host: &str) -> Command {
    let mut words = args.ssh.split_whitespace().map(OsString::from);
    let mut command = Command::new(words.next().unwrap_or_else(|| "ssh".into()));
    command.args(words).arg(host).process_group(0);
    command
}

/// `worker`: measures as the leader on the standard streams requests.
pub(crate) fn worker(on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    let stop: Arc<AtomicBool> = stop_flag(on_second_interrupt)?;
    serve_stdio(stop);
    Ok(Exit::Success)
}
