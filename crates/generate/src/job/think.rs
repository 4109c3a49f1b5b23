//! Pauses between the requests of a job.

use plan::job::ThinkRule;

/// Counts requests or time between pauses.
///
/// A pause begins when nothing is in flight, so that the target pauses too.
#[derive(Debug, Clone)]
pub(super) struct ThinkTime {
    rule: ThinkRule,
    count: u64,
    /// Start of the time since the last pause.
    since_ns: Option<u64>,
    is_due: bool,
}

impl ThinkTime {
    pub(super) const fn new(rule: ThinkRule) -> Self {
        Self {
            rule,
            count: 0,
            since_ns: None,
            is_due: false,
        }
    }

    /// `true` if a pause begins as soon as nothing is in flight.
    #[inline]
    pub(super) const fn is_due(&self) -> bool {
        self.is_due
    }

    /// Records that a request was issued.
    #[inline]
    pub(super) fn issued(&mut self, now_ns: u64) {
        // The time between pauses begins with a request, not with the pause before it.
        self.since_ns.get_or_insert(now_ns);
        if self.rule.counts_issued {
            self.counted(now_ns);
        }
    }

    /// Records that a request has completed.
    #[inline]
    pub(super) fn completed(&mut self, now_ns: u64) {
        if !self.rule.counts_issued {
            self.counted(now_ns);
        }
    }

    fn counted(&mut self, now_ns: u64) {
        self.count += 1;
        let since_ns = self.since_ns.unwrap_or(now_ns);
        self.is_due |= if self.rule.time_ns > 0 {
            now_ns.saturating_sub(since_ns) >= self.rule.time_ns
        } else {
            self.count >= self.rule.requests.max(1)
        };
    }

    /// Begins the pause that is due. Returns its length in nanoseconds.
    pub(super) const fn begin(&mut self) -> u64 {
        self.count = 0;
        self.since_ns = None;
        self.is_due = false;
        self.rule.pause_ns
    }
}
