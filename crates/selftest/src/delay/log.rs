//! Log of the server of the delayed file, by the server's own clock.

use serde::{Deserialize, Serialize};

/// An answered read; times in nanoseconds since the log began, by the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub(crate) struct AnsweredRead {
    pub arrived_ns: u64,
    pub answered_ns: u64,
}

impl From<(u64, u64)> for AnsweredRead {
    fn from((arrived_ns, answered_ns): (u64, u64)) -> Self {
        Self {
            arrived_ns,
            answered_ns,
        }
    }
}

impl From<AnsweredRead> for (u64, u64) {
    fn from(served: AnsweredRead) -> Self {
        (served.arrived_ns, served.answered_ns)
    }
}

/// All answered reads since the log began, in order of arrival.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ReadLog {
    pub reads: Vec<AnsweredRead>,
}

impl ReadLog {
    /// Median time from arrival to answer of the last `count` reads, in nanoseconds.
    pub fn service_median_ns(&self, count: usize) -> Option<f64> {
        let reads = self.last(count)?.iter();
        let mut times: Vec<u64> = reads.map(|it| it.answered_ns - it.arrived_ns).collect();
        times.sort_unstable();
        times.get(count / 2).map(|it| *it as f64)
    }

    /// Arrivals per second among the last `count` reads, from the first to the last of them.
    pub fn per_second(&self, count: usize) -> Option<f64> {
        let reads = self.last(count)?;
        let span_ns = reads
            .last()?
            .arrived_ns
            .checked_sub(reads.first()?.arrived_ns)?;
        (span_ns > 0).then(|| (count - 1) as f64 * 1e9 / span_ns as f64)
    }

    /// The last `count` reads. Earlier ones may be trial reads before the run begins.
    fn last(&self, count: usize) -> Option<&[AnsweredRead]> {
        Some(&self.reads[self.reads.len().checked_sub(count)?..])
    }

    /// Response times of the last `count` reads in nanoseconds, ascending: from due to answered.
    /// `per_second` reads were due at equal distances. The schedule is aligned so that no read
    /// arrived before it was due, and one arrived exactly when due.
    pub fn responses_ns(&self, count: usize, per_second: f64) -> Option<Vec<f64>> {
        let reads = self.last(count)?;
        let due_ns = |index: usize| index as f64 * 1e9 / per_second;
        let leads = reads.iter().enumerate();
        let leads = leads.map(|(index, it)| it.arrived_ns as f64 - due_ns(index));
        let start_ns = leads.reduce(f64::min)?;
        let responses = reads.iter().enumerate();
        let responses =
            responses.map(|(index, it)| it.answered_ns as f64 - start_ns - due_ns(index));
        let mut responses: Vec<f64> = responses.collect();
        responses.sort_by(f64::total_cmp);
        Some(responses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(reads: &[(u64, u64)]) -> ReadLog {
        ReadLog {
            reads: reads.iter().copied().map(AnsweredRead::from).collect(),
        }
    }

    #[test]
    fn rates_and_service_times_are_computed_from_the_log() {
        let log = log(&[(0, 10), (100, 120), (200, 230)]);
        assert_eq!(log.service_median_ns(3), Some(20.0));
        assert_eq!(log.per_second(3), Some(1e7));
        assert_eq!(log.service_median_ns(2), Some(30.0));
        assert_eq!(log.service_median_ns(4), None);
        assert_eq!(ReadLog::default().service_median_ns(0), None);
        assert_eq!(ReadLog::default().per_second(0), None);
    }

    #[test]
    fn a_waiting_request_counts_from_its_due_time() {
        // Due at 1000, 1100, 1200, 1300; the second and the third waited until 1290.
        let log = log(&[
            (7, 8),
            (1000, 1010),
            (1290, 1300),
            (1290, 1301),
            (1305, 1315),
        ]);
        let responses = log.responses_ns(4, 1e7).unwrap();
        assert_eq!(responses, [10.0, 15.0, 101.0, 200.0]);
        assert_eq!(log.responses_ns(6, 1e7), None);
    }

    #[test]
    fn a_log_is_serialized_as_pairs() {
        let log = log(&[(1, 2)]);
        let text = serde_json::to_string(&log).unwrap();
        assert_eq!(text, r#"{"reads":[[1,2]]}"#);
        assert_eq!(serde_json::from_str::<ReadLog>(&text).unwrap(), log);
    }
}
