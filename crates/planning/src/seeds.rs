//! The default seed.

/// Default seed of a workload, so that two runs make the same requests.
pub(super) const SEED_DEFAULT: u64 = 1;
