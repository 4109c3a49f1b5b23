//! Order of file systems, workloads and repetitions.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use stats::SplitMixRng;

use crate::error::LabError;

/// One measurement: a workload on a new file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabMeasurement {
    /// Index into the file systems.
    pub choice_index: usize,
    /// Index into the workloads.
    pub workload_index: usize,
    /// Number of the repetition, 0-based.
    pub repetition: u32,
}

/// Order of the jobs of a lab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JobOrder {
    /// Each repetition measures all file systems, alternately forward and backward (A B C, C B A),
    /// so that drift affects all equally.
    #[default]
    Turns,
    /// All repetitions of one file system, then of the next one.
    Blocks,
    /// Each repetition measures all file systems, in an order shuffled by the seed.
    Random,
}

impl FromStr for JobOrder {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        match text {
            "turns" => Ok(Self::Turns),
            "blocks" => Ok(Self::Blocks),
            "random" => Ok(Self::Random),
            _ => Err(LabError::BadChoice {
                seen: text.to_owned(),
                reason: "an order of jobs is `turns`, `blocks` or `random`".to_owned(),
            }),
        }
    }
}

/// All jobs in order.
#[must_use]
pub fn schedule(
    choice_count: usize,
    workload_count: usize,
    repetitions: u32,
    order: JobOrder,
    seed: u64,
) -> Vec<LabMeasurement> {
    let mut jobs = Vec::new();
    for repetition in 0..repetitions {
        for workload_index in 0..workload_count {
            let mut turns: Vec<usize> = (0..choice_count).collect();
            match order {
                JobOrder::Turns if repetition % 2 == 1 => turns.reverse(),
                JobOrder::Turns | JobOrder::Blocks => {}
                JobOrder::Random => {
                    // Each round has a different order, but the same one for the same seed.
                    let round = u64::from(repetition) << 32 | workload_index as u64;
                    shuffle(&mut turns, seed ^ round);
                }
            }
            jobs.extend(turns.into_iter().map(|choice_index| LabMeasurement {
                choice_index,
                workload_index,
                repetition,
            }));
        }
    }
    if order == JobOrder::Blocks {
        // A stable sort, so that repetitions stay in order within a file system.
        jobs.sort_by_key(|job| job.choice_index);
    }
    jobs
}

/// Fisher-Yates shuffle.
// Not `SplitMixRng::shuffle`, which gives other orders: a seed must repeat the order that it gave
// in earlier versions.
fn shuffle(indices: &mut [usize], seed: u64) {
    let mut rng = SplitMixRng::new(seed);
    for index in (1..indices.len()).rev() {
        let other = (rng.next_u64() % (index as u64 + 1)) as usize;
        indices.swap(index, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(order: JobOrder) -> Vec<usize> {
        let jobs = schedule(3, 1, 2, order, 1);
        jobs.iter().map(|job| job.choice_index).collect()
    }

    #[test]
    fn turns_go_back_and_forth() {
        assert_eq!(choices(JobOrder::Turns), [0, 1, 2, 2, 1, 0]);
        assert_eq!(choices(JobOrder::Blocks), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn the_same_seed_gives_the_same_order_with_every_job_once() {
        assert_eq!(choices(JobOrder::Random), choices(JobOrder::Random));
        let jobs = schedule(5, 3, 4, JobOrder::Random, 7);
        let mut scheduled: Vec<_> = jobs
            .iter()
            .map(|job| (job.choice_index, job.workload_index, job.repetition))
            .collect();
        scheduled.sort_unstable();
        scheduled.dedup();
        assert_eq!(scheduled.len(), 60);
    }

    #[test]
    fn orders_have_names() {
        assert_eq!("turns".parse::<JobOrder>().unwrap(), JobOrder::Turns);
        assert!("sideways".parse::<JobOrder>().is_err());
    }
}
