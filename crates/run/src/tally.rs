//! What is counted together.

/// Where a request or a flow counts: the lane's span, and the operation or the kind of flow.
pub(crate) type Place = (u32, u8);

/// Requests, or flows, of one turn that count in one place and took the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike {
    pub place: Place,
    pub latency_ns: u64,
    /// How many they are.
    pub count: u64,
    /// What they moved together.
    pub bytes: u64,
}

/// How what ends in a turn comes to the counters.
pub(crate) trait Tally {
    /// Whether each is counted as it ends.
    const IS_SINGLE: bool;

    /// Takes a request; returns what is to be counted now.
    fn request(&mut self, place: Place, latency_ns: u64, bytes: u64) -> Option<Alike>;

    /// The same of a flow.
    fn flow(&mut self, place: Place, latency_ns: u64) -> Option<Alike>;
}

/// Of a turn in which one request ends.
pub(crate) struct Single;

/// Of a turn in which several end. What is issued together and reaped together has one latency, so
/// a look at the counters is often enough for all of a turn.
pub(crate) struct Together {
    /// Reads and writes, which may come in any order, have one each.
    pub requests: [Alike; 2],
    pub flows: Alike,
}

impl Alike {
    const NONE: Self = Self {
        place: (0, 0),
        latency_ns: 0,
        count: 0,
        bytes: 0,
    };

    #[inline(always)]
    const fn one(place: Place, latency_ns: u64, bytes: u64) -> Self {
        Self {
            place,
            latency_ns,
            count: 1,
            bytes,
        }
    }

    /// Takes one more; returns those before that it is not like.
    #[inline(always)]
    fn add(&mut self, place: Place, latency_ns: u64, bytes: u64) -> Option<Self> {
        if self.latency_ns == latency_ns && self.place == place {
            self.count += 1;
            self.bytes = self.bytes.wrapping_add(bytes);
            return None;
        }
        let before = std::mem::replace(self, Self::one(place, latency_ns, bytes));
        (before.count > 0).then_some(before)
    }
}

impl Together {
    #[inline(always)]
    pub const fn new() -> Self {
        Self {
            requests: [Alike::NONE; 2],
            flows: Alike::NONE,
        }
    }
}

impl Tally for Single {
    const IS_SINGLE: bool = true;

    #[inline(always)]
    fn request(&mut self, place: Place, latency_ns: u64, bytes: u64) -> Option<Alike> {
        Some(Alike::one(place, latency_ns, bytes))
    }

    #[inline(always)]
    fn flow(&mut self, place: Place, latency_ns: u64) -> Option<Alike> {
        Some(Alike::one(place, latency_ns, 0))
    }
}

impl Tally for Together {
    const IS_SINGLE: bool = false;

    #[inline(always)]
    fn request(&mut self, place: Place, latency_ns: u64, bytes: u64) -> Option<Alike> {
        self.requests[usize::from(place.1 % 2)].add(place, latency_ns, bytes)
    }

    #[inline(always)]
    fn flow(&mut self, place: Place, latency_ns: u64) -> Option<Alike> {
        self.flows.add(place, latency_ns, 0)
    }
}
