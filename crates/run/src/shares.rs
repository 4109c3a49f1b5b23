//! Results of an interval by worker and by target.

use plan::Cell;
use results::{IntervalRecord, PartFigures};

use crate::lane::Lane;
use crate::sample::Sample;

/// Worker and target that each lane's spans count for; empty if there is only one part, or too
/// many.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneParts {
    worker_count: usize,
    target_count: usize,
    /// Worker of each lane, and target of each of its spans.
    lanes: Vec<(usize, Vec<usize>)>,
}

/// Results of an interval by worker and by target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shares {
    workers: Vec<PartFigures>,
    targets: Vec<PartFigures>,
}

impl LaneParts {
    /// Assigns the lanes of a cell to workers and targets.
    pub fn of(cell: &Cell, lanes: &[Lane]) -> Self {
        let all: Vec<u32> = cell.target_indexes().collect();
        let index = |target: u32| all.iter().position(|it| *it == target).unwrap_or(0);
        let lane = |lane: &Lane| {
            let spans = lane.plan.spans.iter();
            let indexes = spans.map(|span| index(span.target_index)).collect();
            (lane.worker_index, indexes)
        };
        let wanted = |count| match IntervalRecord::lists_separately(count) {
            true => count,
            false => 0,
        };
        Self {
            // Includes workers of other processes, so that a worker has the same place in all
            // intervals.
            worker_count: wanted(cell.workers.len()),
            target_count: wanted(all.len()),
            lanes: lanes.iter().map(lane).collect(),
        }
    }

    /// Splits a lane's counters by worker and target.
    pub fn shares(&self, lane_index: usize, sample: &Sample) -> Shares {
        let mut shares = Shares {
            workers: vec![PartFigures::default(); self.worker_count],
            targets: vec![PartFigures::default(); self.target_count],
        };
        let is_wanted = self.worker_count + self.target_count > 0;
        let Some((worker, targets)) = self.lanes.get(lane_index).filter(|_| is_wanted) else {
            return shares;
        };
        for (span, target) in sample.spans.iter().zip(targets) {
            let figures = PartFigures::of(span);
            if let Some(part) = shares.workers.get_mut(*worker) {
                part.merge(&figures);
            }
            if let Some(part) = shares.targets.get_mut(*target) {
                part.merge(&figures);
            }
        }
        shares
    }
}

impl Shares {
    /// Adds the results of the same workers and targets.
    pub fn merge(&mut self, other: &Self) {
        for (own, others) in [
            (&mut self.workers, &other.workers),
            (&mut self.targets, &other.targets),
        ] {
            own.resize(own.len().max(others.len()), PartFigures::default());
            own.iter_mut()
                .zip(others)
                .for_each(|(it, more)| it.merge(more));
        }
    }

    /// Stores the results in the record of their interval.
    pub fn put_into(&self, record: &mut IntervalRecord) {
        record.workers.clone_from(&self.workers);
        record.targets.clone_from(&self.targets);
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    fn sample(counts: &[u64]) -> Sample {
        let span = |count: &u64| {
            let mut span = Interval::with([0], 0);
            (0..*count).for_each(|number| span.operation_mut(0).record(512, 1000 + number));
            span
        };
        Sample {
            spans: counts.iter().map(span).collect(),
            ..Sample::default()
        }
    }

    #[test]
    fn shares_add_up_by_worker_and_by_target() {
        let lane_parts = LaneParts {
            worker_count: 2,
            target_count: 2,
            lanes: vec![(0, vec![0, 1]), (1, vec![1])],
        };
        let mut shares = lane_parts.shares(0, &sample(&[3, 4]));
        shares.merge(&lane_parts.shares(1, &sample(&[5])));
        // The shares of an interval without any lane change nothing.
        shares.merge(&Shares::default());
        let mut record = IntervalRecord::default();
        shares.put_into(&mut record);
        let counts = |parts: &[PartFigures]| -> Vec<(u64, u64)> {
            parts.iter().map(|it| (it.count, it.bytes)).collect()
        };
        assert_eq!(counts(&record.workers), [(7, 7 * 512), (5, 5 * 512)]);
        assert_eq!(counts(&record.targets), [(3, 3 * 512), (9, 9 * 512)]);
        assert!(record.workers[0].max_ns >= 1003);
    }

    #[test]
    fn a_single_worker_has_no_share() {
        let lane_parts = LaneParts {
            lanes: vec![(0, vec![0])],
            ..LaneParts::default()
        };
        let mut record = IntervalRecord::default();
        lane_parts.shares(0, &sample(&[3])).put_into(&mut record);
        assert!(record.workers.is_empty() && record.targets.is_empty());
    }
}
