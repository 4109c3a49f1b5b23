//! How fast, when, and how long.

use super::ByDirection;

/// How fast a clone goes; each direction by itself. 0 is without a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rates {
    /// Bytes a second.
    pub bytes_per_second: ByDirection<u64>,
    /// Requests a second.
    pub iops: ByDirection<u64>,
    /// Below so many bytes a second, the job ends.
    pub bytes_per_second_min: ByDirection<u64>,
    /// Below so many requests a second, the job ends.
    pub iops_min: ByDirection<u64>,
    /// Whether gaps are drawn, not all alike.
    pub is_poisson: bool,
    /// The window of the least rates.
    pub window_ms: u64,
    /// Whether pauses do not count against the rate.
    pub ignores_pauses: bool,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            bytes_per_second: ByDirection::default(),
            iops: ByDirection::default(),
            bytes_per_second_min: ByDirection::default(),
            iops_min: ByDirection::default(),
            is_poisson: false,
            window_ms: 1000,
            ignores_pauses: false,
        }
    }
}

/// Pauses between requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses {
    /// How long; 0 for none.
    pub pause_us: u64,
    /// How much of it is spent busily.
    pub spin_us: u64,
    /// Requests between pauses.
    pub request_count: u64,
    /// Whether submitted requests count, not completed ones.
    pub counts_submitted: bool,
    /// Time between pauses; 0 if requests are counted.
    pub io_time_us: u64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            pause_us: 0,
            spin_us: 0,
            request_count: 1,
            counts_submitted: false,
            io_time_us: 0,
        }
    }
}

/// Whose turn it is among jobs that share their requests out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlowSettings {
    /// Its part of the weights of all; 0 for no flow.
    pub weight: i64,
    /// Jobs with the same number share.
    pub id: u32,
    /// How long it rests where it is ahead.
    pub sleep_us: u64,
}

/// A latency to keep to.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyGoal {
    /// The latency; 0 for none.
    pub target_us: u64,
    /// How long a depth is tried.
    pub window_us: u64,
    /// Share of requests within it.
    pub percentile: f64,
    /// Whether the job goes on at the depth that was found.
    pub goes_on: bool,
    /// Above these, the job ends; 0 for never.
    pub max_us: ByDirection<u64>,
}

impl Default for LatencyGoal {
    fn default() -> Self {
        Self {
            target_us: 0,
            window_us: 0,
            percentile: 100.0,
            goes_on: false,
            max_us: ByDirection::default(),
        }
    }
}

/// When, and how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSettings {
    /// At most so long; 0 without a limit.
    pub runtime_us: u64,
    /// Whether the job begins again until the run time is over.
    pub is_time_based: bool,
    /// What is not measured, before the run time.
    pub ramp_us: u64,
    /// The least and the most delay of the beginning.
    pub start_delay_us: (u64, u64),
    /// How often the whole is done.
    pub loops: u32,
}

impl Default for TimeSettings {
    fn default() -> Self {
        Self {
            runtime_us: 0,
            is_time_based: false,
            ramp_us: 0,
            start_delay_us: (0, 0),
            loops: 1,
        }
    }
}

choices! {
    /// What is steady.
    SteadyMeasure {
        /// Requests a second.
        #[default]
        Iops = "iops" | "iops_slope",
        /// Bytes a second.
        Bandwidth = "bw" | "bw_slope",
        /// Latency.
        Latency = "lat" | "lat_slope",
    }
}

/// What ends a job in a steady state.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    /// What is steady.
    pub measure: SteadyMeasure,
    /// Whether the slope is looked at, not the range.
    pub is_slope: bool,
    /// The most of it.
    pub limit: f64,
    /// Whether that is in percent of the mean.
    pub is_percent: bool,
    /// The window.
    pub window_us: u64,
    /// What does not count at the beginning.
    pub ramp_us: u64,
    /// The time of one reading.
    pub interval_us: u64,
}

impl Default for SteadyState {
    fn default() -> Self {
        Self {
            measure: SteadyMeasure::Iops,
            is_slope: true,
            limit: 0.01,
            is_percent: true,
            window_us: 0,
            ramp_us: 0,
            interval_us: 1_000_000,
        }
    }
}
