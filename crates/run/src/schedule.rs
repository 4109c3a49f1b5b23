//! Planned phases of a worker.

/// Durations of the phases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schedule {
    /// Start of the ramp, in nanoseconds of the clock.
    pub start_ns: u64,
    pub ramp_ns: u64,
    /// Duration of the measurement; 0 if the budget or the generator ends it.
    pub run_ns: u64,
    pub interval_ns: u64,
    /// Operations of this worker, without the ramp; `u64::MAX` for no limit.
    pub operations: u64,
    /// Maximum time by which a phase is extended to its next completion, if requests are in flight
    /// at its end and none has just completed. The time of a measurement then covers whole
    /// requests. 0 if phases end exactly on time.
    pub grace_ns: u64,
}
