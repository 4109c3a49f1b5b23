//! Sequential streams: which requests continue where an earlier one ended.

use std::collections::{BTreeMap, HashMap};

use crate::FitRequest;

/// Number of open ends that are remembered. Older ones are forgotten first.
const OPEN_ENDS_MAX: usize = 64;
/// Share of the sequential requests that the streams of a model continue.
const COVERED_SHARE: f64 = 0.9;
const STREAMS_MAX: usize = 32;
/// A smaller share of sequential requests is chance, and says nothing about streams.
const SEQUENTIAL_SHARE_MIN: f64 = 0.05;

/// How requests follow each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamAccesses {
    /// For each request, `true` if it continues an earlier one.
    pub is_sequential: Vec<bool>,
    /// Number of streams that are in progress at the same time.
    pub stream_count: u32,
    /// Number of requests in runs of 1, 2 to 3, 4 to 7 and so on.
    pub run_weights: Vec<u64>,
}

/// The places where the latest requests ended.
#[derive(Default)]
pub(crate) struct StreamTable {
    /// Time of use and length of the run, by end.
    ends: HashMap<u64, OpenEnd>,
    /// Ends by time of use.
    by_use: BTreeMap<u64, u64>,
    clock: u64,
    accesses: StreamAccesses,
    /// Number of sequential requests by the number of other ends used since.
    distances: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct OpenEnd {
    used: u64,
    run_length: u64,
}

impl StreamTable {
    /// Follows the requests of a phase.
    pub(crate) fn follow(requests: &[FitRequest]) -> StreamAccesses {
        let mut table = Self {
            distances: vec![0; OPEN_ENDS_MAX],
            ..Self::default()
        };
        for request in requests {
            table.add(request);
        }
        let rest: Vec<u64> = table.ends.values().map(|end| end.run_length).collect();
        for length in rest {
            table.end_run(length);
        }
        table.accesses.stream_count = table.stream_count();
        table.accesses
    }

    fn add(&mut self, request: &FitRequest) {
        self.clock += 1;
        let known = self.ends.remove(&request.offset_bytes);
        let run_length = match known {
            Some(end) => {
                let newer = self.by_use.range(end.used + 1..).count();
                self.distances[newer.min(OPEN_ENDS_MAX - 1)] += 1;
                self.by_use.remove(&end.used);
                end.run_length + 1
            }
            None => 1,
        };
        self.accesses.is_sequential.push(known.is_some());
        if self.ends.len() >= OPEN_ENDS_MAX
            && let Some((_, oldest)) = self.by_use.pop_first()
            && let Some(end) = self.ends.remove(&oldest)
        {
            self.end_run(end.run_length);
        }
        let end = OpenEnd {
            used: self.clock,
            run_length,
        };
        if let Some(replaced) = self.ends.insert(request.end_bytes(), end) {
            self.by_use.remove(&replaced.used);
            self.end_run(replaced.run_length);
        }
        self.by_use.insert(self.clock, request.end_bytes());
    }

    fn end_run(&mut self, length: u64) {
        let bin = length.ilog2() as usize;
        let weights = &mut self.accesses.run_weights;
        if weights.len() <= bin {
            weights.resize(bin + 1, 0);
        }
        weights[bin] += length;
    }

    fn stream_count(&self) -> u32 {
        let all: u64 = self.distances.iter().sum();
        if (all as f64) < SEQUENTIAL_SHARE_MIN * self.clock as f64 {
            return 1;
        }
        let needed = (all as f64 * COVERED_SHARE).ceil() as u64;
        let mut sum = 0;
        for (index, count) in self.distances.iter().enumerate().take(STREAMS_MAX) {
            sum += count;
            if sum >= needed {
                return index as u32 + 1;
            }
        }
        STREAMS_MAX as u32
    }
}
