//! Errors when a plan is converted to a stream of requests.

/// Reason why a plan cannot be converted to a stream of requests or contents.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// No access line can be selected.
    #[error("worker `{worker}` has no access line with a weight above 0")]
    NoLines {
        /// Name of the worker.
        worker: String,
    },
    /// More access lines than the generators can number.
    #[error("worker `{worker}` has `{line_count}` access lines, more than `{limit}`")]
    TooManyLines {
        /// Name of the worker.
        worker: String,
        /// Number of lines.
        line_count: usize,
        /// Maximum number of lines.
        limit: usize,
    },
    /// No span, or only spans with an iodepth of 0.
    #[error("worker `{worker}` has no request in flight: no target, or an iodepth of `0`")]
    NoSlots {
        /// Name of the worker.
        worker: String,
    },
    /// The rate of an open loop is out of range.
    #[error("a rate of `{rate_per_second}` arrivals per second is not between `0.001` and `10m`")]
    ArrivalRate {
        /// Rate of all workers together.
        rate_per_second: f64,
    },
    /// The number of cursors differs from the number of spans.
    #[error("worker `{worker}` has `{span_count}` targets but `{cursor_count}` cursors")]
    CursorCount {
        /// Name of the worker.
        worker: String,
        /// Number of spans in the plan.
        span_count: usize,
        /// Number of cursors given.
        cursor_count: usize,
    },
    /// A percentage is not between 0 and 100.
    #[error("{what} is `{percent}` %, not between 0 and 100")]
    Percent {
        /// Description of the share.
        what: &'static str,
        /// Its value.
        percent: f64,
    },
    /// Iometer's grid of 100 slots supports whole percentages only.
    #[error("{what} is `{percent}` %, but position rule `iometer` needs whole percentages")]
    FractionalPercent {
        /// Description of the share.
        what: &'static str,
        /// Its value.
        percent: f64,
    },
    /// The weights of the lines do not add up to 100 %.
    #[error("the access lines of `{access_spec}` add up to `{percent}` %, not 100 %")]
    Weights {
        /// Name of the access specification.
        access_spec: String,
        /// Sum of the weights.
        percent: f64,
    },
    /// A request of 0 bytes.
    #[error("access line `{line_index}` of `{access_spec}` moves `0` bytes")]
    ZeroSize {
        /// Name of the access specification.
        access_spec: String,
        /// 0-based index of the line.
        line_index: usize,
    },
    /// A span without a sector size, which an alignment of 0 needs.
    #[error("target `{target_index}` has a sector of `0` bytes")]
    ZeroSector {
        /// Index into the plan's targets.
        target_index: u32,
    },
    /// No aligned start leaves enough room for the request.
    #[error(
        "a request of `{length_bytes}` bytes aligned to `{align_bytes}` does not fit in the span \
         of `{size_bytes}` bytes at `{start_bytes}`"
    )]
    DoesNotFit {
        /// Length of the request.
        length_bytes: u32,
        /// Alignment of the request.
        align_bytes: u32,
        /// First byte of the span.
        start_bytes: u64,
        /// Length of the span.
        size_bytes: u64,
    },
    /// The end of the span exceeds the addresses of a shared cursor or a file.
    #[error("a span of `{size_bytes}` bytes at `{start_bytes}` ends beyond byte `{limit_bytes}`")]
    SpanOutOfRange {
        /// First byte of the span.
        start_bytes: u64,
        /// Length of the span.
        size_bytes: u64,
        /// Exclusive upper limit for the end.
        limit_bytes: u64,
    },
    /// A parameter of a distribution is out of range.
    #[error("distribution `{name}`: {parameter} is `{value:?}`, not {wanted}")]
    Distribution {
        /// Name of the distribution.
        name: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Allowed values.
        wanted: &'static str,
    },
    /// No file of a job is large enough for its smallest request.
    #[error("no file of the job has room for a request of `{smallest_bytes}` bytes")]
    NoRoom {
        /// Length of the smallest request.
        smallest_bytes: u32,
    },
    /// A number of a job's stream is out of range.
    #[error("{what} of the job's stream is `{value}`, not {wanted}")]
    JobNumber {
        /// Description of the number.
        what: &'static str,
        /// The value that was refused.
        value: u64,
        /// Allowed values.
        wanted: &'static str,
    },
    /// Blocks are too small for a stamp or do not fit the requests.
    #[error("blocks of `{block_bytes}` bytes cannot be verified: {reason}")]
    VerifyBlock {
        /// Length of a block.
        block_bytes: u32,
        /// Reason why they cannot be verified.
        reason: &'static str,
    },
    /// Headers do not fit in the blocks.
    #[error("blocks cannot be verified: {reason}")]
    BlockCheck {
        /// Reason why they cannot be verified.
        reason: String,
    },
    /// The text of a pattern is not one.
    #[error("the pattern of a job is not pairs of hexadecimal digits and `%o`")]
    ContentPattern,
}

impl GenerateError {
    /// One action that resolves the error.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NoLines { .. } => "give one access line a weight above 0",
            Self::TooManyLines { .. } => "split the access specification into several",
            Self::NoSlots { .. } => "give the worker a target and an iodepth of at least 1",
            Self::ArrivalRate { .. } => "choose a rate such as `20k/s`",
            Self::CursorCount { .. } => "report this as a bug: each target needs one cursor",
            Self::Percent { .. } => "choose a value from 0 to 100",
            Self::FractionalPercent { .. } => "round the value, or choose `position = \"uniform\"`",
            Self::Weights { .. } => "change a weight so that the sum is 100",
            Self::ZeroSize { .. } => "give the line a size, or a weight of 0",
            Self::ZeroSector { .. } => "report this as a bug: each target has a sector size",
            Self::DoesNotFit { .. } => "choose a larger target or a smaller request",
            Self::SpanOutOfRange { .. } => "limit the part of the target that is used",
            Self::Distribution { .. } => "choose a value in the range given",
            Self::NoRoom { .. } => "choose larger files or smaller blocks",
            Self::JobNumber { .. } => "choose a value in the range given",
            Self::VerifyBlock { .. } => {
                "choose sizes and alignments that are multiples of 64 bytes, or do not verify"
            }
            Self::BlockCheck { .. } => "choose larger blocks, or a longer interval",
            Self::ContentPattern => "write a pattern such as `deadbeef`, of at most 1 MiB",
        }
    }
}
