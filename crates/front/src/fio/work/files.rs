//! Files of jobs: directory, name below it, and size.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use plan::job::{
    BlockCheckKind, FileCache, FileShare, JobFile, JobFiles, Layout, MetadataWork, NamedFile,
    SpaceWork,
};
use plan::{Diagnostic, printable};
use units::Bytes;

use super::super::jobs::{FioJob, JobSet, is_device};
use super::super::settings::{Direction, Engine, Fallocate, FioSettings, SizeAmount};
use super::drawn;
use crate::FileAccess;

/// Maximum length of a name in bytes, close to the limit of a path.
const NAME_BYTES_MAX: usize = 4000;

/// Maximum number of files of all jobs together.
const FILES_MAX: u64 = 1 << 20;

/// Directories and files of all jobs.
pub(super) struct FileTable<'a> {
    directories: Vec<String>,
    /// Index of each directory.
    indexes: HashMap<String, u32>,
    /// Files of all waves.
    known: HashMap<FileKey, KnownFile>,
    /// Number of the current wave, from 1.
    wave: u32,
    /// Files named by `filename` in jobs that do more than read them.
    written: BTreeSet<String>,
    /// Access to the sizes of existing files.
    access: FileAccess<'a>,
}

/// Target index and file name; `None` if the target itself is the file.
type FileKey = (u32, Option<String>);

/// State of a file across jobs and waves.
#[derive(Default)]
struct KnownFile {
    /// The last wave that uses the file; `file_index` applies to that wave.
    wave: u32,
    file_index: u32,
    /// `true` if a job writes to it.
    is_written: bool,
    /// `true` if a job writes to it what later reads can verify.
    is_verifiable: bool,
}

/// Rejects jobs with more files in total than `FILES_MAX`.
pub(super) fn check_count(set: &JobSet) -> Result<(), Diagnostic> {
    let mut count = 0_u64;
    for job in &set.jobs {
        count += u64::from(job.file_count());
        if count > FILES_MAX {
            let source_line = set.place_of(job, "nrfiles, nr_files");
            let error = source_line.error(format!("the jobs have more than {FILES_MAX} files"));
            return Err(error.help("use a smaller `nrfiles`, or fewer clones"));
        }
    }
    Ok(())
}

/// The part of a file that a job uses.
pub(super) struct JobFilePart {
    /// Path of the file as written.
    pub path: String,
    /// Start of the part.
    pub start_bytes: u64,
    /// Size of the part; 0 if it depends on the size of an existing file or device.
    pub size_bytes: u64,
    pub is_read: bool,
}

struct FileLocation {
    directory: String,
    /// Name below the directory; `None` if `directory` is itself the file or device.
    name: Option<String>,
}

impl<'a> FileTable<'a> {
    /// Creates an empty table for these jobs.
    pub fn new(set: &JobSet, access: FileAccess<'a>) -> Self {
        // A later job may write a file that an earlier one only reads, so this needs all jobs in
        // advance.
        let writing = set.jobs.iter().filter(|job| !only_reads_files(job));
        // A verified file may be one that an earlier run left under its usual name.
        let verifies = |job: &FioJob| job.settings.verify.kind().is_some();
        let is_verified = set.jobs.iter().any(verifies);
        let named = writing.filter(|job| is_verified || job.shares_files());
        let names = named.flat_map(|job| {
            let files = 0..job.file_count();
            files.map(|index| job.file(index).text)
        });
        Self {
            directories: Vec::new(),
            indexes: HashMap::new(),
            known: HashMap::new(),
            wave: 0,
            written: names.collect(),
            access,
        }
    }

    /// Size of an existing file that the job names or verifies, and no job does more than read.
    /// Such a file is used itself instead of a new file in the work directory.
    fn foreign(&self, job: &FioJob, wish: &JobFilePart) -> Option<u64> {
        let is_named = job.shares_files() || job.settings.verify.kind().is_some();
        let is_read_only = is_named && only_reads_files(job);
        if !is_read_only || is_device(&wish.path) || self.written.contains(&wish.path) {
            return None;
        }
        let present = self.access.size_bytes(&wish.path);
        let present = present.filter(|size_bytes| *size_bytes > 0)?;
        // fio would delete a file that is too short and write a new one, so pgmeter uses its own
        // file.
        let end = wish.start_bytes.checked_add(wish.size_bytes)?;
        (end <= present).then_some(present)
    }

    /// File size for a job without a size, from the existing file of this name. 0 if an earlier
    /// job creates the file, or if the job fills the device.
    fn size_of_existing(
        &self,
        job: &FioJob,
        wish: &JobFilePart,
        key: &FileKey,
    ) -> Result<u64, Diagnostic> {
        if job.settings.space.fills_device || self.known.contains_key(key) {
            return Ok(0);
        }
        match self.access.size_bytes(&wish.path) {
            Some(0) => Err(missing_size_error(job, &wish.path, "is empty")),
            Some(size_bytes) => Ok(size_bytes),
            None => Err(missing_size_error(job, &wish.path, "does not exist")),
        }
    }

    /// All directories and devices; the current directory if there are none.
    pub fn directories(&self) -> Vec<PathBuf> {
        match self.directories.is_empty() {
            true => vec![PathBuf::from(".")],
            false => self.directories.iter().map(PathBuf::from).collect(),
        }
    }

    fn index(&mut self, directory: String) -> u32 {
        // A command line or job file is too short to name more than a `u32` can count.
        let next = self.directories.len() as u32;
        *self.indexes.entry(directory).or_insert_with_key(|name| {
            self.directories.push(name.clone());
            next
        })
    }

    /// Starts a new wave, whose files get new indices.
    pub fn begin_wave(&mut self) {
        self.wave += 1;
    }

    /// The parts of its files that a job uses; adds files that are new in this wave.
    pub fn parts(
        &mut self,
        job: &FioJob,
        files: &mut JobFiles,
    ) -> Result<Vec<JobFile>, Diagnostic> {
        let further_bytes = further(job)?;
        let is_read = job.settings.access.reads();
        let wishes = (0..)
            .zip(sizes(job)?)
            .map(|(index, size_bytes)| JobFilePart {
                path: job.file(index).text,
                start_bytes: further_bytes,
                size_bytes,
                is_read,
            });
        self.take(job, files, wishes.collect())
    }

    /// Turns the requested parts into files of the wave; adds files that are new in it.
    pub fn take(
        &mut self,
        job: &FioJob,
        files: &mut JobFiles,
        wishes: Vec<JobFilePart>,
    ) -> Result<Vec<JobFile>, Diagnostic> {
        let share = job.share().filter(|it| it.start_percent > 0);
        let share = share.filter(|_| job.settings.replay.read.is_none());
        let mut parts = Vec::with_capacity(wishes.len());
        for wish in wishes {
            let layout = layout(job, wish.is_read);
            let (size_bytes, further_bytes) = (wish.size_bytes, wish.start_bytes);
            let location = match self.foreign(job, &wish) {
                Some(_) => FileLocation::itself(wish.path.clone()),
                None => file_location(job, wish.path.clone())?,
            };
            let target_index = self.index(location.directory);
            let key = (target_index, location.name.clone());
            let required_end = match location.name.is_some() && size_bytes == 0 {
                false => None,
                true => Some(self.size_of_existing(job, &wish, &key)?),
            };
            let start_bytes = match (share, job.settings.space.file_size) {
                (None, _) => further_bytes,
                (Some(share), Some((least, _))) => share.start_bytes(further_bytes, least),
                // The percentage is resolved when the size of the device or file is known.
                (Some(_), None) if location.name.is_none() || required_end.is_some() => {
                    further_bytes
                }
                (Some(_), None) => {
                    let message = "an offset in percent needs a file of known size";
                    return Err(job.position.error(message).help("add `filesize=`"));
                }
            };
            let end = start_bytes.checked_add(size_bytes);
            let end = end.filter(|it| i64::try_from(*it).is_ok()).ok_or_else(|| {
                let error = job.position.error("its files exceed the maximum file size");
                error.help("use a smaller size or offset")
            })?;
            let known = self.known.entry(key).or_default();
            check_is_written(job, known, (&wish.path, self.access))?;
            if known.wave != self.wave {
                known.wave = self.wave;
                known.file_index = files.files.len() as u32;
                files.files.push(NamedFile {
                    target_index,
                    name: location.name,
                    size_bytes: 0,
                    layout: Layout::Absent,
                    is_removed: false,
                    is_left: false,
                    cache: FileCache::Dropped,
                });
            }
            let file_index = known.file_index;
            let file = &mut files.files[file_index as usize];
            let end = required_end.unwrap_or(end);
            // Several jobs may use different parts of the same file; the fullest layout serves all.
            file.size_bytes = file.size_bytes.max(end);
            file.layout = file.layout.min(layout);
            set_fate(file, known.is_written, job);
            file.cache = cached(file.cache, job);
            parts.push(JobFile {
                file_index,
                start_bytes,
                size_bytes,
            });
        }
        Ok(parts)
    }
}

/// Checks that the file of a job that verifies it exists, or that an earlier job writes it.
fn check_is_written(
    job: &FioJob,
    known: &mut KnownFile,
    (file, access): (&str, FileAccess<'_>),
) -> Result<(), Diagnostic> {
    let settings = &*job.settings;
    let is_writing = writes(settings);
    known.is_written |= is_writing;
    let Some(kind) = settings.verify.kind() else {
        return Ok(());
    };
    known.is_verifiable |= is_writing;
    // A pattern needs no header, so any job may have written it.
    let is_known = known.is_verifiable || known.is_written && kind == BlockCheckKind::Pattern;
    // These jobs read nothing that could be wrong.
    let is_free = settings.files.is_layout_only || settings.engine.engine == Engine::Null;
    let exists = || access.size_bytes(file).is_some_and(|it| it > 0);
    if is_writing || is_known || is_free || exists() {
        return Ok(());
    }
    let (name, file) = (printable(&job.name), printable(file));
    let message = format!(
        "the job `{name}` verifies `{file}`, which does not exist, and no job above it writes it \
         with `verify`"
    );
    let help = "write it in a job above, or in an earlier run, with the same `verify`";
    Err(job.position.error(message).help(help))
}

const fn writes(settings: &FioSettings) -> bool {
    settings.access.writes() && !settings.verify.skips_writes
}

/// Sets whether the file of a job is removed after its wave, or left after the run: as in fio, but
/// only if a job of the run has written and verifies it.
fn set_fate(file: &mut NamedFile, is_written: bool, job: &FioJob) {
    let settings = &*job.settings;
    let is_removed = settings.files.removes_at_end;
    let is_verifiable = is_written && settings.verify.kind().is_some();
    file.is_removed |= is_removed;
    file.is_left |= is_verifiable && !is_removed && file.name.is_some();
}

impl FileLocation {
    /// A location that is itself the file or device.
    fn itself(path: String) -> Self {
        Self {
            directory: path,
            name: None,
        }
    }
}

fn missing_size_error(job: &FioJob, file: &str, state: &str) -> Diagnostic {
    let (job_name, file) = (printable(&job.name), printable(file));
    let message = format!("the job `{job_name}` has no size, and its file `{file}` {state}");
    job.position.error(message).help("add `size=1g`")
}

/// `true` if a job only reads its files, with any content.
fn only_reads_files(job: &FioJob) -> bool {
    let settings = &*job.settings;
    let is_reading = settings.access.direction == Direction::Read || settings.verify.skips_writes;
    // A replayed log may contain writes.
    is_reading
        && settings.replay.read.is_none()
        && !settings.files.is_layout_only
        && settings.engine.engine != Engine::Null
        && name_work(settings).is_none()
        && space_work(settings).is_none()
}

/// State of the page cache for a file; the setting of one job applies to all.
fn cached(cache: FileCache, job: &FioJob) -> FileCache {
    let files = &job.settings.files;
    match (cache, files.pre_reads, files.drops_cache) {
        (_, true, _) | (FileCache::Warm, ..) => FileCache::Warm,
        (_, false, false) => FileCache::Left,
        (cache, false, true) => cache,
    }
}

/// State of a file before the job starts.
fn layout(job: &FioJob, is_read: bool) -> Layout {
    let settings = &job.settings;
    if let Some(work) = name_work(settings) {
        return work.layout();
    }
    if is_read || settings.files.overwrites || settings.files.is_layout_only {
        return Layout::Written;
    }
    // Space allocated in advance would leave none for a job that fills the device.
    if settings.files.creates_on_open || settings.space.fills_device {
        return Layout::Empty;
    }
    match settings.files.fallocate {
        Fallocate::Native | Fallocate::Posix => Layout::Allotted,
        Fallocate::Truncate => Layout::Sparse,
        // With `FALLOC_FL_KEEP_SIZE`, the file is empty, too. pgmeter does not allocate its space.
        Fallocate::None | Fallocate::Keep => Layout::Empty,
    }
}

/// Operation on whole files or directories; `None` if the job transfers data.
pub(super) fn name_work(settings: &FioSettings) -> Option<MetadataWork> {
    match settings.engine.engine {
        Engine::FileCreate => Some(MetadataWork::Create),
        Engine::FileStat => Some(MetadataWork::Stat),
        Engine::FileDelete => Some(MetadataWork::Delete),
        Engine::DirectoryCreate => Some(MetadataWork::Mkdir),
        Engine::DirectoryStat => Some(MetadataWork::StatDirectory),
        Engine::DirectoryDelete => Some(MetadataWork::Rmdir),
        _ => None,
    }
}

/// Calls on the space of files; `None` if the job transfers data or works on names.
pub(super) fn space_work(settings: &FioSettings) -> Option<SpaceWork> {
    match settings.engine.engine {
        Engine::Falloc => Some(SpaceWork::Allocate),
        Engine::Ftruncate => Some(SpaceWork::Truncate),
        _ => None,
    }
}

/// The part of the offset that is given in bytes; an error if it is given in zones.
fn further(job: &FioJob) -> Result<u64, Diagnostic> {
    let space = &job.settings.space;
    let is_in_zones = |amount: SizeAmount| matches!(amount, SizeAmount::Zones(_));
    if is_in_zones(space.offset) || is_in_zones(space.offset_increment) {
        return Err(in_zones(job, "an offset", "offset="));
    }
    Ok(job.offset_bytes())
}

fn in_zones(job: &FioJob, subject: &str, option: &str) -> Diagnostic {
    let error = job
        .position
        .error(format!("{subject} in zones is not supported"));
    error.help(format!("write `{option}` in bytes"))
}

/// Size of each file; 0 if it depends on the size of a device.
fn sizes(job: &FioJob) -> Result<Vec<u64>, Diagnostic> {
    let count = job.file_count();
    if let Some(SizeAmount::Zones(_)) = job.settings.space.size {
        return Err(in_zones(job, "a size", "size="));
    }
    let Some((least, most)) = job.bytes_of_file() else {
        return Ok(vec![0; count as usize]);
    };
    let space = &job.settings.space;
    if least == 0 && space.file_size.is_some() && !space.is_appending {
        return Err(no_room_error(job));
    }
    if least == most {
        return Ok(vec![least; count as usize]);
    }
    // As in fio, random sizes are rounded down to whole blocks.
    let block = job.settings.used_sizes().read.min().max(1);
    let one = |index: u32| {
        let steps = (most - least) / block;
        let above = draw_for_file(job, index, steps) * block;
        (least + above) / block * block
    };
    // Rounding down must not fall below the smallest size.
    Ok((0..count).map(|index| one(index).max(least)).collect())
}

/// Error: no block fits between the offset and the end of the smallest file.
fn no_room_error(job: &FioJob) -> Diagnostic {
    let (file_bytes, _) = job.settings.space.file_size.unwrap_or_default();
    let share = job.share().unwrap_or(FileShare::WHOLE);
    let start_bytes = share.start_bytes(job.offset_bytes(), file_bytes);
    let (start, file) = (Bytes(start_bytes), Bytes(file_bytes));
    let message = match start_bytes >= file_bytes {
        true => format!("`offset` {start} is at or past the end of the {file} file"),
        false => format!("no block fits between `offset` {start} and the end of the {file} file"),
    };
    let error = job.position.error(message);
    error.help("use a smaller `offset`, or a larger `filesize`")
}

fn draw_for_file(job: &FioJob, index: u32, most: u64) -> u64 {
    let base = drawn(job, u64::MAX - 1);
    // The constants are from SplitMix64. They spread neighboring seeds and indices.
    let mixed = (base ^ u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(31);
    mixed.wrapping_mul(0x94d0_49bb_1331_11eb) % most.saturating_add(1).max(1)
}

/// Location of a job's file: below `directory`, or in the directory that its path names.
fn file_location(job: &FioJob, written: String) -> Result<FileLocation, Diagnostic> {
    let files = &job.settings.files;
    // Nothing is created below `/dev`, so such a path is always the file itself.
    if is_device(&written) {
        return Ok(FileLocation::itself(written));
    }
    let at = job.clone_index as usize % files.directories.len().max(1);
    let (directory, name) = match files.directories.get(at) {
        // A replayed log may name absolute paths elsewhere.
        Some(directory) if !written.starts_with('/') || written.starts_with(directory) => {
            let rest = written.strip_prefix(directory.as_str());
            let rest = rest.unwrap_or(&written).trim_start_matches('/');
            (directory.as_str(), rest)
        }
        // The target is the directory of the path, because the job's file is created below a
        // target.
        _ if written.starts_with('/') => {
            let (directory, name) = written.rsplit_once('/').unwrap_or(("", &written));
            (if directory.is_empty() { "/" } else { directory }, name)
        }
        _ => (".", written.as_str()),
    };
    let name = plain(name).ok_or_else(|| {
        let message = format!("the file name `{}` cannot be used", printable(name));
        let error = job.position.error(message);
        error.help("use a name without `..`, below its directory")
    })?;
    Ok(FileLocation {
        directory: directory.to_owned(),
        name: Some(name),
    })
}

/// The name without empty and `.` components; `None` if it is invalid or contains `..`.
fn plain(name: &str) -> Option<String> {
    let components = || {
        let all = name.split('/');
        all.filter(|it| !it.is_empty() && *it != ".")
    };
    // Linux limits each component of a path to 255 bytes.
    let leads_down = components().all(|it| it != ".." && it.len() <= 255);
    let is_good = leads_down
        && components().next().is_some()
        && name.len() <= NAME_BYTES_MAX
        && !name.contains(['\0', '\n']);
    let kept = components().map(|it| it.len() + 1).sum::<usize>();
    is_good.then(|| match kept == name.len() + 1 {
        true => name.to_owned(),
        false => components().collect::<Vec<_>>().join("/"),
    })
}
