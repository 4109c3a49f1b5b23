//! Number of bytes that a run wrote in total.

use plan::Cell;
use results::{CellRecord, RunEvent, RunRecord};

/// Bytes of test files written before the measurement.
#[derive(Debug, Default)]
pub(super) struct PreparedBytes {
    finished_bytes: u64,
    /// Bytes of the target that is being prepared.
    current_bytes: u64,
}

impl PreparedBytes {
    pub fn on_event(&mut self, event: &RunEvent) {
        if let RunEvent::Prepare { done_bytes, .. } = event {
            // Progress restarts at 0 for the next target; the last value of the previous one is its
            // total.
            if *done_bytes < self.current_bytes {
                self.finished_bytes += self.current_bytes;
            }
            self.current_bytes = *done_bytes;
        }
    }

    /// All bytes that a run wrote; `None` if it also wrote outside of the measurement, as in a
    /// ramp.
    pub fn total_with_measured(&self, record: &RunRecord) -> Option<u64> {
        // The record has no count of bytes written during a ramp.
        let is_measured = |cell: &Cell| cell.ramp_time_ns == 0 && cell.precondition.is_none();
        if !record.plan.cells.iter().all(is_measured) {
            return None;
        }
        let written = |cell: &CellRecord| cell.operation("write").map_or(0, |it| it.bytes);
        let measured: u64 = record.cells.iter().map(written).sum();
        Some(measured + self.finished_bytes + self.current_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::record;

    fn prepared(done_bytes: &[u64]) -> PreparedBytes {
        let mut prepared = PreparedBytes::default();
        for done_bytes in done_bytes {
            prepared.on_event(&RunEvent::Prepare {
                target: "/t".to_owned(),
                done_bytes: *done_bytes,
                total_bytes: 100,
            });
        }
        prepared
    }

    #[test]
    fn bytes_prepared_on_successive_targets_are_added_up() {
        let all = prepared(&[50, 100, 30, 60]);
        assert_eq!(all.total_with_measured(&record()), Some(160));
        assert_eq!(prepared(&[]).total_with_measured(&record()), Some(0));
    }
}
