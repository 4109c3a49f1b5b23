//! Runs jobs in parallel; most tests wait for the time of a run to pass.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

use super::output::{Show, TestTally};
use crate::error::Failure;

/// A unit of work with its output shown in one piece: a test program, or a whole lane whose
/// programs disturb each other.
pub struct LaneJob<'a> {
    /// Index of its lane among the lanes that run together.
    pub lane: usize,
    /// Heading of its output.
    pub name: String,
    work: Work<'a>,
}

type Work<'a> = Box<dyn FnOnce(Show<'_>) -> Result<TestTally, Failure> + Send + 'a>;

impl<'a> LaneJob<'a> {
    /// A job of a lane.
    pub fn new(
        lane: usize,
        name: &str,
        work: impl FnOnce(Show<'_>) -> Result<TestTally, Failure> + Send + 'a,
    ) -> LaneJob<'a> {
        LaneJob {
            lane,
            name: name.to_owned(),
            work: Box::new(work),
        }
    }
}

/// Results of a lane's jobs.
#[derive(Debug, Default)]
pub struct LaneTotals {
    /// Counted tests.
    pub tally: TestTally,
    /// Sum of the jobs' durations.
    pub time: Duration,
}

/// Runs the jobs on one thread more than there are CPUs, and returns the results of each of
/// `lane_count` lanes.
///
/// # Errors
/// If a job could not be run; the others have run anyway.
pub fn run(jobs: Vec<LaneJob<'_>>, lane_count: usize) -> Result<Vec<LaneTotals>, Failure> {
    let job_limit = available_parallelism().map_or(2, |count| count.get() + 1);
    let is_alone = jobs.len() == 1;
    let (left, done) = (Mutex::new(jobs.into_iter()), Mutex::new(Vec::new()));
    // In the condition of the loop, the lock would be held while the job runs.
    let next = || locked(&left).next();
    let take_turns = || {
        while let Some(job) = next() {
            let (lane, begun) = (job.lane, Instant::now());
            let tally = show(job, is_alone);
            locked(&done).push((lane, tally, begun.elapsed()));
        }
    };
    scope(|scope| (0..job_limit).for_each(|_| drop(scope.spawn(take_turns))));
    let mut sums: Vec<LaneTotals> = (0..lane_count).map(|_| LaneTotals::default()).collect();
    for (lane, tally, time) in locked(&done).drain(..) {
        // Only here, after all jobs have run: an error of one must not end the others.
        sums[lane].tally.merge(tally?);
        sums[lane].time += time;
    }
    Ok(sums)
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics between changes that belong together, so the content is usable.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job. Shows its output immediately if it is the only job, otherwise at its end.
fn show(job: LaneJob<'_>, is_alone: bool) -> Result<TestTally, Failure> {
    if is_alone {
        return (job.work)(&mut |line| println!("{line}"));
    }
    let mut output = String::new();
    let begun = Instant::now();
    let tally = (job.work)(&mut |line| {
        output.push_str(line);
        output.push('\n');
    });
    print!(
        "\n{}, {:.0} s:\n{output}",
        job.name,
        begun.elapsed().as_secs_f64()
    );
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(count: usize) -> TestTally {
        TestTally {
            passed_count: count,
            ..TestTally::default()
        }
    }

    #[test]
    fn test_counts_of_jobs_add_up_per_lane() {
        let job = |lane, count| LaneJob::new(lane, "some", move |_: Show<'_>| Ok(passed(count)));
        let jobs = vec![job(0, 1), job(2, 10), job(0, 100)];
        let sums = run(jobs, 3).unwrap();
        let counts: Vec<usize> = sums.iter().map(|sum| sum.tally.passed_count).collect();
        assert_eq!(counts, [101, 0, 10]);
    }

    #[test]
    fn a_job_that_cannot_run_does_not_stop_the_others() {
        let ran = Mutex::new(0);
        let fails = LaneJob::new(0, "fails", |_: Show<'_>| Err(Failure::TestsFailed));
        let works = || {
            LaneJob::new(0, "works", |_: Show<'_>| {
                *locked(&ran) += 1;
                Ok(passed(1))
            })
        };
        assert!(run(vec![fails, works(), works(), works(), works()], 1).is_err());
        assert_eq!(*locked(&ran), 4);
    }
}
