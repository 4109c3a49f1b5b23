//! Ranges of bytes that a trace reads or writes.

/// Number of ranges from which they are joined.
const JOINED_FROM: usize = 1 << 16;

/// Bytes from `start_bytes` to before `end_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsedRange {
    /// Number of the device in the trace.
    pub device: u32,
    pub start_bytes: u64,
    pub end_bytes: u64,
}

/// A set of ranges. They are exact, because the requests themselves are in memory as well.
#[derive(Debug, Default)]
pub(crate) struct UsedRanges {
    ranges: Vec<UsedRange>,
    /// Number of ranges at which they are joined next.
    joined_at: usize,
}

impl UsedRanges {
    pub fn add(&mut self, range: UsedRange) {
        self.ranges.push(range);
        if self.ranges.len() >= self.joined_at.max(JOINED_FROM) {
            join(&mut self.ranges);
            // Doubled, so that all joins together take about as long as the last one.
            self.joined_at = self.ranges.len() * 2;
        }
    }

    /// The ranges in order, rounded outward to multiples of `unit_bytes` and joined.
    pub fn rounded(&self, unit_bytes: u64) -> Vec<UsedRange> {
        let round = |range: &UsedRange| UsedRange {
            device: range.device,
            start_bytes: range.start_bytes / unit_bytes * unit_bytes,
            end_bytes: range
                .end_bytes
                .div_ceil(unit_bytes)
                .saturating_mul(unit_bytes),
        };
        let mut ranges = self.ranges.iter().map(round).collect();
        join(&mut ranges);
        ranges
    }

    /// Number of different bytes.
    pub fn bytes(&self) -> u64 {
        let ranges = self.rounded(1).into_iter();
        let lengths = ranges.map(|range| range.end_bytes - range.start_bytes);
        lengths.fold(0, u64::saturating_add)
    }
}

/// Joins ranges that overlap or touch.
fn join(ranges: &mut Vec<UsedRange>) {
    ranges.sort_unstable();
    ranges.dedup_by(|next, kept| {
        let is_joined = next.device == kept.device && next.start_bytes <= kept.end_bytes;
        if is_joined {
            kept.end_bytes = kept.end_bytes.max(next.end_bytes);
        }
        is_joined
    });
}
