//! Replay, results and logs.

/// Request logs to replay or to write. Names are as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Log to replay.
    pub read: Option<String>,
    /// Log in which to record the job's requests.
    pub write: Option<String>,
    /// `true` to replay as fast as possible.
    pub ignores_timing: bool,
    /// File that replaces all files of the log.
    pub redirect: Option<String>,
    /// Divisor for offsets.
    pub offset_divisor: u64,
    /// Unit in bytes to which offsets are rounded down; 0 for no rounding.
    pub offset_align: u64,
    /// Replay speed, in percent of the recorded speed.
    pub time_percent: u64,
    /// `true` to skip the reads of the log.
    pub skips_reads: bool,
    /// `true` to skip the writes of the log.
    pub skips_writes: bool,
    /// `true` to skip the trims of the log.
    pub skips_trims: bool,
    /// `true` to skip the syncs of the log.
    pub skips_syncs: bool,
}

impl Default for Replay {
    fn default() -> Self {
        Self {
            read: None,
            write: None,
            ignores_timing: false,
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
    /// How the results of directions are reported.
    MixedResults {
        /// Separately.
        #[default]
        Apart = "none" | "0",
        /// Combined.
        Together = "mixed" | "1",
        /// Separately and combined.
        Both = "both" | "2",
    }
}

/// Contents of a job's results.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// `true` if the job is reported at all.
    pub is_reported: bool,
    /// How the results of directions are reported.
    pub mixed: MixedResults,
    /// `true` to report percentiles of completion latency.
    pub clat_percentiles: bool,
    /// `true` to report percentiles of latency.
    pub lat_percentiles: bool,
    /// `true` to report percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Percentiles to report; empty for fio's defaults.
    pub percentiles: Vec<f64>,
    /// Significant digits of numbers.
    pub digits: u32,
    /// `true` to report latency.
    pub lat: bool,
    /// `true` to report completion latency.
    pub clat: bool,
    /// `true` to report submission latency.
    pub slat: bool,
    /// `true` to report bandwidth over time.
    pub bandwidth: bool,
    /// `true` to report the counters of the devices.
    pub disk_util: bool,
    /// `true` if `k` is 1000 in the normal output.
    pub is_decimal: bool,
    /// Unit of bandwidth in the normal output: 1 for bits, 8 or 0 for bytes.
    pub unit_base: u32,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            is_reported: true,
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
    /// Value that represents a window in a log.
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
    /// `true` if a log has one line per request.
    pub fn has_requests(&self) -> bool {
        let logs = [&self.bandwidth, &self.iops, &self.latency];
        self.window_ms == 0 && logs.iter().any(|it| it.is_some())
    }
}

/// Logs over time. Each name is the prefix of the file name; empty for the job's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logs {
    /// Name of the bandwidth log; `None` for no log.
    pub bandwidth: Option<String>,
    /// Name of the IOPS log; `None` for no log.
    pub iops: Option<String>,
    /// Name of the latency logs; `None` for no logs.
    pub latency: Option<String>,
    /// Name of the histogram log; `None` for no log.
    pub histogram: Option<String>,
    /// Averaging window of logs; 0 for one line per request.
    pub window_ms: u32,
    /// Window of histogram logs.
    pub histogram_window_ms: u32,
    /// Coarseness of histograms, from 0 to 6.
    pub coarseness: u32,
    /// Window of the bandwidth statistics.
    pub bandwidth_window_ms: u32,
    /// Window of the IOPS statistics.
    pub iops_window_ms: u32,
    /// Value that represents a window.
    pub window_value: WindowValue,
    /// `true` if lines include the offset.
    pub has_offset: bool,
    /// `true` if lines include the priority.
    pub has_priority: bool,
    /// `true` if lines include the time of submission.
    pub has_issue_time: bool,
    /// `true` if times count from 1970 instead of the start of the job.
    pub is_since_epoch: bool,
    /// `true` if each clone has its own log.
    pub is_per_clone: bool,
    /// `true` if logs are compressed.
    pub is_compressed: bool,
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
            is_compressed: false,
        }
    }
}
