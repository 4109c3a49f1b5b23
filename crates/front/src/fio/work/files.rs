//! Files of jobs: which directory, which name below it, how long.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use plan::job::{FileCache, FileShare, JobFile, JobFiles, Layout, NameWork, NamedFile};
use plan::{Diagnostic, printable};
use units::Bytes;

use super::super::jobs::{Job, JobSet, is_device};
use super::super::settings::{Amount, Checksum, Direction, Engine, Fallocate, Settings};
use super::drawn;
use crate::FileAccess;

/// The longest name, in bytes: what a path may have at most.
const NAME_BYTES_MAX: usize = 4000;

/// Files of all jobs, at most.
const FILES_MAX: u64 = 1 << 20;

/// The directories of all jobs, in their order.
pub(super) struct FileTable<'a> {
    directories: Vec<String>,
    /// Their numbers.
    indexes: HashMap<String, u32>,
    /// The files of all waves by target and name.
    known: HashMap<FileKey, KnownFile>,
    /// Which wave it is, from 1.
    wave: u32,
    /// Named files that some job writes to, as they were written.
    written: BTreeSet<String>,
    /// Tells bytes of files that are there.
    access: FileAccess<'a>,
}

/// A file by its target and its name; none for a device, which is the file itself.
type FileKey = (u32, Option<String>);

/// What is known of a file.
#[derive(Default)]
struct KnownFile {
    /// The last wave that has it, and its number there.
    wave: u32,
    file_index: u32,
    /// Whether a job writes to it so that it can be verified.
    is_stamped: bool,
}

/// Refuses more files than anybody means.
pub(super) fn check_count(set: &JobSet) -> Result<(), Diagnostic> {
    let mut count = 0_u64;
    for job in &set.jobs {
        count += u64::from(job.file_count());
        if count > FILES_MAX {
            let place = set.place_of(job, "nrfiles, nr_files");
            let error = place.error(format!("more than {FILES_MAX} files of all jobs"));
            return Err(error.help("use a smaller `nrfiles`, or fewer clones"));
        }
    }
    Ok(())
}

/// What a job wants of a file.
pub(super) struct FileWish {
    /// The file as it was written.
    pub written: String,
    /// The first byte of the part.
    pub start_bytes: u64,
    /// Bytes of the part; 0 where the size of a file or device that is there decides.
    pub size_bytes: u64,
    pub is_read: bool,
}

/// Where a file lies.
struct Spot {
    directory: String,
    /// None for a device, which is the file itself.
    name: Option<String>,
}

impl<'a> FileTable<'a> {
    /// Of jobs, on a machine with these files.
    pub fn new(set: &JobSet, access: FileAccess<'a>) -> Self {
        let writing = set.jobs.iter().filter(|job| !leaves_alone(job));
        let names = writing.filter(|job| job.shares_files()).flat_map(|job| {
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

    /// Bytes of a file that is there, if a job names it and nobody does more than read it: then
    /// it is read itself.
    fn foreign(&self, job: &Job, wish: &FileWish) -> Option<u64> {
        let is_read_only = job.shares_files() && leaves_alone(job);
        if !is_read_only || is_device(&wish.written) || self.written.contains(&wish.written) {
            return None;
        }
        let present = self.access.size_bytes(&wish.written)?;
        let end = wish.start_bytes.checked_add(wish.size_bytes)?;
        (end <= present).then_some(present)
    }

    /// Bytes of the file that a job works in, where it says no size: those of the one that is
    /// there by that name, those that jobs before make (told by 0), or all the room there is.
    fn unsaid(&self, job: &Job, wish: &FileWish, key: &FileKey) -> Option<u64> {
        if job.settings.space.fills_device || self.known.contains_key(key) {
            return Some(0);
        }
        self.access.size_bytes(&wish.written)
    }

    /// All directories and devices; the current directory where there is none.
    pub fn directories(&self) -> Vec<PathBuf> {
        match self.directories.is_empty() {
            true => vec![PathBuf::from(".")],
            false => self.directories.iter().map(PathBuf::from).collect(),
        }
    }

    fn index(&mut self, directory: String) -> u32 {
        // A command line or a file is too short for more.
        let next = self.directories.len() as u32;
        *self.indexes.entry(directory).or_insert_with_key(|name| {
            self.directories.push(name.clone());
            next
        })
    }

    /// The files of the waves before are not this one's.
    pub fn begin_wave(&mut self) {
        self.wave += 1;
    }

    /// The parts of its files that a job works in; files that nobody had before are added.
    pub fn parts(&mut self, job: &Job, files: &mut JobFiles) -> Result<Vec<JobFile>, Diagnostic> {
        let further_bytes = further(job)?;
        let is_read = job.settings.access.reads();
        let wishes = (0..).zip(sizes(job)?).map(|(index, size_bytes)| FileWish {
            written: job.file(index).text,
            start_bytes: further_bytes,
            size_bytes,
            is_read,
        });
        self.take(job, files, wishes.collect())
    }

    /// Parts of files as a job wants them; files that nobody had before are added.
    pub fn take(
        &mut self,
        job: &Job,
        files: &mut JobFiles,
        wishes: Vec<FileWish>,
    ) -> Result<Vec<JobFile>, Diagnostic> {
        let share = job.share().filter(|it| it.start_percent > 0);
        let share = share.filter(|_| job.settings.replay.read.is_none());
        let mut parts = Vec::with_capacity(wishes.len());
        for wish in wishes {
            let layout = layout(job, wish.is_read);
            let (size_bytes, further_bytes) = (wish.size_bytes, wish.start_bytes);
            let spot = match self.foreign(job, &wish) {
                Some(_) => Spot::itself(wish.written.clone()),
                None => spot(job, wish.written.clone())?,
            };
            let target_index = self.index(spot.directory);
            let key = (target_index, spot.name.clone());
            let unsaid = match spot.name.is_some() && size_bytes == 0 {
                false => None,
                true => Some(
                    self.unsaid(job, &wish, &key)
                        .ok_or_else(|| without_size(job, &wish.written))?,
                ),
            };
            let start_bytes = match (share, job.settings.space.file_size) {
                (None, _) => further_bytes,
                (Some(share), Some((least, _))) => share.start_bytes(further_bytes, least),
                // Known when the device is.
                (Some(_), None) if spot.name.is_none() || unsaid.is_some() => further_bytes,
                (Some(_), None) => {
                    let message = "an offset in percent of a file whose size is not known";
                    return Err(job.place.error(message).help("add `filesize=`"));
                }
            };
            let end = start_bytes.checked_add(size_bytes);
            let end = end.filter(|it| i64::try_from(*it).is_ok()).ok_or_else(|| {
                let error = job.place.error("its files are longer than a file can be");
                error.help("use a smaller size or offset")
            })?;
            let known = self.known.entry(key).or_default();
            check_stamp(job, known, &wish.written)?;
            if known.wave != self.wave {
                known.wave = self.wave;
                known.file_index = files.files.len() as u32;
                files.files.push(NamedFile {
                    target_index,
                    name: spot.name,
                    size_bytes: 0,
                    layout: Layout::Absent,
                    is_removed: false,
                    cache: FileCache::Dropped,
                });
            }
            let file_index = known.file_index;
            let file = &mut files.files[file_index as usize];
            let end = unsaid.unwrap_or(end);
            file.size_bytes = file.size_bytes.max(end);
            file.layout = stronger(file.layout, layout);
            file.is_removed |= job.settings.files.removes_at_end;
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

/// Reads verify what a job above wrote for that, and nothing else can be verified: content of
/// others, or of an earlier run, has no stamps of this one.
fn check_stamp(job: &Job, known: &mut KnownFile, file: &str) -> Result<(), Diagnostic> {
    let (verify, access) = (&job.settings.verify, &job.settings.access);
    if matches!(verify.checksum, Checksum::None | Checksum::Null) {
        return Ok(());
    }
    known.is_stamped |= access.writes();
    let is_verified = verify.reads_back && access.reads();
    let is_free = job.settings.files.is_layout_only || job.settings.engine.engine == Engine::Null;
    if !is_verified || known.is_stamped || is_free {
        return Ok(());
    }
    let (name, file) = (printable(&job.name), printable(file));
    let message =
        format!("the job `{name}` verifies `{file}`, which no job above it writes with `verify`");
    let help = "write it in a job above, with `verify` and `do_verify=0`: content is of one run";
    Err(job.place.error(message).help(help))
}

impl Spot {
    /// The file itself, wherever it lies.
    fn itself(path: String) -> Self {
        Self {
            directory: path,
            name: None,
        }
    }
}

fn without_size(job: &Job, file: &str) -> Diagnostic {
    let (job_name, file) = (printable(&job.name), printable(file));
    let message = format!("the job `{job_name}` has no size, and there is no file `{file}`");
    job.place.error(message).help("add `size=1g`")
}

/// Whether a job does no more to its files than read them, whatever is in them.
fn leaves_alone(job: &Job) -> bool {
    let settings = &*job.settings;
    let is_reading = settings.access.direction == Direction::Read;
    is_reading
        && settings.verify.checksum == Checksum::None
        && settings.replay.read.is_none()
        && !settings.files.is_layout_only
        && settings.engine.engine != Engine::Null
        && name_work(settings).is_none()
}

fn stronger(one: Layout, other: Layout) -> Layout {
    let rank = |layout: Layout| match layout {
        Layout::Absent => 0,
        Layout::Empty => 1,
        Layout::Sparse => 2,
        Layout::Allotted => 3,
        Layout::Written => 4,
    };
    if rank(one) >= rank(other) { one } else { other }
}

/// What the page cache holds of a file: what one job wants of it holds for all.
fn cached(cache: FileCache, job: &Job) -> FileCache {
    let files = &job.settings.files;
    match (cache, files.reads_before, files.leaves_cache) {
        (_, true, _) | (FileCache::Warm, ..) => FileCache::Warm,
        (_, false, false) => FileCache::Left,
        (cache, false, true) => cache,
    }
}

/// What is in a file before the job.
fn layout(job: &Job, is_read: bool) -> Layout {
    let settings = &job.settings;
    match name_work(settings) {
        Some(NameWork::Create) => return Layout::Absent,
        Some(NameWork::Stat | NameWork::Delete) => return Layout::Sparse,
        None => {}
    }
    if is_read || settings.files.overwrites || settings.files.is_layout_only {
        return Layout::Written;
    }
    if settings.files.is_made_on_open || settings.space.fills_device {
        return Layout::Empty;
    }
    match settings.files.fallocate {
        Fallocate::Native | Fallocate::Posix => Layout::Allotted,
        Fallocate::Truncate => Layout::Sparse,
        Fallocate::None | Fallocate::Keep => Layout::Empty,
    }
}

/// What the job does to its files as such.
pub(super) fn name_work(settings: &Settings) -> Option<NameWork> {
    match settings.engine.engine {
        Engine::FileCreate => Some(NameWork::Create),
        Engine::FileStat => Some(NameWork::Stat),
        Engine::FileDelete => Some(NameWork::Delete),
        _ => None,
    }
}

/// The part of the offset that is given in bytes.
fn further(job: &Job) -> Result<u64, Diagnostic> {
    let space = &job.settings.space;
    let is_in_zones = |amount: Amount| matches!(amount, Amount::Zones(_));
    if is_in_zones(space.offset) || is_in_zones(space.offset_increment) {
        return Err(in_zones(job, "an offset", "offset="));
    }
    Ok(job.offset_bytes())
}

fn in_zones(job: &Job, what: &str, option: &str) -> Diagnostic {
    let error = job.place.error(format!("{what} in zones is not done here"));
    error.help(format!("write `{option}` in bytes"))
}

/// Bytes of each file; 0 where the size of a device decides.
fn sizes(job: &Job) -> Result<Vec<u64>, Diagnostic> {
    let count = job.file_count();
    if let Some(Amount::Zones(_)) = job.settings.space.size {
        return Err(in_zones(job, "a size", "size="));
    }
    let Some((least, most)) = job.bytes_of_file() else {
        return Ok(vec![0; count as usize]);
    };
    let space = &job.settings.space;
    if least == 0 && space.file_size.is_some() && !space.is_appending {
        return Err(without_room(job));
    }
    if least == most {
        return Ok(vec![least; count as usize]);
    }
    // Cut to whole blocks, as fio has them.
    let block = job.settings.blocks.sizes().read.min().max(1);
    let one = |index: u32| {
        let steps = (most - least) / block;
        let above = drawn_of(job, index, steps) * block;
        (least + above) / block * block
    };
    Ok((0..count).map(|index| one(index).max(least)).collect())
}

/// No block fits between where the job begins and the end of its smallest file.
fn without_room(job: &Job) -> Diagnostic {
    let (file_bytes, _) = job.settings.space.file_size.unwrap_or_default();
    let share = job.share().unwrap_or(FileShare::WHOLE);
    let start_bytes = share.start_bytes(job.offset_bytes(), file_bytes);
    let (start, file) = (Bytes(start_bytes), Bytes(file_bytes));
    let message = match start_bytes >= file_bytes {
        true => format!("`offset` {start} is at or past the end of the {file} file"),
        false => format!("no block fits between `offset` {start} and the end of the {file} file"),
    };
    let error = job.place.error(message);
    error.help("use a smaller `offset`, or a larger `filesize`")
}

fn drawn_of(job: &Job, index: u32, most: u64) -> u64 {
    let base = drawn(job, u64::MAX - 1);
    let mixed = (base ^ u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(31);
    mixed.wrapping_mul(0x94d0_49bb_1331_11eb) % most.saturating_add(1).max(1)
}

/// Where a file of a job lies: below its directory, or below the directory of its name.
fn spot(job: &Job, written: String) -> Result<Spot, Diagnostic> {
    let files = &job.settings.files;
    if is_device(&written) {
        return Ok(Spot::itself(written));
    }
    let at = job.clone_index as usize % files.directories.len().max(1);
    let (directory, name) = match files.directories.get(at) {
        // A log may name files elsewhere.
        Some(directory) if !written.starts_with('/') || written.starts_with(directory) => {
            let rest = written.strip_prefix(directory.as_str());
            let rest = rest.unwrap_or(&written).trim_start_matches('/');
            (directory.as_str(), rest)
        }
        _ if written.starts_with('/') => {
            let (directory, name) = written.rsplit_once('/').unwrap_or(("", &written));
            (if directory.is_empty() { "/" } else { directory }, name)
        }
        _ => (".", written.as_str()),
    };
    let name = plain(name).ok_or_else(|| {
        let message = format!("the file name `{}` cannot be used", printable(name));
        let error = job.place.error(message);
        error.help("use a name without `..`, below its directory")
    })?;
    Ok(Spot {
        directory: directory.to_owned(),
        name: Some(name),
    })
}

/// The components of a name, if all of them lead down.
fn plain(name: &str) -> Option<String> {
    let components = || {
        let all = name.split('/');
        all.filter(|it| !it.is_empty() && *it != ".")
    };
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
