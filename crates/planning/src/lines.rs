//! Access lines as numbers, and whether a target can take them.

use units::Bytes;

use description::check::of_size;
use description::model::{AccessLine, AccessSpec, SequenceChoice};
use plan::Diagnostic;
use plan::{Distribution, LinePlan, Sequence, SpanPlan};

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
            .map_or(Distribution::Uniform, Distribution::from),
        sequence: line.sequence.as_ref().map_or(Sequence::Forward, sequence),
    }
}

/// Checked sizes are below 2 GiB.
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

/// Bytes of the line's request or of its reply, whichever is larger.
fn most_bytes(line: &LinePlan) -> u64 {
    u64::from(line.size_bytes.max(line.reply_bytes))
}

/// A target as its lines see it.
pub(super) struct Place<'a> {
    pub path: &'a str,
    /// The part that is used.
    pub span: SpanPlan,
    /// The unit of direct I/O, when I/O is direct.
    pub direct_unit: Option<u32>,
    /// Bytes of the device or of the existing file that is used; none where a file is made as
    /// large as is asked for.
    pub fixed_bytes: Option<u64>,
}

impl Place<'_> {
    /// Whether the line's requests fit into the span, at an aligned start.
    pub fn fits(&self, line: &LinePlan) -> Result<(), Diagnostic> {
        let span = &self.span;
        let first = self.first_start(line);
        let most = most_bytes(line);
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
        Err(Diagnostic::error("", message).help(self.more_room("requests")))
    }

    /// What gives requests or strides the room that they need: a file that is there and a device
    /// have no more than they have.
    fn more_room(&self, what: &str) -> String {
        match self.fixed_bytes {
            Some(bytes) if bytes <= self.span.size_bytes => {
                format!("use smaller {what}, or a larger target")
            }
            _ => "use a larger `--size`".to_owned(),
        }
    }

    /// Whether a stride leads to a second request before the end of the span; otherwise one block
    /// would be measured again and again.
    pub fn strides(&self, line: &LinePlan) -> Result<(), Diagnostic> {
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
        Err(Diagnostic::error("", message).help(self.more_room("strides")))
    }

    /// What offsets of the line are multiples of, in bytes; at least 1.
    fn unit(&self, line: &LinePlan) -> u64 {
        let unit = match line.align_bytes {
            0 => self.span.sector_bytes,
            align => align,
        };
        u64::from(unit.max(1))
    }

    /// The first aligned byte of the span; nothing past the largest number.
    fn first_start(&self, line: &LinePlan) -> Option<u64> {
        let start = self.span.start_bytes;
        start.checked_next_multiple_of(self.unit(line))
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
            "direct I/O on `{}` needs multiples of {unit} bytes, not {what} of {bytes} bytes",
            self.path
        );
        Some(Diagnostic::error("", message).help("add `--cache buffered`"))
    }
}
