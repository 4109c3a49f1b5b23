//! What can be wrong with statistics that are read from outside.

/// Stored statistics that no measurement can have produced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatsError {
    /// A histogram names a bucket that does not exist.
    #[error("bucket index `{seen}` of a histogram is not below `{limit}`")]
    BucketIndex {
        /// The index read.
        seen: u32,
        /// The number of buckets.
        limit: usize,
    },
    /// The buckets of a histogram are not in ascending order, or one occurs twice.
    #[error("bucket index `{seen}` of a histogram does not follow `{previous}` in order")]
    BucketOrder {
        /// The index read.
        seen: u32,
        /// The index before it.
        previous: u32,
    },
    /// A histogram lists a bucket without samples.
    #[error("bucket `{index}` of a histogram is listed without samples")]
    BucketEmpty {
        /// The index of the bucket.
        index: u32,
    },
    /// The counts of a histogram add up to more than 64 bits.
    #[error("the counts of a histogram add up to more than 64 bits")]
    CountOverflow,
    /// The smallest or largest sample lies outside the buckets in use.
    #[error("the range `{min_ns}` to `{max_ns}` ns of a histogram contradicts its buckets")]
    Range {
        /// The smallest sample read.
        min_ns: u64,
        /// The largest sample read.
        max_ns: u64,
    },
    /// The sum of all samples cannot come from the buckets.
    #[error("the sum `{sum_ns}` ns of a histogram contradicts its buckets")]
    Sum {
        /// The sum read.
        sum_ns: String,
    },
    /// A counter's parts contradict each other.
    #[error("the `{part}` of a counter contradict its other figures")]
    Counter {
        /// Which part.
        part: &'static str,
    },
    /// An interval names an operation or a transaction kind that does not exist, or twice.
    #[error("`{seen}` is not the number of another {what} of an interval")]
    Index {
        /// What is numbered.
        what: &'static str,
        /// The number read.
        seen: usize,
    },
}

impl StatsError {
    /// The one thing to do about it, without the word `help`.
    #[must_use]
    pub fn help(&self) -> &'static str {
        "export the record again from the program that wrote it"
    }
}
