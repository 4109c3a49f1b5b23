//! Fits access specifications to the requests of a trace, and says how well they fit.
//!
//! A trace is cut into phases. Each phase becomes sizes and kinds with their shares, streams of
//! sequential requests, a distribution over the addresses, and arrivals. Requests that are drawn
//! from this model are compared with the trace. A second draw shows which distance is chance.

mod arrivals;
mod error;
mod mix;
mod model;
mod phases;
mod quality;
mod space;
mod streams;
mod synthetic;
#[cfg(test)]
mod tests;
mod what_if;
mod workload;

use plan::job::{RecordedKind, RecordedRequest};

pub use error::FitError;
pub use model::{FittedPhase, FittedSpread, FittedZone, MixLine};
pub use quality::{FitDistance, FitVerdict};
pub use what_if::{WhatIf, WhatIfChange};
pub use workload::workload_text;

use streams::{StreamAccesses, StreamTable};

/// Settings of a fit.
#[derive(Debug, Clone, Copy)]
pub struct FitOptions {
    /// Maximum number of phases, at least 1.
    pub phases_max: usize,
    /// Maximum number of lines of an access specification, at least 1.
    pub lines_max: usize,
    /// Seed of the synthetic requests.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            phases_max: 4,
            lines_max: 16,
            seed: 1,
        }
    }
}

/// A read or write of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FitRequest {
    pub time_ns: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub is_read: bool,
}

impl FitRequest {
    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.length_bytes)
    }
}

/// A phase of a trace with its model.
#[derive(Debug, Clone)]
pub struct FittedTrace {
    /// The model of each phase, in order of time.
    pub phases: Vec<FittedPhase>,
    /// How far each property of each phase is from the trace.
    pub distances: Vec<Vec<FitDistance>>,
    /// Number of requests that are neither reads nor writes, which no phase has.
    pub left_out: u64,
}

impl FittedTrace {
    /// The worst verdict of all phases, with the property that has it.
    #[must_use]
    pub fn verdict(&self) -> (FitVerdict, Option<&'static str>) {
        let all = self.distances.iter().flatten();
        let worst = all.max_by(|a, b| a.excess().total_cmp(&b.excess()));
        match worst {
            Some(distance) => (distance.verdict(), Some(distance.property)),
            None => (FitVerdict::Good, None),
        }
    }
}

/// Fits access specifications to recorded requests, which are in order of time and use the
/// addresses from 0 to `span_bytes`.
///
/// # Errors
/// There are too few reads and writes.
pub fn fit(
    requests: &[RecordedRequest],
    span_bytes: u64,
    options: &FitOptions,
) -> Result<FittedTrace, FitError> {
    let kept: Vec<FitRequest> = requests.iter().filter_map(request).collect();
    let left_out = (requests.len() - kept.len()) as u64;
    if kept.len() < model::REQUESTS_MIN {
        return Err(FitError::TooFew { count: kept.len() });
    }
    let mut fitted = FittedTrace {
        phases: Vec::new(),
        distances: Vec::new(),
        left_out,
    };
    for part in phases::cut(&kept, options.phases_max) {
        let requests = &kept[part.requests];
        let accesses = StreamTable::follow(requests);
        let phase = phase(requests, &accesses, part.span_ns, span_bytes, options);
        fitted.distances.push(quality::distances(
            requests,
            &accesses,
            &phase,
            options.seed,
        ));
        fitted.phases.push(phase);
    }
    Ok(fitted)
}

fn phase(
    requests: &[FitRequest],
    accesses: &StreamAccesses,
    span_ns: u64,
    size_bytes: u64,
    options: &FitOptions,
) -> FittedPhase {
    let (lines, replaced_count) = mix::lines(requests, accesses, options.lines_max);
    let (rate, arrivals) = arrivals::of(requests, span_ns);
    FittedPhase {
        request_count: requests.len() as u64,
        replaced_count,
        span_ns,
        rate,
        arrivals,
        lines,
        streams: accesses.stream_count,
        spread: space::spread(requests, accesses, size_bytes),
        size_bytes,
    }
}

fn request(recorded: &RecordedRequest) -> Option<FitRequest> {
    let is_read = match recorded.kind {
        RecordedKind::Read => true,
        RecordedKind::Write => false,
        _ => return None,
    };
    Some(FitRequest {
        time_ns: recorded.due_ns,
        offset_bytes: recorded.offset_bytes,
        length_bytes: recorded.length_bytes,
        is_read,
    })
}
