//! Expands the worker tables of a workload to single workers.

use std::collections::HashMap;

use description::check::{IODEPTH_MAX, WORKERS_MAX, is_idle};
use description::model::{Worker, Workload};
use plan::ContentPlan;
use plan::Diagnostic;

use super::ranks::RankShares;

/// A worker before its work in a cell is known.
#[derive(Debug, Clone)]
pub(super) struct PlannedWorker {
    /// 0-based index among all workers.
    pub index: usize,
    pub name: String,
    pub group_index: usize,
    /// 0-based index of the process within which it is cycled; 0 if all workers are cycled
    /// together.
    pub cycle_index: usize,
    /// Rank of its process.
    pub rank: u32,
    /// Index of its worker table; `None` for a worker without one.
    pub table_index: Option<usize>,
    /// Indexes of its access specifications, in order; `None` where it idles.
    pub specs: Vec<Option<usize>>,
    pub iodepth: Option<u32>,
    pub size: Option<u64>,
    pub start_bytes: Option<u64>,
    pub seed: Option<u64>,
    pub content: Option<ContentPlan>,
    pub transactions_per_connection: Option<u32>,
}

/// All workers, in order.
pub(super) fn cluster(
    workload: &Workload,
    shares: &RankShares,
) -> Result<Vec<PlannedWorker>, Diagnostic> {
    let specs = Specs::of(workload);
    let tables = if workload.worker.is_empty() {
        vec![(None, Worker::default())]
    } else {
        let indexed = workload.worker.iter().cloned().enumerate();
        indexed.map(|(index, table)| (Some(index), table)).collect()
    };
    let order = order(workload, &tables)?;
    let mut groups = HashMap::new();
    let mut counts = vec![0_usize; tables.len()];
    let mut members = Vec::with_capacity(order.len());
    for &position in &order {
        let (table_index, table) = &tables[position];
        counts[position] += 1;
        let several = order.iter().filter(|other| **other == position).count() > 1;
        let next_group = groups.len();
        let cycle_index = shares.cycle_of(members.len());
        // Each process is cycled as if alone, so its part of a group is a separate group.
        let group = (cycle_index, table.group.clone());
        let group_index = *groups.entry(group).or_insert(next_group);
        let name = match &table.name {
            Some(name) if several => format!("{name} {}", counts[position]),
            Some(name) => name.clone(),
            None => format!("worker {}", members.len() + 1),
        };
        members.push(PlannedWorker {
            index: members.len(),
            name,
            group_index,
            cycle_index,
            rank: shares.rank_of(members.len(), *table_index),
            table_index: *table_index,
            specs: specs.assigned(table)?,
            iodepth: table.iodepth,
            size: table.size.map(|size| size.0),
            start_bytes: table.start.map(|start| start.0),
            seed: table.seed.map(|seed| seed.0),
            content: table.content.as_ref().map(ContentPlan::from),
            transactions_per_connection: table
                .transactions_per_connection
                .or(workload.transactions_per_connection),
        });
    }
    Ok(members)
}

/// The table of each worker: the tables in order, repeated up to the number of `workers`.
fn order(
    workload: &Workload,
    tables: &[(Option<usize>, Worker)],
) -> Result<Vec<usize>, Diagnostic> {
    let counts = tables
        .iter()
        .map(|(_, table)| table.count.unwrap_or(1) as usize);
    let once: usize = counts.clone().sum();
    let wanted = match workload.workers {
        Some(workers) => workers as usize,
        None if workload.worker.is_empty() => 1,
        None => once,
    };
    if wanted > WORKERS_MAX as usize {
        let message = format!("there are {wanted} workers, more than {WORKERS_MAX}");
        return Err(Diagnostic::error("", message).help("use fewer workers"));
    }
    let in_turn = counts
        .enumerate()
        .flat_map(|(index, count)| std::iter::repeat_n(index, count));
    Ok(in_turn
        .collect::<Vec<_>>()
        .into_iter()
        .cycle()
        .take(wanted)
        .collect())
}

/// The access specifications by name.
struct Specs {
    by_name: HashMap<String, Option<usize>>,
    all: Vec<Option<usize>>,
}

impl Specs {
    fn of(workload: &Workload) -> Self {
        let mut by_name = HashMap::new();
        let mut all = Vec::new();
        for (index, spec) in workload.access_spec.iter().enumerate() {
            let name = spec.name.as_deref().unwrap_or_default();
            let found = (!is_idle(name)).then_some(index);
            by_name.insert(name.to_lowercase(), found);
            all.push(found);
        }
        Self { by_name, all }
    }

    fn assigned(&self, table: &Worker) -> Result<Vec<Option<usize>>, Diagnostic> {
        let Some(names) = &table.access_specs else {
            return Ok(self.all.clone());
        };
        let find = |name: &String| match self.by_name.get(&name.to_lowercase()) {
            Some(found) => Ok(*found),
            None if is_idle(name) => Ok(None),
            None => {
                let message = format!("there is no access specification `{name}`");
                let help = format!("add an `[[access_spec]]` named `{name}`");
                Err(Diagnostic::error("", message).help(help))
            }
        };
        names.iter().map(find).collect()
    }
}

/// Checks that the depth of a worker on all its targets together fits its ring.
pub(super) fn check_depth(name: &str, iodepth: u32, target_count: usize) -> Result<(), Diagnostic> {
    let total = u64::from(iodepth).saturating_mul(target_count as u64);
    if iodepth > 0 && total <= u64::from(IODEPTH_MAX) {
        return Ok(());
    }
    let message = format!(
        "`{name}` would keep {total} requests in flight ({iodepth} on each of {target_count} \
         targets), not from 1 to {IODEPTH_MAX}"
    );
    Err(Diagnostic::error("", message).help("spread the requests over several workers"))
}
