//! Workers of a cell that run in this process, if several processes share it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cell, Plan, WorkerPlan};

impl Plan {
    /// The plan for the process with this rank.
    #[must_use]
    pub fn of_rank(&self, rank: u32) -> Self {
        let mut plan = self.clone();
        for cell in &mut plan.cells {
            cell.rank = Some(rank);
        }
        plan
    }

    /// The targets that each process uses, by rank.
    #[must_use]
    pub fn targets_by_rank(&self, ranks: u32) -> Vec<BTreeSet<u32>> {
        let mut per_rank = vec![BTreeSet::new(); ranks as usize];
        for cell in &self.cells {
            // A worker may use files that a worker of another process created on another target.
            let all: BTreeSet<u32> = match cell.work.is_acts() {
                true => cell.target_indexes().collect(),
                false => BTreeSet::new(),
            };
            for worker in &cell.workers {
                if let Some(own) = per_rank.get_mut(worker.rank as usize) {
                    own.extend(&all);
                    own.extend(worker.spans.iter().map(|span| span.target_index));
                }
            }
        }
        per_rank
    }
}

impl Cell {
    /// `true` if this process measures the worker.
    #[must_use]
    pub fn is_own(&self, worker: &WorkerPlan) -> bool {
        self.rank.is_none_or(|rank| rank == worker.rank)
    }

    /// The workers that this process measures, with their indexes in the cell.
    pub fn own_workers(&self) -> impl Iterator<Item = (usize, &WorkerPlan)> {
        let workers = self.workers.iter().enumerate();
        workers.filter(|(_, worker)| self.is_own(worker))
    }

    /// The ranks of the processes that have workers in the cell.
    #[must_use]
    pub fn ranks(&self) -> BTreeSet<u32> {
        self.workers.iter().map(|worker| worker.rank).collect()
    }

    /// `true` if every process with workers in the cell has the same work.
    #[must_use]
    pub fn has_equal_shares(&self) -> bool {
        let mut per_rank: BTreeMap<u32, Vec<WorkerPlan>> = BTreeMap::new();
        for worker in &self.workers {
            per_rank.entry(worker.rank).or_default().push(WorkerPlan {
                // Identity does not affect the work.
                worker_index: 0,
                rank: 0,
                name: String::new(),
                seed: 0,
                cpu: None,
                ..worker.clone()
            });
        }
        let mut shares = per_rank.into_values();
        let first = shares.next();
        shares.all(|it| Some(&it) == first.as_ref())
    }
}
