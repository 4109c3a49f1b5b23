//! Access lines as numbers, and whether a target can take them.

use units::Bytes;

use crate::check::of_size;
use crate::diagnostic::Diagnostic;
use crate::model::{AccessLine, AccessSpec, DistributionChoice, SequenceChoice};
use crate::plan::{Distribution, LinePlan, Sequence, SpanPlan, Zone};

/// The lines with a weight above zero.
pub(super) fn lines_of(spec: &AccessSpec) -> Vec<LinePlan> {
    spec.line
        .iter()
        .filter(|line| of_size(line) > 0.0)
        .map(line_plan)
        .collect()
}

fn line_plan(line: &AccessLine) -> LinePlan {
    let bytes = |value: Option<Bytes>| value.map_or(0, |bytes| narrow(bytes.0));
    LinePlan {
        size_bytes: bytes(line.size),
        of_size_percent: of_size(line),
        read_percent: line.read.map_or(100.0, |percent| percent.0),
        random_percent: line.random.map_or(0.0, |percent| percent.0),
        delay_ns: line.delay.map_or(0, |delay| delay.0),
        burst: line.burst.unwrap_or(1),
        align_bytes: bytes(line.align),
        reply_bytes: bytes(line.reply),
        distribution: line
            .distribution
            .as_ref()
            .map_or(Distribution::Uniform, distribution),
        sequence: line.sequence.as_ref().map_or(Sequence::Forward, sequence),
    }
}

/// Checked sizes are below 2 GiB.
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn distribution(choice: &DistributionChoice) -> Distribution {
    match choice {
        DistributionChoice::Uniform => Distribution::Uniform,
        DistributionChoice::Zipf(theta) => Distribution::Zipf { theta: *theta },
        DistributionChoice::Pareto(h) => Distribution::Pareto { h: *h },
        DistributionChoice::Normal(deviation) => Distribution::Normal {
            deviation_percent: deviation.0,
        },
        DistributionChoice::NoRepeat => Distribution::NoRepeat,
        DistributionChoice::Zones(zones) => Distribution::Zones {
            zones: zones
                .iter()
                .map(|zone| Zone {
                    access_percent: zone.access.0,
                    size_percent: zone.size.0,
                })
                .collect(),
        },
    }
}

fn sequence(choice: &SequenceChoice) -> Sequence {
    match choice {
        SequenceChoice::Forward => Sequence::Forward,
        SequenceChoice::Backward => Sequence::Backward,
        SequenceChoice::Strided(stride) => Sequence::Strided {
            stride_bytes: stride.0,
        },
    }
}

/// A target as its lines see it.
pub(super) struct Place<'a> {
    pub path: &'a str,
    /// The part that is used.
    pub span: SpanPlan,
    /// The unit of direct I/O, when I/O is direct.
    pub direct_unit: Option<u32>,
}

impl Place<'_> {
    /// Whether the line's requests fit into the span, at an aligned start.
    pub fn fits(&self, line: &LinePlan) -> Result<(), Diagnostic> {
        let span = &self.span;
        let unit = if line.align_bytes == 0 {
            span.sector_bytes
        } else {
            line.align_bytes
        };
        let first = span
            .start_bytes
            .checked_next_multiple_of(u64::from(unit.max(1)));
        let most = u64::from(line.size_bytes.max(line.reply_bytes));
        let end = span.start_bytes + span.size_bytes;
        if first
            .and_then(|first| first.checked_add(most))
            .is_some_and(|last| last <= end)
        {
            return Ok(());
        }
        let message = format!(
            "a request of {} does not fit into the {} that are used of `{}`",
            Bytes(most),
            Bytes(span.size_bytes),
            self.path
        );
        Err(Diagnostic::error("", message).help("use a larger `--size`"))
    }

    /// What direct I/O would refuse.
    pub fn unaligned(&self, line: &LinePlan) -> Option<Diagnostic> {
        let unit = self.direct_unit?.max(1);
        let (what, bytes) = [
            ("requests", u64::from(line.size_bytes)),
            ("replies", u64::from(line.reply_bytes)),
            ("an alignment", u64::from(line.align_bytes)),
            ("a start", self.span.start_bytes),
        ]
        .into_iter()
        .find(|(_, bytes)| !bytes.is_multiple_of(u64::from(unit)))?;
        let message = format!(
            "direct I/O on `{}` moves multiples of {unit} bytes; {what} of {bytes} bytes cannot be",
            self.path
        );
        Some(Diagnostic::error("", message).help("add `--cache buffered`"))
    }
}
