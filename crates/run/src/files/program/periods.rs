//! Periods of rounds that continue until the periods are steady.

use results::{RoundRecord, SteadyRecord};
use stats::{Interval, SteadyRule, SteadyState, SteadyVerdict};

use crate::rounds::round_record;

/// Rounds in periods, each as long as all rounds would take if they were measured once.
#[derive(Debug, Clone)]
pub(super) struct Periods {
    state: SteadyState,
    /// Minimum length of a period, in nanoseconds.
    length_ns: u64,
    /// Time spent in phases when the first period started, and when the current one did, in
    /// nanoseconds.
    begin_ns: (u64, u64),
    records: Vec<RoundRecord>,
}

impl Periods {
    /// Creates the first period, which starts after phases have taken `begin_ns`.
    pub(super) fn new(rule: SteadyRule, length_ns: u64, begin_ns: u64) -> Self {
        Self {
            state: SteadyState::new(rule),
            length_ns,
            begin_ns: (begin_ns, begin_ns),
            records: Vec::new(),
        }
    }

    /// Ends and judges the current period if phases have taken long enough. `counted` has the
    /// counters of the period. `None` if it is not over.
    pub(super) fn judge(&mut self, spent_ns: u64, counted: &Interval) -> Option<SteadyVerdict> {
        let (first_ns, begin_ns) = self.begin_ns;
        let length_ns = spent_ns - begin_ns;
        // The same comparison as for rounds that are measured once.
        if length_ns <= self.length_ns {
            return None;
        }
        let errors = counted.total().errors();
        let record = round_record(
            (begin_ns - first_ns, length_ns),
            &counted.all_transactions(),
            errors,
        );
        self.begin_ns = (first_ns, spent_ns);
        let verdict = self.state.push(record.per_second);
        self.records.push(record);
        Some(verdict)
    }

    pub(super) fn steady_record(&self) -> SteadyRecord {
        SteadyRecord {
            rule: *self.state.rule(),
            verdict: self.state.verdict(),
            rounds: self.records.clone(),
            window: self.state.window(),
        }
    }
}
