//! Processes that measure together with this one, on other hosts or started by MPI.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crew::{
    Children, CrewError, FirstRank, Job, Leader, LeaderOptions, OnLost, Ranked, hosts, join,
    serve_stdio,
};
use mpi::Launch;
use workload::{Overrides, Planned, Workload, plan, wanted_targets};

use super::DEFAULT_TARGET;
use crate::args::{CrewArgs, OnLostArg, RunArgs};
use crate::failure::{Exit, Failure};
use crate::signals::stop_flag;

/// The processes of a run, led from here.
pub(super) struct Team {
    pub leader: Leader,
    /// Where a launcher of MPI started them.
    job: Option<Job>,
    /// Where commands did, which are ended when this goes.
    _children: Option<Children>,
}

impl Drop for Team {
    fn drop(&mut self) {
        self.leader.dismiss();
        if let Some(job) = self.job.take() {
            job.end();
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
    /// Takes part, and then heeds signals by the flag that the first one sets: to be called before
    /// anything else is set up.
    pub fn take(at_once: fn() -> !) -> Result<(Self, Arc<AtomicBool>), Failure> {
        let launch = Launch::from_environment().filter(|it| it.ranks_count() != Some(1));
        let Some(launch) = launch else {
            return Ok((Self::Alone, stop_flag(at_once)?));
        };
        let is_first = launch.rank().unwrap_or(0) == 0;
        let mut heeded = None;
        let joined = join(launch, || {
            let stop = heeded.insert(stop_flag(at_once));
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
        })
    }

    /// Those that the arguments ask for; none where this process measures alone.
    pub fn gather(args: &RunArgs, stop: &AtomicBool) -> Result<Option<Self>, Failure> {
        let Some(list) = &args.crew.hosts else {
            return Ok(None);
        };
        let hosts = hosts(list)?;
        let remote = match args.crew.copy_binary {
            true => copied(&args.crew, &hosts)?,
            false => vec!["pgmeter".to_owned(); hosts.len()],
        };
        let each = args.crew.workers_per_host as usize;
        let programs = hosts.iter().zip(&remote);
        let commands = programs.clone().flat_map(|(host, program)| {
            let start = || {
                let mut command = on_host(&args.crew, host);
                command.args([program, "worker"]);
                command
            };
            std::iter::repeat_with(start).take(each).collect::<Vec<_>>()
        });
        let (children, hub) = Children::start(commands.collect())?;
        let options = LeaderOptions {
            carrier: format!("ssh: {}", args.crew.ssh),
            ..options(args)
        };
        let greeted = Leader::greet(hub, options, stop);
        if args.crew.copy_binary {
            // They run it, so its name is not needed any more.
            for (host, program) in programs {
                let mut command = on_host(&args.crew, host);
                let _ = command
                    .args(["rm", "-f", program])
                    .stdin(Stdio::null())
                    .output();
            }
        }
        Ok(Some(Self {
            leader: greeted?,
            job: None,
            _children: Some(children),
        }))
    }

    /// What would be measured where each has as many workers as one alone.
    pub fn shared_plan(
        &mut self,
        workloads: &[Workload],
        overrides: &mut Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, Failure> {
        overrides.set_ranks(self.leader.ranks());
        self.planned(workloads, overrides, stop)
    }

    /// What would be measured by all of them; what cannot be is refused.
    pub fn planned(
        &mut self,
        workloads: &[Workload],
        overrides: &Overrides,
        stop: &AtomicBool,
    ) -> Result<Planned, Failure> {
        let wanted = wanted_targets(workloads, overrides);
        let reads_only = overrides.only_reads(workloads);
        let default = Some(DEFAULT_TARGET);
        let facts = self.leader.facts(&wanted, default, reads_only, stop)?;
        let mut planned = plan(workloads, overrides, &facts)?;
        match planned.refusals.is_empty() {
            true => Ok(planned),
            false => Err(planned.refusals.swap_remove(0).into()),
        }
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
        keep: args.workload.options.keep,
    }
}

/// A command on a host, without what it is to run; Ctrl-C in the terminal is not for it.
fn on_host(args: &CrewArgs, host: &str) -> Command {
    let mut words = args.ssh.split_whitespace().map(OsString::from);
    let mut command = Command::new(words.next().unwrap_or_else(|| "ssh".into()));
    command.args(words).arg(host).process_group(0);
    command
}

/// Copies this program to each host, and tells where it is there.
fn copied(args: &CrewArgs, hosts: &[String]) -> Result<Vec<String>, Failure> {
    const SCRIPT: &str = "f=$(mktemp \"${TMPDIR:-/tmp}/pgmeter.XXXXXX\") && cat > \"$f\" && \
         chmod 700 \"$f\" && echo \"$f\"";
    let mut paths = Vec::new();
    for host in hosts {
        let failed = |source| CrewError::Start {
            command: format!("{} {host}", args.ssh),
            source,
        };
        let own = File::open("/proc/self/exe").map_err(failed)?;
        let mut command = on_host(args, host);
        // A shell of the other side splits what it is given, so it is quoted for that.
        command.args(["sh", "-c", &format!("'{SCRIPT}'")]);
        let output = command
            .stdin(own)
            .stderr(Stdio::piped())
            .output()
            .map_err(failed)?;
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || !path.starts_with('/') {
            let mut complaint = String::new();
            let _ = output
                .stderr
                .as_slice()
                .take(200)
                .read_to_string(&mut complaint);
            return Err(CrewError::Lost {
                who: host.clone(),
                why: format!("did not take a copy of the program: {}", complaint.trim()),
            }
            .into());
        }
        paths.push(path);
    }
    Ok(paths)
}

/// `worker`: measures what a leader on the standard streams says.
pub(crate) fn worker(at_once: fn() -> !) -> Result<Exit, Failure> {
    let stop: Arc<AtomicBool> = stop_flag(at_once)?;
    serve_stdio(stop);
    Ok(Exit::Measured)
}
