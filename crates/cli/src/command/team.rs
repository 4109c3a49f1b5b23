//! Processes that measure together with this one, on other hosts or started by MPI.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crew::{
    Children, FirstRank, Job, Leader, LeaderOptions, OnLost, ProgramCopy, Ranked, copy_program,
    hosts, join, serve_stdio,
};
use description::{Overrides, Workload};
use mpi::Launch;
use planning::{Planned, hosts_of_groups, plan, wanted_targets, wanted_targets_of_groups};

use super::DEFAULT_TARGET;
use crate::args::{CrewArgs, OnLostArg, RunArgs};
use crate::bounds;
use crate::failure::{Exit, Failure};
use crate::signals::{skip_at_signal, stop_flag};

/// The processes of a run, led from here.
pub(super) struct Team {
    pub leader: Leader,
    /// Where a launcher of MPI started them.
    job: Option<Job>,
    /// Where commands did, which are ended when this goes.
    _children: Option<Children>,
    /// The groups of workers that they have, where each has its own.
    groups: Option<Vec<String>>,
}

impl Drop for Team {
    fn drop(&mut self) {
        let are_all_there = self.leader.has_all();
        self.leader.dismiss();
        match self.job.take() {
            Some(job) if are_all_there => {
                // Of what could not be ended the launcher tells.
                let _ = job.end();
            }
            Some(job) => job.leave(),
            None => {}
        }
    }
}

/// This process in the job of a launcher of MPI.
pub(super) enum Part {
    /// No launcher started it, or it alone.
    Alone,
    /// It leads.
    First(FirstRank),
    /// It has nothing left to do: another said what, or says what is wrong.
    Done(Exit),
}

impl Part {
    /// As [`Part::take`], of a run that may have processes started by itself.
    pub fn take_or_refuse(
        args: &CrewArgs,
        at_once: fn() -> !,
    ) -> Result<(Self, Arc<AtomicBool>), Failure> {
        match refuse_hosts_below_launcher(args)? {
            Some(exit) => Ok((Self::Done(exit), Arc::default())),
            None => Self::take(at_once),
        }
    }

    /// Takes part, and then heeds signals by the flag that the first one sets: to be called before
    /// anything else is set up.
    pub fn take(at_once: fn() -> !) -> Result<(Self, Arc<AtomicBool>), Failure> {
        let Some(launch) = launch_of_several() else {
            return Ok((Self::Alone, stop_flag(at_once)?));
        };
        let is_first = is_first(&launch);
        let mut heeded = None;
        let joined = join(launch, || {
            // Launchers pass SIGUSR1 on to all, and the first alone goes on to the next cell.
            let unheeded = skip_at_signal(&Arc::default());
            let stop = heeded.insert(unheeded.and_then(|()| stop_flag(at_once)));
            stop.as_ref().map(Arc::clone).unwrap_or_default()
        });
        let part = match joined {
            Ok(Ranked::First(first)) => Self::First(first),
            Ok(Ranked::Done) => Self::Done(Exit::Measured),
            Err(error) if is_first => return Err(error.into()),
            // All have the same library, and the first one tells.
            Err(_) => Self::Done(Exit::System),
        };
        let stop = heeded.transpose()?.unwrap_or_default();
        Ok((part, stop))
    }
}

/// What a launcher has told that started this process and others.
fn launch_of_several() -> Option<Launch> {
    Launch::from_environment().filter(|it| it.ranks_count() != Some(1))
}

/// Whether this process speaks for all that the launcher started.
fn is_first(launch: &Launch) -> bool {
    launch.rank().unwrap_or(0) == 0
}

/// Refuses to start processes on hosts where a launcher has started them already; how this one ends
/// where another tells so.
fn refuse_hosts_below_launcher(args: &CrewArgs) -> Result<Option<Exit>, Failure> {
    let option = match (&args.hosts, args.host.is_empty()) {
        (Some(_), _) => "--hosts",
        (None, false) => "--host",
        (None, true) => return Ok(None),
    };
    let Some(launch) = launch_of_several() else {
        return Ok(None);
    };
    if !is_first(&launch) {
        return Ok(Some(Exit::Usage));
    }
    let processes = match launch.ranks_count() {
        Some(count) => format!("{count} processes"),
        None => "the processes".to_owned(),
    };
    let message = format!(
        "`{option}` has processes started by ssh, but {} has started {processes} already",
        launch.launcher()
    );
    let help = format!("leave `{option}` out, or start `pgmeter` without the launcher");
    Err(Failure::new(Exit::Usage, message, Some(help)))
}

impl Team {
    /// The ranks of a job, of which this is the first.
    pub fn of_ranks(
        first: FirstRank,
        options: LeaderOptions,
        stop: &AtomicBool,
    ) -> Result<Self, Failure> {
        let options = LeaderOptions {
            carrier: first.carrier,
            ..options
        };
        Ok(Self {
            leader: Leader::greet(first.hub, options, stop)?,
            job: Some(first.job),
            _children: None,
            groups: None,
        })
    }

    /// Those that the arguments ask for; none where this process measures alone.
    pub fn gather(
        args: &RunArgs,
        workloads: &[Workload],
        stop: &AtomicBool,
    ) -> Result<Option<Self>, Failure> {
        let Some(places) = Places::of(&args.crew, workloads)? else {
            return Ok(None);
        };
        let mut copies: BTreeMap<&str, ProgramCopy> = BTreeMap::new();
        for host in places.hosts.iter().filter(|_| args.crew.copy_binary) {
            if !copies.contains_key(host.as_str()) {
                let copy = copy_program(on_host(&args.crew, host), host, stop)?;
                copies.insert(host, copy);
            }
        }
        let commands = places.hosts.iter().map(|host| {
            let mut command = on_host(&args.crew, host);
            let program = copies.get(host.as_str()).map(ProgramCopy::path);
            command.args([program.unwrap_or("pgmeter"), "worker"]);
            command
        });
        let (children, hub) = Children::start(commands.collect())?;
        let options = LeaderOptions {
            carrier: format!("ssh: {}", args.crew.ssh),
            ..options(args)
        };
        let greeted = Leader::greet(hub, options, stop);
        // They run the copies, whose names are not needed any more.
        drop(copies);
        Ok(Some(Self {
            leader: greeted?,
            job: None,
            _children: Some(children),
            groups: places.groups,
        }))
    }

    /// What would be measured where each has as many workers as one alone.
    pub fn shared_plan(
        &mut self,
        workloads: &[Workload],
        overrides: &mut Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, Failure> {
        match &self.groups {
            Some(groups) => overrides.set_ranks_of_groups(groups.clone()),
            None => overrides.set_ranks(self.leader.ranks()),
        }
        self.planned(workloads, overrides, stop)
    }

    /// What would be measured by all of them; what cannot be is refused.
    pub fn planned(
        &mut self,
        workloads: &[Workload],
        overrides: &Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, Failure> {
        bounds::refuse_processes()?;
        let wanted = wanted_targets(workloads, overrides);
        let reads_only = overrides.only_reads(workloads);
        let default = Some(DEFAULT_TARGET);
        let of_groups = wanted_targets_of_groups(workloads, overrides);
        let of_rank = |rank: u32| match &of_groups {
            Some(all) => all[rank as usize].as_slice(),
            None => wanted.as_slice(),
        };
        let facts = self.leader.facts(of_rank, default, reads_only, stop)?;
        Ok(plan(workloads, overrides, &facts)?.accepted()?)
    }

    /// The processes, as a run sees them.
    pub fn as_crew(&mut self) -> &mut dyn run::Crew {
        &mut self.leader
    }
}

/// Where the processes of a run are.
struct Places {
    /// The host of each.
    hosts: Vec<String>,
    /// The groups of workers that they have, where each has its own.
    groups: Option<Vec<String>>,
}

impl Places {
    /// Those that the arguments ask for; none where this process measures alone.
    fn of(args: &CrewArgs, workloads: &[Workload]) -> Result<Option<Self>, Failure> {
        if !args.host.is_empty() {
            let all = hosts_of_groups(workloads, &args.host)?;
            let (groups, hosts) = all.into_iter().map(|it| (it.group, it.host)).unzip();
            let groups = Some(groups);
            return Ok(Some(Self { hosts, groups }));
        }
        let Some(list) = &args.hosts else {
            return Ok(None);
        };
        let each = args.workers_per_host as usize;
        let all = hosts(list)?.into_iter();
        let hosts = all.flat_map(|host| std::iter::repeat_n(host, each));
        Ok(Some(Self {
            hosts: hosts.collect(),
            groups: None,
        }))
    }
}

/// What the arguments say of others.
pub(super) fn options(args: &RunArgs) -> LeaderOptions {
    LeaderOptions {
        carrier: String::new(),
        on_lost: match args.crew.on_lost {
            OnLostArg::Fail => OnLost::Fail,
            OnLostArg::Continue => OnLost::Continue,
        },
        overwrite_devices: args.overwrite_device.clone(),
        create: args.workload.options.create,
        sink_token_file: absolute(args.sink_token_file.as_deref()),
    }
}

/// Where a file is, wherever whoever reads it works.
fn absolute(path: Option<&Path>) -> Option<PathBuf> {
    path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// A command on a host, without what it is to run; Ctrl-C in the terminal is not for it.
fn on_host(args: &CrewArgs, host: &str) -> Command {
    let mut words = args.ssh.split_whitespace().map(OsString::from);
    let mut command = Command::new(words.next().unwrap_or_else(|| "ssh".into()));
    command.args(words).arg(host).process_group(0);
    command
}

/// `worker`: measures what a leader on the standard streams says.
pub(crate) fn worker(at_once: fn() -> !) -> Result<Exit, Failure> {
    let stop: Arc<AtomicBool> = stop_flag(at_once)?;
    serve_stdio(stop);
    Ok(Exit::Measured)
}
