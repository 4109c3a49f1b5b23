//! What of a job depends on several options.

use std::collections::HashSet;

use plan::{Diagnostic, printable};

use super::jobs::is_device;
use super::lexer::Section;
use super::settings::{Access, Amount, Checksum, Direction, Engine, Settings, ZoneMode};

/// Jobs at most, unless the command line says otherwise.
const JOBS_MAX: u32 = 4096;

/// What applies to all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Jobs at most.
    pub jobs_max: u32,
    /// Whether jobs may not write.
    pub is_read_only: bool,
    /// Whether notes are errors.
    pub are_notes_fatal: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            jobs_max: JOBS_MAX,
            is_read_only: false,
            are_notes_fatal: false,
        }
    }
}

/// Makes the settings agree with each other, and notes what that changes.
///
/// # Errors
/// What fio does not run either.
pub(super) fn resolve(
    settings: &mut Settings,
    section: &Section,
    limits: Limits,
    notes: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    let job = printable(&section.name);
    let fail = |message: String, help: &str| Err(section.place.error(message).help(help));
    let mut note = |message: String| notes.push(section.place.warning(message));
    if limits.is_read_only && !is_reading(&settings.access) {
        return fail(
            format!("job `{job}` writes, and `--readonly` forbids it"),
            "use `rw=read`, or leave `--readonly` out",
        );
    }
    if let Some((message, help)) = wrong_zones(settings).or_else(|| wrong_pair(settings)) {
        return fail(format!("job `{job}`: {message}"), help);
    }
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

const fn is_reading(access: &Access) -> bool {
    matches!(
        access.direction,
        Direction::Read | Direction::FileStat | Direction::DirectoryStat
    )
}

/// What is wrong, and what helps.
type Wrong = (&'static str, &'static str);

fn wrong_zones(settings: &mut Settings) -> Option<Wrong> {
    let space = &mut settings.space;
    let has_zones = space.zone_size > 0;
    match space.zone_mode {
        ZoneMode::None if has_zones => {
            Some(("zones have sizes, but no mode", "add `zonemode=strided`"))
        }
        ZoneMode::Strided if space.zone_size == 0 => {
            Some(("strided zones have no size", "add `zonesize`"))
        }
        ZoneMode::Strided => {
            if space.zone_range == 0 {
                space.zone_range = space.zone_size;
            }
            None
        }
        _ => None,
    }
}

/// Work on files as such goes with an engine of that name.
fn wrong_pair(settings: &Settings) -> Option<Wrong> {
    let wanted = match settings.access.direction {
        Direction::FileCreate => Engine::FileCreate,
        Direction::FileStat => Engine::FileStat,
        Direction::FileDelete => Engine::FileDelete,
        _ => return None,
    };
    (settings.engine.engine != wanted).then_some((
        "`rw` and `ioengine` name different work on files",
        "give both the same name",
    ))
}

/// A section that is named as a device works on it, as in fio.
fn device(settings: &mut Settings, section: &str) {
    let files = &mut settings.files;
    if files.names.is_empty() && files.count <= 1 && is_device(section) {
        files.names = vec![section.to_owned()];
    }
}

fn files(settings: &mut Settings) {
    let files = &mut settings.files;
    files.count = files.count.max(1);
    if !files.names.is_empty() {
        files.count = files.count.min(files.names.len() as u32);
    }
    if files.open_count == 0 || files.open_count > files.count {
        files.open_count = files.count;
    }
    // Reads need what they read, so nothing is cut off.
    files.overwrites |= settings.access.reads();
    // Several open files have no strides, as in fio.
    if settings.space.zone_mode == ZoneMode::Strided && files.open_count > 1 {
        settings.space.zone_mode = ZoneMode::None;
    }
}

fn wrong_size(settings: &Settings) -> Option<Wrong> {
    if settings.replay.read.is_some() {
        return None;
    }
    let space = &settings.space;
    let is_of_others = !settings.files.names.is_empty();
    let is_free = space.fills_device || settings.engine.engine == Engine::Refused;
    if let (Some((0, _)), _) | (_, Some(Amount::Bytes(0))) = (space.file_size, space.size) {
        return Some(("it has no size", "write `size=1g`"));
    }
    if space.file_size.is_none() && !is_of_others && !is_free {
        match space.size {
            None => return Some(("it has no size", "add `size=1g`")),
            Some(Amount::Percent(_)) => {
                return Some((
                    "a share of a file that is not there is nothing",
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
        (Some((_, most)), Some(Amount::Bytes(size))) => most.min(size),
        (Some((_, most)), _) => most,
        (None, Some(Amount::Bytes(size))) => size / count,
        _ => return None,
    };
    let is_of_blocks = !matches!(
        settings.engine.engine,
        Engine::FileCreate | Engine::FileStat | Engine::FileDelete
    );
    (is_of_blocks && bytes < smallest_block(settings)).then_some((
        "its files are smaller than a block",
        "make `size` larger, or `bs` smaller; decimals such as `1.5m` are cut off",
    ))
}

fn smallest_block(settings: &Settings) -> u64 {
    let sizes = settings.blocks.sizes();
    match settings.access.direction {
        Direction::Read => sizes.read.min(),
        Direction::Mixed => sizes.read.min().min(sizes.write.min()),
        Direction::Trim => sizes.trim.min(),
        _ => sizes.write.min(),
    }
}

fn order(settings: &mut Settings, job: &str, note: &mut impl FnMut(String)) {
    let sizes = settings.blocks.sizes();
    let (align, access) = (&settings.blocks.align, &settings.access);
    let is_aligned_else = align.read.is_some_and(|it| it != sizes.read.min())
        || align.write.is_some_and(|it| it != sizes.write.min());
    if access.is_random && is_aligned_else && !settings.order.is_with_replacement {
        note(format!(
            "job `{job}`: with `ba`, blocks may be met again, as with `norandommap`"
        ));
        settings.order.is_with_replacement = true;
    }
    if settings.replay.read.is_some() && settings.replay.write.is_some() {
        note(format!("job `{job}`: a replay writes no log of its own"));
        settings.replay.write = None;
    }
}

/// What is moved otherwise than the words seem to say.
fn amounts(settings: &Settings, job: &str, note: &mut impl FnMut(String)) {
    let (space, access, rates) = (&settings.space, &settings.access, &settings.rates);
    if let (Some((_, most)), Some(Amount::Bytes(size))) = (space.file_size, space.size)
        && size > most.saturating_mul(settings.files.count.into())
    {
        note(format!(
            "job `{job}`: `size` is more than its files hold, and cut to that"
        ));
    }
    let paced = |read: u64, write: u64| read > 0 && write > 0;
    let (iops, bytes) = (&rates.iops, &rates.bytes_per_second);
    let is_paced = paced(iops.read | bytes.read, iops.write | bytes.write);
    if access.direction == Direction::Mixed && access.read_percent != 50 && is_paced {
        note(format!(
            "job `{job}`: reads and writes have a rate each, which make the mix, not `rwmixread`"
        ));
    }
}

fn names(settings: &Settings, job: &str, note: &mut impl FnMut(String)) {
    let (files, clones) = (&settings.files, settings.process.clone_count);
    let is_made = files.names.is_empty() && !files.format.is_empty();
    if is_made && clones > 1 && !files.format.contains("$jobnum") {
        note(format!(
            "job `{job}`: all clones have the same files, as `filename_format` has no `$jobnum`; \
             in fio, only one of them works"
        ));
    }
}

fn verify(settings: &mut Settings, job: &str, note: &mut impl FnMut(String)) {
    if settings.verify.checksum == Checksum::None || !settings.access.writes() {
        return;
    }
    settings.content.is_refilled = true;
    let reads_at_end = settings.verify.reads_back && settings.verify.backlog == 0;
    if reads_at_end && settings.time.is_time_based {
        note(format!(
            "job `{job}`: with `time_based`, what was written is not read back"
        ));
    }
}

/// What fio finds out only when it runs the job.
pub(super) fn obstacle(settings: &Settings, section: &Section) -> Option<Diagnostic> {
    let (message, help) = wrong_size(settings)?;
    let job = printable(&section.name);
    let error = section.place.error(format!("job `{job}`: {message}"));
    Some(error.help(help))
}

/// A job that is waited for stands above.
pub(super) fn wait_for(
    settings: &Settings,
    section: &Section,
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
                .place
                .error(message)
                .help("put that job above this one"))
        }
    }
}
