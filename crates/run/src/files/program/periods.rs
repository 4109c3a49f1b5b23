//! Rounds of phases that go on until periods of them are steady.

use results::{RoundRecord, SteadyRecord};
use stats::{Interval, SteadyRule, SteadyState, SteadyVerdict};

use crate::rounds::round_record;

/// Rounds in periods, each as long as all rounds would take if they were measured once.
#[derive(Debug, Clone)]
pub(super) struct Periods {
    state: SteadyState,
    /// How long one is at least, in nanoseconds.
    length_ns: u64,
    /// What phases had taken when the first of them began, and when the last did.
    begin_ns: (u64, u64),
    records: Vec<RoundRecord>,
}

impl Periods {
    /// The first begins once phases have taken this long.
    pub(super) fn new(rule: SteadyRule, length_ns: u64, begin_ns: u64) -> Self {
        Self {
            state: SteadyState::new(rule),
            length_ns,
            begin_ns: (begin_ns, begin_ns),
            records: Vec::new(),
        }
    }

    /// Ends and judges the current period if phases have taken long enough by now; `counted` is
    /// what they counted in it. `None` if it is not over.
    pub(super) fn judge(&mut self, spent_ns: u64, counted: &Interval) -> Option<SteadyVerdict> {
        let (first_ns, begin_ns) = self.begin_ns;
        let length_ns = spent_ns - begin_ns;
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

    pub(super) fn told(&self) -> SteadyRecord {
        SteadyRecord {
            rule: *self.state.rule(),
            verdict: self.state.verdict(),
            rounds: self.records.clone(),
            window: self.state.window(),
        }
    }
}
