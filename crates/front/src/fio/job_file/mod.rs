//! Converts workloads to fio job files, the inverse of reading them.
//!
//! Every key of a workload is written as equivalent options, refused, or named in a warning. The
//! text is then read back and must give the same jobs.

mod access;
mod check;
mod files;
mod job;
mod keys;
mod lines;
mod requests;
mod section;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use description::model::{CpuList, JobTable, OneOrMany, Seed, Workload};
use description::{complete_job_tables, to_tables};
use plan::Diagnostic;
use units::printable;

use files::Targets;
use section::WrittenSection;

/// Inverse, modulo 2^64, of the factor that turns `randseed` into a seed; see [`super::work`].
const SEED_FACTOR_INVERSE: u64 = 0xf1de_83e1_9937_733d;
/// Upper limit of seeds that probably come from a `randseed`, exclusive.
const RANDSEED_END: u64 = 1 << 32;

/// Jobs, and the paths of the targets that their tables number.
#[derive(Debug, Default)]
struct JobList {
    tables: Vec<JobTable>,
    targets: Vec<String>,
    /// `true` if the jobs of a wave are reported as one, like the workers of a cell.
    is_reported_together: bool,
    warnings: Vec<Diagnostic>,
}

/// Writes consecutive workloads as one job file for fio.
///
/// `origin` is the name of the file that they were read from. `is_file` returns `true` for targets
/// that are files, not directories. The warnings name keys that are left out because they do not
/// change the requests.
///
/// # Errors
/// The first key without an equivalent in fio.
pub fn job_file(
    workloads: &[Workload],
    origin: &str,
    is_file: &dyn Fn(&str) -> bool,
) -> Result<(String, Vec<Diagnostic>), Diagnostic> {
    let mut text = format!("; converted by pgmeter from {}\n", printable(origin));
    let mut warnings = Vec::new();
    let lists: Vec<JobList> = flatten_packs(workloads)
        .into_iter()
        .map(|workload| list_of(&to_tables(workload)?, origin, is_file))
        .collect::<Result<_, Diagnostic>>()?;
    if lists.iter().all(|list| list.targets.is_empty()) {
        text.push_str("; fio creates the files in the current directory and keeps them\n");
    }
    let mut sections = Vec::new();
    let mut job_count = 0;
    for mut list in lists {
        // Workloads run one after the other, also if their jobs would run together in fio.
        if let Some(first) = list.tables.first_mut() {
            first.waits = Some(!sections.is_empty());
        }
        // fio numbers all jobs of the file, so a default seed depends on the workloads above.
        put_seeds(&mut list.tables, job_count);
        check_cpus(&list.tables, job_count)?;
        job_count += list.tables.iter().map(count_of).sum::<u64>();
        let targets = Targets {
            directories: &list.targets,
            files: &list.targets,
        };
        let own = sections_of(&list, targets)?;
        list.warnings
            .extend(own.iter().flat_map(|it| it.warnings.clone()));
        sections.extend(own);
        list.warnings.extend(check::read_back(&list)?);
        for warning in list.warnings {
            // Parts of a pack often give the same warnings.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    text.push_str(&text_of(&sections));
    Ok((text, warnings))
}

/// The workloads, with packs replaced by their parts.
fn flatten_packs(workloads: &[Workload]) -> Vec<&Workload> {
    let mut flat = Vec::new();
    for workload in workloads {
        match workload.part.is_empty() {
            true => flat.push(workload),
            false => flat.extend(&workload.part),
        }
    }
    flat
}

fn list_of(
    workload: &Workload,
    origin: &str,
    is_file: &dyn Fn(&str) -> bool,
) -> Result<JobList, Diagnostic> {
    let warning = keys::check(workload, origin)?;
    let mut list = match workload.job.is_empty() {
        true => access::jobs(workload, is_file)?,
        false => jobs(workload)?,
    };
    list.warnings.splice(0..0, warning);
    Ok(list)
}

/// The jobs of a workload with job tables, repeated for each queue depth.
fn jobs(workload: &Workload) -> Result<JobList, Diagnostic> {
    let mut bare = keys::without_method(workload);
    let targets = bare.targets.take();
    let depths = bare.iodepth.take();
    let depths = depths.as_ref().map_or(&[][..], OneOrMany::as_slice);
    let mut tables = Vec::new();
    for index in 0..depths.len().max(1) {
        bare.iodepth = depths.get(index).copied().map(OneOrMany::One);
        let mut complete = complete_job_tables(&bare);
        // The queue depths run one after the other.
        if let Some(first) = complete.first_mut().filter(|_| index > 0) {
            first.waits = Some(true);
        }
        for table in &mut complete {
            table.seed = table.seed.or(workload.seed);
        }
        if let Some(cpus) = &workload.cpus {
            put_cpus(&mut complete, cpus)?;
        }
        tables.append(&mut complete);
    }
    Ok(JobList {
        tables,
        targets: targets.map_or_else(Vec::new, |it| it.as_slice().to_vec()),
        ..JobList::default()
    })
}

/// Sets the CPUs that the jobs of each wave take in turn.
fn put_cpus(tables: &mut [JobTable], cpus: &CpuList) -> Result<(), Diagnostic> {
    let waves = tables.chunk_by_mut(|_, next| next.waits != Some(true));
    for wave in waves {
        if wave.len() > 1 && cpus.0.len() > 1 {
            let message = "fio cannot do `cpus` of several jobs: only clones of one job take CPUs \
                           in turn";
            let help = "write `cpus` in each `[[job]]`";
            return Err(Diagnostic::error("", message).help(help));
        }
        for table in wave {
            table.cpus = Some(cpus.clone());
        }
    }
    Ok(())
}

fn count_of(table: &JobTable) -> u64 {
    u64::from(table.count.unwrap_or(1))
}

/// Converts seeds to `randseed` values; `before_count` jobs precede these.
fn put_seeds(tables: &mut [JobTable], before_count: u64) {
    let mut number = before_count + 1;
    for table in tables {
        table.seed = table.seed.and_then(|Seed(seed)| {
            // Recover the original `randseed` of a seed that came from a job file.
            let written = seed.wrapping_sub(number).wrapping_mul(SEED_FACTOR_INVERSE);
            match written {
                // Without `randseed`, the seed of a job is its number.
                0 => None,
                said if said < RANDSEED_END => Some(Seed(said)),
                // fio parses signed numbers, so clear the highest bit.
                _ => Some(Seed(seed & i64::MAX.unsigned_abs())),
            }
        });
        number += count_of(table);
    }
}

/// Checks that the first clones get the first of the CPUs if `before_count` jobs precede these;
/// [`check::read_back`] compares all CPUs, but without those jobs.
fn check_cpus(tables: &[JobTable], before_count: u64) -> Result<(), Diagnostic> {
    let is_turned = |table: &JobTable| {
        let cpus = table.cpus.as_ref().map_or(&[][..], |it| &it.0);
        let cpu_count = cpus.iter().collect::<BTreeSet<_>>().len() as u64;
        count_of(table) > 1 && cpu_count > 0 && !before_count.is_multiple_of(cpu_count)
    };
    let Some(table) = tables.iter().find(|table| is_turned(table)) else {
        return Ok(());
    };
    let name = printable(table.name.as_deref().unwrap_or_default());
    let reason = "fio deals CPUs by the number of the job in the file";
    let message = format!("fio cannot do `cpus` of `{name}`: {reason}");
    Err(Diagnostic::error("", message).help("convert this workload alone"))
}

/// The sections of the jobs, with these names of targets.
fn sections_of(list: &JobList, targets: Targets<'_>) -> Result<Vec<WrittenSection>, Diagnostic> {
    let sections = list.tables.iter().map(|table| {
        let mut section = job::section(table, targets)?;
        section.flag("group_reporting", list.is_reported_together);
        Ok(section)
    });
    sections.collect()
}

/// The text of the sections; options common to all of them go into `[global]`.
fn text_of(sections: &[WrittenSection]) -> String {
    let is_common = |option: &(&str, String)| {
        sections.len() > 1 && sections.iter().all(|it| it.options.contains(option))
    };
    let first = sections.first().map_or(&[][..], |it| &it.options);
    // pgmeter's workers are threads, not processes.
    let mut text = String::from("\n[global]\nthread=1\n");
    for (name, value) in first.iter().filter(|it| is_common(it)) {
        text.push_str(&format!("{name}={value}\n"));
    }
    for section in sections {
        text.push_str(&format!("\n[{}]\n", section.name));
        // `stonewall` in `[global]` would make every section wait.
        if section.waits {
            text.push_str("stonewall=1\n");
        }
        for (name, value) in section.options.iter().filter(|it| !is_common(it)) {
            text.push_str(&format!("{name}={value}\n"));
        }
    }
    text
}
