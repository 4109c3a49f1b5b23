//! The search for the largest queue depth that keeps a latency.

use plan::job::DepthTarget;

/// Depths that kept the latency so often in a row have the next one tried again, which had failed.
const STABLE_COUNT: u32 = 3;

/// Doubles the depth while the latency is kept, then halves what lies between the largest depth
/// that kept it and the least one that did not.
#[derive(Debug, Clone, Copy)]
pub(super) struct DepthSearch {
    target: DepthTarget,
    most: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable_count: u32,
    /// When the depth began to be tried.
    begin_ns: u64,
    count: u64,
    late_count: u64,
    /// Whether any depth failed, so that the largest one is known to be too large.
    has_failed: bool,
    /// Whether what was issued at a larger depth is waited for.
    is_draining: bool,
    is_found: bool,
    kept: Option<bool>,
}

/// What is to be done after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthVerdict {
    GoOn,
    /// The depth was found: it is measured from now on.
    Settled,
    /// It was measured.
    Done,
    /// There is no depth that would do.
    Missed,
}

impl DepthSearch {
    pub(super) const fn new(target: DepthTarget, most: u32) -> Self {
        Self {
            target,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable_count: 0,
            begin_ns: 0,
            count: 0,
            late_count: 0,
            has_failed: false,
            is_draining: false,
            is_found: false,
            kept: None,
        }
    }

    pub(super) const fn depth(&self) -> u32 {
        self.depth
    }

    pub(super) const fn latency_ns(&self) -> u64 {
        self.target.latency_ns
    }

    /// Whether the latency was kept when a depth was tried last.
    pub(super) const fn kept(&self) -> Option<bool> {
        self.kept
    }

    /// How many requests may be in flight.
    pub(super) const fn limit(&self) -> u32 {
        match self.is_draining {
            true => 0,
            false => self.depth,
        }
    }

    /// Takes note of a request, with how many others are in flight.
    pub(super) fn completed(
        &mut self,
        latency_ns: u64,
        now_ns: u64,
        in_flight: u32,
    ) -> DepthVerdict {
        if self.is_draining {
            if in_flight == 0 {
                self.is_draining = false;
                self.try_anew(now_ns);
            }
            return DepthVerdict::GoOn;
        }
        self.count += 1;
        if latency_ns > self.target.latency_ns {
            self.late_count += 1;
            // One is enough where all are to keep it.
            if self.target.percentile >= 100.0 {
                return match self.fail(now_ns, in_flight) {
                    true => DepthVerdict::GoOn,
                    false => DepthVerdict::Missed,
                };
            }
        }
        if now_ns.saturating_sub(self.begin_ns) < self.target.window_ns {
            return DepthVerdict::GoOn;
        }
        let kept = (self.count - self.late_count) as f64 / self.count as f64 * 100.0;
        if kept >= self.target.percentile {
            return self.succeed(now_ns);
        }
        // The least depth is tried on and on.
        self.fail(now_ns, in_flight);
        DepthVerdict::GoOn
    }

    /// Goes to a smaller depth, where there is one.
    fn fail(&mut self, now_ns: u64, in_flight: u32) -> bool {
        self.kept = Some(false);
        if self.depth == 1 {
            return false;
        }
        self.has_failed = true;
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = self.low.midpoint(self.depth);
        self.stable_count = 0;
        // What is in flight at the larger depth says nothing about the smaller one.
        self.is_draining = in_flight > 0;
        self.try_anew(now_ns);
        true
    }

    /// Goes to a larger depth, where there may be one.
    fn succeed(&mut self, now_ns: u64) -> DepthVerdict {
        self.kept = Some(true);
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable_count += 1;
            if self.stable_count >= STABLE_COUNT {
                self.high += 1;
                self.stable_count = 0;
            }
        }
        self.depth = match self.has_failed {
            false => self.depth.saturating_mul(2),
            true => self.low.midpoint(self.high),
        };
        self.depth = self.depth.min(self.most);
        self.try_anew(now_ns);
        if self.target.goes_on || self.depth != before {
            return DepthVerdict::GoOn;
        }
        match std::mem::replace(&mut self.is_found, true) {
            true => DepthVerdict::Done,
            false => DepthVerdict::Settled,
        }
    }

    fn try_anew(&mut self, now_ns: u64) {
        self.begin_ns = now_ns;
        self.count = 0;
        self.late_count = 0;
    }
}
