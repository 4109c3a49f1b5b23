//! Converts access lines to numbers, and checks them against a target.

use units::Bytes;

use description::check::of_size;
use description::model::{AccessLine, AccessSpec, SequenceChoice};
use plan::Diagnostic;
use plan::{Distribution, LinePlan, Sequence, SpanPlan};

/// The lines with a share above zero.
pub(super) fn lines_of(spec: &AccessSpec) -> Vec<LinePlan> {
    spec.line
        .iter()
        // Iometer's files contain lines with a share of 0 %, which are never drawn.
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
            .map_or(Distribution::Uniform, Distribution::from),
        sequence: line.sequence.as_ref().map_or(Sequence::Forward, sequence),
    }
}

/// Sizes were checked to be below 2 GiB.
fn narrow(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
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

/// Size of the line's request or of its reply in bytes, whichever is larger.
fn most_bytes(line: &LinePlan) -> u64 {
    u64::from(line.size_bytes.max(line.reply_bytes))
}

/// Properties of a target that matter for access lines.
pub(super) struct LineTarget<'a> {
    pub path: &'a str,
    /// Part of the target that is used.
    pub span: SpanPlan,
    /// Unit of direct I/O; `None` for buffered I/O.
    pub direct_unit: Option<u32>,
    /// Size in bytes of the device or existing file; `None` if a file of the requested size is
    /// created.
    pub fixed_bytes: Option<u64>,
}

impl LineTarget<'_> {
    /// Checks that the line's requests fit into the span, at an aligned start.
    pub fn fits(&self, line: &LinePlan) -> Result<(), Diagnostic> {
        let span = &self.span;
        let first = self.first_start(line);
        let most = most_bytes(line);
        // `space::span` keeps this sum within the 63 bits of a file offset.
        let end = span.start_bytes + span.size_bytes;
        if first
            .and_then(|first| first.checked_add(most))
            .is_some_and(|last| last <= end)
        {
            return Ok(());
        }
        let message = format!(
            "a request of {} {} the {} of `{}` that the workload uses",
            Bytes(most),
            match most > span.size_bytes {
                true => "is larger than",
                false => "does not fit at an aligned start into",
            },
            Bytes(span.size_bytes),
            self.path
        );
        Err(Diagnostic::error("", message).help(self.size_advice("requests")))
    }

    /// Advice on how to make requests or strides fit: existing files and devices cannot grow.
    fn size_advice(&self, noun: &str) -> String {
        match self.fixed_bytes {
            Some(bytes) if bytes <= self.span.size_bytes => {
                format!("use smaller {noun}, or a larger target")
            }
            _ => "use a larger `--size`".to_owned(),
        }
    }

    /// Checks that a stride reaches a second request before the end of the span; otherwise a single
    /// block would be measured repeatedly.
    pub fn check_stride(&self, line: &LinePlan) -> Result<(), Diagnostic> {
        let Sequence::Strided { stride_bytes } = line.sequence else {
            return Ok(());
        };
        let span = &self.span;
        let first = self.first_start(line);
        let second_end = first
            .and_then(|first| first.checked_add(stride_bytes))
            .and_then(|second| second.checked_next_multiple_of(self.unit(line)))
            .and_then(|second| second.checked_add(most_bytes(line)));
        let fits = second_end.is_some_and(|end| end <= span.start_bytes + span.size_bytes);
        if fits || line.random_percent >= 100.0 {
            return Ok(());
        }
        let message = format!(
            "a stride of {} leads past the {} that are used of `{}`, so every request would go to \
             the same place",
            Bytes(stride_bytes),
            Bytes(span.size_bytes),
            self.path
        );
        Err(Diagnostic::error("", message).help(self.size_advice("strides")))
    }

    /// Alignment of the line's offsets in bytes; at least 1.
    fn unit(&self, line: &LinePlan) -> u64 {
        let unit = match line.align_bytes {
            0 => self.span.sector_bytes,
            align => align,
        };
        u64::from(unit.max(1))
    }

    /// The first aligned byte of the span; `None` on overflow.
    fn first_start(&self, line: &LinePlan) -> Option<u64> {
        let start = self.span.start_bytes;
        start.checked_next_multiple_of(self.unit(line))
    }

    /// Error if the line is not possible with direct I/O.
    pub fn unaligned(&self, line: &LinePlan) -> Option<Diagnostic> {
        // File systems refuse unaligned direct I/O with EINVAL or serve it through the page cache.
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
            "direct I/O on `{}` needs multiples of {unit} bytes, not {what} of {bytes} bytes",
            self.path
        );
        Some(Diagnostic::error("", message).help(alignment_advice(bytes, unit.into())))
    }
}

/// Advice for a size that direct I/O cannot move.
pub(crate) fn alignment_advice(bytes: u64, unit: u64) -> String {
    let rounded = bytes.checked_next_multiple_of(unit).unwrap_or(unit);
    format!("use a multiple of {unit}, such as {rounded}, or add `--cache buffered`")
}
