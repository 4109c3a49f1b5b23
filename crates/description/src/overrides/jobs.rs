//! Options for jobs: what they say holds for each job, whatever it says itself.

use crate::model::{DirectionTable, FilesChoice, JobFileChoice, JobTable, Workload, job};
use plan::Diagnostic;

use super::{AMOUNTS, drop_if};

/// Keys that are laid over the jobs of another program's file as they are.
const LAID_OVER: [&str; 12] = [
    "budget",
    "cache",
    "cpus",
    "engine",
    "keep",
    "name",
    "precision",
    "ramp_time",
    "repetitions",
    "run_time",
    "seed",
    "targets",
];

/// The workload in a form that options with these keys can be laid over: jobs of another program's
/// file become tables where a key is one of tables.
///
/// # Errors
/// Jobs that tables cannot say.
pub(super) fn open_to(keys: &[String], workload: &Workload) -> Result<Workload, Diagnostic> {
    let of_tables = keys.iter().find(|key| !LAID_OVER.contains(&key.as_str()));
    let Some(key) = of_tables.filter(|_| workload.jobs.is_some()) else {
        return Ok(workload.clone());
    };
    job::in_tables(workload).map_err(|error| {
        let message = format!("`{key}` cannot be changed: {}", error.message);
        let help = format!("leave `{key}` out");
        Diagnostic { message, ..error }.help(help)
    })
}

/// Takes out of a job what options say in its place.
pub(super) fn drop_own(job: &mut JobTable, has: &impl Fn(&str) -> bool) {
    drop_if(has("engine"), &mut job.engine);
    drop_if(has("cache"), &mut job.cache);
    drop_if(has("run_time"), &mut job.run_time);
    drop_if(has("ramp_time"), &mut job.ramp_time);
    drop_if(has("content"), &mut job.content);
    drop_if(has("verify"), &mut job.verify);
    drop_if(has("cpus"), &mut job.cpus);
    drop_if(has("iodepth"), &mut job.iodepth);
    drop_if(has("batch"), &mut job.batch);
    drop_if(has("sqpoll"), &mut job.sqpoll);
    drop_if(has("iopoll"), &mut job.iopoll);
    drop_if(has("warm"), &mut job.page_cache);
    if has("start") {
        (job.start, job.start_percent) = (None, None);
    }
    if AMOUNTS.iter().any(|key| has(key)) {
        drop_size(job);
    }
    if has("operations") {
        (job.operations, job.bytes, job.bytes_percent) = (None, None, None);
        // Their number ends it, unless a time is said as well.
        job.run_time = None;
    }
    if ["rate", "curve", "find_rate"].iter().any(|key| has(key)) {
        drop_rate(job);
    }
}

/// Sizes of its files.
fn drop_size(job: &mut JobTable) {
    (job.size, job.size_percent) = (None, None);
    if let Some(FilesChoice::Each(files)) = &mut job.files {
        for file in files {
            if let JobFileChoice::Table(table) = file {
                table.size = None;
            }
        }
    }
}

/// The rates of both directions, in place of which all requests of all jobs are due.
fn drop_rate(job: &mut JobTable) {
    (job.rate, job.byte_rate, job.arrivals) = (None, None, None);
    job.delay_moves_rate = None;
    let sides = [&mut job.reads, &mut job.writes].into_iter().flatten();
    sides.for_each(|side: &mut DirectionTable| (side.rate, side.byte_rate) = (None, None));
}
