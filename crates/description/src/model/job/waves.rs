//! Jobs of a workload: reads the tables, divides them into waves that run in parallel, and refuses
//! keys that do not apply to jobs.

use std::collections::BTreeMap;

use crate::model::{Seed, Workload, WorkloadTable};
use plan::Diagnostic;
use plan::EngineKind;
use plan::job::{ConvertedJobs, JobRange};

use super::defaults::{clone_count, with_defaults};
use super::files::{UnresolvedJob, gathered};
use super::table::clones_of;
use super::values::JOBS_MAX;
use super::{FilesChoice, JobTable};
use crate::flaw::ValueError;
use crate::model::keyed::Keyed;

/// Kinds of work that exclude jobs.
const CONFLICTING_WORK: [&str; 8] = [
    "access_spec",
    "fileset",
    "part",
    "phase",
    "rounds",
    "tokens",
    "use",
    "way",
];

/// Keys that do not apply to jobs, with the reason and a replacement.
const INAPPLICABLE_KEYS: [(&str, &str, &str); 7] = [
    (
        "cursor",
        "each job has its own position",
        "give the jobs the parts of a file with `start` and `size`",
    ),
    (
        "cycling",
        "jobs have no test types",
        "write `iodepth` as a list",
    ),
    (
        "iometer",
        "it holds settings of an Iometer configuration, which has no jobs",
        "leave `iometer` out",
    ),
    (
        "new_file",
        "each job sets the layout of its files",
        "write `layout = \"empty\"` in the `[[job]]`",
    ),
    (
        "position",
        "each job sets the distribution of its requests",
        "write `distribution` in the `[[job]]`",
    ),
    (
        "test_type",
        "jobs have no test types",
        "write `iodepth` as a list",
    ),
    (
        "transactions_per_connection",
        "jobs keep their files open",
        "leave `transactions_per_connection` out",
    ),
];

/// Maximum number of files of all jobs in a file.
const FILES_MAX: u64 = 500_000;

/// Maximum number of job names in a title.
const TITLE_NAMES_MAX: usize = 4;

/// Checks the jobs of one file; what is missing may come from another file.
pub(crate) fn check(workload: &Workload) -> Result<(), ValueError> {
    all_waves(workload).map(|_| ())
}

/// Checks a workload that is complete: nothing will be merged with it.
pub(crate) fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    let has_tables = !workload.job.is_empty();
    if workload.jobs.is_none() && !has_tables {
        return Ok(());
    }
    if let Some(flaw) = workload
        .written()
        .into_iter()
        .find_map(key_conflict_with_jobs)
    {
        return Err(flaw);
    }
    twice(workload)?;
    let target_count = workload
        .targets
        .as_ref()
        .map_or(1, |it| it.as_slice().len());
    for (index, job) in workload.job.iter().enumerate() {
        targets(job, target_count.max(1)).map_err(|flaw| flaw.within("job", index))?;
    }
    endless(workload)
}

/// Why a workload of jobs cannot have this key.
fn key_conflict_with_jobs(key: &str) -> Option<ValueError> {
    let tables = WorkloadTable::ALL.map(WorkloadTable::key);
    if let Some(other) = CONFLICTING_WORK
        .into_iter()
        .chain(tables)
        .find(|it| *it == key)
    {
        let message = format!("there are both jobs and `{other}`");
        let help = "put each into its own `[[part]]`";
        return Some(ValueError::new(other, message, help));
    }
    if key == "worker" {
        let message = "there are both jobs and `[[worker]]`, and each job is a worker";
        return Some(ValueError::new(
            "worker",
            message,
            "write a `[[job]]` for each",
        ));
    }
    let mut rows = INAPPLICABLE_KEYS.into_iter();
    let (key, why, help) = rows.find(|(known, ..)| *known == key)?;
    let message = format!("`{key}` does not apply to jobs: {why}");
    Some(ValueError::new(key, message, help))
}

/// The workload's `cpus` apply to all workers, so no job may set its own in addition.
fn twice(workload: &Workload) -> Result<(), ValueError> {
    let own = workload.job.iter().position(|job| job.cpus.is_some());
    match own.filter(|_| workload.cpus.is_some()) {
        None => Ok(()),
        Some(index) => {
            let message = "both the workload and the job set `cpus`";
            let flaw = ValueError::new("cpus", message, "leave one of them out");
            Err(flaw.within("job", index))
        }
    }
}

/// The targets that jobs name must exist.
fn targets(job: &JobTable, count: usize) -> Result<(), ValueError> {
    let job_targets = job.target.iter().flat_map(|it| it.as_slice());
    let file_targets = job.files.iter().flat_map(|it| it.targets());
    let mut all = job_targets.copied().chain(file_targets);
    match all.find(|number| *number as usize > count) {
        None => Ok(()),
        Some(number) => {
            let listed = match count {
                1 => "one path".to_owned(),
                _ => format!("{count} paths"),
            };
            let message = format!("`target` is {number}, but `targets` lists only {listed}");
            let help = "add a path to `targets` at the top of the file";
            Err(ValueError::new("target", message, help))
        }
    }
}

/// A job that would never end needs a run time or another job that ends it.
fn endless(workload: &Workload) -> Result<(), ValueError> {
    // The cell ends after the operations, whatever its jobs do.
    if workload.operations.is_some() {
        return Ok(());
    }
    for wave in all_waves(workload)? {
        let is_endless = |it: &plan::job::UnplannedJob| {
            it.plan.run_time_ns == 0 && it.plan.stream.end.loops.is_none()
        };
        let mut others = wave.converted.jobs.iter();
        let has_ender = others.any(|it| it.plan.ends_others && !is_endless(it));
        let jobs = wave.converted.jobs.iter().zip(&wave.table_indices);
        if let Some((_, table_index)) = jobs
            .into_iter()
            .find(|(job, _)| is_endless(job) && !has_ender)
        {
            let message = "the job never ends: its `run_time` is 0 and it has no `loops`";
            let help = "write a `run_time`, or `loops = 1`";
            return Err(ValueError::new("run_time", message, help).within("job", *table_index));
        }
    }
    Ok(())
}

/// Jobs that run in parallel.
struct Wave {
    converted: ConvertedJobs,
    /// Index of the table of each job.
    table_indices: Vec<usize>,
}

fn all_waves(workload: &Workload) -> Result<Vec<Wave>, ValueError> {
    let mut waves: Vec<(Vec<UnresolvedJob>, Vec<usize>)> = Vec::new();
    let mut names = WaveNames::default();
    let (mut count, mut file_count) = (0, 0_u64);
    let tables = workload.job.iter().map(|it| with_defaults(it, workload));
    for (index, table) in tables.enumerate() {
        if index == 0 || table.waits == Some(true) {
            waves.push(Default::default());
            names = WaveNames::default();
        }
        let placed = |flaw: ValueError| flaw.within("job", index);
        // Counted before they are made, because each clone takes memory.
        let clones = clone_count(&table, workload);
        if count + clones > JOBS_MAX {
            let message = format!("there are more than {JOBS_MAX} jobs");
            return Err(placed(ValueError::new(
                "count",
                message,
                "use fewer clones",
            )));
        }
        let files = table.files.as_ref().map_or(1, FilesChoice::len);
        file_count = clones.saturating_mul(files).saturating_add(file_count);
        if file_count > FILES_MAX {
            let message = format!("the jobs have more than {FILES_MAX} files");
            return Err(placed(ValueError::new("files", message, "use fewer")));
        }
        let jobs = clones_of(&table, index, count).and_then(Iterator::collect);
        let mut jobs: Vec<UnresolvedJob> = jobs.map_err(placed)?;
        count += clones;
        if let Some((wave, indices)) = waves.last_mut() {
            let is_layout_only = table.layout_only.unwrap_or(false);
            // The first job of a wave decides for all.
            if wave
                .first()
                .is_some_and(|it| it.state.is_layout_only != is_layout_only)
            {
                let message = "only some jobs of the wave set `layout_only`";
                let help = "write `layout_only` in all of them, or `waits` in the next";
                return Err(placed(ValueError::new("layout_only", message, help)));
            }
            // Before its own name is added, so that a job cannot wait for itself.
            if let Some(name) = &table.after {
                let before = names.jobs(name).map_err(placed)?;
                jobs.iter_mut()
                    .for_each(|it| it.job.plan.after = Some(before));
            }
            names.add(wave.len(), &jobs);
            indices.extend(jobs.iter().map(|_| index));
            wave.extend(jobs);
        }
    }
    let waves = waves.into_iter().map(|(jobs, table_indices)| Wave {
        converted: gathered(jobs),
        table_indices,
    });
    Ok(waves.collect())
}

/// Positions of the jobs of a wave by name, for `after`.
#[derive(Default)]
struct WaveNames(BTreeMap<String, JobRange>);

impl WaveNames {
    /// Adds the clones of a table; `before_count` jobs of the wave precede them.
    fn add(&mut self, before_count: usize, clones: &[UnresolvedJob]) {
        let Some(first) = clones.first() else { return };
        let before = JobRange {
            first_index: before_count as u32,
            count: clones.len() as u32,
        };
        match self.0.get_mut(&first.job.name) {
            None => {
                self.0.insert(first.job.name.clone(), before);
            }
            Some(known) if known.first_index + known.count == before.first_index => {
                known.count += before.count;
            }
            // Only the first consecutive jobs of a name are waited for.
            Some(_) => {}
        }
    }

    /// The jobs with this name.
    fn jobs(&self, name: &str) -> Result<JobRange, ValueError> {
        self.0.get(name).copied().ok_or_else(|| {
            let message = format!(
                "there is no job `{}` above it in its wave",
                plan::printable(name)
            );
            ValueError::new("after", message, "put that job above this one")
        })
    }
}

/// The jobs of a workload with one wave, with the workload's defaults filled in; `None` if it has
/// no jobs.
///
/// # Errors
/// If a table is invalid.
pub fn jobs(workload: &Workload) -> Result<Option<ConvertedJobs>, ValueError> {
    if let Some(built) = &workload.jobs {
        return Ok(Some(with_keys(built, workload)));
    }
    let mut waves = all_waves(workload)?;
    Ok(match waves.is_empty() {
        true => None,
        // A loaded workload has a single wave.
        false => Some(waves.swap_remove(0).converted),
    })
}

/// The tables of a workload with their names and the workload's defaults filled in.
///
/// Of several queue depths, the first one is used.
#[must_use]
pub fn complete_job_tables(workload: &Workload) -> Vec<JobTable> {
    let tables = workload.job.iter().enumerate();
    let tables = tables.map(|(index, table)| {
        let mut table = with_defaults(table, workload);
        table
            .name
            .get_or_insert_with(|| format!("job-{}", index + 1));
        table
    });
    tables.collect()
}

/// The jobs of tables that need no workload defaults, by waves.
///
/// # Errors
/// If a table is invalid.
pub fn waves_of_jobs(tables: &[JobTable]) -> Result<Vec<ConvertedJobs>, Diagnostic> {
    let workload = Workload {
        job: tables.to_vec(),
        ..Workload::default()
    };
    let waves = all_waves(&workload).map_err(|flaw| flaw.diagnostic(""))?;
    Ok(waves.into_iter().map(|wave| wave.converted).collect())
}

/// Default number of threads that replay a trace with an engine that has one request in flight.
const TRACE_THREADS_MAX: u32 = 32;

/// Jobs converted from another program's file; keys of the workload replace their settings.
fn with_keys(built: &ConvertedJobs, workload: &Workload) -> ConvertedJobs {
    let mut built = built.clone();
    // Any other option has turned the jobs into tables (`overrides::jobs`).
    for job in &mut built.jobs {
        let plan = &mut job.plan;
        plan.engine = workload.engine.unwrap_or(plan.engine);
        plan.cache = workload.cache.unwrap_or(plan.cache);
        plan.run_time_ns = workload.run_time.map_or(plan.run_time_ns, |it| it.0);
        plan.ramp_time_ns = workload.ramp_time.map_or(plan.ramp_time_ns, |it| it.0);
        if plan.trace().is_some() {
            let depth = workload
                .iodepth
                .as_ref()
                .and_then(|it| it.as_slice().first());
            // One thread per request in flight: the default is for engines with many.
            let default = match plan.engine.is_synchronous() {
                true => plan.iodepth.min(TRACE_THREADS_MAX),
                false => plan.iodepth,
            };
            plan.iodepth = depth.copied().unwrap_or(default);
        }
    }
    built
}

/// Splits a workload into one complete workload per wave; a workload without jobs stays as it is.
pub(crate) fn waves(workload: Workload) -> Vec<Workload> {
    if workload.job.is_empty() {
        return vec![workload];
    }
    let mut waves: Vec<Vec<JobTable>> = Vec::new();
    let mut count = 0;
    for (index, table) in workload.job.iter().enumerate() {
        if index == 0 || table.waits == Some(true) {
            waves.push(Vec::new());
        }
        let clones = clone_count(table, &workload);
        let mut table = table.clone();
        // Numbers in the first wave are the same as in the file, so its defaults need not be
        // written.
        if waves.len() > 1 {
            table.waits = None;
            table.seed = table.seed.or(Some(Seed(count + 1)));
            table.name = table.name.or_else(|| Some(format!("job-{}", index + 1)));
        }
        count += clones;
        if let Some(wave) = waves.last_mut() {
            wave.push(table);
        }
    }
    let wave_count = waves.len();
    let own = waves.into_iter().enumerate().map(|(index, job)| {
        let name = match (wave_count, &workload.name) {
            (1, name) => name.clone(),
            (_, name) => {
                let name = name.as_deref().unwrap_or("workload");
                Some(format!("{name}-{}", index + 1))
            }
        };
        let title = workload.title.clone();
        let mut wave = Workload {
            name,
            job,
            ..workload.clone()
        };
        wave.title = title.or_else(|| Some(title_of(&wave)));
        let engine = |table: &JobTable| table.engine.or(wave.engine);
        // Planning looks at the workload's engine to see whether its targets are used at all.
        if wave
            .job
            .iter()
            .all(|it| engine(it) == Some(EngineKind::Null))
        {
            wave.engine = Some(EngineKind::Null);
        }
        wave
    });
    own.collect()
}

/// Title of a wave: the names of its jobs.
fn title_of(wave: &Workload) -> String {
    let names = wave.job.iter().enumerate();
    let names = names.map(|(index, it)| it.name.clone().unwrap_or(format!("job-{}", index + 1)));
    job_title(names)
}

/// Title of jobs with these names; equal consecutive names count once.
#[must_use]
pub fn job_title(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    names.dedup();
    let more = names.len().saturating_sub(TITLE_NAMES_MAX);
    names.truncate(TITLE_NAMES_MAX);
    let mut text = plan::printable(&names.join(", "));
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_jobs_lack_is_refused_with_an_alternative() {
        let schema = schemars::schema_for!(Workload);
        let properties = schema.get("properties").unwrap().as_object().unwrap();
        let refused: Vec<&String> = properties
            .keys()
            .filter(|key| key_conflict_with_jobs(key).is_some())
            .collect();
        let rows = CONFLICTING_WORK.len() + WorkloadTable::ALL.len() + INAPPLICABLE_KEYS.len();
        // `phase` is in both lists, and `worker` in none.
        assert_eq!(refused.len(), rows, "{refused:?}");
        for key in ["iodepth", "size", "rate", "operations", "until", "workers"] {
            assert!(key_conflict_with_jobs(key).is_none(), "{key}");
        }
    }
}
