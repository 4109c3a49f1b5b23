//! Jobs that share their requests according to weights.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plan::job::FlowShare;

/// Minimum time between two checks of whether it is a job's turn, in nanoseconds.
// fio's `flow_sleep` may be 0, but a wait must end later than now.
const POLL_INTERVAL_NS: u64 = 100;

/// Total of the jobs in a flow.
#[derive(Debug, Default)]
pub struct FlowTotal {
    requests: AtomicU64,
    /// Sum of the weights of running jobs.
    weight: AtomicU64,
}

/// State of one job in a flow.
#[derive(Debug)]
pub(super) struct FlowJobState {
    total: Arc<FlowTotal>,
    weight: u64,
    pause_ns: u64,
    requests: u64,
}

impl FlowJobState {
    /// Joins the flow.
    pub fn join(share: FlowShare, board: Arc<FlowTotal>) -> Self {
        let weight = u64::from(share.weight);
        board.weight.fetch_add(weight, Ordering::Relaxed);
        Self {
            total: board,
            weight,
            pause_ns: share.pause_ns.max(POLL_INTERVAL_NS),
            requests: 0,
        }
    }

    /// `true` if the job has done more than its share, so that the others come first.
    pub fn is_ahead(&self) -> bool {
        let all = self.total.requests.load(Ordering::Relaxed);
        let weight = self.total.weight.load(Ordering::Relaxed);
        // Multiplied crosswise instead of divided, so that nothing is rounded.
        self.requests.saturating_mul(weight) > all.saturating_mul(self.weight)
    }

    /// Time of the next check.
    pub const fn until_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_add(self.pause_ns)
    }

    /// Counts a request of this job.
    pub fn issued(&mut self) {
        self.requests += 1;
        self.total.requests.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for FlowJobState {
    fn drop(&mut self) {
        // The remaining jobs share future requests among themselves.
        self.total
            .requests
            .fetch_sub(self.requests, Ordering::Relaxed);
        self.total.weight.fetch_sub(self.weight, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_take_turns_by_weight_until_one_leaves() {
        let board = Arc::new(FlowTotal::default());
        let join = |weight| {
            let share = FlowShare {
                group: 0,
                weight,
                pause_ns: 0,
            };
            FlowJobState::join(share, Arc::clone(&board))
        };
        let (mut one, mut other) = (join(8), join(2));
        for _ in 0..1000 {
            for turn in [&mut one, &mut other] {
                if !turn.is_ahead() {
                    turn.issued();
                }
            }
        }
        assert!((3..=5).contains(&(one.requests / other.requests)));
        assert!(one.requests >= 400);
        drop(other);
        for _ in 0..1000 {
            assert!(!one.is_ahead());
            one.issued();
        }
    }
}
