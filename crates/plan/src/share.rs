//! How what is done is divided.

/// Share `index` of `all` in `count` shares that differ by one at most and add up to `all`; the
/// first ones have what is left. `count` is at least 1.
#[must_use]
pub const fn share(all: u64, count: u64, index: u64) -> u64 {
    all / count + (index < all % count) as u64
}
