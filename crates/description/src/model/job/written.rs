//! Converts the jobs of another program's file to tables that read back to the same jobs.

use super::clones::tables;
use super::defaults::clone_count;
use super::files::decompose;
use super::waves::{jobs, waves};
use super::{JobTable, differing};
use crate::model::{Seed, Workload};
use plan::Diagnostic;
use plan::FrontOrigin;
use plan::job::{ConvertedJobs, JobLocation};

/// The workload with its jobs as tables; a workload without jobs stays as it is.
///
/// # Errors
/// If tables cannot express a job.
pub(crate) fn to_tables(workload: &Workload) -> Result<Workload, Diagnostic> {
    if workload.jobs.is_none() {
        return Ok(workload.clone());
    }
    let built = jobs(workload).map_err(|flaw| flaw.diagnostic(""))?;
    let mut built = built.unwrap_or_default();
    // Tables have no origin and no positions, so the comparison below must not see them.
    built.origin = FrontOrigin::default();
    if let Some(job) = built.jobs.iter().find(|job| job.plan.recorded.is_some()) {
        let log = job.plan.recorded.as_ref().map_or("", |it| it.log.as_str());
        let reason = format!(
            "the job `{}` replays the log `{}`, for which there is no key",
            plan::printable(&job.name),
            plan::printable(log)
        );
        return Err(not_expressible(workload, &reason));
    }
    if let Some(job) = built.jobs.iter().find(|job| job.fills) {
        let reason = format!(
            "the job `{}` fills the free space, for which there is no key",
            plan::printable(&job.name)
        );
        return Err(not_expressible(workload, &reason));
    }
    for job in &mut built.jobs {
        job.location = JobLocation::default();
        // Logging and timing of requests serve the other program's output, and have no key.
        job.plan.is_noted = false;
        job.plan.times_submission = false;
        job.share = job.share.filter(|it| !it.is_whole());
        // Planning assigns the workload's `cpus` to all jobs.
        if workload.cpus.is_some() {
            job.cpu = None;
        }
    }
    let mut written = Workload {
        jobs: None,
        ..workload.clone()
    };
    written.job = tables(&decompose(&built), 0, &written);
    written = drop_default_title(written);
    match jobs(&written) {
        Ok(Some(read)) if read == built => Ok(written),
        Ok(read) => Err(not_expressible(
            workload,
            &first_difference(&built, read.as_ref()),
        )),
        Err(flaw) => Err(not_expressible(workload, &flaw.message)),
    }
}

/// Removes a title that the workload would get by default.
fn drop_default_title(workload: Workload) -> Workload {
    let mut bare = Workload {
        title: None,
        ..workload.clone()
    };
    let mut own = waves(bare.clone());
    match own.pop() {
        Some(wave) if own.is_empty() && wave.title == workload.title => bare,
        _ => {
            bare.title = workload.title;
            bare
        }
    }
}

fn not_expressible(workload: &Workload, reason: &str) -> Diagnostic {
    let name = plan::printable(workload.name_or_default());
    let message = format!("`{name}` cannot be converted: {reason}");
    Diagnostic::error("", message).help("run the file itself")
}

/// Error text that names the first job that no keys can express.
fn first_difference(built: &ConvertedJobs, read: Option<&ConvertedJobs>) -> String {
    let read = read.map_or(&[][..], |it| &it.jobs);
    let mut pairs = built.jobs.iter().zip(read);
    let job = pairs.find(|(job, read)| job != read).map(|(job, _)| job);
    let job = job.or(built.jobs.last());
    let name = job.map_or_else(String::new, |it| plan::printable(&it.name));
    format!("the job `{name}` has something for which there is no key")
}

/// Combines consecutive waves into one workload that reads back to them; `None` if they do not come
/// from one workload.
pub(crate) fn combine_waves(parts: &[Workload]) -> Option<Workload> {
    let parts: Vec<Workload> = parts.iter().cloned().map(drop_default_title).collect();
    let first = parts.first()?;
    let base = first.name.as_deref()?.strip_suffix("-1")?;
    let is_alike = parts.iter().all(|part| part.engine == first.engine);
    let mut combined = Workload {
        name: Some(base.to_owned()),
        // Waves without I/O name an engine that the other waves do not.
        engine: first.engine.filter(|_| is_alike),
        job: Vec::new(),
        ..first.clone()
    };
    let mut count = 0;
    for (index, part) in parts.iter().enumerate() {
        if part.job.is_empty() {
            return None;
        }
        for (at, table) in part.job.iter().enumerate() {
            let clones = |table| clone_count(table, part);
            // Seeds that are not written are counted from the start of the part.
            let before: u64 = part.job[..at].iter().map(clones).sum();
            let seed = table.seed.unwrap_or(Seed(before + 1));
            combined.job.push(JobTable {
                waits: (at == 0 && index > 0).then_some(true),
                seed: differing(seed, Seed(count + 1)),
                ..table.clone()
            });
            count += clones(table);
        }
    }
    let read = waves(combined.clone());
    let is_same = read.len() == parts.len()
        && read
            .iter()
            .zip(&parts)
            .all(|(read, part)| is_same(read, part));
    is_same.then_some(combined)
}

/// Whether two waves are equal.
fn is_same(one: &Workload, other: &Workload) -> bool {
    let bare = |it: &Workload| {
        let wave = waves(it.clone()).pop().unwrap_or_default();
        Workload {
            job: Vec::new(),
            ..wave
        }
    };
    let built = |it: &Workload| jobs(it).ok().flatten();
    bare(one) == bare(other) && built(one) == built(other)
}
