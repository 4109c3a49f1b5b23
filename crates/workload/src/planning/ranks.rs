//! Work that several processes share: each has as many workers as one alone would have.

use crate::diagnostic::Diagnostic;
use crate::model::Workload;
use crate::overrides::Ranks;
use crate::plan::{Cell, WorkerPlan};
use crate::program::Program;

/// Which worker works in which process.
pub(super) struct Shares {
    workload: String,
    count: u32,
    /// Workers of each.
    each: u32,
}

/// Gives the workload so many times its workers, where several processes share it.
///
/// # Errors
/// Where the work cannot be shared.
pub(super) fn share_out(
    workload: &mut Workload,
    target_count: usize,
    ranks: Option<Ranks>,
) -> Result<Shares, Diagnostic> {
    let mut share = Shares {
        workload: workload.name_or_default().to_owned(),
        count: match ranks {
            Some(Ranks::Each(count) | Ranks::OfAll(count)) => count,
            None => 1,
        },
        each: 0,
    };
    let Some(ranks) = ranks else {
        return Ok(share);
    };
    let jobs = crate::check::jobs(workload).map_err(|flaw| flaw.diagnostic(""))?;
    if jobs.is_some() {
        return Err(share.refused("jobs end and await each other in one process"));
    }
    let tables = workload.worker.iter().map(|it| it.count.unwrap_or(1));
    let once: u32 = match workload.table() {
        Some(_) => target_count.max(1) as u32,
        None => tables.sum::<u32>().max(1),
    };
    let workers = workload.workers.unwrap_or(once);
    match ranks {
        Ranks::Each(count) => {
            share.each = workers;
            workload.workers = Some(workers.saturating_mul(count));
        }
        Ranks::OfAll(count) if workers.is_multiple_of(count) => share.each = workers / count,
        Ranks::OfAll(_) => {
            return Err(share.refused(&format!("{workers} workers cannot be shared evenly")));
        }
    }
    Ok(share)
}

impl Shares {
    /// Tells each worker its process: as many follow each other as belong to one.
    ///
    /// # Errors
    /// Where the work cannot be shared.
    pub fn assign(&self, cells: &mut [Cell]) -> Result<(), Diagnostic> {
        if self.count < 2 {
            return Ok(());
        }
        for cell in cells {
            if cell.workers.len() as u32 != self.each.saturating_mul(self.count) {
                return Err(self.refused("its workers are cycled, or it says itself how many"));
            }
            if cell.steady.is_some() {
                return Err(self.refused("until it is steady, one process has to judge it"));
            }
            if let Some(flaw) = cell.files.as_deref().and_then(Program::shared_flaw) {
                return Err(self.refused(flaw));
            }
            let workers = cell.workers.chunks_mut(self.each.max(1) as usize);
            for (rank, workers) in (0..).zip(workers) {
                let put = |worker: &mut WorkerPlan| worker.rank = rank;
                workers.iter_mut().for_each(put);
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
