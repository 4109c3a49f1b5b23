//! Samples: the number of files grows until a sample takes long enough; the median counts.
//!
//! Source: lmbench 3.

/// Times up to this length cannot be used to estimate how many files are needed.
const USELESS_NS: u64 = 150_000;
/// Growth factor after a sample of such a time.
const GROWTH: u32 = 8;
/// Maximum number of files of a sample.
const FILES_MAX: u32 = 1 << 27;

/// Time that a number of files took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedFiles {
    /// Number of files.
    pub file_count: u32,
    /// Time for all of them, in nanoseconds.
    pub time_ns: u64,
}

impl TimedFiles {
    fn ns_per_file(&self) -> f64 {
        self.time_ns as f64 / f64::from(self.file_count)
    }

    /// The sample with the median time per file, the lower one of two; `None` if there are no
    /// samples.
    #[must_use]
    pub fn median(samples: &[Self]) -> Option<Self> {
        let mut samples = samples.to_vec();
        samples.sort_by(|a, b| a.ns_per_file().total_cmp(&b.ns_per_file()));
        let middle = samples.len().checked_sub(1)? / 2;
        samples.get(middle).copied()
    }
}

/// The samples of one test.
///
/// While [`Calibration::next_count`] returns a number, each worker processes that many files, and
/// [`Calibration::add`] receives their times, one sample per worker. Samples count if the shortest
/// took at least 95 % of the requested time; otherwise the number of files grows. At the maximum
/// number, every sample counts.
#[derive(Debug, Clone)]
pub struct Calibration {
    sample_ns: u64,
    repetitions: u32,
    file_count: u32,
    /// Number of calls whose times counted.
    added: u32,
    samples: Vec<TimedFiles>,
}

impl Calibration {
    /// No sample so far.
    #[must_use]
    pub fn new(repetitions: u32, sample_ns: u64) -> Self {
        Self {
            sample_ns,
            repetitions,
            file_count: 1,
            added: 0,
            samples: Vec::with_capacity(repetitions as usize),
        }
    }

    /// Number of files for the next sample; `None` when there are enough samples.
    #[must_use]
    pub fn next_count(&self) -> Option<u32> {
        (self.added < self.repetitions).then_some(self.file_count)
    }

    /// Adds the time each worker took for the files of [`Calibration::next_count`]. The shortest
    /// time decides whether the number was large enough.
    pub fn add(&mut self, times_ns: &[u64]) {
        let time_ns = times_ns.iter().copied().min().unwrap_or(0);
        let wanted_ns = self.sample_ns as f64;
        let is_long = time_ns as f64 >= 0.95 * wanted_ns;
        if is_long || self.file_count == FILES_MAX {
            let sample = |time_ns: &u64| TimedFiles {
                file_count: self.file_count,
                time_ns: *time_ns,
            };
            self.samples.extend(times_ns.iter().map(sample));
            self.added += 1;
            return;
        }
        let grown = if time_ns > USELESS_NS {
            let per_ns = f64::from(self.file_count) / time_ns as f64;
            // As in lmbench, a tenth more than needed, so that the next time is long enough.
            (per_ns * 1.1 * wanted_ns) as u32 + 1
        } else {
            self.file_count.saturating_mul(GROWTH)
        };
        // The factor is at least 1.1 / 0.95; small numbers still grow by one file.
        self.file_count = grown.clamp(self.file_count + 1, FILES_MAX);
    }

    /// The samples that count so far.
    #[must_use]
    pub fn samples(&self) -> &[TimedFiles] {
        &self.samples
    }

    /// Their [`TimedFiles::median`].
    #[must_use]
    pub fn median(&self) -> Option<TimedFiles> {
        TimedFiles::median(&self.samples)
    }
}
