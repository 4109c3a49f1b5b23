//! Histograms, intervals and estimates; every type that accumulates has one `merge`, which is
//! associative and commutative.
//!
//! What is recorded for each operation allocates nothing and locks nothing. Percentiles are
//! computed when they are asked for, never while recording.

mod bucket;
mod counter;
mod describe;
mod error;
mod estimate;
mod hdr;
mod histogram;
mod interval;
mod summary;
mod wire;

pub use bucket::Bucket;
pub use counter::{Counter, ERRNO_OTHER};
pub use describe::{mean, median, stddev};
pub use error::StatsError;
pub use estimate::Estimate;
pub use histogram::{Histogram, samples_needed};
pub use interval::{Interval, KIND_COUNT_MAX, OPERATION_COUNT_MAX};
pub use summary::{LatencySummary, PERCENTILES, Summary};
