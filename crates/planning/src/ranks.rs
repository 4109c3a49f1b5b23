//! Divides work among processes: assigns workers to ranks.

use crate::groups::{groups_of_workers, listed};
use description::Ranks;
use description::model::Workload;
use plan::Cell;
use plan::Diagnostic;
use plan::job::ConvertedJobs;

use plan::worker_seed;

/// Assignment of workers to processes.
#[derive(Default)]
pub(super) struct RankShares {
    workload: String,
    count: u32,
    rule: RankRule,
}

/// Rule that determines a worker's process.
#[derive(Default)]
enum RankRule {
    /// All workers are in one process.
    #[default]
    None,
    /// By the worker's index: `each` consecutive workers belong to one process.
    Index {
        each: u32,
        /// `true` if each process does the work of a single one.
        is_each: bool,
    },
    /// By the worker's table: the rank of each table.
    Table(Vec<u32>),
}

/// Assigns the workers to processes. If each process does the whole work, the workload gets that
/// many times its workers.
///
/// # Errors
/// If the work cannot be shared.
pub(super) fn share_out(
    workload: &mut Workload,
    target_count: usize,
    ranks: Option<&Ranks>,
) -> Result<RankShares, Diagnostic> {
    let Some(ranks) = ranks else {
        return Ok(RankShares::default());
    };
    let mut shares = RankShares {
        workload: workload.name_or_default().to_owned(),
        count: ranks.count(),
        rule: RankRule::None,
    };
    let jobs = description::check::jobs(workload).map_err(|flaw| flaw.diagnostic(""))?;
    if let Some(built) = jobs {
        if built.jobs.iter().any(|job| job.plan.recorded.is_some()) {
            return Err(shares.refused("its recorded requests are not part of the plan"));
        }
        let Ranks::Replicated(_) = ranks else {
            return Err(shares.refused("the clones of a job stay in one process"));
        };
        shares.rule = RankRule::Index {
            each: built.jobs.len() as u32,
            is_each: true,
        };
        return Ok(shares);
    }
    let tables = workload.worker.iter().map(|it| it.count.unwrap_or(1));
    let once: u32 = match workload.table() {
        // Work on files has one worker per target by default.
        Some(_) => target_count.max(1) as u32,
        None => tables.sum::<u32>().max(1),
    };
    let workers = workload.workers.unwrap_or(once);
    shares.rule = match ranks {
        Ranks::Replicated(count) => {
            workload.workers = Some(workers.saturating_mul(*count));
            RankRule::Index {
                each: workers,
                is_each: true,
            }
        }
        Ranks::Divided(count) if workers.is_multiple_of(*count) => RankRule::Index {
            each: workers / count,
            is_each: false,
        },
        Ranks::Divided(_) => {
            return Err(shares.refused(&format!("{workers} workers cannot be shared evenly")));
        }
        Ranks::Groups(names) => RankRule::Table(ranks_of_tables(workload, names)?),
    };
    Ok(shares)
}

/// Copies the jobs and their files for each process. Jobs wait for and end only jobs of the same
/// process.
pub(super) fn copy_for_each_process(mut built: ConvertedJobs, processes: u32) -> ConvertedJobs {
    let (job_count, file_count) = (built.jobs.len(), built.files.files.len());
    for process in 1..processes {
        for index in 0..job_count {
            let mut job = built.jobs[index].clone();
            // With one seed, all processes would make the same requests at the same times.
            job.seed = worker_seed(job.seed, process);
            for part in &mut job.plan.files {
                part.file_index += process * file_count as u32;
            }
            if let Some(before) = &mut job.plan.after {
                before.first_index += process * job_count as u32;
            }
            built.jobs.push(job);
        }
        // The copies keep their names, because each process has its own directory.
        built.files.files.extend_from_within(..file_count);
    }
    built
}

/// A warning if an Iometer file has workers of several managers, which are separate machines in
/// Iometer.
pub(super) fn managers_warning(workload: &Workload, ranks: Option<&Ranks>) -> Option<Diagnostic> {
    workload.iometer.as_ref()?;
    let mut managers: Vec<String> = Vec::new();
    for name in groups_of_workers(workload).flatten() {
        if !managers.contains(&name) {
            managers.push(name);
        }
    }
    let names: Vec<&str> = managers.iter().map(String::as_str).collect();
    let [first, _, ..] = names[..] else {
        return None;
    };
    let message = match ranks {
        None => format!("the workers of managers {} all run here", listed(&names)),
        Some(Ranks::Groups(_)) => return None,
        Some(_) => format!(
            "each process has the workers of managers {}",
            listed(&names)
        ),
    };
    let first = plan::printable(first);
    let help = format!("to use separate machines, add `--host \"{first}=HOST\"` for each");
    Some(Diagnostic::warning("", message).help(help))
}

/// The process of each worker table: the process of its group.
fn ranks_of_tables(workload: &Workload, names: &[String]) -> Result<Vec<u32>, Diagnostic> {
    let rank = |group: Option<String>| {
        let found = (0..)
            .zip(names)
            .find(|(_, name)| Some(*name) == group.as_ref());
        let message = "workers of no group belong to no process";
        let error = || Diagnostic::error("", message).help("give each `[[worker]]` a `group`");
        found.map(|(rank, _)| rank).ok_or_else(error)
    };
    match workload.worker.is_empty() {
        true => rank(None).map(|rank| vec![rank]),
        false => groups_of_workers(workload).map(rank).collect(),
    }
}

impl RankShares {
    /// The process of the worker with this index and table.
    pub fn rank_of(&self, index: usize, table_index: Option<usize>) -> u32 {
        match &self.rule {
            RankRule::None => 0,
            RankRule::Index { each, .. } => index as u32 / (*each).max(1),
            RankRule::Table(ranks) => table_index.map_or(0, |table| ranks[table]),
        }
    }

    /// Number of processes that each do the whole work; 1 if they divide it.
    pub fn replica_count(&self) -> u32 {
        match &self.rule {
            RankRule::Index { is_each: true, .. } => self.count,
            _ => 1,
        }
    }

    /// Index of the process within which a worker is cycled, as if it ran alone; 0 if all workers
    /// are cycled together.
    pub fn cycle_of(&self, index: usize) -> usize {
        match &self.rule {
            RankRule::Index { is_each: true, .. } => self.rank_of(index, None) as usize,
            _ => 0,
        }
    }

    /// Assigns the workers of work on many files to their processes.
    ///
    /// # Errors
    /// If the work cannot be shared.
    pub fn assign(&self, cells: &mut [Cell]) -> Result<(), Diagnostic> {
        if self.count < 2 {
            return Ok(());
        }
        for cell in cells {
            let (RankRule::Index { each, .. }, Some(program)) = (&self.rule, cell.program()) else {
                continue;
            };
            if cell.workers.len() as u32 != each.saturating_mul(self.count) {
                return Err(self.refused("its own keys set the number of workers"));
            }
            if let Some(flaw) = program.shared_flaw(cell.operations.is_some()) {
                return Err(self.refused(flaw));
            }
            for (index, worker) in cell.workers.iter_mut().enumerate() {
                worker.rank = self.rank_of(index, None);
            }
        }
        Ok(())
    }

    fn refused(&self, why: &str) -> Diagnostic {
        let message = format!(
            "`{}` cannot be shared by {} processes: {why}",
            self.workload, self.count
        );
        Diagnostic::error("", message).help("measure it with one process, on one host")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Planned, plan};
    use description::Overrides;
    use description::load;
    use plan::facts::SystemFacts;

    fn planned(text: &str, set: impl FnOnce(&mut Overrides)) -> Result<Planned, String> {
        let loaded = load("w.toml", text).expect("a workload");
        let mut overrides = Overrides::new();
        set(&mut overrides);
        let planned = plan(&loaded, &overrides, &SystemFacts::default());
        planned.map_err(|error| error.to_string())
    }

    /// Of each cell, the process and the specification of each worker.
    fn shares(planned: &Planned) -> Vec<Vec<(u32, &str)>> {
        let cells = planned.plan.cells.iter();
        let per_cell = cells.map(|cell| {
            let workers = cell.workers.iter();
            workers
                .map(|it| (it.rank, it.access_spec.as_str()))
                .collect()
        });
        per_cell.collect()
    }

    const SPECS: &str = "engine = \"null\"\n[[access_spec]]\nname = \"r\"\n\
        line = [{ size = \"4k\" }]\n[[access_spec]]\nname = \"w\"\n\
        line = [{ size = \"4k\", read = 0 }]\n";

    #[test]
    fn workers_run_on_the_rank_of_their_group() {
        let text = SPECS.to_owned()
            + "[[worker]]\ngroup = \"a\"\naccess_specs = [\"r\"]\n\
               [[worker]]\ngroup = \"b\"\naccess_specs = [\"w\"]\ncount = 2\n\
               [[worker]]\ngroup = \"a\"\naccess_specs = [\"w\", \"r\"]\n";
        let groups = ["b", "a"].map(str::to_owned).to_vec();
        let planned = planned(&text, |it| it.set_ranks_of_groups(groups)).expect("a plan");
        let wanted = [vec![(1, "r"), (0, "w"), (0, "w"), (1, "w")], vec![(1, "r")]];
        assert_eq!(shares(&planned), wanted);
        let one = ["a".to_owned()].to_vec();
        let error = self::planned(&text, |it| it.set_ranks_of_groups(one)).unwrap_err();
        assert!(error.contains("no group"), "{error}");
    }

    #[test]
    fn every_process_runs_all_unequal_workers() {
        let text = SPECS.to_owned()
            + "[[worker]]\naccess_specs = [\"r\"]\n\
               [[worker]]\naccess_specs = [\"idle\", \"w\"]\n";
        let planned = planned(&text, |it| it.set_ranks(2)).expect("a plan");
        let wanted = [vec![(0, "r"), (1, "r")], vec![(0, "w"), (1, "w")]];
        assert_eq!(shares(&planned), wanted);
    }

    #[test]
    fn each_process_cycles_its_own_workers_and_targets() {
        let counts = |test_type: &str| {
            let text = format!("test_type = \"{test_type}\"\n{SPECS}")
                + "[[worker]]\ncount = 3\naccess_specs = [\"r\"]\n";
            let planned = planned(&text, |it| it.set_ranks(2)).expect("a plan");
            let per_cell = shares(&planned).into_iter().map(|workers| {
                let of = |rank| workers.iter().filter(|it| it.0 == rank).count();
                [of(0), of(1)]
            });
            per_cell.collect::<Vec<_>>()
        };
        assert_eq!(counts("cycle-workers"), [[1, 1], [2, 2], [3, 3]]);
        assert_eq!(counts("increment-targets-serial"), [[1, 1], [2, 2], [3, 3]]);
    }
}
