//! Selects the measure of a workload. Small transfers are usually reported as operations per
//! second, and large ones as bandwidth. On a shared axis, one of the two would be too small to see.

use crate::group::{Metric, RepeatedCell};
use crate::parts::CountedOperations;

/// Bandwidth is the measure from this mean transfer size on, in bytes.
// The verdict has the same limit, so that a report shows one measure of a workload.
pub const LARGE_BYTES: f64 = 65_536.0;

/// Measure of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkloadMeasure {
    /// Bytes per second, for large transfers.
    Bandwidth,
    /// Operations per second.
    Rate(CountedOperations),
}

impl WorkloadMeasure {
    /// Returns the measure of a group of cells.
    #[must_use]
    pub fn of(group: &RepeatedCell) -> Self {
        let counted = CountedOperations::of(group.cells[0]);
        let sum = |of: fn(&results::OperationFigures) -> u64| {
            let totals = group.cells.iter().map(|cell| of(&cell.total));
            totals.fold(0_u64, u64::saturating_add) as f64
        };
        // The mean, because an access specification can mix sizes.
        let mean_bytes = sum(|total| total.bytes) / sum(|total| total.count).max(1.0);
        match counted {
            CountedOperations::All | CountedOperations::ReadsAndWrites
                if mean_bytes >= LARGE_BYTES =>
            {
                Self::Bandwidth
            }
            _ => Self::Rate(counted),
        }
    }

    /// Returns the metric to draw.
    #[must_use]
    pub fn metric(self) -> Metric {
        match self {
            Self::Bandwidth => Metric::BytesPerSecond,
            Self::Rate(_) => Metric::PerSecond,
        }
    }

    /// Returns the name of the metric.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Rate(counted) => counted.rate_name(),
        }
    }

    /// Returns the restriction to cells with this measure, for use when there are others.
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Bandwidth => " of transfers of 64 KiB or more",
            Self::Rate(_) => "",
        }
    }

    /// Groups items by measure, in the order of first appearance.
    #[must_use]
    pub fn group_by_measure<T>(
        items: Vec<T>,
        group_of: impl Fn(&T) -> Self,
    ) -> Vec<(Self, Vec<T>)> {
        let mut parts: Vec<(Self, Vec<T>)> = Vec::new();
        for item in items {
            let measure = group_of(&item);
            match parts.iter_mut().find(|(known, _)| *known == measure) {
                Some((_, part)) => part.push(item),
                None => parts.push((measure, vec![item])),
            }
        }
        parts
    }
}
