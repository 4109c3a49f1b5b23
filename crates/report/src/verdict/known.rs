//! The figures by which people know a device: large transfers in sequence, 4 KiB at random.

use plan::{Cell, Distribution, EngineKind, LinePlan, Sequence};
use results::RunRecord;
use units::format;

use crate::group::{Group, Metric};

use super::rate::Rate;

/// From this size on, transfers in sequence are told by their bandwidth.
const LARGE_BYTES: u32 = 64 << 10;
/// The size of random transfers that data sheets give.
const SMALL_BYTES: u32 = 4 << 10;
/// The larger of the two queue depths that data sheets give.
pub(super) const DEEP: u64 = 32;

/// How a device is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    SequentialRead,
    SequentialWrite,
    RandomRead,
    RandomWrite,
}

impl Access {
    /// The access of a planned cell; none where it is none of these, or has a pace of its own.
    fn of(cell: &Cell) -> Option<Self> {
        let mut lines = cell.workers.iter().flat_map(|worker| &worker.lines);
        let first = lines.next()?;
        let is_plain = !cell.work.is_acts() && cell.rate.is_none() && cell.curve.is_none();
        if !is_plain || cell.engine == EngineKind::Null || has_own_pace(first) {
            return None;
        }
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

fn has_own_pace(line: &LinePlan) -> bool {
    line.delay_ns > 0 || line.burst > 1 || line.reply_bytes > 0
}

/// A figure for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFigure {
    /// What was done, such as `4 KiB random read`.
    pub name: &'static str,
    /// How many requests were in flight.
    pub depth: u64,
    /// The rate with its unit.
    pub value: String,
    /// How sure it is.
    pub sure: String,
}

/// A figure by which people know a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub access: Access,
    /// Requests in flight, of all workers together.
    pub depth: u64,
    /// Bytes per second in sequence, operations per second at random.
    pub rate: Rate,
    pub group: &'a Group<'a>,
}

impl<'a> Known<'a> {
    /// The figure of a group; none where it is none by which devices are known.
    pub fn of(group: &'a Group<'a>, record: &RunRecord) -> Option<Self> {
        let index = group.cells.first()?.index;
        let mut planned = record.plan.cells.iter();
        let cell = planned.find(|it| it.index == index)?;
        let access = Access::of(cell)?;
        let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
        let metric = match access.is_sequential() {
            true => Metric::BytesPerSecond,
            false => Metric::PerSecond,
        };
        Some(Self {
            access,
            depth: spans.map(|span| u64::from(span.iodepth)).sum(),
            rate: Rate::of(group, metric)?,
            group,
        })
    }

    /// The same for people.
    pub fn figure(&self) -> KnownFigure {
        let rate = self.rate.mean;
        KnownFigure {
            name: self.access.name(),
            depth: self.depth,
            value: match self.access.is_sequential() {
                true => format::bandwidth(rate),
                false => format!("{} IOPS", format::iops(rate)),
            },
            sure: self.rate.sure(),
        }
    }
}

/// The figure of an access at a queue depth, or at any.
pub(super) fn find<'a, 'b>(
    known: &'b [Known<'a>],
    access: Access,
    depth: Option<u64>,
) -> Option<&'b Known<'a>> {
    let mut own = known.iter().filter(|it| it.access == access);
    own.find(|it| depth.is_none_or(|depth| it.depth == depth))
}

/// The figures that are told: in sequence the fastest, at random those of the two depths; of
/// several that are alike the fastest. In the order of their kinds.
pub(super) fn best<'a>(known: &[Known<'a>]) -> Vec<Known<'a>> {
    let mut best: Vec<Known> = Vec::new();
    for one in known {
        let is_told = one.access.is_sequential() || one.depth == 1 || one.depth == DEEP;
        let is_like = |other: &Known| {
            let any_depth = one.access.is_sequential();
            other.access == one.access && (any_depth || other.depth == one.depth)
        };
        match best.iter_mut().find(|it| is_like(it)) {
            Some(other) if one.rate.mean > other.rate.mean => *other = *one,
            Some(_) => {}
            None if is_told => best.push(*one),
            None => {}
        }
    }
    best.sort_by_key(|it| (it.access, it.depth));
    best
}
