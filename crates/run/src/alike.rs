//! What is counted together.

/// Requests, or flows, of one turn that count in one place and took the same time. What is issued
/// together and reaped together does, so a look at the counters is often enough for all of a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike {
    /// Where they count: the lane's span, and the operation or the kind of flow.
    pub span: u32,
    pub number: u8,
    pub latency_ns: u64,
    /// How many they are.
    pub count: u64,
    /// What they moved together.
    pub bytes: u64,
}

impl Alike {
    pub const NONE: Self = Self {
        span: 0,
        number: 0,
        latency_ns: 0,
        count: 0,
        bytes: 0,
    };

    #[inline(always)]
    pub const fn one((span, number): (u32, u8), latency_ns: u64, bytes: u64) -> Self {
        Self {
            span,
            number,
            latency_ns,
            count: 1,
            bytes,
        }
    }

    /// Takes one more of so many bytes, if it is like those that there are.
    #[inline(always)]
    pub fn takes(&mut self, (span, number): (u32, u8), latency_ns: u64, bytes: u64) -> bool {
        let is_like = self.latency_ns == latency_ns && self.span == span && self.number == number;
        if is_like {
            self.count += 1;
            self.bytes = self.bytes.wrapping_add(bytes);
        }
        is_like
    }
}
