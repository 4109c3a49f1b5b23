//! Processes lost during the measurement of a cell.

use crate::{CellRecord, RankFigures, Status};

impl CellRecord {
    /// Records lost processes: rank, host, and time of the loss in nanoseconds from the start of
    /// the measurement.
    pub fn set_lost(&mut self, lost: impl Iterator<Item = (u32, String, u64)>) {
        let cluster = self.cluster.get_or_insert_default();
        for (rank, host, lost_ns) in lost {
            // A failed cell stays failed, which is worse.
            if self.status == Status::Complete {
                self.status = Status::Interrupted;
            }
            cluster.ranks.push(RankFigures {
                rank,
                host,
                lost_ns: Some(lost_ns),
                ..RankFigures::default()
            });
        }
        // Lost processes were added at the end, and reports list processes by rank.
        cluster.ranks.sort_by_key(|it| it.rank);
    }
}
