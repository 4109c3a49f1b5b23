//! Rates, pauses, goals and times.

use super::ByDirection;

/// Rate limits of a clone, separately for each direction; 0 for no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectionRates {
    /// Limit in bytes per second.
    pub bytes_per_second: ByDirection<u64>,
    /// Limit in requests per second.
    pub iops: ByDirection<u64>,
    /// Minimum rate in bytes per second; below it the job ends.
    pub bytes_per_second_min: ByDirection<u64>,
    /// Minimum rate in requests per second; below it the job ends.
    pub iops_min: ByDirection<u64>,
    /// `true` for a Poisson process, `false` for equal gaps.
    pub is_poisson: bool,
    /// Averaging window of the minimum rates.
    pub window_ms: u64,
    /// `true` if pauses do not count against the rate.
    pub ignores_pauses: bool,
}

impl Default for DirectionRates {
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
    /// Length of a pause; 0 for no pauses.
    pub pause_us: u64,
    /// Part of the pause spent in a busy loop.
    pub spin_us: u64,
    /// Number of requests between pauses.
    pub request_count: u64,
    /// `true` to count submitted instead of completed requests.
    pub counts_submitted: bool,
    /// Time between pauses; 0 to count requests instead.
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

/// How jobs of a flow share requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlowSettings {
    /// Weight of the job; its share is relative to the sum of all weights. 0 for no flow.
    pub weight: i64,
    /// Number of the flow; jobs with the same number share.
    pub id: u32,
    /// How long the job pauses while it is ahead.
    pub sleep_us: u64,
}

/// Latency target and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyGoal {
    /// Latency target; 0 for none.
    pub target_us: u64,
    /// How long each queue depth is tried.
    pub window_us: u64,
    /// Share of requests that must meet the target, in percent.
    pub percentile: f64,
    /// `true` if the job continues after a depth has been found.
    pub continues: bool,
    /// Latency limits, above which the job ends; 0 for no limit.
    pub max_us: ByDirection<u64>,
}

impl Default for LatencyGoal {
    fn default() -> Self {
        Self {
            target_us: 0,
            window_us: 0,
            percentile: 100.0,
            continues: false,
            max_us: ByDirection::default(),
        }
    }
}

/// Start, duration and repetitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSettings {
    /// Maximum run time; 0 for no limit.
    pub runtime_us: u64,
    /// `true` if the job starts over until the run time is over.
    pub is_time_based: bool,
    /// Ramp time, which precedes the run time and is not measured.
    pub ramp_us: u64,
    /// Shortest and longest delay before the job starts.
    pub start_delay_us: (u64, u64),
    /// Number of times to repeat the job.
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
    /// Value that must be steady.
    SteadyMeasure {
        /// Requests per second.
        #[default]
        Iops = "iops" | "iops_slope",
        /// Bytes per second.
        Bandwidth = "bw" | "bw_slope",
        /// Mean latency.
        Latency = "lat" | "lat_slope",
    }
}

/// Steady state that ends a job.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyEnd {
    /// Value that must be steady.
    pub measure: SteadyMeasure,
    /// `true` to limit the slope, `false` to limit the deviation from the mean.
    pub is_slope: bool,
    /// Upper limit of the slope or deviation.
    pub limit: f64,
    /// `true` if the limit is in percent of the mean.
    pub is_percent: bool,
    /// Window that must be steady; 0 for no check.
    pub window_us: u64,
    /// Time at the start that does not count.
    pub ramp_us: u64,
    /// Time between readings.
    pub interval_us: u64,
}

impl Default for SteadyEnd {
    fn default() -> Self {
        Self {
            measure: SteadyMeasure::Iops,
            // fio's default is `iops_slope:0.01%`.
            is_slope: true,
            limit: 0.01,
            is_percent: true,
            window_us: 0,
            ramp_us: 0,
            interval_us: 1_000_000,
        }
    }
}
