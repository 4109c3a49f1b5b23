//! What is meant where nobody says it. What reads workload files, what writes them and what plans
//! have one meaning for a key that is left out.

use units::{Bytes, Span};

/// How long is measured what has no end of its own.
pub const RUN_TIME_DEFAULT: Span = Span::from_secs(10);

/// What comes before that.
pub const RAMP_TIME_DEFAULT: Span = Span::from_secs(2);

/// Bytes of a test file: small enough to be made in seconds, larger than the caches of drives.
pub const SIZE_DEFAULT: u64 = 1 << 30;

/// Bytes of a file of a job of which the name alone matters.
pub const NAMED_SIZE_DEFAULT: u64 = 4096;

/// Bytes of a job's request.
pub const BLOCK_DEFAULT: Bytes = Bytes(4 * Bytes::KIB);

/// The time that a job's least rate is of.
pub(crate) const FLOOR_WINDOW_DEFAULT: Span = Span::from_secs(1);

/// For so long no rate of a job is judged.
pub(crate) const FLOOR_SETTLE_DEFAULT: Span = Span::from_secs(2);

/// The time of one reading of a job that is to be steady.
pub(crate) const READING_DEFAULT: Span = Span::from_secs(1);
