//! Samples: the number of files is raised until they take long enough; the median counts.
//!
//! Source: lmbench 3.

/// Times of this length and below say nothing about how many files are needed.
const USELESS_NS: u64 = 150_000;
/// What too short a sample is multiplied by.
const GROWTH: u32 = 8;
/// The most files of a sample.
const FILES_MAX: u32 = 1 << 27;

/// How long some files took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The files.
    pub file_count: u32,
    /// Their time.
    pub time_ns: u64,
}

impl Sample {
    fn ns_per_file(&self) -> f64 {
        self.time_ns as f64 / f64::from(self.file_count)
    }

    /// The sample in the middle by time a file, the earlier one of two; none of nothing.
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
/// While [`Calibration::next_count`] says a number, that many files are worked on by each worker,
/// and their times are told by [`Calibration::add`]; each of them is a sample. A sample of at
/// least 95 % of the time asked for counts; after a shorter one the number grows. Once it is as
/// large as it can be, every sample counts.
#[derive(Debug, Clone)]
pub struct Calibration {
    sample_ns: u64,
    repetitions: u32,
    file_count: u32,
    /// How often the times counted.
    added: u32,
    samples: Vec<Sample>,
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

    /// The files of the next sample, none when there are enough samples.
    #[must_use]
    pub fn next_count(&self) -> Option<u32> {
        (self.added < self.repetitions).then_some(self.file_count)
    }

    /// Takes each worker's time of the files that [`Calibration::next_count`] asked for; the
    /// shortest says whether they were enough.
    pub fn add(&mut self, times_ns: &[u64]) {
        let time_ns = times_ns.iter().copied().min().unwrap_or(0);
        let wanted_ns = self.sample_ns as f64;
        let is_long = time_ns as f64 >= 0.95 * wanted_ns;
        if is_long || self.file_count == FILES_MAX {
            let sample = |time_ns: &u64| Sample {
                file_count: self.file_count,
                time_ns: *time_ns,
            };
            self.samples.extend(times_ns.iter().map(sample));
            self.added += 1;
            return;
        }
        let grown = if time_ns > USELESS_NS {
            let per_ns = f64::from(self.file_count) / time_ns as f64;
            (per_ns * 1.1 * wanted_ns) as u32 + 1
        } else {
            self.file_count.saturating_mul(GROWTH)
        };
        // It grew by a sixth at least, as the sample was too short by a twentieth.
        self.file_count = grown.clamp(self.file_count + 1, FILES_MAX);
    }

    /// The samples that count so far.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Their [`Sample::median`].
    #[must_use]
    pub fn median(&self) -> Option<Sample> {
        Sample::median(&self.samples)
    }
}
