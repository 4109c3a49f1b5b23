//! Defaults of keys that are not written. Reading, writing and planning of workload files use the
//! same ones.

use units::{Bytes, Span};

/// Measured time of a cell that has no other end.
pub const RUN_TIME_DEFAULT: Span = Span::from_secs(10);

/// Ramp time before it.
pub const RAMP_TIME_DEFAULT: Span = Span::from_secs(2);

/// Size of a test file in bytes: created within seconds, but larger than the caches of drives.
pub const SIZE_DEFAULT: u64 = 1 << 30;

/// Size in bytes of a file of a job that works on `names` only.
pub const NAMED_SIZE_DEFAULT: u64 = 4096;

/// Request size of a job, in bytes.
pub const BLOCK_DEFAULT: Bytes = Bytes(4 * Bytes::KIB);

/// Averaging window of a job's minimum rate.
// The default of fio's `rate_cycle`.
pub(crate) const FLOOR_WINDOW_DEFAULT: Span = Span::from_secs(1);

/// Grace period before a job's minimum rate applies.
// fio does not check minimum rates in the first 2 s.
pub(crate) const FLOOR_SETTLE_DEFAULT: Span = Span::from_secs(2);

/// Length of one reading of a job with `until_steady`.
pub(crate) const READING_DEFAULT: Span = Span::from_secs(1);
