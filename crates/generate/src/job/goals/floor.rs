//! Minimum rate of a job.

use plan::job::MinRate;

use super::MissKind;

/// Checks the rate of one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct FloorWatch {
    min_rate: MinRate,
    window_ns: u64,
    settle_ns: u64,
    /// Requests or bytes so far.
    done: u64,
    /// Start of the window, and requests or bytes done before it.
    window_start: Option<(u64, u64)>,
}

impl FloorWatch {
    pub(super) const fn new(least: MinRate, window_ns: u64, settle_ns: u64) -> Self {
        Self {
            min_rate: least,
            window_ns,
            settle_ns,
            done: 0,
            window_start: None,
        }
    }

    pub(super) fn count(&mut self, bytes: u32) {
        self.done += match self.min_rate.is_of_bytes {
            true => bytes.into(),
            false => 1,
        };
    }

    /// At the end of a window in which the rate was too low: the missed goal, the required rate and
    /// the actual one. A direction that has done nothing yet does not count as slow.
    pub(super) fn judge(&mut self, now_ns: u64) -> Option<(MissKind, u64, u64)> {
        if now_ns < self.settle_ns || self.done == 0 {
            return None;
        }
        let Some((at_ns, done)) = self.window_start else {
            self.window_start = Some((now_ns, self.done));
            return None;
        };
        let spent_ns = now_ns.saturating_sub(at_ns);
        // Two completions at the same time have no rate, even in a window of 0.
        if spent_ns < self.window_ns || spent_ns == 0 {
            return None;
        }
        // With 64 bits, the product would overflow from 18 GB on.
        let per_second = u128::from(self.done - done) * 1_000_000_000 / u128::from(spent_ns);
        let seen = u64::try_from(per_second).unwrap_or(u64::MAX);
        self.window_start = Some((now_ns, self.done));
        let kind = match self.min_rate.is_of_bytes {
            true => MissKind::Bandwidth,
            false => MissKind::Iops,
        };
        (seen < self.min_rate.per_second).then_some((kind, self.min_rate.per_second, seen))
    }
}
