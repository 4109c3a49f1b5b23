//! Applies options to jobs: they replace each job's own keys.

use crate::model::{DirectionTable, FilesChoice, JobFileChoice, JobTable, Workload, job};
use plan::Diagnostic;

use super::{AMOUNT_KEYS, drop_if};

/// Keys that can be applied to converted jobs without tables.
const OVERRIDABLE_KEYS: [&str; 12] = [
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

/// Further keys that can be applied to a trace, whose requests no table can express.
const KEYS_OF_TRACES: [&str; 2] = ["find_depth", "iodepth"];

/// The workload in a form to which options with these keys can be applied. Converted jobs become
/// tables if a key requires it.
///
/// # Errors
/// If tables cannot express a job.
pub(super) fn convert_for_keys(
    keys: &[String],
    workload: &Workload,
) -> Result<Workload, Diagnostic> {
    // Tables cannot express every job, so a key that does not need them must not require them.
    let is_trace = workload.jobs.as_ref().is_some_and(|jobs| jobs.is_trace());
    let applies = |key: &&String| {
        OVERRIDABLE_KEYS.contains(&key.as_str())
            || is_trace && KEYS_OF_TRACES.contains(&key.as_str())
    };
    let table_key = keys.iter().find(|key| !applies(key));
    let Some(key) = table_key.filter(|_| workload.jobs.is_some()) else {
        return Ok(workload.clone());
    };
    if is_trace {
        return Err(not_of_traces(key));
    }
    job::to_tables(workload).map_err(|error| {
        let message = format!("`{key}` cannot be changed: {}", error.message);
        let help = format!("leave `{key}` out");
        Diagnostic { message, ..error }.help(help)
    })
}

/// The error for a key that the requests of a trace leave no room for.
fn not_of_traces(key: &str) -> Diagnostic {
    let message = format!(
        "`{key}` does not apply to a trace, whose requests have their own kinds, places and times"
    );
    let help = match key {
        "operations" => "use `--first N` to replay fewer requests".to_owned(),
        "rate" | "arrivals" | "find_rate" | "curve" => {
            "use `--speed 2x`, or `--pace as-fast` for the highest rate".to_owned()
        }
        _ => format!("leave `{key}` out"),
    };
    Diagnostic::error("", message).help(help)
}

/// Removes keys of a job that options replace.
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
    // A start in percent would be added to the new one.
    if has("start") {
        (job.start, job.start_percent) = (None, None);
    }
    if AMOUNT_KEYS.iter().any(|key| has(key)) {
        drop_size(job);
    }
    if has("operations") {
        (job.operations, job.bytes, job.bytes_percent) = (None, None, None);
        // The number of operations ends the job, unless a time is given as well.
        job.run_time = None;
    }
    if ["rate", "curve", "find_rate"].iter().any(|key| has(key)) {
        drop_rate(job);
    }
}

/// Removes the sizes of its files.
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

/// Removes the rates of both directions; the new rate applies to all requests of all jobs.
fn drop_rate(job: &mut JobTable) {
    (job.rate, job.byte_rate, job.arrivals) = (None, None, None);
    job.delay_moves_rate = None;
    let sides = [&mut job.reads, &mut job.writes].into_iter().flatten();
    sides.for_each(|side: &mut DirectionTable| (side.rate, side.byte_rate) = (None, None));
}
