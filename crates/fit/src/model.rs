//! The model of a phase: what a workload file can say about it.

use plan::ArrivalKind;

/// Fewer requests say nothing about shares.
pub(crate) const REQUESTS_MIN: usize = 100;

/// A line of the access specification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixLine {
    /// Size of a request in bytes.
    pub size_bytes: u32,
    /// Share of the requests in percent.
    pub of_percent: f64,
    /// Share of reads in percent.
    pub read_percent: f64,
    /// Share of requests that do not continue another one, in percent.
    pub random_percent: f64,
    /// Power of two that offsets of random requests are multiples of.
    pub align_bytes: u64,
}

/// A part of the address space, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedZone {
    /// Share of the random requests.
    pub access_percent: f64,
    /// Share of the addresses.
    pub size_percent: f64,
}

/// Distribution of random requests over the addresses.
#[derive(Debug, Clone, PartialEq)]
pub enum FittedSpread {
    /// All addresses alike.
    Uniform,
    /// Zipf's law with this exponent.
    Zipf(f64),
    /// Zones one after the other.
    Zones(Vec<FittedZone>),
}

/// The model of a phase of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedPhase {
    /// Number of requests of the trace.
    pub request_count: u64,
    /// Number of requests whose size was replaced by a similar one.
    pub replaced_count: u64,
    /// Length of the phase in nanoseconds.
    pub span_ns: u64,
    /// Requests per second.
    pub rate: f64,
    /// How requests arrive.
    pub arrivals: ArrivalKind,
    /// Lines, the most frequent first. Their shares add up to 100.
    pub lines: Vec<MixLine>,
    /// Number of streams in progress at the same time.
    pub streams: u32,
    /// Distribution of random requests.
    pub spread: FittedSpread,
    /// Bytes of the address space.
    pub size_bytes: u64,
}

impl FittedPhase {
    /// Mean length of a request in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        let lines = self.lines.iter();
        lines
            .map(|line| f64::from(line.size_bytes) * line.of_percent / 100.0)
            .sum()
    }

    /// Share of reads in percent.
    #[must_use]
    pub fn read_percent(&self) -> f64 {
        let lines = self.lines.iter();
        lines
            .map(|line| line.read_percent * line.of_percent / 100.0)
            .sum()
    }

    /// Share of random requests in percent.
    #[must_use]
    pub fn random_percent(&self) -> f64 {
        let lines = self.lines.iter();
        lines
            .map(|line| line.random_percent * line.of_percent / 100.0)
            .sum()
    }
}
