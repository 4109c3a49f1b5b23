//! Converts jobs to tables; jobs that differ only as clones may differ become one table.

use units::Bytes;

use super::defaults::with_defaults;
use super::files::UnresolvedJob;
use super::table::{clones_of, table};
use super::{JobTable, differing};
use crate::flaw::ValueError;
use crate::model::{CpuList, OneOrMany, Workload};

/// The tables for the jobs; `before_count` jobs precede them in the file.
pub(super) fn tables(
    jobs: &[UnresolvedJob],
    before_count: u64,
    workload: &Workload,
) -> Vec<JobTable> {
    let mut tables = Vec::new();
    let mut similar: &[UnresolvedJob] = &[];
    let mut index = 0;
    while let Some(first) = jobs.get(index) {
        // Found once for each run of similar jobs: a search at every job would take quadratic time.
        if similar.is_empty() {
            similar = &jobs[index..][..similar_job_count(&jobs[index..])];
        }
        let number = before_count + index as u64 + 1;
        let (mut table, count) = clones(similar, number, workload)
            .unwrap_or_else(|| (table(first, None, number, workload), 1));
        // Only the reader of the whole wave knows which jobs `after` refers to, so it is written by
        // name.
        let after = first.job.plan.after.as_ref();
        let after = after.and_then(|it| jobs.get(it.first_index as usize));
        table.after = after.map(|it| it.job.name.clone());
        tables.push(table);
        similar = &similar[count..];
        index += count;
    }
    tables
}

/// Number of jobs at the start of the list that differ only as clones may differ.
fn similar_job_count(jobs: &[UnresolvedJob]) -> usize {
    let first = jobs.first().map(without_clone_values);
    let same = jobs
        .iter()
        .take_while(|it| Some(without_clone_values(it)) == first);
    same.count()
}

/// A table whose clones are the first of these similar jobs, and the number of clones; `None` if
/// only one job fits.
fn clones(
    similar: &[UnresolvedJob],
    number: u64,
    workload: &Workload,
) -> Option<(JobTable, usize)> {
    let mut count = similar.len();
    while count > 1 {
        let run = &similar[..count];
        let table = cloned(run, number, workload);
        // Most candidate tables already differ in the first clones.
        let is_same = |(read, wanted): (Result<UnresolvedJob, ValueError>, &UnresolvedJob)| {
            read.is_ok_and(|mut read| {
                // The caller writes `after`, so the candidate cannot have it yet.
                read.job.plan.after = wanted.job.plan.after;
                read == *wanted
            })
        };
        let full = with_defaults(&table, workload);
        let read = clones_of(&full, 0, number - 1);
        if read.is_ok_and(|read| read.zip(run).all(is_same)) {
            return Some((table, count));
        }
        count = next_count(run, count);
    }
    None
}

/// The next number of clones to try: up to where the files of the first clone repeat, else half.
fn next_count(run: &[UnresolvedJob], count: usize) -> usize {
    let own = run[0].parts.first().map(|it| (&it.name, it.start_bytes));
    let repeat = run
        .iter()
        .skip(1)
        .position(|it| it.parts.first().map(|it| (&it.name, it.start_bytes)) == own);
    match repeat.map(|at| at + 1) {
        Some(at) if at < count => at,
        // Halving keeps the number of candidate tables logarithmic.
        _ => count / 2,
    }
}

/// The job without the values in which clones may differ.
fn without_clone_values(it: &UnresolvedJob) -> UnresolvedJob {
    let mut it = it.clone();
    it.job.seed = 0;
    it.job.cpu = None;
    for part in &mut it.parts {
        part.name = part.name.as_ref().map(|_| String::new());
        part.start_bytes = 0;
        part.target_index = 0;
    }
    it
}

/// The table for jobs that may be clones.
fn cloned(run: &[UnresolvedJob], number: u64, workload: &Workload) -> JobTable {
    // Clones run in the order 0, last, ..., 1, so the clone with index 1 is the last job.
    let second = &run[run.len() - 1];
    let mut table = table(&run[0], Some(second), number, workload);
    table.count = Some(run.len() as u32);
    let start = |it: &UnresolvedJob| it.parts.first().map_or(0, |part| part.start_bytes);
    let step = start(second).saturating_sub(start(&run[0]));
    table.start_step = differing(Bytes(step), Bytes(0));
    // Restores the order of the clone indexes.
    let by_index = || run[..1].iter().chain(run[1..].iter().rev());
    let cpus: Option<Vec<u32>> = by_index().map(|it| it.job.cpu).collect();
    table.cpus = cpus.map(|cpus| CpuList(period(cpus)));
    let targets = by_index().map(|it| it.parts.first().map_or(1, |part| part.target_index + 1));
    let targets = period(targets.collect());
    table.target = match targets[..] {
        [1] => None,
        [only] => Some(OneOrMany::One(only)),
        _ => Some(OneOrMany::Many(targets)),
    };
    table
}

/// The shortest list that yields the whole list when repeated.
fn period(mut all: Vec<u32>) -> Vec<u32> {
    let comes_again = |length: usize| (length..all.len()).all(|at| all[at] == all[at % length]);
    let length = (1..all.len()).find(|length| comes_again(*length));
    all.truncate(length.unwrap_or(all.len()));
    all
}
