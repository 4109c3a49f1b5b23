//! Counts requests of one turn together.

/// Counter of a request or flow: span of the lane, and operation or kind of flow.
pub(crate) type CounterIndex = (u32, u8);

/// Requests or flows of one turn that have the same counter and the same latency.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TallyGroup {
    pub counter: CounterIndex,
    pub latency_ns: u64,
    /// Number of requests or flows.
    pub count: u64,
    /// Bytes that they transferred together.
    pub bytes: u64,
}

/// Way in which the completions of a turn reach the counters.
pub(crate) trait Tally {
    /// `true` if each completion is counted immediately.
    const IS_SINGLE: bool;

    /// Takes a request; returns the group to count now.
    fn request(&mut self, index: CounterIndex, latency_ns: u64, bytes: u64) -> Option<TallyGroup>;

    /// The same for a flow.
    fn flow(&mut self, index: CounterIndex, latency_ns: u64) -> Option<TallyGroup>;
}

/// Tally for a turn with one completion.
pub(crate) struct Single;

/// Tally for a turn with several completions. Requests that are issued together and reaped together
/// have the same latency, so one counter update is often enough for a whole turn.
pub(crate) struct BatchTally {
    /// Two groups, so that reads and writes in any order have one each.
    pub requests: [TallyGroup; 2],
    pub flows: TallyGroup,
}

impl TallyGroup {
    const NONE: Self = Self {
        counter: (0, 0),
        latency_ns: 0,
        count: 0,
        bytes: 0,
    };

    #[inline(always)]
    const fn one(index: CounterIndex, latency_ns: u64, bytes: u64) -> Self {
        Self {
            counter: index,
            latency_ns,
            count: 1,
            bytes,
        }
    }

    /// Adds one more; returns the previous group if it is different.
    #[inline(always)]
    fn add(&mut self, index: CounterIndex, latency_ns: u64, bytes: u64) -> Option<Self> {
        if self.latency_ns == latency_ns && self.counter == index {
            self.count += 1;
            self.bytes = self.bytes.wrapping_add(bytes);
            return None;
        }
        let before = std::mem::replace(self, Self::one(index, latency_ns, bytes));
        (before.count > 0).then_some(before)
    }
}

impl BatchTally {
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            requests: [TallyGroup::NONE; 2],
            flows: TallyGroup::NONE,
        }
    }
}

impl Tally for Single {
    const IS_SINGLE: bool = true;

    #[inline(always)]
    fn request(&mut self, index: CounterIndex, latency_ns: u64, bytes: u64) -> Option<TallyGroup> {
        Some(TallyGroup::one(index, latency_ns, bytes))
    }

    #[inline(always)]
    fn flow(&mut self, index: CounterIndex, latency_ns: u64) -> Option<TallyGroup> {
        Some(TallyGroup::one(index, latency_ns, 0))
    }
}

impl Tally for BatchTally {
    const IS_SINGLE: bool = false;

    #[inline(always)]
    fn request(&mut self, index: CounterIndex, latency_ns: u64, bytes: u64) -> Option<TallyGroup> {
        // `Operation::Read` is 0 and `Operation::Write` is 1.
        self.requests[usize::from(index.1 % 2)].add(index, latency_ns, bytes)
    }

    #[inline(always)]
    fn flow(&mut self, index: CounterIndex, latency_ns: u64) -> Option<TallyGroup> {
        self.flows.add(index, latency_ns, 0)
    }
}
