//! Work that runs beside other work: most tests wait for the time of a run to pass.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

use super::output::{Show, Tally};
use crate::error::Failure;

/// What runs in one go and is shown in one piece: a test program, or all of a lane whose programs
/// are in each other's way.
pub struct Job<'a> {
    /// Its lane's place among those that run together.
    pub lane: usize,
    /// What its output is headed with.
    pub name: String,
    work: Work<'a>,
}

type Work<'a> = Box<dyn FnOnce(Show<'_>) -> Result<Tally, Failure> + Send + 'a>;

impl<'a> Job<'a> {
    /// Work for a lane.
    pub fn new(
        lane: usize,
        name: &str,
        work: impl FnOnce(Show<'_>) -> Result<Tally, Failure> + Send + 'a,
    ) -> Job<'a> {
        Job {
            lane,
            name: name.to_owned(),
            work: Box::new(work),
        }
    }
}

/// What a lane's jobs came to.
#[derive(Debug, Default)]
pub struct Sum {
    /// What they counted.
    pub tally: Tally,
    /// How long they took, one behind the other.
    pub time: Duration,
}

/// Runs the jobs, in turn, by as many threads as there are processors and one more, and returns
/// what each of so many lanes came to.
///
/// # Errors
/// A job could not be run; the others ran all the same.
pub fn run(jobs: Vec<Job<'_>>, lane_count: usize) -> Result<Vec<Sum>, Failure> {
    let at_once = available_parallelism().map_or(2, |count| count.get() + 1);
    let is_alone = jobs.len() == 1;
    let (left, done) = (Mutex::new(jobs.into_iter()), Mutex::new(Vec::new()));
    let next = || locked(&left).next();
    let take_turns = || {
        while let Some(job) = next() {
            let (lane, begun) = (job.lane, Instant::now());
            let tally = show(job, is_alone);
            locked(&done).push((lane, tally, begun.elapsed()));
        }
    };
    scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(take_turns))));
    let mut sums: Vec<Sum> = (0..lane_count).map(|_| Sum::default()).collect();
    for (lane, tally, time) in locked(&done).drain(..) {
        sums[lane].tally.merge(tally?);
        sums[lane].time += time;
    }
    Ok(sums)
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job; its output is shown as it comes if no other runs beside it, else at its end.
fn show(job: Job<'_>, is_alone: bool) -> Result<Tally, Failure> {
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

    fn passed(count: usize) -> Tally {
        Tally {
            passed_count: count,
            ..Tally::default()
        }
    }

    #[test]
    fn what_jobs_count_is_their_lanes() {
        let job = |lane, count| Job::new(lane, "some", move |_: Show<'_>| Ok(passed(count)));
        let jobs = vec![job(0, 1), job(2, 10), job(0, 100)];
        let sums = run(jobs, 3).unwrap();
        let counts: Vec<usize> = sums.iter().map(|sum| sum.tally.passed_count).collect();
        assert_eq!(counts, [101, 0, 10]);
    }

    #[test]
    fn a_job_that_cannot_be_run_does_not_keep_others_from_running() {
        let ran = Mutex::new(0);
        let fails = Job::new(0, "fails", |_: Show<'_>| Err(Failure::Counted));
        let works = || {
            Job::new(0, "works", |_: Show<'_>| {
                *locked(&ran) += 1;
                Ok(passed(1))
            })
        };
        assert!(run(vec![fails, works(), works(), works(), works()], 1).is_err());
        assert_eq!(*locked(&ran), 4);
    }
}
