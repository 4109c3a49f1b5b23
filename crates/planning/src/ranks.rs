//! Work that several processes share: which worker works in which.

use crate::groups::{groups_of_workers, listed};
use description::Ranks;
use description::model::Workload;
use plan::Cell;
use plan::Diagnostic;
use plan::job::BuiltJobs;

use plan::worker_seed;

/// Which worker works in which process.
#[derive(Default)]
pub(super) struct Shares {
    workload: String,
    count: u32,
    by: By,
}

/// What tells a worker its process.
#[derive(Default)]
enum By {
    /// All workers are in one.
    #[default]
    None,
    /// Its place among all: so many follow each other that belong to one.
    Place {
        each: u32,
        /// Whether each process does what one alone would.
        is_each: bool,
    },
    /// Its table.
    Table(Vec<u32>),
}

/// Which worker works in which process; where each of several does what one alone would, the
/// workload gets so many times its workers.
///
/// # Errors
/// Where the work cannot be shared.
pub(super) fn share_out(
    workload: &mut Workload,
    target_count: usize,
    ranks: Option<&Ranks>,
) -> Result<Shares, Diagnostic> {
    let Some(ranks) = ranks else {
        return Ok(Shares::default());
    };
    let mut shares = Shares {
        workload: workload.name_or_default().to_owned(),
        count: ranks.count(),
        by: By::None,
    };
    let jobs = description::check::jobs(workload).map_err(|flaw| flaw.diagnostic(""))?;
    if let Some(built) = jobs {
        if built.jobs.iter().any(|job| job.plan.recorded.is_some()) {
            return Err(shares.refused("its recorded requests do not go with a plan"));
        }
        let Ranks::Each(_) = ranks else {
            return Err(shares.refused("the clones of a job stay in one process"));
        };
        shares.by = By::Place {
            each: built.jobs.len() as u32,
            is_each: true,
        };
        return Ok(shares);
    }
    let tables = workload.worker.iter().map(|it| it.count.unwrap_or(1));
    let once: u32 = match workload.table() {
        Some(_) => target_count.max(1) as u32,
        None => tables.sum::<u32>().max(1),
    };
    let workers = workload.workers.unwrap_or(once);
    shares.by = match ranks {
        Ranks::Each(count) => {
            workload.workers = Some(workers.saturating_mul(*count));
            By::Place {
                each: workers,
                is_each: true,
            }
        }
        Ranks::OfAll(count) if workers.is_multiple_of(*count) => By::Place {
            each: workers / count,
            is_each: false,
        },
        Ranks::OfAll(_) => {
            return Err(shares.refused(&format!("{workers} workers cannot be shared evenly")));
        }
        Ranks::OfGroups(names) => By::Table(ranks_of_tables(workload, names)?),
    };
    Ok(shares)
}

/// Repeats the jobs and their files for each process. Jobs wait for and end only those of their own
/// process.
pub(super) fn in_each_process(mut built: BuiltJobs, processes: u32) -> BuiltJobs {
    let (job_count, file_count) = (built.jobs.len(), built.files.files.len());
    for process in 1..processes {
        for index in 0..job_count {
            let mut job = built.jobs[index].clone();
            job.seed = worker_seed(job.seed, process);
            for part in &mut job.plan.files {
                part.file_index += process * file_count as u32;
            }
            if let Some(before) = &mut job.plan.after {
                before.first_index += process * job_count as u32;
            }
            built.jobs.push(job);
        }
        built.files.files.extend_from_within(..file_count);
    }
    built
}

/// What there is to say where a file of Iometer has workers of several managers, which are
/// machines there.
pub(super) fn managers_remark(workload: &Workload, ranks: Option<&Ranks>) -> Option<Diagnostic> {
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
        Some(Ranks::OfGroups(_)) => return None,
        Some(_) => format!(
            "each process has the workers of managers {}",
            listed(&names)
        ),
    };
    let first = plan::printable(first);
    let help = format!("with `--host \"{first}=HOST\"` for each they run on machines of their own");
    Some(Diagnostic::warning("", message).help(help))
}

/// The process of each worker table: that of its group.
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

impl Shares {
    /// The process of the worker at that place among all, which comes from that table.
    pub fn rank_of(&self, index: usize, table_index: Option<usize>) -> u32 {
        match &self.by {
            By::None => 0,
            By::Place { each, .. } => index as u32 / (*each).max(1),
            By::Table(ranks) => table_index.map_or(0, |table| ranks[table]),
        }
    }

    /// How many processes each do the whole work; 1 where they divide it.
    pub fn alike(&self) -> u32 {
        match &self.by {
            By::Place { is_each: true, .. } => self.count,
            _ => 1,
        }
    }

    /// Whose workers are cycled by themselves, as one process alone would cycle them; 0 where all
    /// are together.
    pub fn cycle_of(&self, index: usize) -> usize {
        match &self.by {
            By::Place { is_each: true, .. } => self.rank_of(index, None) as usize,
            _ => 0,
        }
    }

    /// Tells the workers of work on files their processes.
    ///
    /// # Errors
    /// Where the work cannot be shared.
    pub fn assign(&self, cells: &mut [Cell]) -> Result<(), Diagnostic> {
        if self.count < 2 {
            return Ok(());
        }
        for cell in cells {
            let (By::Place { each, .. }, Some(program)) = (&self.by, cell.program()) else {
                continue;
            };
            if cell.workers.len() as u32 != each.saturating_mul(self.count) {
                return Err(self.refused("it says itself how many workers there are"));
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
    use description::source::load;
    use plan::facts::SystemFacts;

    fn planned(text: &str, set: impl FnOnce(&mut Overrides)) -> Result<Planned, String> {
        let loaded = load("w.toml", text.as_bytes(), None, false).expect("a workload");
        let mut overrides = Overrides::new();
        set(&mut overrides);
        let planned = plan(&loaded.workloads, &overrides, &SystemFacts::default());
        planned.map_err(|error| error.to_string())
    }

    /// Of each cell, the process and the specification of each worker.
    fn shares(planned: &Planned) -> Vec<Vec<(u32, &str)>> {
        let cells = planned.plan.cells.iter();
        let of_cell = cells.map(|cell| {
            let workers = cell.workers.iter();
            workers
                .map(|it| (it.rank, it.access_spec.as_str()))
                .collect()
        });
        of_cell.collect()
    }

    const SPECS: &str = "engine = \"null\"\n[[access_spec]]\nname = \"r\"\n\
        line = [{ size = \"4k\" }]\n[[access_spec]]\nname = \"w\"\n\
        line = [{ size = \"4k\", read = 0 }]\n";

    #[test]
    fn workers_go_where_their_group_does() {
        let text = SPECS.to_owned()
            + "[[worker]]\ngroup = \"a\"\naccess_specs = [\"r\"]\n\
               [[worker]]\ngroup = \"b\"\naccess_specs = [\"w\"]\ncount = 2\n\
               [[worker]]\ngroup = \"a\"\naccess_specs = [\"w\", \"r\"]\n";
        let groups = ["b", "a"].map(str::to_owned).to_vec();
        let planned = planned(&text, |it| it.set_ranks_of_groups(groups)).expect("a plan");
        let wanted = [vec![(1, "r"), (0, "w"), (0, "w"), (1, "w")], vec![(1, "r")]];
        assert_eq!(shares(&planned), wanted);
        let one = ["a".to_owned()].to_vec();
        let told = self::planned(&text, |it| it.set_ranks_of_groups(one)).unwrap_err();
        assert!(told.contains("no group"), "{told}");
    }

    #[test]
    fn unequal_workers_are_in_each_process() {
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
            let of_cell = shares(&planned).into_iter().map(|workers| {
                let of = |rank| workers.iter().filter(|it| it.0 == rank).count();
                [of(0), of(1)]
            });
            of_cell.collect::<Vec<_>>()
        };
        assert_eq!(counts("cycle-workers"), [[1, 1], [2, 2], [3, 3]]);
        assert_eq!(counts("increment-targets-serial"), [[1, 1], [2, 2], [3, 3]]);
    }
}
