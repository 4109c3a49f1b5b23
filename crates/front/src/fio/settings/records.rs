//! Replay, results, logs.

/// Logs of requests that are replayed and made. Names are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// What is replayed.
    pub read: Option<String>,
    /// Where what was done is written.
    pub write: Option<String>,
    /// As fast as can be.
    pub is_without_stall: bool,
    /// The file that stands for all files of the log.
    pub redirect: Option<String>,
    /// Offsets are divided by this.
    pub offset_divisor: u64,
    /// Offsets are cut to this; 0 for not at all.
    pub offset_align: u64,
    /// Times by so many percent.
    pub time_percent: u64,
    /// Reads are left out.
    pub skips_reads: bool,
    /// Writes are left out.
    pub skips_writes: bool,
    /// Trims are left out.
    pub skips_trims: bool,
    /// Syncs are left out.
    pub skips_syncs: bool,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            read: None,
            write: None,
            is_without_stall: false,
            redirect: None,
            offset_divisor: 1,
            offset_align: 0,
            time_percent: 100,
            skips_reads: false,
            skips_writes: false,
            skips_trims: false,
            skips_syncs: false,
        }
    }
}

choices! {
    /// How directions are told.
    MixedResults {
        /// Each by itself.
        #[default]
        Apart = "none" | "0",
        /// As one.
        Together = "mixed" | "1",
        /// Both ways.
        Both = "both" | "2",
    }
}

/// What is told of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Anything at all.
    pub is_told: bool,
    /// How directions are told.
    pub mixed: MixedResults,
    /// Percentiles of completion latency.
    pub clat_percentiles: bool,
    /// Percentiles of latency.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Which percentiles; empty for fio's own.
    pub percentiles: Vec<f64>,
    /// Digits of numbers.
    pub digits: u32,
    /// Latency.
    pub lat: bool,
    /// Completion latency.
    pub clat: bool,
    /// Submission latency.
    pub slat: bool,
    /// Bandwidth over time.
    pub bandwidth: bool,
    /// The devices' own counters.
    pub disk_util: bool,
    /// Whether `k` is 1000 in the text.
    pub is_decimal: bool,
    /// Bits (1) or bytes (8) in the text; 0 for bytes.
    pub unit_base: u32,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            is_told: true,
            mixed: MixedResults::default(),
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentiles: Vec::new(),
            digits: 4,
            lat: true,
            clat: true,
            slat: true,
            bandwidth: true,
            disk_util: true,
            is_decimal: false,
            unit_base: 0,
        }
    }
}

choices! {
    /// What stands for a window of a log.
    WindowValue {
        /// The mean.
        #[default]
        Mean = "avg" | "0",
        /// The largest.
        Max = "max" | "1",
        /// The mean and the largest.
        Both = "both" | "2",
    }
}

impl Logs {
    /// Whether any log has a line for each request.
    pub fn has_requests(&self) -> bool {
        let logs = [&self.bandwidth, &self.iops, &self.latency];
        self.window_ms == 0 && logs.iter().any(|it| it.is_some())
    }
}

/// Logs over time: the beginnings of their names, empty for the job's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// Of bandwidth.
    pub bandwidth: Option<String>,
    /// Of IOPS.
    pub iops: Option<String>,
    /// Of latencies.
    pub latency: Option<String>,
    /// Of histograms.
    pub histogram: Option<String>,
    /// Their window; 0 for each request.
    pub window_ms: u32,
    /// The window of histograms.
    pub histogram_window_ms: u32,
    /// How coarse histograms are, from 0 to 6.
    pub coarseness: u32,
    /// The window of bandwidth.
    pub bandwidth_window_ms: u32,
    /// The window of IOPS.
    pub iops_window_ms: u32,
    /// What stands for a window.
    pub window_value: WindowValue,
    /// With offsets.
    pub has_offset: bool,
    /// With priorities.
    pub has_priority: bool,
    /// With times of submission.
    pub has_issue_time: bool,
    /// Times since 1970.
    pub is_since_epoch: bool,
    /// One log for each clone.
    pub is_per_clone: bool,
}

impl Default for Logs {
    fn default() -> Self {
        Self {
            bandwidth: None,
            iops: None,
            latency: None,
            histogram: None,
            window_ms: 0,
            histogram_window_ms: 0,
            coarseness: 0,
            bandwidth_window_ms: 500,
            iops_window_ms: 500,
            window_value: WindowValue::default(),
            has_offset: false,
            has_priority: false,
            has_issue_time: false,
            is_since_epoch: false,
            is_per_clone: true,
        }
    }
}
