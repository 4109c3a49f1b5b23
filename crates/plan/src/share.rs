//! Divides amounts among workers.

/// Share `index` of `count` shares that add up to `all` and differ by at most one; the first shares
/// get the remainder. `count` is at least 1.
#[must_use]
pub const fn share(all: u64, count: u64, index: u64) -> u64 {
    all / count + (index < all % count) as u64
}
