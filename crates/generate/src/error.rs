//! Why a plan cannot be turned into a stream of requests.

/// Why a plan cannot be turned into a stream of requests or contents.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// There is nothing to choose from.
    #[error("worker `{worker}` has no access line with a weight above 0")]
    NoLines {
        /// The worker's name.
        worker: String,
    },
    /// More lines than the generators number.
    #[error("worker `{worker}` has `{line_count}` access lines, more than `{limit}`")]
    TooManyLines {
        /// The worker's name.
        worker: String,
        /// How many there are.
        line_count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// No span, or only spans with an iodepth of 0.
    #[error("worker `{worker}` has no request in flight: no target, or an iodepth of `0`")]
    NoSlots {
        /// The worker's name.
        worker: String,
    },
    /// An open loop's rate is outside what its due times hold.
    #[error("a rate of `{rate_per_second}` arrivals per second is not between `0.001` and `10m`")]
    ArrivalRate {
        /// The rate, of all workers together.
        rate_per_second: f64,
    },
    /// There must be one cursor for each span.
    #[error("worker `{worker}` has `{span_count}` targets but `{cursor_count}` cursors")]
    CursorCount {
        /// The worker's name.
        worker: String,
        /// Spans in the plan.
        span_count: usize,
        /// Cursors given.
        cursor_count: usize,
    },
    /// A percentage is not between 0 and 100.
    #[error("{what} is `{percent}` %, not between 0 and 100")]
    Percent {
        /// Which share.
        what: &'static str,
        /// The value.
        percent: f64,
    },
    /// Iometer's grid of 100 slots takes whole numbers only.
    #[error("{what} is `{percent}` %, and position rule `iometer` takes whole percents only")]
    NotWhole {
        /// Which share.
        what: &'static str,
        /// The value.
        percent: f64,
    },
    /// The weights of the lines do not fill the whole.
    #[error("the access lines of `{access_spec}` add up to `{percent}` %, not 100 %")]
    Weights {
        /// Name of the access specification.
        access_spec: String,
        /// What they add up to.
        percent: f64,
    },
    /// A request of 0 bytes.
    #[error("access line `{line_index}` of `{access_spec}` moves `0` bytes")]
    ZeroSize {
        /// Name of the access specification.
        access_spec: String,
        /// 0-based.
        line_index: usize,
    },
    /// A span without a sector size, which an alignment of 0 needs.
    #[error("target `{target_index}` has a sector of `0` bytes")]
    ZeroSector {
        /// Index into the plan's targets.
        target_index: u32,
    },
    /// No aligned start leaves room for the request.
    #[error(
        "a request of `{length_bytes}` bytes aligned to `{align_bytes}` does not fit in the span \
         of `{size_bytes}` bytes at `{start_bytes}`"
    )]
    DoesNotFit {
        /// The request's length.
        length_bytes: u32,
        /// Its alignment.
        align_bytes: u32,
        /// The span's first byte.
        start_bytes: u64,
        /// The span's length.
        size_bytes: u64,
    },
    /// The end of the span is beyond what a shared cursor or a file can address.
    #[error("a span of `{size_bytes}` bytes at `{start_bytes}` ends beyond byte `{limit_bytes}`")]
    SpanTooFar {
        /// The span's first byte.
        start_bytes: u64,
        /// The span's length.
        size_bytes: u64,
        /// The last end that works.
        limit_bytes: u64,
    },
    /// A distribution whose parameter has no meaning.
    #[error("distribution `{name}`: {parameter} is `{value}`, not {wanted}")]
    Distribution {
        /// The distribution's name.
        name: &'static str,
        /// Which parameter.
        parameter: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// No file of a job has room for its smallest request.
    #[error("no file of the job has room for a request of `{smallest_bytes}` bytes")]
    NoRoom {
        /// The smallest request's length.
        smallest_bytes: u32,
    },
    /// A number of a job's stream with which there is no stream.
    #[error("{what} of the job's stream is `{value}`, not {wanted}")]
    JobNumber {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What it may be.
        wanted: &'static str,
    },
    /// Blocks too small to carry a stamp, or not fitting the requests.
    #[error("blocks of `{block_bytes}` bytes cannot be verified: {reason}")]
    VerifyBlock {
        /// Length of a block.
        block_bytes: u32,
        /// What is wrong with it.
        reason: &'static str,
    },
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
            Self::NotWhole { .. } => "round the value, or choose `position = \"uniform\"`",
            Self::Weights { .. } => "change a weight so that the sum is 100",
            Self::ZeroSize { .. } => "give the line a size, or a weight of 0",
            Self::ZeroSector { .. } => "report this as a bug: each target has a sector size",
            Self::DoesNotFit { .. } => "choose a larger target or a smaller request",
            Self::SpanTooFar { .. } => "limit the part of the target that is used",
            Self::Distribution { .. } => "choose a value in the range given",
            Self::NoRoom { .. } => "choose larger files or smaller blocks",
            Self::JobNumber { .. } => "choose a value as given",
            Self::VerifyBlock { .. } => {
                "choose sizes and alignments that are multiples of 64 bytes, or do not verify"
            }
        }
    }
}
