//! Results that data sheets of devices state: large sequential transfers, and random 4 KiB
//! transfers.

use plan::{Cell, Distribution, EngineKind, LinePlan, Sequence};
use results::RunRecord;
use units::format;

use crate::group::{Metric, RepeatedCell};

use super::VerdictFigure;
use super::rate::UncertainRate;

/// Sequential transfers of at least this size are reported as bandwidth, in bytes.
const LARGE_BYTES: u32 = 64 << 10;
/// Size of random transfers in data sheets, in bytes.
const SMALL_BYTES: u32 = 4 << 10;
/// The larger of the two queue depths in data sheets.
pub(super) const DEEP: u64 = 32;

/// Access pattern of a data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeviceAccess {
    SequentialRead,
    SequentialWrite,
    RandomRead,
    RandomWrite,
}

impl DeviceAccess {
    /// Returns the access pattern of a planned cell; `None` if it is not one of these, or if the
    /// cell has its own pace.
    fn of(cell: &Cell) -> Option<Self> {
        let mut lines = cell.workers.iter().flat_map(|worker| &worker.lines);
        let first = lines.next()?;
        let is_plain = !cell.work.is_acts() && cell.rate.is_none() && cell.curve.is_none();
        // The null engine touches no device.
        if !is_plain || cell.engine == EngineKind::Null || is_self_paced(first) {
            return None;
        }
        // Data sheets state pure accesses, not mixes of several.
        if lines.any(|line| line != first) || first.sequence != Sequence::Forward {
            return None;
        }
        let is = |percent: f64, wanted: f64| (percent - wanted).abs() < f64::EPSILON;
        let (reads, writes) = (is(first.read_percent, 100.0), is(first.read_percent, 0.0));
        let large = is(first.random_percent, 0.0) && first.size_bytes >= LARGE_BYTES;
        let is_even = matches!(
            first.distribution,
            Distribution::Uniform | Distribution::NoRepeat
        );
        let small = is(first.random_percent, 100.0) && first.size_bytes == SMALL_BYTES && is_even;
        match (reads, writes) {
            (true, _) if large => Some(Self::SequentialRead),
            (_, true) if large => Some(Self::SequentialWrite),
            (true, _) if small => Some(Self::RandomRead),
            (_, true) if small => Some(Self::RandomWrite),
            _ => None,
        }
    }

    pub fn is_sequential(self) -> bool {
        matches!(self, Self::SequentialRead | Self::SequentialWrite)
    }

    fn name(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential read",
            Self::SequentialWrite => "sequential write",
            Self::RandomRead => "4 KiB random read",
            Self::RandomWrite => "4 KiB random write",
        }
    }
}

fn is_self_paced(line: &LinePlan) -> bool {
    line.delay_ns > 0 || line.burst > 1 || line.reply_bytes > 0
}

/// A result that data sheets state.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownRate<'a> {
    pub access: DeviceAccess,
    /// Number of requests in flight, of all workers together.
    pub depth: u64,
    /// Bytes per second for sequential access, operations per second for random access.
    pub rate: UncertainRate,
    pub group: &'a RepeatedCell<'a>,
}

impl<'a> KnownRate<'a> {
    /// Returns the result of a group; `None` if data sheets do not state such a result.
    pub fn of(group: &'a RepeatedCell<'a>, record: &RunRecord) -> Option<Self> {
        let index = group.cells.first()?.index;
        let cell = record.plan.cell(index)?;
        let access = DeviceAccess::of(cell)?;
        let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
        let metric = match access.is_sequential() {
            true => Metric::BytesPerSecond,
            false => Metric::PerSecond,
        };
        Some(Self {
            access,
            // A plan has the depth per worker and target, but the device sees the sum.
            depth: spans.map(|span| u64::from(span.iodepth)).sum(),
            rate: UncertainRate::of(group, metric)?,
            group,
        })
    }

    /// Name of the result in a sentence.
    pub fn name(&self) -> String {
        let kind = match self.access {
            DeviceAccess::SequentialRead => return "sequential reads".to_owned(),
            DeviceAccess::SequentialWrite => return "sequential writes".to_owned(),
            DeviceAccess::RandomRead => "reads",
            DeviceAccess::RandomWrite => "writes",
        };
        format!("random {kind} at depth {}", self.depth)
    }

    /// Formats the result for people.
    pub fn figure(&self) -> VerdictFigure {
        let rate = self.rate.mean;
        VerdictFigure {
            name: self.access.name().to_owned(),
            depth: Some(self.depth),
            value: match self.access.is_sequential() {
                true => format::bandwidth(rate),
                false => format!("{} IOPS", format::iops(rate)),
            },
            uncertainty: self.rate.uncertainty_sentence(),
        }
    }
}

/// Finds the result of an access at a queue depth, or at any depth.
pub(super) fn find<'a, 'b>(
    rates: &'b [KnownRate<'a>],
    access: DeviceAccess,
    depth: Option<u64>,
) -> Option<&'b KnownRate<'a>> {
    let mut own = rates.iter().filter(|it| it.access == access);
    own.find(|it| depth.is_none_or(|depth| it.depth == depth))
}

/// Selects the results to show: the fastest sequential ones, and random ones at both depths. Of
/// several equal ones, the fastest. In the order of first appearance.
pub(super) fn best<'a>(rates: &[KnownRate<'a>]) -> Vec<KnownRate<'a>> {
    let mut best: Vec<KnownRate> = Vec::new();
    for one in rates {
        // Data sheets state random accesses only at these two depths.
        let is_reported = one.access.is_sequential() || one.depth == 1 || one.depth == DEEP;
        let is_like = |other: &KnownRate| {
            let any_depth = one.access.is_sequential();
            other.access == one.access && (any_depth || other.depth == one.depth)
        };
        match best.iter_mut().find(|it| is_like(it)) {
            Some(other) if one.rate.mean > other.rate.mean => *other = *one,
            Some(_) => {}
            None if is_reported => best.push(*one),
            None => {}
        }
    }
    best.sort_by_key(|it| (it.access, it.depth));
    best
}
