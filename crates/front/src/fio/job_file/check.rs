//! Reads a written job file back and compares the result with the jobs of the workload.

use std::collections::HashMap;

use description::{Workload, to_tables, waves_of_jobs};
use plan::job::{
    BlockCheck, BlockCheckKind, ContentPattern, ConvertedJobs, FileOrder, JobPlan, Layout,
    OffsetOrder, PerDirection, ReadWriteMix, SizeRule, WeightedSize,
};
use plan::{ContentPlan, Distribution, EngineKind, RingOptions};
use plan::{Diagnostic, printable};

use super::super::work::work;
use super::super::{ParserEnvironment, read_file};
use super::files::Targets;
use super::{JobList, sections_of, text_of};
use crate::CommandLine;

/// Name of the file in messages of the parser.
const FILE_NAME: &str = "job.fio";

/// Reasons why a key with an equivalent in fio may still differ.
const REASONS: [(&str, &str); 5] = [
    ("bytes", LOOP_CONTINUES),
    (
        "cpus",
        "fio deals CPUs in ascending order, by the number of the job in the file",
    ),
    (
        "ends_others",
        "the first of its jobs that ends would end all others, too",
    ),
    ("loops", LOOP_CONTINUES),
    ("operations", LOOP_CONTINUES),
];

const LOOP_CONTINUES: &str =
    "a loop that ends before the end of the files is continued by the next one";

/// Compares a list of jobs with the jobs read back from its job file.
///
/// The warnings describe what fio does differently with the same options.
///
/// # Errors
/// A key whose options have another meaning in fio, or a job file that cannot be read back.
pub(super) fn read_back(list: &JobList) -> Result<Vec<Diagnostic>, Diagnostic> {
    // Placeholder paths, which the parser treats as directories and devices on any machine.
    let numbers = 0..list.targets.len();
    let directories: Vec<String> = numbers.clone().map(|it| format!("/pgmeter/{it}")).collect();
    let devices: Vec<String> = numbers.map(|it| format!("/dev/pgmeter-{it}")).collect();
    let targets = Targets {
        directories: &directories,
        files: &devices,
    };
    let text = text_of(&sections_of(list, targets)?);
    let unread = |error: Diagnostic| {
        let message = format!("fio cannot do this workload: {}", error.message);
        let help = error.help.unwrap_or_default();
        Diagnostic::error("", message).help(help)
    };
    let set = read_file(FILE_NAME, text.as_bytes(), &ParserEnvironment::EMPTY).map_err(unread)?;
    let letter = list.tables.iter().any(|it| it.fio_compat == Some(true));
    // Without access to files, the result does not depend on the machine.
    let read = work(&set, "job", letter, &CommandLine::of(&[])).map_err(unread)?;
    let wanted = waves_of_jobs(&list.tables)?;
    let found = read.cells.into_iter().map(|cell| cell.jobs);
    let found: Vec<ConvertedJobs> = found.map(|jobs| *jobs.unwrap_or_default()).collect();
    if let Some(difference) = difference(&wanted, &found)? {
        return Err(difference);
    }
    let warnings = read.warnings.iter();
    Ok(warnings.map(|it| Diagnostic::warning("", it)).collect())
}

/// The error about the first difference between the waves of jobs; `None` if they are equal.
fn difference(
    wanted: &[ConvertedJobs],
    found: &[ConvertedJobs],
) -> Result<Option<Diagnostic>, Diagnostic> {
    for (wanted, found) in wanted.iter().zip(found) {
        let (wanted, found) = (plain(wanted.clone()), plain(found.clone()));
        if wanted != found {
            return Ok(Some(named(wanted, found)?));
        }
    }
    // The number of waves is checked last, because a differing key explains more.
    let is_same = wanted.len() == found.len();
    Ok((!is_same).then(|| {
        let message = "fio cannot do `waits` of this workload: other jobs would run together";
        Diagnostic::error("", message).help("write the jobs in the order in which they begin")
    }))
}

/// The error that names the differing job and key.
fn named(wanted: ConvertedJobs, found: ConvertedJobs) -> Result<Diagnostic, Diagnostic> {
    let tables = |jobs: ConvertedJobs| {
        let workload = Workload {
            jobs: Some(Box::new(jobs)),
            ..Workload::default()
        };
        Ok::<_, Diagnostic>(to_tables(&workload)?.job)
    };
    let name = wanted
        .jobs
        .first()
        .map_or_else(String::new, |it| it.name.clone());
    let (wanted, found) = (tables(wanted)?, tables(found)?);
    let first = wanted.iter().zip(&found).find(|(one, other)| one != other);
    let Some((one, other)) = first else {
        let message = format!(
            "fio cannot do the jobs that run with `{}`",
            printable(&name)
        );
        return Ok(Diagnostic::error("", message).help("convert fewer jobs at once"));
    };
    // JSON has the names of the keys, which the error needs.
    let (one_json, other_json) = (units::json_value(one), units::json_value(other));
    let value = |json: &serde_json::Result<serde_json::Value>, key: &str| {
        json.as_ref()
            .ok()
            .and_then(|it| it.get(key).cloned())
            .unwrap_or_default()
    };
    let all = [&one_json, &other_json].into_iter().flatten();
    let keys = all
        .filter_map(serde_json::Value::as_object)
        .flat_map(|it| it.keys());
    let key = keys
        .into_iter()
        .find(|key| value(&one_json, key) != value(&other_json, key));
    let key = key.map_or("files", String::as_str);
    let job = printable(one.name.as_deref().unwrap_or_default());
    let mut reasons = REASONS.iter();
    let reason = reasons
        .find(|(known, _)| *known == key)
        .map(|(_, reason)| *reason);
    let reason = reason.unwrap_or("together with the job's other keys it means something else");
    let message = format!("fio cannot do `{key}` of `{job}`: {reason}");
    Ok(Diagnostic::error("", message).help(format!("change `{key}`, or leave it out")))
}

/// Normalizes jobs: removes everything that does not change their requests.
fn plain(mut built: ConvertedJobs) -> ConvertedJobs {
    built.origin = Default::default();
    // It matters which files share a target, not how the targets are numbered.
    let mut targets = HashMap::new();
    for file in &mut built.files.files {
        let next = targets.len() as u32;
        file.target_index = *targets.entry(file.target_index).or_insert(next);
    }
    let is_layout_free = built.jobs.iter().all(|job| job.plan.names.is_some());
    for file in built.files.files.iter_mut().filter(|_| is_layout_free) {
        file.layout = Layout::Absent;
    }
    // A workload file removes its files.
    built
        .files
        .files
        .iter_mut()
        .for_each(|file| file.is_left = false);
    for (index, job) in (1..).zip(&mut built.jobs) {
        // fio's `randseed` cannot express every seed.
        job.seed = index;
        job.location = Default::default();
        // The section itself warns about differences in content.
        job.content = ContentPlan::Incompressible;
        job.plan.is_noted = false;
        job.plan.times_submission = false;
        // Stamps become headers with this checksum.
        let is_usual = |it: &BlockCheck| it.kind == BlockCheckKind::Crc32c;
        job.plan.check = job.plan.check.filter(|it| !is_usual(it));
        // The section warns that repeating content becomes this pattern.
        let is_repeating = |it: &ContentPattern| it.text == "a5";
        job.plan.pattern = job.plan.pattern.take().filter(|it| !is_repeating(it));
        job.share = job.share.filter(|share| !share.is_whole());
        // fio has these options only for engines on which they have an effect.
        if job.plan.engine != EngineKind::IoUring {
            job.plan.ring.force_async_each = 0;
        }
        job.plan.nowait &= job.plan.engine != EngineKind::Null;
        // fio's `iodepth_batch` expresses only fixed batches above 1.
        if !job.plan.ring.batch_fixed || job.plan.ring.batch == 1 {
            job.plan.ring = RingOptions {
                sqpoll: job.plan.ring.sqpoll,
                iopoll: job.plan.ring.iopoll,
                force_async_each: job.plan.ring.force_async_each,
                ..Default::default()
            };
        }
        if let Some(steady) = &mut job.plan.goals.steady {
            // The job file may number its groups differently.
            steady.group_index = steady.group_index.map(|_| 0);
        }
        normalize_stream(&mut job.plan);
    }
    built
}

/// Normalizes the request stream of a job.
fn normalize_stream(plan: &mut JobPlan) {
    let stream = &mut plan.stream;
    // `--fio-compat` is an option of the command line, so a job file cannot have it.
    stream.is_to_the_letter = false;
    if plan.files.len() == 1 {
        stream.file_order = FileOrder::RoundRobin;
        stream.requests_per_file = 1;
    }
    let mix = stream.mix;
    copy_used_direction(mix, &mut stream.random_percent);
    copy_used_direction(mix, &mut stream.blocks);
    copy_used_direction(mix, &mut stream.pace);
    copy_used_direction(mix, &mut plan.goals.latency_ns_max);
    if let Some(floor) = &mut plan.goals.rate_floor {
        copy_used_direction(mix, &mut floor.least);
    }
    let random = &stream.random_percent;
    let is_random = random.read > 0.0 || random.write > 0.0;
    if !is_random {
        stream.visits = OffsetOrder::Once;
        stream.run_length = 1;
    }
    for rule in [&mut stream.blocks.read, &mut stream.blocks.write] {
        let sizes = std::mem::replace(&mut rule.sizes, SizeRule::Fixed { bytes: 0 });
        rule.sizes = normalize_sizes(sizes);
        if !is_random {
            rule.align_bytes = rule.sizes.min_bytes();
        }
    }
    normalize_visits(mix, &mut stream.visits);
}

/// Merges distributions that are equal for both directions.
fn normalize_visits(mix: ReadWriteMix, visits: &mut OffsetOrder) {
    match visits {
        OffsetOrder::Once => {}
        OffsetOrder::Drawn {
            distribution: Distribution::Normal { deviation_percent },
            // The conversion to fio's width and back loses digits.
        } => *deviation_percent = (*deviation_percent * 1e6).round() / 1e6,
        OffsetOrder::Drawn { .. } => {}
        OffsetOrder::DrawnZones { zones } => copy_used_direction(mix, zones),
        OffsetOrder::DrawnByDirection { distributions } => {
            copy_used_direction(mix, distributions);
            if distributions.read == distributions.write {
                let distribution = distributions.read.clone();
                *visits = OffsetOrder::Drawn { distribution };
            }
        }
    }
}

/// Sorts the sizes of a split; a split with a single size becomes that size.
fn normalize_sizes(sizes: SizeRule) -> SizeRule {
    let SizeRule::Split { mut shares } = sizes else {
        return sizes;
    };
    shares.retain(|share| share.percent > 0.0);
    // Reading a job file sorts the sizes by their shares.
    shares.sort_by(|one, other| {
        let key = |share: &WeightedSize| (share.percent, share.bytes);
        key(one)
            .partial_cmp(&key(other))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    match shares[..] {
        [only] => SizeRule::Fixed { bytes: only.bytes },
        _ => SizeRule::Split { shares },
    }
}

/// Copies the value of the direction in use to the direction without requests.
fn copy_used_direction<T: Clone>(mix: ReadWriteMix, both: &mut PerDirection<T>) {
    match mix {
        ReadWriteMix::Read => both.write = both.read.clone(),
        ReadWriteMix::Write | ReadWriteMix::Trim | ReadWriteMix::TrimAndWrite => {
            both.read = both.write.clone();
        }
        ReadWriteMix::Both { .. } => {}
    }
}
