//! The default seed, and seeds for repetitions.

use plan::{Cell, PositionRule, worker_seed};

/// Default seed of a workload, so that two runs make the same requests.
pub(super) const SEED_DEFAULT: u64 = 1;

/// Separates the seeds of repetitions from the seeds of workers.
const REPEATED: u64 = 0x7265_7065_6174_2121;

/// Gives the workers of a repeated cell new seeds. If all repetitions made the same requests at the
/// same times, their confidence intervals would not cover the variation between random streams.
/// Classics and Iometer's rule must reproduce the original's requests exactly, so they keep their
/// seeds.
pub(super) fn renew(cell: &mut Cell) {
    if cell.repetition == 0 || cell.work.is_acts() {
        return;
    }
    for worker in &mut cell.workers {
        if worker.position != PositionRule::Iometer {
            worker.seed = worker_seed(worker.seed ^ REPEATED, cell.repetition);
        }
    }
}
