//! Checks that involve several options of a job.

use std::collections::HashSet;

use plan::{Diagnostic, printable};

use super::jobs::is_device;
use super::lexer::JobSection;
use super::settings::{
    AccessSettings, ByDirection, Checksum, Direction, Engine, FioSettings, RandomGenerator,
    SizeAmount, SteadyMeasure, ZoneMode,
};

/// Default of `--max-jobs`.
const JOBS_MAX: u32 = 4096;

/// Limits from the command line that apply to all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobLimits {
    /// Maximum number of jobs.
    pub jobs_max: u32,
    /// `true` if jobs must not write (`--readonly`).
    pub is_read_only: bool,
    /// `true` if notes are errors (`--warnings-fatal`).
    pub are_notes_fatal: bool,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            jobs_max: JOBS_MAX,
            is_read_only: false,
            are_notes_fatal: false,
        }
    }
}

/// Reconciles settings that conflict and notes the changes.
///
/// # Errors
/// Combinations that fio rejects too.
pub(super) fn resolve(
    settings: &mut FioSettings,
    section: &JobSection,
    limits: JobLimits,
    notes: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    let job = printable(&section.name);
    let fail = |message: String, help: &str| Err(section.position.error(message).help(help));
    let mut note = |message: String| notes.push(section.position.warning(message));
    if limits.is_read_only && !is_reading(&settings.access) {
        let verb = match settings.access.direction {
            Direction::Trim => "trims",
            _ => "writes",
        };
        return fail(
            format!("job `{job}` {verb}, which `--readonly` forbids"),
            "use `rw=read`, or leave `--readonly` out",
        );
    }
    let error = zone_error(settings).or_else(|| engine_pair_error(settings));
    if let Some((message, help)) = error.or_else(|| rate_error(settings)) {
        return fail(format!("job `{job}`: {message}"), help);
    }
    // Before `files`, which counts the names.
    device(settings, &section.name);
    files(settings);
    if settings.time.is_time_based && settings.time.runtime_us == 0 {
        note(format!("job `{job}`: `time_based` needs `runtime`"));
        settings.time.is_time_based = false;
    }
    if settings.engine.iodepth > settings.engine.depth() {
        let engine = printable(&settings.engine.name);
        note(format!(
            "job `{job}`: `{engine}` waits for each request, so the depth is 1"
        ));
    }
    order(settings, &job, &mut note);
    amounts(settings, &job, &mut note);
    names(settings, &job, &mut note);
    verify(settings, &job, &mut note);
    Ok(())
}

const fn is_reading(access: &AccessSettings) -> bool {
    matches!(
        access.direction,
        Direction::Read | Direction::FileStat | Direction::DirectoryStat
    )
}

/// An error message and its help.
type MessageAndHelp = (&'static str, &'static str);

fn zone_error(settings: &mut FioSettings) -> Option<MessageAndHelp> {
    let space = &mut settings.space;
    let has_zones = space.zone_size > 0;
    match space.zone_mode {
        ZoneMode::None if has_zones => {
            Some(("`zonesize` needs a `zonemode`", "add `zonemode=strided`"))
        }
        ZoneMode::Strided if space.zone_size == 0 => {
            Some(("strided zones have no size", "add `zonesize`"))
        }
        ZoneMode::Strided => {
            // Job files from before `zonerange` have only `zonesize`, and fio still accepts them.
            if space.zone_range == 0 {
                space.zone_range = space.zone_size;
            }
            None
        }
        _ => None,
    }
}

/// Checks that operations on whole files have the engine of the same name.
fn engine_pair_error(settings: &FioSettings) -> Option<MessageAndHelp> {
    let wanted = match settings.access.direction {
        Direction::FileCreate => Engine::FileCreate,
        Direction::FileStat => Engine::FileStat,
        Direction::FileDelete => Engine::FileDelete,
        Direction::DirectoryCreate => Engine::DirectoryCreate,
        Direction::DirectoryStat => Engine::DirectoryStat,
        Direction::DirectoryDelete => Engine::DirectoryDelete,
        _ => return None,
    };
    (settings.engine.engine != wanted).then_some((
        "`rw` and `ioengine` name different work on files",
        "give both the same name",
    ))
}

/// Checks that rates are either in bytes or in requests, also for different directions.
fn rate_error(settings: &FioSettings) -> Option<MessageAndHelp> {
    let rates = &settings.rates;
    let any = |it: &ByDirection<u64>| it.read > 0 || it.write > 0 || it.trim > 0;
    if any(&rates.bytes_per_second) && any(&rates.iops) {
        return Some(("`rate` and `rate_iops` exclude each other", "leave one out"));
    }
    (any(&rates.bytes_per_second_min) && any(&rates.iops_min)).then_some((
        "`rate_min` and `rate_iops_min` exclude each other",
        "leave one out",
    ))
}

/// A section whose name is a device path uses that device, as in fio.
fn device(settings: &mut FioSettings, section: &str) {
    let files = &mut settings.files;
    if files.names.is_empty() && files.count <= 1 && is_device(section) {
        files.names = vec![section.to_owned()];
    }
}

fn files(settings: &mut FioSettings) {
    let files = &mut settings.files;
    files.count = files.count.max(1);
    if !files.names.is_empty() {
        // fio uses only the first `nrfiles` of the names.
        files.count = files.count.min(files.names.len() as u32);
    }
    if files.open_count == 0 || files.open_count > files.count {
        files.open_count = files.count;
    }
    // Reads and trims need existing data, so the files are laid out first.
    files.overwrites |= settings.access.reads() || settings.access.trims();
    // As in fio, strided zones need a single open file.
    if settings.space.zone_mode == ZoneMode::Strided && files.open_count > 1 {
        settings.space.zone_mode = ZoneMode::None;
    }
}

fn size_error(settings: &FioSettings) -> Option<MessageAndHelp> {
    // A replay takes its files and sizes from the log.
    if settings.replay.read.is_some() {
        return None;
    }
    let space = &settings.space;
    let is_of_others = !settings.files.names.is_empty();
    // A job that fills the device needs no size, and a refused engine is an error already.
    let is_free = space.fills_device || settings.engine.engine == Engine::Refused;
    if let (Some((0, _)), _) | (_, Some(SizeAmount::Bytes(0))) = (space.file_size, space.size) {
        return Some(("it has no size", "write `size=1g`"));
    }
    // Named files may already exist, and then their size is known when the job runs.
    if space.file_size.is_none() && !is_of_others && !is_free {
        match space.size {
            None => return Some(("it has no size", "add `size=1g`")),
            Some(SizeAmount::Percent(_)) => {
                return Some((
                    "a size in percent needs an existing file",
                    "write `size=1g`",
                ));
            }
            _ => {}
        }
    }
    let count = u64::from(settings.files.count);
    if count == 0 {
        return Some(("it has no files", "write `nrfiles=1`"));
    }
    let bytes = match (space.file_size, space.size) {
        // A `size` below `filesize` ends the job earlier, so both must hold a block.
        (Some((_, most)), Some(SizeAmount::Bytes(size))) => most.min(size),
        (Some((_, most)), _) => most,
        // In fio, `size` covers all files of a clone together.
        (None, Some(SizeAmount::Bytes(size))) => size / count,
        _ => return None,
    };
    // These engines transfer nothing, so the size of a block does not matter.
    let is_of_blocks = !settings.engine.engine.works_on_names();
    (is_of_blocks && bytes < smallest_block(settings)).then_some((
        "its files are smaller than a block",
        "use a larger `size` or a smaller `bs`; decimals such as `1.5m` are truncated",
    ))
}

fn smallest_block(settings: &FioSettings) -> u64 {
    let sizes = settings.blocks.sizes();
    match settings.access.direction {
        Direction::Read => sizes.read.min(),
        Direction::Mixed => sizes.read.min().min(sizes.write.min()),
        Direction::Trim | Direction::TrimAndWrite => sizes.trim.min(),
        _ => sizes.write.min(),
    }
}

fn order(settings: &mut FioSettings, job: &str, note: &mut impl FnMut(String)) {
    // fio's LFSR visits each block exactly once without a map of blocks.
    if settings.order.generator == RandomGenerator::Lfsr {
        settings.order.is_with_replacement = false;
    }
    let sizes = settings.blocks.sizes();
    let (align, access) = (&settings.blocks.align, &settings.access);
    let is_aligned_else = align.read.is_some_and(|it| it != sizes.read.min())
        || align.write.is_some_and(|it| it != sizes.write.min())
        || access.trims() && align.trim.is_some_and(|it| it != sizes.trim.min());
    // fio's map has one bit for each block, which cannot describe places between blocks.
    if access.is_random && is_aligned_else && !settings.order.is_with_replacement {
        note(format!(
            "job `{job}`: with `ba`, blocks may repeat, as with `norandommap`"
        ));
        settings.order.is_with_replacement = true;
    }
    if settings.replay.read.is_some() && settings.replay.write.is_some() {
        note(format!("job `{job}`: a replay ignores `write_iolog`"));
        settings.replay.write = None;
    }
}

/// Notes sizes and rates that do not mean what they seem to.
fn amounts(settings: &FioSettings, job: &str, note: &mut impl FnMut(String)) {
    let (space, access, rates) = (&settings.space, &settings.access, &settings.rates);
    if let (Some((_, most)), Some(SizeAmount::Bytes(size))) = (space.file_size, space.size)
        && size > most.saturating_mul(settings.files.count.into())
    {
        note(format!(
            "job `{job}`: `size` exceeds its files and is reduced to their size"
        ));
    }
    let paced = |read: u64, write: u64| read > 0 && write > 0;
    let (iops, bytes) = (&rates.iops, &rates.bytes_per_second);
    let is_paced = paced(iops.read | bytes.read, iops.write | bytes.write);
    if let Some(steady) = &settings.steady_state
        && (steady.measure, steady.is_percent) == (SteadyMeasure::Latency, false)
    {
        let limit = steady.limit;
        note(format!(
            "job `{job}`: the limit of `steadystate` is {limit} ns: as fio, pgmeter takes its \
             microseconds for nanoseconds"
        ));
    }
    // 50 is the default, so it may not have been requested.
    if access.direction == Direction::Mixed && access.read_percent != 50 && is_paced {
        note(format!(
            "job `{job}`: the rates of reads and writes determine the mix, not `rwmixread`"
        ));
    }
}

fn names(settings: &FioSettings, job: &str, note: &mut impl FnMut(String)) {
    let (files, clones) = (&settings.files, settings.process.clone_count);
    let is_made = files.names.is_empty() && !files.format.is_empty();
    if is_made && clones > 1 && !files.format.contains("$jobnum") {
        note(format!(
            "job `{job}`: all clones share files, because `filename_format` has no `$jobnum`; \
             in fio, only one of them works"
        ));
    }
}

fn verify(settings: &mut FioSettings, job: &str, note: &mut impl FnMut(String)) {
    // As in fio, a job that only reads verifies what it reads in any case.
    settings.verify.skips_writes &= settings.access.writes();
    if settings.verify.checksum == Checksum::None || !settings.access.writes() {
        return;
    }
    // As in fio, each verified write gets new content.
    settings.content.is_refilled = true;
    let reads_at_end = settings.verify.reads_back && settings.verify.backlog == 0;
    if reads_at_end && settings.time.is_time_based {
        note(format!(
            "job `{job}`: with `time_based`, written data is not read back"
        ));
    }
}

/// Errors that fio detects only when it runs the job.
pub(super) fn find_run_error(settings: &FioSettings, section: &JobSection) -> Option<Diagnostic> {
    let (message, help) = size_error(settings)?;
    let job = printable(&section.name);
    let error = section.position.error(format!("job `{job}`: {message}"));
    Some(error.help(help))
}

/// Checks that the job named by `wait_for` comes earlier.
pub(super) fn wait_for(
    settings: &FioSettings,
    section: &JobSection,
    known: &HashSet<String>,
) -> Result<(), Diagnostic> {
    let Some(name) = &settings.grouping.waits_for else {
        return Ok(());
    };
    match known.contains(name) {
        true => Ok(()),
        false => {
            let message = format!("there is no job `{}` above to wait for", printable(name));
            Err(section
                .position
                .error(message)
                .help("put that job above this one"))
        }
    }
}
