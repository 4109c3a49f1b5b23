//! Recorded requests to be replayed.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ArrivalKind, OpenLoop};

/// Requests of a log, which a job replays in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedPlan {
    /// Name of the log.
    pub log: String,
    /// Number of requests.
    pub request_count: u64,
    /// Bytes of all requests together.
    pub bytes: u64,
    /// Due time of the last request in nanoseconds; 0 if each request starts right after the
    /// previous one.
    pub last_due_ns: u64,
    /// Trace that the requests are from; `None` for a log of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TracePlan>,
    /// The requests; not stored in results.
    #[serde(skip)]
    // Shared, because planning copies a cell for each depth, rate and repetition.
    pub acts: Arc<[RecordedRequest]>,
}

/// A trace, and how a replay changes its addresses and times.
///
/// Each request starts at its own time, whatever is in flight, or as soon as a slot is free. All
/// threads of a job take their requests from one list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TracePlan {
    /// Format of the trace.
    pub format: String,
    /// Time from the first to the last replayed request in the trace, in nanoseconds.
    pub span_ns: u64,
    /// Speed of the replay, 1 for the recorded times; `None` if each request starts as soon as a
    /// slot is free.
    pub speed: Option<f64>,
    /// How addresses of the trace become addresses of the target.
    pub map: AddressMap,
    /// Largest end of a request in the trace, all devices together, in bytes.
    pub end_bytes: u64,
    /// Different bytes that are read or written, in bytes.
    pub touched_bytes: u64,
    /// Number of requests that begin where the previous request of their device ends.
    pub successor_count: u64,
    /// Number of these that still do so after the mapping.
    pub kept_successor_count: u64,
    /// Numbers of due requests over time; `None` without due times.
    pub due: Option<DueProfile>,
}

/// Numbers of requests that are due in equal parts of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DueProfile {
    /// Length of a part in nanoseconds, above 0.
    pub part_ns: u64,
    /// Number of due requests in each part, from the start.
    pub counts: Vec<u64>,
}

impl DueProfile {
    /// Maximum number of parts.
    const PARTS_MAX: u64 = 1000;

    /// Counts requests, whose due times never decrease.
    #[must_use]
    pub fn of(requests: &[RecordedRequest]) -> Self {
        let last_ns = requests.last().map_or(0, |it| it.due_ns);
        let part_ns = last_ns / Self::PARTS_MAX + 1;
        let mut counts = vec![0; (last_ns / part_ns + 1) as usize];
        for request in requests {
            counts[(request.due_ns / part_ns) as usize] += 1;
        }
        Self { part_ns, counts }
    }

    /// Number of requests due from `start_ns` to `end_ns`. A part that is only partly within counts
    /// by its share.
    #[must_use]
    pub fn count_within(&self, start_ns: u64, end_ns: u64) -> f64 {
        let part_ns = self.part_ns.max(1);
        let first = start_ns / part_ns;
        let parts = self.counts.iter().zip(0_u64..).skip(first as usize);
        let shares = parts.map_while(|(count, index)| {
            let from_ns = index.saturating_mul(part_ns);
            let until_ns = from_ns.saturating_add(part_ns).min(end_ns);
            let within_ns = until_ns.checked_sub(from_ns.max(start_ns))?;
            Some(*count as f64 * within_ns as f64 / part_ns as f64)
        });
        shares.sum()
    }
}

/// Mapping from addresses of a trace to addresses of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AddressMap {
    /// Only the used ranges, rounded to 1 MiB, one after the other.
    Compact,
    /// The same addresses.
    #[serde(rename = "1:1")]
    OneToOne,
    /// The remainder after division by the size of the target.
    Wrap,
    /// Offsets and lengths are divided so that the whole trace fits.
    Scale,
    /// The first used byte becomes the first byte of the target.
    Shift,
}

impl AddressMap {
    /// Name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::OneToOne => "1:1",
            Self::Wrap => "wrap",
            Self::Scale => "scale",
            Self::Shift => "shift",
        }
    }
}

/// A recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Due time in nanoseconds from the start of the log; never decreases.
    pub due_ns: u64,
    /// Kind of the request.
    pub kind: RecordedKind,
    /// Index of the job's file.
    pub part_index: u32,
    /// Length in bytes; 0 for a sync.
    pub length_bytes: u32,
    /// Offset in that file.
    pub offset_bytes: u64,
}

/// A request that was logged, with its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The request; its time is when it was issued, counted from the first request.
    pub request: RecordedRequest,
    /// Position in the order in which requests were issued.
    pub index: u32,
    /// Bytes moved; 0 if it failed.
    pub moved_bytes: u32,
    /// Time of submission in nanoseconds from the first request. If the job does not time it, the
    /// same as that of the request.
    pub submitted_ns: u64,
    /// Completion time in nanoseconds from the first request.
    pub done_ns: u64,
}

/// Kind of a recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    /// Reads data of a file.
    Read,
    /// Writes data to a file.
    Write,
    /// Makes a file durable.
    Fsync,
    /// Makes the data of a file durable.
    Fdatasync,
    /// Trims a range of a file.
    Trim,
    /// A call without data, in logs of work on files; no log to be replayed has it.
    Other,
}

impl RecordedPlan {
    /// A plan for the requests of a log, which must be in the order of their due times.
    #[must_use]
    pub fn new(log: String, acts: Arc<[RecordedRequest]>) -> Self {
        Self {
            log,
            request_count: acts.len() as u64,
            bytes: acts.iter().map(|it| u64::from(it.length_bytes)).sum(),
            last_due_ns: acts.last().map_or(0, |it| it.due_ns),
            trace: None,
            acts,
        }
    }

    /// `true` if requests have due times.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        self.last_due_ns > 0
    }

    /// Mean rate of a trace that is replayed at its recorded times.
    #[must_use]
    pub fn open_loop(&self) -> Option<OpenLoop> {
        let seconds = self.last_due_ns as f64 / 1e9;
        (self.is_paced() && self.trace.is_some()).then(|| OpenLoop {
            per_second: self.request_count as f64 / seconds,
            arrivals: ArrivalKind::Recorded,
        })
    }

    /// `true` if there is a request of this kind.
    #[must_use]
    pub fn has(&self, kind: RecordedKind) -> bool {
        self.acts.iter().any(|it| it.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_counts_each_due_request_once() {
        let at = |due_ns| RecordedRequest {
            due_ns,
            kind: RecordedKind::Read,
            part_index: 0,
            length_bytes: 512,
            offset_bytes: 0,
        };
        let requests: Vec<RecordedRequest> = (0..5000).map(|index| at(index * 1000)).collect();
        let profile = DueProfile::of(&requests);
        assert_eq!(profile.counts.len(), 1000);
        assert_eq!(profile.counts.iter().sum::<u64>(), 5000);
        assert!((profile.count_within(0, u64::MAX) - 5000.0).abs() < 1e-6);
        let half = profile.count_within(1_000_000, 3_500_000);
        assert!((half - 2500.0).abs() < 10.0, "{half}");
        assert_eq!(DueProfile::of(&[at(0), at(0)]).counts, [2]);
        assert_eq!(DueProfile::of(&[]).count_within(0, 9), 0.0);
    }
}
