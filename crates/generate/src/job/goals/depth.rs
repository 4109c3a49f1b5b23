//! The search for the largest queue depth at which the latency is kept.

use plan::job::DepthTarget;

/// After this many consecutive successes just below a depth that had failed, that depth is tried
/// again.
const STABLE_COUNT: u32 = 3;

/// Doubles the depth while the latency is kept, then bisects between the largest depth that kept it
/// and the smallest that did not.
#[derive(Debug, Clone, Copy)]
pub(super) struct DepthSearch {
    target: DepthTarget,
    max_depth: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable_count: u32,
    /// Time at which the current depth was started.
    begin_ns: u64,
    count: u64,
    late_count: u64,
    /// `true` if a depth failed, so that there is an upper limit.
    has_failed: bool,
    /// `true` while requests issued at a larger depth are still in flight.
    is_draining: bool,
    is_found: bool,
    kept: Option<bool>,
}

/// Decision after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthVerdict {
    Continue,
    /// The depth was found and is measured from now on.
    Settled,
    /// The depth was measured.
    Done,
    /// No depth keeps the latency.
    Missed,
}

impl DepthSearch {
    pub(super) const fn new(target: DepthTarget, most: u32) -> Self {
        Self {
            target,
            max_depth: most,
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

    /// `true` if the latency was kept when a depth was last tried; `None` if none was tried.
    pub(super) const fn kept(&self) -> Option<bool> {
        self.kept
    }

    /// Maximum number of requests in flight; 0 while larger depths drain.
    pub(super) const fn limit(&self) -> u32 {
        match self.is_draining {
            true => 0,
            false => self.depth,
        }
    }

    /// Records a request. `in_flight` is the number of other requests in flight.
    pub(super) fn completed(
        &mut self,
        latency_ns: u64,
        now_ns: u64,
        in_flight: u32,
    ) -> DepthVerdict {
        if self.is_draining {
            if in_flight == 0 {
                self.is_draining = false;
                self.restart_trial(now_ns);
            }
            return DepthVerdict::Continue;
        }
        self.count += 1;
        if latency_ns > self.target.latency_ns {
            self.late_count += 1;
            // A single late request fails the depth if all must keep the latency.
            if self.target.percentile >= 100.0 {
                return match self.fail(now_ns, in_flight) {
                    true => DepthVerdict::Continue,
                    false => DepthVerdict::Missed,
                };
            }
        }
        if now_ns.saturating_sub(self.begin_ns) < self.target.window_ns {
            return DepthVerdict::Continue;
        }
        let kept_percent = (self.count - self.late_count) as f64 / self.count as f64 * 100.0;
        if kept_percent >= self.target.percentile {
            return self.succeed(now_ns);
        }
        // At the smallest depth, the search just tries again.
        self.fail(now_ns, in_flight);
        DepthVerdict::Continue
    }

    /// Goes to a smaller depth. Returns `false` if there is none.
    fn fail(&mut self, now_ns: u64, in_flight: u32) -> bool {
        self.kept = Some(false);
        if self.depth == 1 {
            return false;
        }
        self.has_failed = true;
        self.high = self.depth;
        if self.depth == self.low {
            // A depth that had kept the latency has failed now, so the search continues below it.
            self.low -= 1;
        }
        self.depth = self.low.midpoint(self.depth);
        self.stable_count = 0;
        // Requests in flight at the larger depth must not count for the smaller one.
        self.is_draining = in_flight > 0;
        self.restart_trial(now_ns);
        true
    }

    /// Goes to a larger depth, if one is possible.
    fn succeed(&mut self, now_ns: u64) -> DepthVerdict {
        self.kept = Some(true);
        let before = self.depth;
        self.low = self.depth;
        // Latency can improve during the search, so a depth that failed gets another chance.
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
        self.depth = self.depth.min(self.max_depth);
        self.restart_trial(now_ns);
        if self.target.goes_on || self.depth != before {
            return DepthVerdict::Continue;
        }
        match std::mem::replace(&mut self.is_found, true) {
            true => DepthVerdict::Done,
            false => DepthVerdict::Settled,
        }
    }

    fn restart_trial(&mut self, now_ns: u64) {
        self.begin_ns = now_ns;
        self.count = 0;
        self.late_count = 0;
    }
}
