//! By what a workload is measured: the field gives small transfers as operations per second and
//! large ones as bandwidth, and on one axis of either the others would vanish.

use crate::group::{Group, Metric};
use crate::parts::Counted;

/// From this mean transfer size on, bandwidth is the measure.
const LARGE_BYTES: f64 = 65_536.0;

/// By what a workload is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Bytes per second: its transfers are large.
    Bandwidth,
    /// What its cells count, per second.
    Rate(Counted),
}

impl Measure {
    /// The measure of a group's cells.
    #[must_use]
    pub fn of(group: &Group) -> Self {
        let counted = Counted::of(group.cells[0]);
        let sum = |of: fn(&results::OperationFigures) -> u64| {
            let totals = group.cells.iter().map(|cell| of(&cell.total));
            totals.fold(0_u64, u64::saturating_add) as f64
        };
        let mean_bytes = sum(|total| total.bytes) / sum(|total| total.count).max(1.0);
        match counted {
            Counted::All | Counted::ReadsAndWrites if mean_bytes >= LARGE_BYTES => Self::Bandwidth,
            _ => Self::Rate(counted),
        }
    }

    /// What is drawn of it.
    #[must_use]
    pub fn metric(self) -> Metric {
        match self {
            Self::Bandwidth => Metric::BytesPerSecond,
            Self::Rate(_) => Metric::PerSecond,
        }
    }

    /// What is drawn, in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "bandwidth",
            Self::Rate(counted) => counted.rate_name(),
        }
    }

    /// Which cells it is the measure of, where others stand beside them.
    #[must_use]
    pub fn scope(self) -> &'static str {
        match self {
            Self::Bandwidth => " of transfers of 64 KiB or more",
            Self::Rate(_) => "",
        }
    }

    /// Items by their measure, in the order in which each first comes.
    #[must_use]
    pub fn apart<T>(items: Vec<T>, group_of: impl Fn(&T) -> Self) -> Vec<(Self, Vec<T>)> {
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
