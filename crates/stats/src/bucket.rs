//! Bucket boundaries of the histogram.
//!
//! Each octave is divided into 64 buckets of equal width, so a bucket's midpoint is within
//! 1/128 (0.78 %) of every sample in it; below 128 ns every bucket holds one value.

/// Buckets per octave, as a power of two.
// 64 buckets keep the error below 1 %, and each further bit would double the memory.
const OCTAVE_BITS: u32 = 6;

/// The first value without a regular bucket; all values from here up share the last bucket.
pub(crate) const SATURATION_NS: u64 = 1 << 44;

/// The index of the bucket for everything from [`SATURATION_NS`] up.
pub(crate) const LAST: usize = regular_index(SATURATION_NS);

/// Number of buckets.
pub(crate) const COUNT: usize = LAST + 1;

/// Samples of this bucket are counted in the next one. Only in the build that the self-test must
/// recognize as broken.
#[cfg(broken_bucket)]
const BROKEN: usize = 700;

/// A bucket with samples in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value in the bucket, in nanoseconds.
    pub low_ns: u64,
    /// Largest value in the bucket, in nanoseconds.
    pub high_ns: u64,
    /// Number of samples in the bucket.
    pub count: u64,
}

/// The index of a value's bucket, always below [`COUNT`].
#[inline]
pub(crate) const fn index_of(ns: u64) -> usize {
    let index = regular_index(ns);
    #[cfg(broken_bucket)]
    let index = if index == BROKEN { BROKEN + 1 } else { index };
    if index < LAST { index } else { LAST }
}

/// The index if the octaves continued without end. Setting the bit leaves the octave of a value
/// unchanged, except that it puts all values below 128 into the first, undivided octave.
#[inline]
const fn regular_index(ns: u64) -> usize {
    let shift = (63 - OCTAVE_BITS) - (ns | 1 << OCTAVE_BITS).leading_zeros();
    ((shift as usize) << OCTAVE_BITS) + (ns >> shift) as usize
}

/// The smallest value of a bucket.
pub(crate) const fn low_of(index: usize) -> u64 {
    let octave = index >> OCTAVE_BITS;
    if octave < 2 {
        return index as u64;
    }
    let shift = octave - 1;
    ((index - (shift << OCTAVE_BITS)) as u64) << shift
}

/// The largest value of a bucket.
pub(crate) const fn high_of(index: usize) -> u64 {
    if index >= LAST {
        u64::MAX
    } else {
        low_of(index + 1) - 1
    }
}

/// The value that represents every sample of a bucket. For the last bucket, which is unbounded,
/// this is its upper end: clamping to the range of the samples then gives the largest sample.
pub(crate) const fn midpoint_of(index: usize) -> u64 {
    if index >= LAST {
        return u64::MAX;
    }
    let low = low_of(index);
    low + (high_of(index) - low).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_without_gap_or_overlap() {
        let mut next = 0;
        for index in 0..COUNT {
            assert_eq!(low_of(index), next, "{index}");
            assert_eq!(index_of(low_of(index)), index);
            assert_eq!(index_of(high_of(index)), index);
            next = high_of(index).wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the last value");
    }

    #[test]
    fn values_below_128_have_a_bucket_each() {
        for ns in 0..128 {
            assert_eq!((low_of(index_of(ns)), high_of(index_of(ns))), (ns, ns));
        }
    }

    #[test]
    fn the_midpoint_is_within_8_in_1000_of_every_value_of_the_bucket() {
        for index in 1..LAST {
            let (low, mid, high) = (low_of(index), midpoint_of(index), high_of(index));
            assert!((mid - low) as f64 <= 0.008 * low as f64, "{index}");
            assert!((high - mid) as f64 <= 0.008 * high as f64, "{index}");
        }
    }

    #[test]
    fn everything_from_the_saturation_value_shares_the_last_bucket() {
        assert_eq!(index_of(SATURATION_NS - 1), LAST - 1);
        assert_eq!(index_of(SATURATION_NS), LAST);
        assert_eq!(index_of(u64::MAX), LAST);
        assert_eq!(low_of(LAST), SATURATION_NS);
    }
}
