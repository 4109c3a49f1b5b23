//! The default seed, and seeds of the workers of repetitions.

use plan::{Cell, PositionRule, worker_seed};

/// Seed of a workload that names none, so that two runs ask for the same requests.
pub(super) const SEED_DEFAULT: u64 = 1;

/// Keeps the seeds of repetitions apart from those of workers.
const REPEATED: u64 = 0x7265_7065_6174_2121;

/// Gives the workers of a cell that is repeated seeds of their own: where all repetitions made the
/// same requests at the same times, what differs from one stream to another would be in none of
/// their intervals. Classics and Iometer's rule are told by their seed what to do, to the digit,
/// and keep it.
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
