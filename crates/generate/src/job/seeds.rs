//! Seeds of the random streams of a job, each derived from the job's seed.

use stats::mix;

/// Seeds of the independent random streams of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobSeeds {
    /// The job's seed, from which the others are derived. It also orders the files.
    pub job: u64,
    /// For directions, positions and the choice between sequential and random.
    pub choices: u64,
    /// For the sizes of requests.
    pub sizes: u64,
    /// For the due times of reads.
    pub read_pace: u64,
    /// For the due times of writes and trims.
    pub write_pace: u64,
}

impl JobSeeds {
    /// The seeds of a job with this seed.
    #[must_use]
    pub const fn new(job: u64) -> Self {
        Self {
            job,
            choices: mix(job),
            sizes: mix(job ^ 0x517e_5eed),
            // Each direction draws its gaps from a separate stream.
            read_pace: mix(job ^ 0x9ead),
            write_pace: mix(job ^ 0x3717e),
        }
    }

    /// Seed of the order of the blocks in a file, by its 0-based index among the job's files.
    #[must_use]
    pub const fn blocks(&self, file_index: u64) -> u64 {
        mix(self.job ^ mix(file_index))
    }
}
